"""Comparisons of commits that may stand beside the tracked branch: they never become Revisions of it, nor enter a Series."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from perfd.builders import commits
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion
from perfd.domain.plan import Plan, PlannedRun
from perfd.domain.run import Arm, OccasionKind
from perfd.domain.suite import Workload
from perfd.rules.plan import Candidate
from perfd.stages.comparison import block_of, gone
from perfd.stages.context import Context
from perfd.stages.plan import candidate
from perfd.stages.subjects import Chosen


@dataclass(frozen=True)
class Aside:
    """Two commits to be compared, and what for."""

    subject: Chosen
    base: str
    """Full hash."""
    head: str
    label: str
    """The occasion's: "pull octo/engine#12 1f2e3d..c0ffee attempt 1"."""
    branch: str
    """Under which a commit is known that the tracked branch has not: "pull/12"."""
    suites: tuple[str, ...] = ()
    """Empty: what a night measures."""
    at: datetime | None = None
    """When it was due; with it the same comparison opened twice is one. Absent: now."""


def open_aside(context: Context, aside: Aside, covers: Callable[[Workload], bool] = lambda _: True) -> Occasion | None:
    """The comparison is planned, its first block of every Workload that `covers` wants queued; absent where it wants none.

    Raises PerfdError where a commit is unknown, a Build cannot be described, or there is no such suite.
    """
    arms = {Arm.BASE: _arm(context, aside, aside.base), Arm.HEAD: _arm(context, aside, aside.head)}
    runs = tuple(_first_blocks(arms, covers))
    if not runs:
        return None
    occasion = Occasion(OccasionKind.COMPARE, (aside.at or context.now()).replace(microsecond=0), aside.label)
    builds = tuple(arm.build for arm in arms.values())
    context.store.plans.open(occasion, Plan(builds, runs), gone(context, builds), context.now())
    return occasion


def _arm(context: Context, aside: Aside, commit: str) -> Candidate:
    """The Build of one side; a commit of the tracked branch stays what it is there."""
    subject = aside.subject
    known = context.store.subjects.revisions(subject.name, subject.source.branch)
    tracked = next((one for one in known if one.name == commit), None)
    revision = tracked or commits.revision(subject.source, commit, context.config.state)
    found = candidate(context, subject, revision, aside.suites)
    return found if tracked else replace(found, build=replace(found.build, branch=aside.branch))


def _first_blocks(arms: Mapping[Arm, Candidate], covers: Callable[[Workload], bool]) -> Iterator[PlannedRun]:
    """Four Runs in a row for each Workload and Model; what is measured is told by the base, and by perfd's own suites."""
    specs = {arm: one.build.spec for arm, one in arms.items()}
    models: tuple[Model | None, ...] = arms[Arm.BASE].models or (None,)
    for workload, device_class in arms[Arm.BASE].workloads:
        for model in models if covers(workload) else ():
            yield from block_of(specs, PlannedRun(specs[Arm.BASE], workload, device_class, model))
