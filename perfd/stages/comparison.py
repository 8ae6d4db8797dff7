"""Comparisons: two Builds measured in interleaved ABBA blocks on one device, until every Metric is decided.

A comparison is an occasion like a night. Its blocks are ordinary Runs with an arm and a place; the judge stage looks at what is
there and either plans more blocks or ends it, so that it survives any crash and any worker may go on with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from perfd import builders
from perfd.config import GitHubRepository
from perfd.domain.build import BuildSpec
from perfd.domain.metric import METRICS, Metric
from perfd.domain.model import Model
from perfd.domain.numbers import percents
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.purpose import Purpose, purpose_of
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.subject import Revision
from perfd.domain.suite import Workload
from perfd.domain.verdict import Outcome, Verdict
from perfd.errors import BadInputError
from perfd.rules.compare import DETECTOR, ComparePolicy, PairDecision, abba_order, combine, decide, next_blocks
from perfd.rules.compare_samples import by_samples, decide_samples
from perfd.rules.judge import reduce_samples
from perfd.rules.plan import Candidate
from perfd.stages.context import Context
from perfd.stages.members import is_waited_for, remeasured
from perfd.stages.plan import candidate
from perfd.stages.subjects import Chosen
from perfd.store.records import ArmSamples

PLACES_A_BLOCK = 4
Asked: TypeAlias = frozenset[tuple[str, str, str]]
"""(Workload, Model, Metric) by name."""


@dataclass(frozen=True)
class Line:
    """One row of a comparison: a Metric of a Workload, base against head."""

    workload: str
    workload_class: str
    model: str
    metric: Metric
    base: float | None
    """The median of base's Runs; absent where none was measured."""
    head: float | None
    pairs: tuple[tuple[float, float], ...]
    decision: PairDecision
    signs: tuple[int, ...] = ()
    """Which arm of each pair came first, where the pairs are what decided: +1 base, -1 head."""
    together: int = 1
    """Metrics that share the error of the whole."""


@dataclass(frozen=True)
class Comparison:
    """What the blocks so far say."""

    lines: tuple[Line, ...]
    owed: tuple[PlannedRun, ...]
    """More blocks, for the Workloads that are not decided."""
    failures: tuple[str, ...]
    asked: Asked | None = None
    """Present where only these were to be answered: a Regression's members."""

    @property
    def answers(self) -> tuple[Line, ...]:
        """The rows that the comparison was made for."""
        return tuple(line for line in self.lines if is_asked(line, self.asked))

    @property
    def verdict(self) -> Verdict:
        """Speed and quality together."""
        told = self.answers if self.asked else [line for line in self.lines if is_told(line.metric, line.decision.verdict)]
        return combine([(line.metric, line.decision.verdict) for line in told])


def open_comparison(
    context: Context, subject: Chosen, base: Revision, head: Revision, only: frozenset[str] = frozenset()
) -> Occasion:
    """A comparison of two Revisions of a subject is planned, its first block of every Workload queued.

    `only` names Workloads; empty means all that a night measures. Raises BadInputError for one that does not exist.
    """
    arms = {Arm.BASE: candidate(context, subject, base), Arm.HEAD: candidate(context, subject, head)}
    chosen = _chosen(arms[Arm.BASE], only)
    runs = [run for workload, device_class in chosen for run in _block(arms, workload, device_class, 0)]
    now = context.now()
    occasion = Occasion(OccasionKind.COMPARE, now.replace(microsecond=0), f"{subject.name}@{base.name[:12]}..{head.name[:12]}")
    planned = tuple(arm.build for arm in arms.values())
    context.store.plans.open(occasion, Plan(planned, tuple(runs)), gone(context, planned), now)
    return occasion


def gone(context: Context, builds: Iterable[PlannedBuild]) -> frozenset[str]:
    """Those of the Builds whose artifact is not (or no longer) on this disk."""
    return frozenset(one.spec.digest for one in builds if not builders.is_whole(one.spec, context.config.state))


def _chosen(one: Candidate, only: frozenset[str]) -> list[tuple[Workload, str]]:
    known = {workload.name for workload, _ in one.workloads}
    unknown = sorted(only - known)
    if unknown:
        raise BadInputError(f"there is no workload {unknown[0]!r}; there is {', '.join(sorted(known))}")
    return [(workload, device_class) for workload, device_class in one.workloads if not only or workload.name in only]


def _block(arms: Mapping[Arm, Candidate], workload: Workload, device_class: str, block: int) -> Iterator[PlannedRun]:
    """Four Runs in a row for each Model, so that a drift of the machine falls on both arms alike."""
    specs = {arm: one.build.spec for arm, one in arms.items()}
    models: Iterable[Model | None] = arms[Arm.BASE].models or (None,)
    for model in models:
        yield from block_of(specs, PlannedRun(specs[Arm.BASE], workload, device_class, model, block=block * PLACES_A_BLOCK))


def block_of(specs: Mapping[Arm, BuildSpec], like: PlannedRun, places: int = PLACES_A_BLOCK) -> Iterator[PlannedRun]:
    """The Runs of the block that begins at the place of `like`, each arm with its own Build."""
    order = abba_order(like.block // PLACES_A_BLOCK + 1)[like.block : like.block + places]
    for place, arm in enumerate(order, like.block):
        yield replace(like, build=specs[arm], arm=arm, block=place)


def judge_comparison(context: Context, occasion: Occasion) -> bool:
    """The comparison has more blocks to measure, or is judged."""
    found = look(context, occasion)
    if found.owed and not _out_of_time(context, occasion):
        context.store.plans.add(occasion, Plan((), found.owed), frozenset(), context.now())
        context.tell.say("judge", f"{_undecided(found)}: {len(found.owed)} more runs")
        return True
    return context.store.occasions.move(occasion, OccasionState.PLANNED, OccasionState.JUDGED, context.now())


def _undecided(found: Comparison) -> str:
    """The Metrics that more blocks are measured for, and how near each is: whoever waits sees whether waiting helps."""
    waited = [line for line in found.lines if line.decision.more and is_waited_for(line.metric)]
    pairs = max((line.decision.verdict.n for line in waited), default=0)
    told = (f"{line.workload} {line.metric.name} {percents(line.decision.verdict.interval)}".rstrip() for line in waited)
    return f"undecided after {pairs} of at most {ComparePolicy.cap} pairs, {', '.join(told)}"


def _out_of_time(context: Context, occasion: Occasion) -> bool:
    """Whether nobody may wait longer: a re-measurement whose night has no minutes left, a pull request that had its own."""
    if purpose_of(occasion) is Purpose.PULL_REQUEST:
        return _spent_s(context, occasion) >= pull_minutes(context, occasion) * 60.0
    budget_s = context.config.schedule.confirm_minutes * 60.0
    return context.store.confirmations.of(occasion) is not None and context.store.confirmations.spent_s(occasion) >= budget_s


def pull_minutes(context: Context, occasion: Occasion) -> float:
    """Device minutes that the answer to a pull request may take, by the repository that stands in the comparison's label."""
    name = occasion.label.removeprefix("pull ").partition("#")[0].partition(" ")[0]
    return (context.config.github.repository(name) or GitHubRepository(name, "")).most_minutes


def _spent_s(context: Context, occasion: Occasion) -> float:
    runs = (one.run for one in context.store.pages.blocks(occasion))
    return sum((run.finished_at - run.started_at).total_seconds() for run in runs if run.started_at and run.finished_at)


def _asked(context: Context, occasion: Occasion) -> Asked | None:
    """What the comparison is to answer, where it re-measures a Regression: its members."""
    confirmation = context.store.confirmations.of(occasion)
    row = None if confirmation is None else context.store.regressions.read(confirmation.regression)
    if row is None:
        return None
    return frozenset((info.workload_name, info.key.model, info.key.metric) for info, _ in remeasured(row))


def is_asked(line: Line, asked: Asked | None) -> bool:
    """Whether the comparison goes on for this row."""
    if asked is None:
        return is_waited_for(line.metric)
    return (line.workload, line.model, line.metric.name) in asked


def look(context: Context, occasion: Occasion) -> Comparison:
    """What the comparison's blocks say now: a pure reading, so that judging and reporting see the same."""
    asked = _asked(context, occasion)
    blocks = context.store.pages.blocks(occasion)
    lines: list[Line] = []
    owed: list[PlannedRun] = []
    for _, group in groupby(blocks, key=lambda one: (one.run.workload, one.run.model)):
        runs = tuple(group)
        found = lines_of(runs, asked)
        lines.extend(found)
        owed.extend(_owed(context, runs, [line.decision for line in found if is_asked(line, asked)]))
    failed = [one.run for one in blocks if one.run.state in {RunState.FAILED, RunState.VOID}]
    told = tuple(f"{run.workload} {run.arm} block {run.block}: {run.failure}, {run.reason}" for run in failed)
    made = Comparison(tuple(lines), tuple(owed), told, asked)
    known = asked is not None and any(line.decision.verdict.outcome is Outcome.WORSE for line in made.answers)
    return replace(made, owed=()) if known else made  # one member that is worse again is what was asked


def lines_of(runs: Sequence[ArmSamples], asked: Asked | None) -> tuple[Line, ...]:
    """The rows of one Workload on one Model: a Metric each, decided by what it is made of."""
    measured = measured_in(runs)
    together = len(asked) if asked else sum(map(is_waited_for, measured))
    policy = ComparePolicy().shared(together)
    # A Regression is about the very Runs of a Series, so its re-measurement asks for those again, whatever they are made of.
    by_runs = {metric: bool(asked) or not by_samples(metric) for metric in measured}
    return tuple(
        _line(runs, metric, _decided_by_runs(runs, metric, policy), together)
        if by_runs[metric]
        else _line(runs, metric, _decided_by_samples(runs, metric, policy))
        for metric in measured
    )


def measured_in(runs: Sequence[ArmSamples]) -> tuple[Metric, ...]:
    """The Metrics of the catalogue that some Run has a value of."""
    return tuple({name: METRICS[name] for one in runs for name in _values(one)}.values())


def _decided_by_samples(runs: Sequence[ArmSamples], metric: Metric, policy: ComparePolicy) -> PairDecision:
    """By items or documents."""
    base, head = (samples_of(runs, metric.name, arm) for arm in (Arm.BASE, Arm.HEAD))
    return decide_samples(base, head, metric, policy)


def _decided_by_runs(runs: Sequence[ArmSamples], metric: Metric, policy: ComparePolicy) -> PairDecision:
    found = list(pairs_of(runs, metric.name))
    return decide([pair for pair, _ in found], metric, policy, [sign for _, sign in found])


def _line(runs: Sequence[ArmSamples], metric: Metric, decision: PairDecision, together: int | None = None) -> Line:
    """The row of a Metric; `together` is absent where it was not decided by pairs."""
    found = tuple(pairs_of(runs, metric.name))
    pairs = tuple(pair for pair, _ in found)
    if len({one.hardware_hash for one in runs if one.hardware_hash is not None}) > 1:
        why = "the blocks ran on different hardware or clock policies"
        decision = PairDecision(Verdict(Outcome.NOT_COMPARABLE, why, DETECTOR, len(pairs)), more=False)
    if is_one_sided(runs, metric):
        decision = replace(decision, more=False)
    line = line_of(runs, metric, pairs, decision)
    return line if together is None else replace(line, signs=tuple(sign for _, sign in found), together=together)


def is_one_sided(runs: Sequence[ArmSamples], metric: Metric) -> bool:
    """Whether one arm never gives the Metric, however often it is measured: a head that hides it must not spend the cap."""
    done = {arm: [one for one in runs if one.run.arm is arm and one.run.state is RunState.DONE] for arm in (Arm.BASE, Arm.HEAD)}
    return any(len(each) > 1 and not any(metric.name in _values(one) for one in each) for each in done.values())


def samples_of(runs: Sequence[ArmSamples], metric: str, arm: Arm) -> list[tuple[float, ...]]:
    """The Samples of each of the arm's Runs, in the order that all Runs share."""
    done = [one for one in runs if one.run.arm is arm and one.run.state is RunState.DONE]
    values = (samples.values for one in done for samples in one.samples if samples.name == metric)
    return [tuple(each) for each in values if each]


def line_of(runs: Sequence[ArmSamples], metric: Metric, pairs: tuple[tuple[float, float], ...], decision: PairDecision) -> Line:
    """The row of one Metric of these Runs."""
    first = runs[0].run
    base, head = (_middle([pair[side] for pair in pairs]) for side in (0, 1))
    return Line(first.workload, first.workload_class, first.model, metric, base, head, pairs, decision)


def _middle(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2 if ordered else None


def pairs_of(runs: Sequence[ArmSamples], metric: str) -> Iterator[tuple[tuple[float, float], int]]:
    """(base, head) of every pair of neighbours that were both measured, and which of them came first."""
    at = {one.run.block: one for one in runs}
    for first, second in ((at.get(place), at.get(place + 1)) for place in range(0, max(at, default=-1) + 1, 2)):
        if first is None or second is None:
            continue
        values = {one.run.arm: _values(one).get(metric) for one in (first, second)}
        base, head = values.get(Arm.BASE), values.get(Arm.HEAD)
        if base is not None and head is not None:
            yield (base, head), 1 if first.run.arm is Arm.BASE else -1


def _values(one: ArmSamples) -> dict[str, float]:
    """A done Run's Metrics, each reduced to its value; a void Run keeps its Samples for people, and counts for nothing."""
    if one.run.state is not RunState.DONE:
        return {}
    return {
        samples.name: reduce_samples(samples.values, METRICS[samples.name]).value
        for samples in one.samples
        if samples.values and samples.name in METRICS
    }


def is_told(metric: Metric, verdict: Verdict) -> bool:
    """Whether the answer counts in the whole: one that is not waited for does so only where it is no shrug."""
    return is_waited_for(metric) or verdict.outcome is not Outcome.UNSURE


def has_both_arms(runs: Sequence[ArmSamples]) -> bool:
    """Whether both arms were measured in the last block; an arm that never starts is not tried up to the cap."""
    first = max(one.run.block for one in runs) + 1 - PLACES_A_BLOCK
    return {one.run.arm for one in runs if one.run.block >= first and one.run.state is RunState.DONE} == {Arm.BASE, Arm.HEAD}


def _owed(context: Context, runs: Sequence[ArmSamples], decisions: Sequence[PairDecision]) -> Iterator[PlannedRun]:
    """The next blocks of one Workload; none when it is decided, at its cap, or when one arm gave nothing in the last block."""
    if not decisions or not has_both_arms(runs):
        return
    planned = max(one.run.block for one in runs) + 1
    more = next_blocks(planned // 2, decisions)
    if not more:
        return
    like = {one.run.arm: one.run.key for one in runs[:PLACES_A_BLOCK]}
    specs = {arm: context.store.pages.run_page(key) for arm, key in like.items()}
    model = context.config.model(runs[0].run.model)
    for place, arm in enumerate(abba_order(planned // PLACES_A_BLOCK + more)[planned:], planned):
        page = specs[arm]
        if page is not None:
            yield PlannedRun(page.spec, page.workload, runs[0].run.device_class, model, arm, place)
