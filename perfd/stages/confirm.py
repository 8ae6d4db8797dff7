"""confirm: a suspect is measured again, first bad Build against last good one in turn, before a person is woken.

One unit of work is to settle a re-measurement that is over, to open the comparison beside a Checkpoint, to open a Build's
comparison with itself, or to open one of another.
Each stands in the database in one transaction, so that doing it twice is harmless. The comparison itself is worked off like any.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from perfd.domain.model import Model
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.run import Arm, OccasionKind, Point
from perfd.domain.subject import brief
from perfd.domain.verdict import ChangeKind
from perfd.rules.confirm import TOWARDS, ConfirmPolicy, conclude, worth_remeasuring
from perfd.stages.aa import open_aa
from perfd.stages.checkpoint import open_beside
from perfd.stages.comparison import Comparison, block_of, gone, look
from perfd.stages.context import Context
from perfd.stages.members import remeasured, strength
from perfd.stages.telling import case_of, tell_due
from perfd.store.records import ChangeRow, ConfirmationRow, RegressionRow, SeriesInfo
from perfd.store.regressions import Step

ACTOR = "confirm"
POLICY = ConfirmPolicy()


class _ImpossibleError(Exception):
    """Why a Regression cannot be measured again, as a sentence; it ends up on the Regression."""


@dataclass(frozen=True)
class _Arms:
    """The last good Build and the first bad one."""

    base: PlannedBuild
    head: PlannedBuild


def confirm(context: Context) -> bool:
    """One re-measurement is settled or opened, or a comparison beside a Checkpoint or an A/A one; False when none is."""
    return _settle(context) or open_beside(context) or open_aa(context) or _open(context)


def _settle(context: Context) -> bool:
    """The Regression of a comparison that is over is confirmed, dismissed as noise, or left as it is with an event."""
    row = next(iter(context.store.confirmations.unsettled()), None)
    if row is None:
        return False
    found = look(context, row.occasion)
    pairs = sum(len(line.pairs) for line in found.answers)
    outcome = conclude([line.decision.verdict for line in found.answers], pairs)
    step = Step(ACTOR, f"{row.occasion.name}: {outcome}. {_sentence(row, found)}"[:1000], context.now())
    context.store.confirmations.settle(row, outcome, step, TOWARDS.get(outcome))
    context.tell.say("confirm", f"regression {row.regression} {outcome}: {_sentence(row, found)}"[:300])
    tell_due(context)
    return True


def _sentence(row: ConfirmationRow, found: Comparison) -> str:
    if row.reason:
        return row.reason
    answers = "; ".join(f"{line.workload} {line.metric.name} {line.decision.verdict.reason}" for line in found.answers)
    return answers or next(iter(found.failures), "nothing was measured")


def _open(context: Context) -> bool:
    """A Regression that a judged night still shows is measured again, once a night."""
    for night in context.store.occasions.every_in_state(OccasionState.JUDGED):
        if night.kind is OccasionKind.NIGHT and any(_remeasure(context, night, row) for row in _waiting(context, night)):
            return True
    return False


def _waiting(context: Context, night: Occasion) -> Iterator[RegressionRow]:
    """Regressions of the night's Series that are worth it and were not tried after this night, the strongest first."""
    touched = {series.id for series in context.store.judgements.touched(night)}
    rows = [row for row in context.store.regressions.unanswered() if any(info.id in touched for info, _ in row.members)]
    tried = context.store.confirmations.of_regressions(*(row.id for row in rows))
    for row in sorted(rows, key=lambda row: -max(map(strength, row.members))):
        after_this = any(one.occasion.nominal_at == night.nominal_at for one in tried[row.id])
        if not after_this and worth_remeasuring(case_of(context, row, tried[row.id]), POLICY):
            yield row


def _remeasure(context: Context, night: Occasion, row: RegressionRow) -> bool:
    """The comparison is planned; where it cannot be made it is an empty one, which says why."""
    minutes = context.config.schedule.confirm_minutes
    if context.store.confirmations.spent_s(night) >= minutes * 60.0:
        reason = f"the {minutes:g} device minutes for re-measuring after {night.name} are spent; it waits for the next night"
        context.store.regressions.note(row.id, actor=ACTOR, reason=reason, now=context.now())
        return False
    occasion = Occasion(OccasionKind.COMPARE, night.nominal_at, f"confirm {row.id}")
    try:
        plan, reason = _plan(context, row), ""
    except _ImpossibleError as error:
        plan, reason = Plan((), ()), str(error)
    lost = gone(context, plan.builds)
    context.tell.say("confirm", f"regression {row.id} is measured again: {row.title}")
    return context.store.confirmations.open(row.id, occasion, plan, lost, reason=reason, now=context.now())


def _plan(context: Context, row: RegressionRow) -> Plan:
    """One block of each of the strongest members' Workloads."""
    ranked = [one for one in remeasured(row) if one[1].gone_at is None]
    arms = _arms(context, *ranked[0])
    specs = {Arm.BASE: arms.base.spec, Arm.HEAD: arms.head.spec}
    likes = [_like(context, info, change, arms) for info, change in _one_a_workload(ranked)]
    runs = [run for like in likes for run in block_of(specs, like)]
    return Plan((arms.base, arms.head), tuple(runs))


def _one_a_workload(members: Sequence[tuple[SeriesInfo, ChangeRow]]) -> Iterable[tuple[SeriesInfo, ChangeRow]]:
    first = {(info.key.workload, info.key.model, info.key.device_class): (info, change) for info, change in reversed(members)}
    return [one for one in members if one in first.values()][: POLICY.workloads]


def _arms(context: Context, info: SeriesInfo, change: ChangeRow) -> _Arms:
    """The Build before the Change and the first one at the new level; of a drift, which has no such, the newest."""
    points = context.store.judgements.history(info.id)
    place = next((index for index, point in enumerate(points) if point.run == change.run), 0)
    if place == 0:
        raise _ImpossibleError("the last good Build is not among the Points that are kept")
    good, bad = points[place - 1], points[-1] if change.kind is ChangeKind.DRIFT else points[place]
    if good.build == bad.build:
        raise _ImpossibleError(f"the Build is the same before and after ({good.build[:12]}); driver or libraries changed")
    return _Arms(_planned(context, good), _planned(context, bad))


def _planned(context: Context, point: Point) -> PlannedBuild:
    found = context.store.builds.planned(point.build)
    if found is None:
        raise _ImpossibleError(f"nothing is known of the Build {point.build[:12]} of {brief(point.revision)} any more")
    return found


def _like(context: Context, info: SeriesInfo, change: ChangeRow, arms: _Arms) -> PlannedRun:
    page = context.store.pages.run_page(change.run)
    if page is None:
        raise _ImpossibleError(f"the Run {change.run[:12]} is not there any more")
    model = _model(context, info.key.model)
    return PlannedRun(arms.base.spec, page.workload, info.key.device_class, model)


def _model(context: Context, name: str) -> Model | None:
    model = context.config.model(name)
    if name and model is None:
        raise _ImpossibleError(f"the configuration has no model {name!r} any more")
    return model
