"""A/A: every night a Build is compared with itself on each device class, one Workload in turn, to learn how often perfd errs."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from typing import TypeAlias

from perfd.bench.kernels.workloads import ARCHITECTURES, INTERPRETED
from perfd.domain.metric import Metric
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedRun
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.verdict import Verdict
from perfd.rules.aa import DETECTOR, Loaded, called, choose, judge_itself, runs_of
from perfd.rules.compare import PairDecision
from perfd.stages.comparison import Line, block_of, gone, line_of, measured_in, pairs_of
from perfd.stages.context import Context
from perfd.stages.members import is_waited_for
from perfd.store.pages import SeriesFilter
from perfd.store.records import ArmSamples, RunRow

Believed: TypeAlias = tuple[str, str, str, str, str]
"""A Series by subject, Workload, Model, device class and Metric."""
UNTIMED = frozenset({INTERPRETED, *(f"{arch} (compiled)" for arch in ARCHITECTURES)})
"""Classes on which nothing has noise."""
MEMORY = timedelta(days=90)
"""How far back it is looked whose turn it is."""


def open_aa(context: Context) -> bool:
    """The A/A comparison of one device class of a judged night is planned; False when all are, or none is wanted."""
    if not context.config.schedule.aa:
        return False
    for night in context.store.occasions.every_in_state(OccasionState.JUDGED):
        if night.kind is OccasionKind.NIGHT and _open_for(context, night):
            return True
    return False


def _open_for(context: Context, night: Occasion) -> bool:
    summary = context.store.pages.occasion(night)
    runs = [run for run in summary.runs if run.state is RunState.DONE and run.device_class not in UNTIMED]
    there = set(context.store.occasions.beside(night))
    for device_class in sorted({run.device_class for run in runs}):
        occasion = Occasion(OccasionKind.AA, night.nominal_at, device_class)
        here = [run for run in runs if run.device_class == device_class]
        if occasion not in there and _plan(context, occasion, here):
            return True
    return False


def _plan(context: Context, occasion: Occasion, runs: Sequence[RunRow]) -> bool:
    past = context.store.trust.aa(occasion.nominal_at - MEMORY)
    turns = [Loaded(row.subject, row.workload, row.model) for row in past if row.device_class == occasion.label]
    by_load = {Loaded(run.subject, run.workload, run.model): run for run in runs}
    turn = choose(by_load, turns)
    page = None if turn is None else context.store.pages.run_page(by_load[turn].key)
    build = None if page is None else context.store.builds.planned(page.run.build)
    if page is None or build is None:
        return False
    like = PlannedRun(build.spec, page.workload, page.run.device_class, context.config.model(page.run.model))
    specs = {Arm.BASE: build.spec, Arm.HEAD: build.spec}
    plan = Plan((build,), tuple(block_of(specs, like, runs_of(_seconds(page.run)))))
    context.tell.say("confirm", f"A/A: {page.run.workload} on {page.run.subject}, {len(plan.runs)} runs of the same build")
    return context.store.plans.open(occasion, plan, gone(context, plan.builds), context.now())


def _seconds(run: RunRow) -> float:
    return (run.finished_at - run.started_at).total_seconds() if run.started_at and run.finished_at else 0.0


def look_at_itself(context: Context, occasion: Occasion) -> tuple[tuple[Line, ...], Verdict]:
    """The rows of an A/A comparison, and what it is called: a pure reading."""
    blocks = context.store.pages.blocks(occasion)
    lines = [line for _, runs in groupby(blocks, key=lambda one: one.run.workload) for line in _lines(context, tuple(runs))]
    outcome = called(line.decision.verdict.outcome for line in lines if is_waited_for(line.metric))
    told = "; ".join(f"{line.metric.name} {line.decision.verdict.reason}" for line in lines if is_waited_for(line.metric))
    n = min((len(line.pairs) for line in lines), default=0)
    effect = next((line.decision.verdict.effect for line in lines if line.decision.verdict.outcome is outcome), None)
    return tuple(lines), Verdict(outcome, told or "nothing was measured", DETECTOR, n, effect)


def _lines(context: Context, runs: Sequence[ArmSamples]) -> list[Line]:
    noise, metrics = _noise(context, runs[0].run), measured_in(runs)
    together = sum(map(is_waited_for, metrics))
    return [_line(runs, metric, noise.get(metric.name), together) for metric in metrics]


def _line(runs: Sequence[ArmSamples], metric: Metric, noise: float | None, together: int) -> Line:
    pairs = tuple(pair for pair, _ in pairs_of(runs, metric.name))
    return line_of(runs, metric, pairs, PairDecision(judge_itself(pairs, metric, noise, together), more=False))


def _noise(context: Context, run: RunRow) -> Mapping[str, float]:
    """Night-to-night noise by Metric, of the Series that the Workload has on this device class."""
    wanted = SeriesFilter(subject=run.subject, workload=run.workload, model=run.model, device_class=run.device_class)
    rows = context.store.pages.series_rows(wanted)
    return {row.info.key.metric: row.verdict.noise for row in rows if row.verdict and row.verdict.noise is not None}


def failing(context: Context, window: timedelta) -> frozenset[Believed]:
    """The Series whose last A/A comparison in that time was called different."""
    last: dict[Believed, bool] = {}
    for row in context.store.trust.aa(context.now() - window):
        for metric in row.judged:
            last[row.subject, row.workload, row.model, row.device_class, metric] = metric in row.different
    return frozenset(key for key, different in last.items() if different)
