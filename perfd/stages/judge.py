"""judge: the Series that an occasion touched are judged, and Regressions opened, moved and closed."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from perfd.domain.metric import MetricKind
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.rules.regressions import OPENING, Action, Join, Known, Move, Open, Standing, act
from perfd.stages.backfill import plan_baselines
from perfd.stages.budgets import judge_budgets
from perfd.stages.comparison import judge_comparison
from perfd.stages.context import Context
from perfd.stages.judge_series import judge_all
from perfd.stages.labels import label
from perfd.stages.limits import judge_limits
from perfd.stages.suspects import what_changed
from perfd.stages.telling import tell_due, tell_fixed
from perfd.store.records import ChangeRow, RegressionRow, SeriesInfo, SeriesJudgement

ACTOR = "judge"
PATIENCE = timedelta(hours=12)
"""A Run that has waited so long for a worker is missing, and told; its occasion is judged without it."""
TOO_LATE = "nobody measured it within twelve hours; start `perfd work` on a machine of its device class"


@dataclass
class _Tonight:
    """What judging the Series of a night has shown."""

    series: set[int] = field(default_factory=set)
    standing: list[Standing] = field(default_factory=list)
    """Every Change."""
    orders: dict[str, list[int]] = field(default_factory=dict)
    """By subject, where the Builds that were measured stand on their branch, in order."""

    def rank(self, subject: str, ordinal: int) -> int:
        """A Build's place among those of its subject that were measured."""
        return bisect_left(self.orders.get(subject, []), ordinal)


def judge(context: Context) -> bool:
    """One measured occasion is judged; False when all that are planned still wait for Runs."""
    for occasion in context.store.occasions.every_in_state(OccasionState.PLANNED):
        context.store.runs.close_missing(occasion, TOO_LATE, context.now(), PATIENCE)
        if context.store.runs.unfinished(occasion) == 0:
            return _judge(context, occasion)
    return False


def _judge(context: Context, occasion: Occasion) -> bool:
    if occasion.kind is OccasionKind.COMPARE:
        return judge_comparison(context, occasion)
    if occasion.kind.enters_series:
        tonight = _judge_series(context, occasion)
        if occasion.kind is OccasionKind.NIGHT:
            _answer(context, occasion, tonight)
            tell_due(context)
    return context.store.occasions.move(occasion, OccasionState.PLANNED, OccasionState.JUDGED, context.now())


def _judge_series(context: Context, occasion: Occasion) -> _Tonight:
    """Every Series that the occasion touched has its Verdict and its Changes, and its budgets were looked at."""
    touched = context.store.judgements.touched(occasion)
    judged = judge_all(context, occasion, touched, ACTOR)
    unpinned = [(budget, series) for series in touched for budget in judge_budgets(context, occasion, series)]
    if occasion.kind is OccasionKind.NIGHT:
        plan_baselines(context, occasion, unpinned)
    judge_limits(context, occasion, touched)
    standing = context.store.judgements.standing([series.id for series in touched])
    known = {series.id: series for series in touched}
    tonight = _Tonight(set(known), orders=_orders(known, judged))
    for one in judged:
        _remember(context, tonight, known[one.series_id], one, standing[one.series_id])
    return tonight


def _remember(
    context: Context, tonight: _Tonight, series: SeriesInfo, judged: SeriesJudgement, standing: Sequence[ChangeRow]
) -> None:
    points, noise = judged.points, judged.judgement.verdict.noise
    for place, change in enumerate(standing):
        at = points.runs.index(change.run) if change.run in points.runs else 0
        new = change.worse and change.regression_id is None and change.kind in OPENING
        cause = what_changed(context, points, at) if new else ""
        tonight.standing.append(
            Standing(
                change=change.id,
                series=series.id,
                place=place,
                subject=series.key.subject,
                build=change.build,
                revision=change.revision,
                title=change.title,
                label=label(series),
                kind=change.kind,
                status=change.status,
                worse=change.worse,
                effect=change.effect,
                before=change.before,
                after=change.after,
                relevant=series.metric.relevant,
                counted=series.metric.kind is MetricKind.STATIC,
                regression=change.regression_id,
                rank=tonight.rank(series.key.subject, change.ordinal),
                noise=noise,
                nights=len(points) - at,
                cause=cause,
            )
        )


def _orders(known: Mapping[int, SeriesInfo], judged: Sequence[SeriesJudgement]) -> dict[str, list[int]]:
    ordinals: dict[str, set[int]] = {}
    for one in judged:
        ordinals.setdefault(known[one.series_id].key.subject, set()).update(one.points.ordinals)
    return {subject: sorted(found) for subject, found in ordinals.items()}


def _answer(context: Context, occasion: Occasion, tonight: _Tonight) -> None:
    """Regressions follow tonight's Changes; one is only moved by a night that measured its Series."""
    rows = [row for row in context.store.regressions.unanswered() if any(info.id in tonight.series for info, _ in row.members)]
    known = [_known(row, tonight) for row in rows if row.state in OPEN_STATES]
    for action in act(tonight.standing, known):
        _do(context, occasion, action)


def _known(row: RegressionRow, tonight: _Tonight) -> Known:
    ordinals = [change.ordinal for _, change in row.members if change.build == row.build]
    rank = tonight.rank(row.subject, min(ordinals or [change.ordinal for _, change in row.members]))
    return Known(row.id, row.state, row.subject, row.build, tuple(change.id for _, change in row.members), rank)


def _do(context: Context, occasion: Occasion, action: Action) -> None:
    now, regressions = context.now(), context.store.regressions
    if isinstance(action, Open):
        regressions.open(occasion, action.changes, action.title, state=action.state, actor=ACTOR, reason=action.reason, now=now)
    elif isinstance(action, Join):
        regressions.add(action.regression, action.changes)
    else:
        _move(context, action)


def _move(context: Context, move: Move) -> None:
    """A fix is put in the outbox before it stands: a crash in between repeats it, and never loses it."""
    row = context.store.regressions.read(move.regression)
    if row is not None and move.new is RegressionState.FIXED:
        tell_fixed(context, row, move.reason)
    context.store.regressions.move(move.regression, move.old, move.new, actor=ACTOR, reason=move.reason, now=context.now())
