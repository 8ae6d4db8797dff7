"""What one step of a bisection owes: Builds, and the Runs of a comparison."""

from collections.abc import Iterator
from dataclasses import replace

from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.run import Arm
from perfd.domain.subject import brief
from perfd.errors import BadInputError
from perfd.rules.bisect import Build, Compare
from perfd.stages.comparison import block_of
from perfd.stages.context import Context
from perfd.stages.plan import candidate
from perfd.stages.subjects import by_name
from perfd.store.records import BisectRow


def plan_of(context: Context, row: BisectRow, asked: Build | Compare) -> Plan:
    """What the step owes: a Build, or the first block of every Workload that may decide. Raises PerfdError where it cannot be."""
    if isinstance(asked, Build):
        return Plan((planned(context, row, asked.place),), ())
    arms = {Arm.BASE: planned(context, row, asked.base), Arm.HEAD: planned(context, row, asked.head)}
    specs = {arm: one.spec for arm, one in arms.items()}
    likes = tuple(_likes(context, row, arms[Arm.BASE]))
    if not likes:
        raise BadInputError(f"nothing is measured on {row.subject} that fits {_asked(row)}; its suites or models changed")
    return Plan(tuple(arms.values()), tuple(run for like in likes for run in block_of(specs, like)))


def planned(context: Context, row: BisectRow, place: int) -> PlannedBuild:
    """The Build of a place: the one that was made earlier, or the Revision as things are today."""
    one = row.path[place]
    if one.build:
        found = context.store.builds.planned(one.build)
        if found is None:
            raise BadInputError(f"nothing is known of the build {one.build[:12]} of {brief(one.revision)} any more")
        return found
    known = {revision.name: revision for revision in context.store.subjects.revisions(row.subject, row.branch)}
    build = candidate(context, by_name(context.config, row.subject), known[one.revision]).build
    return replace(build, branch=row.branch)  # of a pull request this is no tracked branch, and must not become part of one


def _likes(context: Context, row: BisectRow, base: PlannedBuild) -> Iterator[PlannedRun]:
    """One Run of every Workload and Model that may decide."""
    asked = row.target or row.wanted
    found = candidate(context, by_name(context.config, row.subject), base.revision)
    for workload, device_class in found.workloads:
        for model in found.models or (None,):
            like = PlannedRun(base.spec, workload, device_class, model)
            fits = (
                asked.workload in {"", workload.name},
                asked.device_class in {"", device_class},
                asked.model in {"", model.name if model else ""},
            )
            if all(fits):
                yield like


def _asked(row: BisectRow) -> str:
    asked = row.target or row.wanted
    parts = (asked.workload, asked.model, asked.device_class, asked.metric)
    return ", ".join(part for part in parts if part) or "it"
