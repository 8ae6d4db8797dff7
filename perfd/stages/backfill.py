"""Baselines that are missing: what a budget pins is built and measured, as nothing can be held against Points that are not there.

A night that was judged says which Series have no comparable Point of the pinned Revision: it was released before perfd began, a
Workload is new, or the machine is another one. The backfill is an occasion of its own, with the last place in the queue; its
Points enter the Series where its commit stands, and the next night is judged against them.
"""

from collections.abc import Collection, Iterable
from typing import TypeAlias

from perfd.domain.budget import Budget
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.domain.subject import Revision, brief
from perfd.errors import BadInputError, PerfdError
from perfd.rules.plan import Lacking, baseline
from perfd.stages.comparison import gone
from perfd.stages.context import Context
from perfd.stages.plan import candidate
from perfd.stages.subjects import Chosen, by_name
from perfd.store.records import SeriesInfo

TRIES = 3
"""A Baseline that could not be measured in so many backfills is given up, and said to be every night."""
MOST_LISTED = 100
Unpinned: TypeAlias = tuple[Budget, SeriesInfo]
"""A budget, and a Series that it is for and that has no Point of the pinned Revision."""


def plan_baselines(context: Context, night: Occasion, unpinned: Iterable[Unpinned]) -> None:
    """Every Baseline that the night was to be judged against and that is missing is planned, or a finding says why not."""
    lacking: dict[tuple[str, str], set[Lacking]] = {}
    for budget, series in unpinned:
        key = series.key
        lacking.setdefault((budget.engine, budget.revision), set()).add((key.workload, key.model, key.device_class))
    for (engine, revision), series_parts in lacking.items():
        try:
            _plan(context, night, (engine, revision), series_parts)
        except PerfdError as error:
            sentence = f"the Baseline {brief(revision)} of a budget is missing and cannot be measured: {error.message}"
            context.store.occasions.note(night, Finding("plan", engine, sentence), context.now())


def _plan(context: Context, night: Occasion, pinned: tuple[str, str], lacking: Collection[Lacking]) -> None:
    engine, name = pinned
    subject = by_name(context.config, engine)
    revision = _revision(context, subject, name)
    occasion = Occasion(OccasionKind.BACKFILL, night.nominal_at, f"{engine} {brief(revision.name)}")
    before = [
        one for one in context.store.pages.occasions(OccasionKind.BACKFILL, MOST_LISTED) if one.occasion.label == occasion.label
    ]
    if any(one.state is not OccasionState.REPORTED for one in before):
        return  # it waits for its turn
    if len(before) >= TRIES:
        raise BadInputError(
            f"{len(before)} backfills gave it no Point; look at {before[0].occasion.name}, or pin another revision"
        )
    plan = baseline(candidate(context, subject, revision), lacking)
    if plan.runs and context.store.plans.open(occasion, plan, gone(context, plan.builds), context.now()):
        context.tell.say(
            "plan", f"the Baseline {brief(revision.name)} of {engine} is missing: {len(plan.runs)} runs, as a backfill"
        )


def _revision(context: Context, subject: Chosen, name: str) -> Revision:
    known = context.store.subjects.revisions(subject.name, subject.source.branch)
    fitting = [revision for revision in known if revision.name.startswith(name)]
    if len(fitting) != 1:
        raise BadInputError(f"{len(fitting)} of the {len(known)} revisions of {subject.name} begin so; correct budgets.revision")
    return fitting[0]
