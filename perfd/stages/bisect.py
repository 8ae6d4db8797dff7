"""bisect: one step of one open bisection is planned or settled, or a bisection ends, or one is opened for a confirmed Regression.

Everything that it knows stands in the database: a step and what it owes are written at once, so that a kill at any point loses
nothing. Builds and Runs are worked off like any; they are ordinary Runs of comparisons, and never enter a Series.
"""

from dataclasses import replace

from perfd.domain.bisect import StepKind, StepOutcome, Target
from perfd.domain.build import BuildState
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.subject import brief
from perfd.domain.verdict import Outcome, RegressionState
from perfd.errors import PerfdError
from perfd.rules.bisect import Build, Compare, Ended, next_step, stopped
from perfd.stages.bisect_path import open_bisect
from perfd.stages.bisect_plan import plan_of, planned
from perfd.stages.bisect_read import NOT_ITS_FAULT, Reading, more_blocks, read, state_of
from perfd.stages.comparison import gone
from perfd.stages.context import Context
from perfd.stages.proposal import propose, story
from perfd.store.records import BisectEnded, BisectRow, BisectStep
from perfd.store.regressions import Step

ACTOR = "bisect"
OVER = frozenset({BuildState.BUILT, BuildState.FAILED})


def bisect(context: Context) -> bool:
    """One unit of work is done; False when every open bisection waits for Builds or Runs."""
    return any(_advance(context, row) for row in context.store.bisects.unended()) or _open_for_confirmed(context)


def _advance(context: Context, row: BisectRow) -> bool:
    step = row.steps[-1] if row.steps else None
    if step is None or step.outcome is not None:
        return _begin(context, row)
    return _look_at_build(context, row, step) if step.kind is StepKind.BUILD else _look_at_comparison(context, row, step)


def _begin(context: Context, row: BisectRow) -> bool:
    """The next step stands there with what it owes, or the bisection has ended."""
    state = state_of(context, row)
    asked = next_step(state)
    if isinstance(asked, Ended):
        return _end(context, row, asked)
    try:
        plan = plan_of(context, row, asked)
    except PerfdError as error:
        if not error.permanent:
            context.tell.say("bisect", f"{row.id} waits: {error.message}")
            return False
        if isinstance(asked, Compare):
            return _end(context, row, stopped(state, error.message))
        plan = Plan((), ())  # the place cannot even be described: settled as broken
    step = _step(context, row, asked)
    context.tell.say("bisect", f"{row.id} step {step.number}: {_words(row, asked)} ({asked.why})")
    return context.store.bisects.begin_step(row.id, step, plan, gone(context, plan.builds))


def _step(context: Context, row: BisectRow, asked: Build | Compare) -> BisectStep:
    now = context.now()
    base, head = (asked.place, asked.place) if isinstance(asked, Build) else (asked.base, asked.head)
    number = len(row.steps) + 1
    label = f"bisect {row.id} step {number} {_words(row, asked)}"
    kind = StepKind.BUILD if isinstance(asked, Build) else StepKind.COMPARE
    occasion = Occasion(OccasionKind.COMPARE, now.replace(microsecond=0), label)
    return BisectStep(number, kind, base, head, asked.why, occasion, now)


def _words(row: BisectRow, asked: Build | Compare) -> str:
    if isinstance(asked, Build):
        return f"build {brief(row.path[asked.place].revision)}"
    return f"{brief(row.path[asked.base].revision)}..{brief(row.path[asked.head].revision)}"


def _look_at_build(context: Context, row: BisectRow, step: BisectStep) -> bool:
    """The step is settled once the Build is made, or has failed."""
    built = next(iter(context.store.pages.occasion(step.occasion).builds), None)
    state = BuildState.FAILED if built is None else context.store.builds.state(built.digest)
    if state not in OVER:
        return False
    if state is BuildState.BUILT:
        settled = replace(step, outcome=StepOutcome.BUILT, settled_at=context.now())
    else:
        last = _why_not(context, row, step.head) if built is None else (built.log_tail.strip().splitlines() or ["no log"])[-1]
        reason = f"it cannot be built: {last}"[:500]
        settled = replace(step, outcome=StepOutcome.BROKEN, broken=step.head, reason=reason, settled_at=context.now())
    return _settle(context, row, settled)


def _why_not(context: Context, row: BisectRow, place: int) -> str:
    """Why the place's Build could not even be described, asked once more."""
    try:
        planned(context, row, place)
    except PerfdError as error:
        return error.message
    return "it could not be described, and can be by now"


def _look_at_comparison(context: Context, row: BisectRow, step: BisectStep) -> bool:
    """More blocks are planned, or the step is settled."""
    if context.store.runs.unfinished(step.occasion):
        return False
    state = state_of(context, row)
    reading = read(context, row, step, state)
    owed = () if reading.is_decided or state.out_of_time else tuple(more_blocks(context, reading))
    if owed and context.store.occasions.state(step.occasion) is OccasionState.PLANNED:
        context.store.plans.add(step.occasion, Plan((), owed), frozenset(), context.now())
        context.tell.say("bisect", f"{row.id} step {step.number} is undecided: {len(owed)} more runs")
        return True
    # Moved first: the judge's own rule would go on for Metrics that nobody asks about here.
    context.store.occasions.move(step.occasion, OccasionState.PLANNED, OccasionState.JUDGED, context.now())
    settled = replace(_concluded(reading, step, state.last), settled_at=context.now())
    return _settle(context, row, settled, _target(row, reading))


def _concluded(reading: Reading, step: BisectStep, last: int) -> BisectStep:
    line = reading.leading
    if line is None:
        return _unmeasured(reading, step, last)
    verdict = line.decision.verdict
    return replace(
        step,
        outcome=StepOutcome(verdict.outcome.value),
        pairs=len(line.pairs),
        effect=verdict.effect,
        interval=verdict.interval,
        final=not line.decision.more,
        reason=f"{line.workload} {line.metric.name} {verdict.reason}",
    )


def _unmeasured(reading: Reading, step: BisectStep, last: int) -> BisectStep:
    """A place is broken where its own Runs failed, and not for a reason of the machine's; else nobody is to blame."""
    done = {one.run.arm for one in reading.runs if one.run.state is RunState.DONE}
    failed = {one.run.arm: one.run for one in reading.runs if one.run.arm not in done and one.run.failure not in NOT_ITS_FAULT}
    arms = ((Arm.BASE, step.base), (Arm.HEAD, step.head))
    # Where neither could be measured, the one that nobody has measured yet is to blame: of the ends the good one.
    for arm, place in arms if step.base == 0 and step.head == last else reversed(arms):
        if arm in failed and failed[arm].state is RunState.FAILED:
            reason = f"it cannot be measured: {failed[arm].failure}, {failed[arm].reason}"[:500]
            return replace(step, outcome=StepOutcome.BROKEN, broken=place, reason=reason)
    reasons = [one.run.reason for one in reading.runs if one.run.reason]
    reason = next(iter(reasons), "its Runs hold no value of a Metric that could decide")
    return replace(step, outcome=StepOutcome.UNSURE, final=False, reason=reason[:500])


def _target(row: BisectRow, reading: Reading) -> Target | None:
    """What decides from now on: the row that tells the ends apart."""
    line = reading.leading
    if row.target is not None or line is None or line.decision.verdict.outcome not in {Outcome.WORSE, Outcome.BETTER}:
        return None
    group = next(group for group, one in reading.rows if one is line)
    return Target(line.workload, line.model, group[0].run.device_class, line.metric.name)


def _settle(context: Context, row: BisectRow, step: BisectStep, target: Target | None = None) -> bool:
    context.tell.say("bisect", f"{row.id} step {step.number}: {step.outcome}. {step.reason}".rstrip(". ")[:300])
    return context.store.bisects.settle_step(row.id, step, target)


def _end(context: Context, row: BisectRow, ended: Ended) -> bool:
    """The bisection is over: said on its Regression, put in the outbox, and with a patch where there is a commit to take back."""
    patch, proposal = propose(context, row, ended)
    told = story(row, ended)
    now = context.now()
    payload = {"bisect": row.id, "regression": row.regression, "title": told, "proposal": proposal, "patch": patch}
    context.store.outbox.put(f"bisect:{row.id}:ended", ACTOR, payload, now)
    record = BisectEnded(ended.end, ended.good, ended.bad, ended.reason, now, patch, proposal)
    context.tell.say("bisect", told)
    return context.store.bisects.end(row.id, record, Step(ACTOR, f"{told} {proposal}".strip()[:2000], now))


def _open_for_confirmed(context: Context) -> bool:
    """A confirmed Regression that was never searched is searched, where the configuration wants that."""
    if not context.config.schedule.bisect:
        return False
    for row in context.store.regressions.every({RegressionState.CONFIRMED}):
        if context.store.bisects.of_regression(row.id):
            continue
        try:
            reason = f"bisect {open_bisect(context, row.id)} searches for its commit"
        except PerfdError as error:
            reason = f"no commit is searched for: {error.message}"
        if context.store.regressions.note(row.id, actor=ACTOR, reason=reason, now=context.now()):
            context.tell.say("bisect", f"regression {row.id}: {reason}")
            return True
    return False
