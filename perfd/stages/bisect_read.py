"""What a bisection knows: its state for the rules, and what one of its comparisons says so far."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from perfd.domain.bisect import Answer, StepKind, StepOutcome, Target, Wanted
from perfd.domain.build import BuildSpec
from perfd.domain.metric import Metric
from perfd.domain.plan import PlannedRun
from perfd.domain.run import FailureKind, RunState
from perfd.domain.verdict import Outcome
from perfd.errors import PerfdError
from perfd.rules.bisect import Limits, State, policy_for
from perfd.rules.compare import ComparePolicy, decide, next_blocks
from perfd.stages.comparison import PLACES_A_BLOCK, Line, block_of, line_of, measured_in, pairs_of
from perfd.stages.context import Context
from perfd.stages.members import is_waited_for
from perfd.stages.plan import candidate
from perfd.stages.subjects import by_name
from perfd.store.records import ArmSamples, BisectRow, BisectStep

NOT_ITS_FAULT = frozenset({FailureKind.MISSING, FailureKind.DEVICE, FailureKind.HARNESS, FailureKind.LOST})
"""Failures that say nothing about the commit."""
BY_WEIGHT = (Outcome.WORSE, Outcome.BETTER, Outcome.NOT_COMPARABLE, Outcome.UNSURE, Outcome.SAME)
"""Which row answers for the ends: a difference for the worse before one for the better before a doubt."""


@dataclass(frozen=True)
class Reading:
    """What the blocks of a comparison say so far."""

    rows: tuple[tuple[tuple[ArmSamples, ...], Line], ...]
    """Each row that may decide, with its Runs."""
    policy: ComparePolicy
    runs: tuple[ArmSamples, ...]

    @property
    def leading(self) -> Line | None:
        """The row that answers; absent where nothing was measured."""
        lines = [line for _, line in self.rows if line.pairs]
        return min(lines, key=lambda one: (BY_WEIGHT.index(one.decision.verdict.outcome), -_weight(one)), default=None)

    @property
    def is_decided(self) -> bool:
        """Whether more blocks would change nothing: one row for the worse is enough."""
        decisions = [line.decision for _, line in self.rows]
        return any(one.verdict.outcome is Outcome.WORSE for one in decisions) or not any(one.more for one in decisions)


def state_of(context: Context, row: BisectRow) -> State:
    """All that is known of a bisection, for the rules."""
    settled = [step for step in row.steps if step.outcome is not None]
    built = {step.head for step in settled if step.outcome is StepOutcome.BUILT}
    return State(
        path=row.path,
        limits=Limits(row.most_builds, row.most_minutes * 60.0),
        answers=tuple(_answer(step) for step in settled if step.kind is StepKind.COMPARE and step.broken is None),
        built=frozenset(built | set(_there(context, row))),
        broken={step.broken: step.reason for step in settled if step.broken is not None},
        builds_made=sum(step.kind is StepKind.BUILD for step in row.steps),
        device_s=context.store.bisects.spent_s(row.id),
    )


def _answer(step: BisectStep) -> Answer:
    outcome = Outcome(step.outcome.value if step.outcome else Outcome.UNSURE)
    return Answer(step.base, step.head, outcome, step.pairs, step.reason, step.effect, step.interval, step.final)


def _there(context: Context, row: BisectRow) -> Iterator[int]:
    """Places whose Build lies on this disk, as far as can be told without describing each.

    A commit that changes its own dependencies has another digest than is guessed here; its Build is then made where it is needed.
    """
    built = {digest for digest, folder in context.store.builds.built().items() if folder.exists()}
    like = _today(context, row)
    for number, place in enumerate(row.path):
        digest = place.build or (replace(like, revision=place.revision).digest if like else "")
        if digest in built:
            yield number


def _today(context: Context, row: BisectRow) -> BuildSpec | None:
    revisions = {one.name: one for one in context.store.subjects.revisions(row.subject, row.branch)}
    try:
        return candidate(context, by_name(context.config, row.subject), revisions[row.path[-1].revision]).build.spec
    except (PerfdError, KeyError):
        return None  # the step that needs it will say why


def read(context: Context, row: BisectRow, step: BisectStep, state: State) -> Reading:
    """What the comparison of this step says so far."""
    runs = context.store.pages.blocks(step.occasion)
    groups = [tuple(group) for _, group in groupby(runs, key=lambda one: (one.run.workload, one.run.model))]
    asked = [(group, metric) for group in groups for metric in measured_in(group) if _may_decide(row, group, metric)]
    policy = policy_for(state, len(asked))
    return Reading(tuple((group, _line(group, metric, policy)) for group, metric in asked), policy, runs)


def _may_decide(row: BisectRow, group: Sequence[ArmSamples], metric: Metric) -> bool:
    asked: Target | Wanted = row.target or row.wanted
    if asked.metric and asked.metric != metric.name:
        return False
    named = not asked.workload or asked.workload == group[0].run.workload
    return named and bool(asked.metric or is_waited_for(metric))


def _line(every: Sequence[ArmSamples], metric: Metric, policy: ComparePolicy) -> Line:
    """The row of one Metric, by pairs of Runs: which commit changed these very numbers is asked, not what they say of others."""
    runs = [one for one in every if one.run.state is RunState.DONE]  # a void Run may have Samples, and they count for nothing
    found = list(pairs_of(runs, metric.name))
    pairs, signs = tuple(pair for pair, _ in found), [sign for _, sign in found]
    decision = decide(pairs, metric, policy, signs)
    if len({one.hardware_hash for one in runs if one.hardware_hash is not None}) > 1:
        why = "the blocks ran on different hardware or clock policies"
        decision = replace(decision, verdict=replace(decision.verdict, outcome=Outcome.NOT_COMPARABLE, reason=why), more=False)
    return line_of(every, metric, pairs, decision)


def _weight(line: Line) -> float:
    verdict = line.decision.verdict
    return abs(verdict.effect) / verdict.bar if verdict.effect is not None and verdict.bar else 0.0


def more_blocks(context: Context, reading: Reading) -> Iterator[PlannedRun]:
    """The next blocks of every Workload with a row that is open; none where all Runs of an arm failed in its last block."""
    by_group: dict[tuple[ArmSamples, ...], list[Line]] = {}
    for group, line in reading.rows:
        by_group.setdefault(group, []).append(line)
    for group, lines in by_group.items():
        planned = max(one.run.block for one in group) + 1
        last = [one.run for one in group if one.run.block >= planned - PLACES_A_BLOCK]
        alive = {run.arm for run in last if run.state in {RunState.DONE, RunState.VOID}}  # a void one is the machine's fault
        blocks = next_blocks(planned // 2, [line.decision for line in lines], reading.policy) if len(alive) == 2 else 0
        yield from _blocks(context, group, planned, blocks)


def _blocks(context: Context, group: Sequence[ArmSamples], planned: int, blocks: int) -> Iterator[PlannedRun]:
    pages = {one.run.arm: context.store.pages.run_page(one.run.key) for one in group[:PLACES_A_BLOCK]}
    specs = {arm: page.spec for arm, page in pages.items() if page is not None}
    page = next(iter(pages.values()))
    if page is None or len(specs) < 2:
        return
    like = PlannedRun(page.spec, page.workload, page.run.device_class, context.config.model(page.run.model))
    for block in range(blocks):
        yield from block_of(specs, replace(like, block=planned + block * PLACES_A_BLOCK))
