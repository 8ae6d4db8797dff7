"""What of a Checkpoint is the machine's: the first day's Build measured again beside it, against what it took then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from perfd.domain.codec import from_json
from perfd.domain.launch import Checkpoint
from perfd.domain.metric import MetricKind
from perfd.domain.run import Arm
from perfd.domain.verdict import Outcome, Verdict
from perfd.rules.checkpoint import by_machine
from perfd.rules.suspects import epoch_difference
from perfd.stages.comparison import measured_in, pairs_of
from perfd.stages.context import Context
from perfd.store.records import ArmSamples, RunPage

Load: TypeAlias = tuple[str, str, str]
"""Suite, Workload and device class by name."""


@dataclass(frozen=True)
class Beside:
    """The comparison of the first day's Build with this day's, as far as the report needs it."""

    verdicts: Mapping[tuple[str, str], Verdict]
    """By Workload and Metric; those that saw no pair are left out."""
    blocks: Mapping[str, Sequence[ArmSamples]]
    """By Workload."""


def read_beside(context: Context, one: Checkpoint) -> Beside:
    """The comparison beside the Checkpoint as it was reported, with its blocks; empty where there is none."""
    if one.comparison is None:
        return Beside({}, {})
    report = context.store.pages.occasion(one.comparison).row.report or {}
    verdicts = {
        (told["workload"], told["metric"]): from_json(Verdict, told["verdict"])
        for told in report.get("rows", ())
        if told["pairs"]
    }
    blocks: dict[str, list[ArmSamples]] = {}
    for block in context.store.pages.blocks(one.comparison):
        blocks.setdefault(block.run.workload, []).append(block)
    return Beside(verdicts, blocks)


def machine_verdicts(first: Mapping[Load, RunPage], beside: Beside) -> dict[tuple[str, str], Verdict]:
    """By Workload and Metric of speed: what the first day's Build took beside this day against what it took then."""
    found: dict[tuple[str, str], Verdict] = {}
    for page in first.values():
        blocks = beside.blocks.get(page.run.workload, ())
        where = next((one.hardware_hash for one in blocks if one.run.arm is Arm.BASE and one.hardware_hash), None)
        for metric in measured_in(blocks) if where is not None else ():
            if metric.kind is MetricKind.SPEED and metric.name in page.points:
                again = [base for (base, _), _ in pairs_of(blocks, metric.name)]
                found[page.run.workload, metric.name] = by_machine(page.points[metric.name][1], again, str(where), metric)
    return found


def what_changed_on_it(context: Context, first: Mapping[Load, RunPage], beside: Beside) -> str:
    """What the machine of the comparison has that the first day's had not: host, hardware, clock policy, driver, libraries."""
    for page in first.values():
        base = next((one for one in beside.blocks.get(page.run.workload, ()) if one.run.arm is Arm.BASE), None)
        again = None if base is None else context.store.pages.run_page(base.run.key)
        if again is None or again.environment is None or page.environment is None:
            continue
        then, now = page.environment, again.environment
        before = {"host": then.device.host, **then.hardware, "clocks": then.clock_policy, **then.software}
        return epoch_difference(before, {"host": now.device.host, **now.hardware, "clocks": now.clock_policy, **now.software})
    return ""


def machine_words(machine: Mapping[tuple[str, str], Verdict], difference: str) -> dict[str, Any]:
    """Whether the machine is as fast as on the first day, by the Metrics that can tell; with what changed on it."""
    moved = [f"{' '.join(key)} {one.reason}" for key, one in machine.items() if one.outcome in {Outcome.BETTER, Outcome.WORSE}]
    outcomes = {one.outcome for one in machine.values()}
    if Outcome.NOT_COMPARABLE in outcomes:
        word, reason = "another machine", next(one.reason for one in machine.values() if one.outcome is Outcome.NOT_COMPARABLE)
    elif moved:
        word, reason = "drifted", "; ".join(moved)
    elif not outcomes:
        word, reason = "not measured", "the first day's Build was not measured again"
    elif outcomes == {Outcome.UNSURE}:
        word, reason = "unsure", "; ".join(f"{' '.join(key)} {one.reason}" for key, one in machine.items())
    else:
        same = [key for key, one in machine.items() if one.outcome is Outcome.SAME]
        word, reason = "same", "as fast as on the first day in " + ", ".join(" ".join(key) for key in same)
    return {"outcome": word, "reason": reason, "changed": difference}
