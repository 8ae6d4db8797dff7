"""Where a bisection searches: the path of Builds from the good end to the bad one, for a person's two ends or a Regression's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perfd import builders
from perfd.domain.bisect import Place, Wanted
from perfd.domain.metric import MetricKind
from perfd.domain.plan import PlannedBuild
from perfd.domain.subject import Revision, SourceKind, brief
from perfd.domain.verdict import ChangeKind
from perfd.errors import BadInputError
from perfd.rules.bisect import default_builds
from perfd.stages.confirm_arms import confirmed_pair
from perfd.stages.context import Context
from perfd.stages.plan import candidate
from perfd.stages.subjects import Chosen, by_name
from perfd.store.records import BisectRow, ChangeRow, RegressionRow, SeriesInfo

DEFAULT_MINUTES = 240.0


@dataclass(frozen=True)
class Budget:
    """What a bisection may cost."""

    builds: int | None = None
    """Absent: twice what halving the path needs, and six."""
    minutes: float = DEFAULT_MINUTES
    """Device minutes."""


def open_between(
    context: Context, subject: Chosen, ends: tuple[Revision, Revision], wanted: Wanted, budget: Budget | None = None
) -> int:
    """A bisection between a good and a bad Revision of a subject stands there; its number."""
    good, bad = ends
    _refuse_without_history(subject)
    known = {workload.name for workload, _ in candidate(context, subject, bad).workloads}
    if wanted.workload and wanted.workload not in known:
        raise BadInputError(f"there is no workload {wanted.workload!r}; there is {', '.join(sorted(known))}")
    revisions = context.store.subjects.revisions(subject.name, subject.source.branch)
    path = tuple(Place(one.name, one.title) for one in between(revisions, good, bad))
    return context.store.bisects.open(_row(context, subject, path, wanted, budget))


def open_bisect(context: Context, regression: int, budget: Budget | None = None) -> int:
    """A bisection of the Regression stands there, or one that is open goes on; its number.

    Raises BadInputError where there is nothing to search: no such Regression, no Change that still stands, no history.
    """
    standing = next((one for one in context.store.bisects.of_regression(regression) if one.ended is None), None)
    if standing is not None:
        return standing.id
    row = context.store.regressions.read(regression)
    if row is None:
        raise BadInputError(f"there is no regression {regression}; `perfd serve` lists them under /regressions")
    subject = by_name(context.config, row.subject)
    _refuse_without_history(subject)
    info, change = _strongest(row)
    good, bad = _ends(context, row, info, change)
    path = tuple(_path(context, subject, good, bad))
    wanted = Wanted(info.workload_name, info.key.model, info.key.device_class, info.key.metric)
    return context.store.bisects.open(replace(_row(context, subject, path, wanted, budget), regression=row.id))


def _row(context: Context, subject: Chosen, path: tuple[Place, ...], wanted: Wanted, budget: Budget | None) -> BisectRow:
    budget = budget or Budget()
    return BisectRow(
        subject=subject.name,
        kind=subject.kind,
        branch=subject.source.branch,
        path=path,
        wanted=wanted,
        most_builds=default_builds(len(path)) if budget.builds is None else budget.builds,
        most_minutes=budget.minutes,
        opened_at=context.now(),
    )


def _refuse_without_history(subject: Chosen) -> None:
    if subject.source.kind is SourceKind.FOLDER:
        raise BadInputError(f"{subject.name} comes from a folder, which has no history to search; bisect an engine from git")


def between(revisions: Sequence[Revision], good: Revision, bad: Revision) -> tuple[Revision, ...]:
    """The Revisions from `good` to `bad`, along first parents where the source tells parents; raises where there is no way."""
    if good.name == bad.name:
        raise BadInputError(f"the good and the bad end are both {brief(good.name)}; give two revisions")
    if good.ordinal > bad.ordinal:
        raise BadInputError(f"{brief(good.name)} (good) is newer than {brief(bad.name)} (bad); give the older one first")
    if bad.parent is None:
        return tuple(one for one in revisions if good.ordinal <= one.ordinal <= bad.ordinal)
    known = {one.name: one for one in revisions}
    way = [bad]
    while way[-1].name != good.name:
        parent = known.get(way[-1].parent or "")
        if parent is None:
            raise BadInputError(f"{brief(good.name)} is not among the first parents of {brief(bad.name)}; take one that is")
        way.append(parent)
    return tuple(reversed(way))


def _strongest(row: RegressionRow) -> tuple[SeriesInfo, ChangeRow]:
    """The member that shows the Regression best, by its effect over what matters; measured ones before counted ones."""
    members = [(info, change) for info, change in row.members if change.worse and change.gone_at is None]
    if not members:
        raise BadInputError(f"regression {row.id} has no change for the worse that still stands; there is nothing to search")
    return max(members, key=lambda one: (one[0].metric.kind is not MetricKind.STATIC, _strength(*one)))


def _strength(info: SeriesInfo, change: ChangeRow) -> float:
    return abs(change.effect) / max(info.metric.relevant, 1e-6)


def _ends(context: Context, row: RegressionRow, info: SeriesInfo, change: ChangeRow) -> tuple[PlannedBuild, PlannedBuild]:
    """The last good Build and the first bad one, as they were measured again where they were; of a drift, the newest is bad."""
    confirmed = confirmed_pair(context, row.id)
    if confirmed is not None:
        return _planned(context, confirmed[0]), _planned(context, confirmed[1])
    points = context.store.judgements.history(info.id)
    place = next((index for index, point in enumerate(points) if point.run == change.run), 0)
    if place == 0:
        raise BadInputError(f"the last good build of regression {row.id} is not among the points that are kept")
    good, bad = points[place - 1], points[-1] if change.kind is ChangeKind.DRIFT else points[place]
    return _planned(context, good.build), _planned(context, bad.build)


def _planned(context: Context, build: str) -> PlannedBuild:
    found = context.store.builds.planned(build)
    if found is None:
        raise BadInputError(f"nothing is known of the build {build[:12]} any more")
    return found


def _path(context: Context, subject: Chosen, good: PlannedBuild, bad: PlannedBuild) -> Iterator[Place]:
    """The two Builds as they were measured, and between them every Revision as it is built today.

    Where an end was made with other dependencies than today, it stands there twice: as it was, and as it is today. A difference
    between those two is nobody's commit. An end that cannot be made again as it was stands there as it is today only.
    """
    if good.revision.name == bad.revision.name:
        yield from (_as_it_was(good), _as_it_was(bad))
        return
    revisions = context.store.subjects.revisions(subject.name, subject.source.branch)
    way = between(revisions, good.revision, bad.revision)
    if not _is_todays(context, subject, good) and _is_there(context, good):
        yield _as_it_was(good)
    yield from (Place(one.name, one.title) for one in way)
    if not _is_todays(context, subject, bad) and _is_there(context, bad):
        yield _as_it_was(bad)


def _as_it_was(one: PlannedBuild) -> Place:
    return Place(one.revision.name, one.revision.title, one.spec.digest)


def _is_todays(context: Context, subject: Chosen, one: PlannedBuild) -> bool:
    return candidate(context, subject, one.revision).build.spec.digest == one.spec.digest


def _is_there(context: Context, one: PlannedBuild) -> bool:
    return builders.is_whole(one.spec, context.config.state)
