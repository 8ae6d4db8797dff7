"""judge: the Series that an occasion touched are judged, and Regressions opened, moved and closed."""

from datetime import timedelta

from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.rules.judge import judge_series
from perfd.rules.regressions import Action, Join, Known, Move, Open, Standing, act
from perfd.stages.comparison import judge_comparison
from perfd.stages.context import Context
from perfd.store.records import ChangeRow, RegressionRow, SeriesInfo

ACTOR = "judge"
PATIENCE = timedelta(hours=12)
"""A night that has waited so long for a worker is judged without the Runs that nobody took: they are missing, and told."""
TOO_LATE = "nobody measured it within twelve hours; start `perfd work` on a machine of its device class"


def judge(context: Context) -> bool:
    """One measured occasion is judged; False when all that are planned still wait for Runs."""
    for occasion in context.store.occasions.every_in_state(OccasionState.PLANNED):
        if context.now() - occasion.nominal_at > PATIENCE:
            context.store.runs.close_missing(occasion, TOO_LATE, context.now())
        if context.store.runs.unfinished(occasion) == 0:
            return _judge(context, occasion)
    return False


def _judge(context: Context, occasion: Occasion) -> bool:
    if not occasion.kind.enters_series:
        return judge_comparison(context, occasion)
    touched = context.store.judgements.touched(occasion)
    for done, series in enumerate(touched):
        context.tell.steps("judge", done + 1, len(touched), label(series))
        points = context.store.judgements.history(series.id)
        judgement = judge_series(points, series.metric)
        context.store.judgements.write(series.id, occasion, points, judgement, context.now())
    if occasion.kind is OccasionKind.NIGHT:
        _answer(context, occasion)
    return context.store.occasions.move(occasion, OccasionState.PLANNED, OccasionState.JUDGED, context.now())


def label(series: SeriesInfo) -> str:
    """A Series as people say it, its class first."""
    return f"{series.workload_class} {series.workload_name} {series.key.metric}"


def _answer(context: Context, occasion: Occasion) -> None:
    """Regressions follow tonight's Changes."""
    standing = [one for series in context.store.judgements.touched(occasion) for one in _standing(context, series)]
    touched = {one.series for one in standing} | {series.id for series in context.store.judgements.touched(occasion)}
    known = [_known(row) for row in context.store.regressions.unanswered() if _was_judged(row, touched)]
    for action in act(standing, known):
        _do(context, occasion, action)


def _was_judged(row: RegressionRow, touched: set[int]) -> bool:
    """A Regression is only moved by a night that measured its Series."""
    return row.state in OPEN_STATES and any(series.id in touched for series, _ in row.members)


def _standing(context: Context, series: SeriesInfo) -> list[Standing]:
    changes = context.store.judgements.changes(series.id)
    return [_stands(series, place, change) for place, change in enumerate(changes)]


def _stands(series: SeriesInfo, place: int, change: ChangeRow) -> Standing:
    return Standing(
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
        regression=change.regression_id,
    )


def _known(row: RegressionRow) -> Known:
    return Known(row.id, row.state, row.subject, row.build, tuple(change.id for _, change in row.members))


def _do(context: Context, occasion: Occasion, action: Action) -> None:
    now, regressions = context.now(), context.store.regressions
    if isinstance(action, Open):
        made = regressions.open(
            occasion, action.changes, action.title, state=action.state, actor=ACTOR, reason=action.reason, now=now
        )
        if made is not None and action.state is RegressionState.DETECTED:
            _announce(context, made, action.title)
    elif isinstance(action, Join):
        regressions.add(action.regression, action.changes)
    elif regressions.move(action.regression, action.old, action.new, actor=ACTOR, reason=action.reason, now=now):
        _tell_move(context, action)


def _tell_move(context: Context, move: Move) -> None:
    row = context.store.regressions.read(move.regression)
    if row is None:
        return
    if move.new is RegressionState.DETECTED:
        _announce(context, row.id, row.title)
    elif move.new is RegressionState.FIXED:
        context.store.outbox.put(f"regression:{row.id}:fixed", "fixed", {"regression": row.id, "title": row.title}, context.now())
        context.tell.say("judge", f"fixed: {row.title} ({move.reason})")


def _announce(context: Context, regression: int, title: str) -> None:
    """A Regression is told once, whatever happens between here and the telling."""
    payload = {"regression": regression, "title": title}
    context.store.outbox.put(f"regression:{regression}:detected", "regression", payload, context.now())
    context.tell.say("judge", f"REGRESSION {regression}: {title}")
