"""Beside a Checkpoint the first day's Build is measured again, interleaved: a changed machine is told from changed software.

One unit of work is to plan that comparison once a Checkpoint is judged, or to note why there is none. It is worked off like any.
"""

from collections.abc import Iterator, Mapping, Sequence

from perfd.domain.build import BuildSpec
from perfd.domain.launch import Checkpoint
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.stages.comparison import PLACES_A_BLOCK, block_of, gone
from perfd.stages.context import Context
from perfd.store.launch_rows import LaunchRow
from perfd.store.records import RunRow


def open_beside(context: Context) -> bool:
    """One judged Checkpoint has its comparison planned, or says why it has none; False when all have."""
    judged = context.store.occasions.every_in_state(OccasionState.JUDGED)
    return any(_settle(context, one) for one in judged if one.kind is OccasionKind.CHECKPOINT)


def _settle(context: Context, occasion: Occasion) -> bool:
    found = context.store.launches.of(occasion)
    if found is None or found[1].comparison is not None or found[1].why_no_comparison:
        return False
    row, one = found
    first = row.day(row.launch.first_day)
    why = why_none(row, one, first)
    if why or first is None or first.occasion is None:
        return context.store.launches.no_comparison(occasion, why)
    if first.state is not OccasionState.REPORTED:
        return False  # both are measured late, and the first day's Build is not known yet
    return _open(context, row, one, (first.occasion, occasion))


def why_none(row: LaunchRow, one: Checkpoint, first: Checkpoint | None) -> str:
    """Why a Checkpoint is compared with nothing; "" where it is to be."""
    if one.day < 0:
        return "a rehearsal on random weights is held against nothing"
    if first is None or first.day == one.day:
        return "it is the day that the others are held against"
    if first.occasion is None:
        return f"day {first.day} was never measured"
    return "" if row.launch.compare_minutes > 0 else "the launch gives it no device minutes"


def _open(context: Context, row: LaunchRow, one: Checkpoint, days: tuple[Occasion, Occasion]) -> bool:
    """The comparison of the two days' Builds is planned on the Workloads that both could do."""
    first, now = (context.store.pages.occasion(day).runs for day in days)
    builds = _built(context, first), _built(context, now)
    note = context.store.launches.no_comparison
    if builds[0] is None or builds[1] is None:
        return note(days[1], f"day {row.launch.first_day if builds[0] is None else one.day} has no Build that could be measured")
    if builds[0].spec.digest == builds[1].spec.digest:
        return note(days[1], f"its Build is that of day {row.launch.first_day}")
    specs = {Arm.BASE: builds[0].spec, Arm.HEAD: builds[1].spec}
    runs = tuple(_runs(context, specs, (first, now), row.launch.compare_minutes * 60.0))
    if not runs:
        return note(
            days[1], f"no Workload that both Builds could do has a block that fits into {row.launch.compare_minutes:g} min"
        )
    comparison = Occasion(OccasionKind.COMPARE, days[1].nominal_at, f"{days[1].label} beside day {row.launch.first_day}")
    plan = Plan((builds[0], builds[1]), runs)
    context.tell.say("confirm", f"day {row.launch.first_day} of {row.launch.name} is measured again beside day {one.day}")
    return context.store.launches.open_comparison(days[1], comparison, plan, gone(context, plan.builds), context.now())


def _built(context: Context, runs: Sequence[RunRow]) -> PlannedBuild | None:
    """The Build that a Checkpoint measured; absent where nothing came of it."""
    done = next((run for run in runs if run.state is RunState.DONE), None)
    return None if done is None else context.store.builds.planned(done.build)


def _runs(
    context: Context, specs: Mapping[Arm, BuildSpec], days: tuple[Sequence[RunRow], Sequence[RunRow]], budget_s: float
) -> Iterator[PlannedRun]:
    """A block of every Workload that was measured on both days, the shortest first, as far as the minutes go."""
    first = {(run.suite, run.workload, run.device_class): run for run in days[0] if run.state is RunState.DONE}
    done = [run for run in days[1] if run.state is RunState.DONE and (run.suite, run.workload, run.device_class) in first]
    for run in sorted(done, key=_seconds):
        before = first[run.suite, run.workload, run.device_class]
        budget_s -= (_seconds(before) + _seconds(run)) * PLACES_A_BLOCK / 2
        page = context.store.pages.run_page(run.key)
        if budget_s < 0 or page is None:
            return
        like = PlannedRun(specs[Arm.BASE], page.workload, run.device_class, context.config.model(run.model))
        yield from block_of(specs, like)


def _seconds(run: RunRow) -> float:
    return (run.finished_at - run.started_at).total_seconds() if run.started_at and run.finished_at else 0.0


def is_waited_for(context: Context, occasion: Occasion) -> bool:
    """Whether a judged Checkpoint waits for the comparison beside it: its report tells what came of that."""
    found = context.store.launches.of(occasion)
    if found is None:
        return False
    one = found[1]
    if one.comparison is None:
        return not one.why_no_comparison
    return context.store.occasions.state(one.comparison) is not OccasionState.REPORTED
