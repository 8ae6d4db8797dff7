"""Comparisons: two Builds measured in interleaved ABBA blocks on one device, until every Metric is decided.

A comparison is an occasion like a night. Its blocks are ordinary Runs with an arm and a place; the judge stage looks at what is
there and either plans more blocks or ends it, so that it survives any crash and any worker may go on with it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from perfd import builders
from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedRun
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.subject import Revision
from perfd.domain.suite import Workload
from perfd.domain.verdict import Outcome, Verdict
from perfd.errors import BadInputError
from perfd.rules.compare import DETECTOR, ComparePolicy, PairDecision, abba_order, combine, decide, next_blocks
from perfd.rules.judge import reduce_samples
from perfd.rules.plan import Candidate
from perfd.stages.context import Context
from perfd.stages.plan import candidate
from perfd.stages.subjects import Chosen
from perfd.store.records import ArmSamples

PLACES_A_BLOCK = 4


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


@dataclass(frozen=True)
class Comparison:
    """What the blocks so far say."""

    lines: tuple[Line, ...]
    owed: tuple[PlannedRun, ...]
    """More blocks, for the Workloads that are not decided."""
    failures: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """Speed and quality together."""
        told = [(line.metric, line.decision.verdict) for line in self.lines]
        return combine([(metric, v) for metric, v in told if _waited_for(metric) or v.outcome is not Outcome.UNSURE])


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
    context.store.occasions.open(occasion, now, OccasionState.WATCHED)
    context.store.plans.write(occasion, Plan(tuple(arm.build for arm in arms.values()), tuple(runs)), _gone(context, arms), now)
    return occasion


def _gone(context: Context, arms: Mapping[Arm, Candidate]) -> frozenset[str]:
    """Builds of the arms whose artifact is not (or no longer) on this disk."""
    specs = [arm.build.spec for arm in arms.values()]
    return frozenset(spec.digest for spec in specs if not builders.is_whole(spec, context.config.state))


def _chosen(one: Candidate, only: frozenset[str]) -> list[tuple[Workload, str]]:
    known = {workload.name for workload, _ in one.workloads}
    unknown = sorted(only - known)
    if unknown:
        raise BadInputError(f"there is no workload {unknown[0]!r}; there is {', '.join(sorted(known))}")
    return [(workload, device_class) for workload, device_class in one.workloads if not only or workload.name in only]


def _block(arms: Mapping[Arm, Candidate], workload: Workload, device_class: str, block: int) -> Iterator[PlannedRun]:
    """Four Runs in a row, so that a drift of the machine falls on both arms alike."""
    first = block * PLACES_A_BLOCK
    order = abba_order(block + 1)[first:]
    models: Iterable[Model | None] = arms[Arm.BASE].models or (None,)
    for model in models:
        for place, arm in enumerate(order, first):
            yield PlannedRun(arms[arm].build.spec, workload, device_class, model, arm, place)


def judge_comparison(context: Context, occasion: Occasion) -> bool:
    """The comparison has more blocks to measure, or is judged."""
    found = look(context, occasion)
    if found.owed:
        context.store.plans.add(occasion, Plan((), found.owed), frozenset(), context.now())
        context.tell.say("judge", f"{_undecided(found)} undecided: {len(found.owed)} more runs")
        return True
    return context.store.occasions.move(occasion, OccasionState.PLANNED, OccasionState.JUDGED, context.now())


def _undecided(found: Comparison) -> str:
    return ", ".join(f"{line.workload} {line.metric.name}" for line in found.lines if line.decision.more)[:120]


def look(context: Context, occasion: Occasion) -> Comparison:
    """What the comparison's blocks say now: a pure reading, so that judging and reporting see the same."""
    blocks = context.store.pages.blocks(occasion)
    lines: list[Line] = []
    owed: list[PlannedRun] = []
    for _, group in groupby(blocks, key=lambda one: (one.run.workload, one.run.model)):
        runs = tuple(group)
        found = _lines(runs)
        lines.extend(found)
        owed.extend(_owed(context, runs, found))
    failed = [one.run for one in blocks if one.run.state in {RunState.FAILED, RunState.VOID}]
    told = tuple(f"{run.workload} {run.arm} block {run.block}: {run.failure}, {run.reason}" for run in failed)
    return Comparison(tuple(lines), tuple(owed), told)


def _lines(runs: Sequence[ArmSamples]) -> tuple[Line, ...]:
    measured = {name: METRICS[name] for one in runs for name in _values(one) if name in METRICS}
    policy = ComparePolicy().shared(sum(map(_waited_for, measured.values())))
    return tuple(_line(runs, metric, policy) for metric in measured.values())


def _line(runs: Sequence[ArmSamples], metric: Metric, policy: ComparePolicy) -> Line:
    found = list(_pairs(runs, metric.name))
    pairs, signs = tuple(pair for pair, _ in found), [sign for _, sign in found]
    decision = decide(pairs, metric, policy, signs)
    if len({one.hardware_hash for one in runs if one.hardware_hash is not None}) > 1:
        why = "the blocks ran on different hardware or clock policies"
        decision = PairDecision(Verdict(Outcome.NOT_COMPARABLE, why, DETECTOR, len(pairs)), more=False)
    first = runs[0].run
    base, head = (_middle([pair[side] for pair in pairs]) for side in (0, 1))
    return Line(first.workload, first.workload_class, first.model, metric, base, head, pairs, decision)


def _middle(values: Sequence[float]) -> float | None:
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2 if ordered else None


def _pairs(runs: Sequence[ArmSamples], metric: str) -> Iterator[tuple[tuple[float, float], int]]:
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
    """A Run's Metrics, each reduced to its value."""
    return {
        samples.name: reduce_samples(samples.values, METRICS[samples.name]).value
        for samples in one.samples
        if samples.values and samples.name in METRICS
    }


def _waited_for(metric: Metric) -> bool:
    """Whether a comparison goes on for it: one start of an engine a Run says little, and is shown as what it is."""
    return metric.kind in {MetricKind.SPEED, MetricKind.QUALITY, MetricKind.STATIC} and metric.name != "ready_s"


def _owed(context: Context, runs: Sequence[ArmSamples], lines: Sequence[Line]) -> Iterator[PlannedRun]:
    """The next blocks of one Workload; none when it is decided, at its cap, or when its last block gave no pair at all."""
    planned = max(one.run.block for one in runs) + 1
    last = [one for one in runs if one.run.block >= planned - PLACES_A_BLOCK]
    if not any(one.run.state is RunState.DONE for one in last):
        return
    decisions = [line.decision for line in lines if _waited_for(line.metric)]
    more = next_blocks(planned // 2, decisions)
    specs = {one.run.arm: context.store.pages.run_page(one.run.key) for one in runs[:PLACES_A_BLOCK]}
    model = context.config.model(runs[0].run.model)
    for place, arm in enumerate(abba_order(planned // PLACES_A_BLOCK + more)[planned:], planned):
        page = specs[arm]
        if page is not None:
            yield PlannedRun(page.spec, page.workload, runs[0].run.device_class, model, arm, place)
