"""confirm: a suspect is measured again, first bad Build against last good one in turn, before a person is woken.

One unit of work is to settle a re-measurement that is over, to open the comparison beside a Checkpoint, to open a Build's
comparison with itself, or to open one of another.
Each stands in the database in one transaction, so that doing it twice is harmless. The comparison itself is worked off like any.
"""

from collections.abc import Iterable, Iterator, Sequence

from perfd.domain.build import BuildSpec
from perfd.domain.model import Model
from perfd.domain.numbers import moved
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedRun
from perfd.domain.run import Arm, OccasionKind
from perfd.domain.verdict import Reproduced
from perfd.rules.confirm import ConfirmPolicy, Pair, Tried, conclude, moves_to, narrowed, next_pair, worth_remeasuring
from perfd.rules.regressions import OPENING, titled
from perfd.stages.aa import open_aa
from perfd.stages.checkpoint import open_beside
from perfd.stages.comparison import Comparison, block_of, gone, look
from perfd.stages.confirm_arms import ImpossibleError, blamed, compared, pairs_of, planned, standing, tried
from perfd.stages.context import Context
from perfd.stages.labels import label
from perfd.stages.members import strength
from perfd.stages.telling import case_of, tell_due
from perfd.store.records import ChangeRow, ConfirmationRow, RegressionRow, SeriesInfo
from perfd.store.regressions import Step

ACTOR = "confirm"
POLICY = ConfirmPolicy()


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
    left = _left(context, row, outcome)
    more = " Its place may be off: other Builds are compared next." if outcome is Reproduced.NO and left else ""
    step = Step(ACTOR, f"{row.occasion.name}: {outcome}. {_sentence(row, found)}"[:900] + more, context.now())
    at = _blamed(context, row) if outcome is Reproduced.YES else None
    context.store.confirmations.settle(row, outcome, step, moves_to(outcome, left), at)
    context.tell.say("confirm", f"regression {row.regression} {outcome}: {_sentence(row, found)}"[:300])
    tell_due(context)
    return True


def _left(context: Context, row: ConfirmationRow, outcome: Reproduced) -> Pair | None:
    """The two Builds that are to be compared when these were the same."""
    regression, pair = context.store.regressions.read(row.regression), compared(context, row.occasion)
    if regression is None or pair is None:
        return None
    night = Occasion(OccasionKind.NIGHT, row.occasion.nominal_at)
    try:
        return next_pair(pairs_of(context, regression, night), [*tried(context, row.regression), Tried(pair, outcome)])
    except ImpossibleError:
        return None


def _blamed(context: Context, row: ConfirmationRow) -> tuple[str, str] | None:
    """The Build that the Regression belongs to now, and its title; absent where it stays what it is.

    It may have been opened over another Change, or over this one when it was thought to be elsewhere.
    """
    regression, pair = context.store.regressions.read(row.regression), compared(context, row.occasion)
    if regression is None or pair is None or not (members := standing(regression)):
        return None
    pair = narrowed(pair, tried(context, row.regression))
    info, change = next((one for one in members if one[1].build == pair[1]), members[0])
    found = blamed(context, pair, context.store.judgements.history(info.id))
    if found.alone and found.build == regression.build:
        return None
    beside = [each for _, each in regression.members if each.id != change.id and each.gone_at is None]
    more = sum(each.worse and each.kind in OPENING for each in beside)
    by = moved(change.effect, change.before, change.after)
    return found.build, titled(regression.subject, label(info), by, more, found.since)


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
    """Regressions of the night's Series that are worth it and that this night has not answered, the strongest first."""
    touched = {series.id for series in context.store.judgements.touched(night)}
    rows = [row for row in context.store.regressions.unanswered() if any(info.id in touched for info, _ in row.members)]
    tried_for = context.store.confirmations.of_regressions(*(row.id for row in rows))
    for row in sorted(rows, key=lambda row: -max(map(strength, row.members))):
        goes_on = all(one.outcome is Reproduced.NO for one in _after(night, tried_for[row.id]))
        if goes_on and worth_remeasuring(case_of(context, row, tried_for[row.id]), POLICY):
            yield row


def _after(night: Occasion, rows: Sequence[ConfirmationRow]) -> list[ConfirmationRow]:
    """Those of the re-measurements that followed this night."""
    return [one for one in rows if one.occasion.nominal_at == night.nominal_at]


def _remeasure(context: Context, night: Occasion, row: RegressionRow) -> bool:
    """The comparison is planned; where it cannot be made it is an empty one, which says why."""
    minutes = context.config.schedule.confirm_minutes
    if context.store.confirmations.spent_s(night) >= minutes * 60.0:
        reason = f"the {minutes:g} device minutes for re-measuring after {night.name} are spent; it waits for the next night"
        context.store.regressions.note(row.id, actor=ACTOR, reason=reason, now=context.now())
        return False
    times = len(_after(night, context.store.confirmations.of_regressions(row.id)[row.id]))
    occasion = Occasion(OccasionKind.COMPARE, night.nominal_at, f"confirm {row.id}" + (f" {times + 1}" if times else ""))
    try:
        plan, reason = _plan(context, row, night), ""
    except ImpossibleError as error:
        plan, reason = Plan((), ()), str(error)
    lost = gone(context, plan.builds)
    context.tell.say("confirm", f"regression {row.id} is measured again: {row.title}")
    return context.store.confirmations.open(row.id, occasion, plan, lost, reason=reason, now=context.now())


def _plan(context: Context, row: RegressionRow, night: Occasion) -> Plan:
    """One block of each of the strongest members' Workloads."""
    pairs = pairs_of(context, row, night)
    base, head = (planned(context, build) for build in next_pair(pairs, tried(context, row.id)) or pairs[0])
    specs = {Arm.BASE: base.spec, Arm.HEAD: head.spec}
    likes = [_like(context, info, change, base.spec) for info, change in _one_a_workload(standing(row))]
    runs = [run for like in likes for run in block_of(specs, like)]
    return Plan((base, head), tuple(runs))


def _one_a_workload(members: Sequence[tuple[SeriesInfo, ChangeRow]]) -> Iterable[tuple[SeriesInfo, ChangeRow]]:
    first = {(info.key.workload, info.key.model, info.key.device_class): (info, change) for info, change in reversed(members)}
    return [one for one in members if one in first.values()][: POLICY.workloads]


def _like(context: Context, info: SeriesInfo, change: ChangeRow, base: BuildSpec) -> PlannedRun:
    page = context.store.pages.run_page(change.run)
    if page is None:
        raise ImpossibleError(f"the Run {change.run[:12]} is not there any more")
    model = _model(context, info.key.model)
    return PlannedRun(base, page.workload, info.key.device_class, model)


def _model(context: Context, name: str) -> Model | None:
    model = context.config.model(name)
    if name and model is None:
        raise ImpossibleError(f"the configuration has no model {name!r} any more")
    return model
