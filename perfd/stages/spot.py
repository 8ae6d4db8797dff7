"""A question answered on the spot: two commits of the checkout that somebody stands in, compared by this very process."""

import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from perfd.builders import commits, worktree
from perfd.config import Config, GitHubRepository
from perfd.domain.answer import Against, Answer
from perfd.domain.area import Gate
from perfd.domain.subject import SourceKind
from perfd.errors import BadInputError
from perfd.rules.affected import DOCUMENTATION, Affected, affected
from perfd.stages.answer import Asking, answer_of
from perfd.stages.aside import Aside, open_aside
from perfd.stages.context import Context
from perfd.stages.night import run_to_report
from perfd.stages.subjects import by_name


@dataclass(frozen=True)
class Spot:
    """Two commits of a checkout."""

    folder: Path
    """The top of the checkout."""
    engine: str
    base: str
    """Full hash: the merge base, unless somebody asked for another."""
    head: str
    label: str
    """Of the comparison; with the word `vouched` in it the code runs without a cage."""
    branch: str = ""
    """The base branch, where it is known."""
    tip: str = ""
    """Its tip."""
    asked: str = ""
    """The ref that was asked for instead of the merge base."""
    suites: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """What came of it."""

    affected: Affected
    answer: Answer | None
    """Absent where there was nothing to measure."""


def in_checkout(config: Config, engine: str, folder: Path) -> Config:
    """The configuration whose engine is built from the checkout; raises BadInputError where its source is no git repository."""
    found = config.engine(engine)
    if found is None or found.source.kind is not SourceKind.GIT:
        kind = "there is none of that name" if found is None else f"its source is of kind {found.source.kind.value!r}"
        raise BadInputError(f"engine {engine!r} cannot be built from this checkout: {kind}; give --engine, with a git source")
    here = replace(found, source=replace(found.source, location=str(folder)))
    return replace(config, engines=tuple(here if one.name == engine else one for one in config.engines))


def answer_here(context: Context, spot: Spot, configured: GitHubRepository | None) -> Found:
    """The comparison is measured to its end, and told; only what the change can affect, unless suites were named."""
    touched = _affected(spot, configured)
    if touched.nothing:
        return Found(touched, None)
    suites = spot.suites or (configured.suites if configured else ())
    subject = by_name(context.config, spot.engine)
    aside = Aside(subject, spot.base, spot.head, spot.label, "pull", suites)
    occasion = open_aside(context, aside, touched.covers)
    if occasion is None:
        return Found(replace(touched, why=f"{touched.why}, and no workload of {spot.engine} is among them"), None)
    run_to_report(context, occasion)
    gates = configured.gates if configured else (Gate(),)
    asking = Asking(
        subject=spot.engine,
        head=spot.head,
        against=_against(context, spot),
        gates=gates,
        why=touched.why,
        reproduce=shlex.join(["perfd", "compare", spot.base, spot.head, "--engine", spot.engine]),
        remarks=spot.remarks,
        # What only this pipeline's own database holds has no page anywhere.
        site=context.config.github.site if context.config.database_url else "",
    )
    return Found(touched, answer_of(context, occasion, asking))


def _affected(spot: Spot, configured: GitHubRepository | None) -> Affected:
    if spot.suites:
        return Affected(everything=True, suites=frozenset(), workloads=frozenset(), why="asked for")
    paths = worktree.paths_between(spot.folder, spot.base, spot.head)
    areas = configured.areas if configured else ()
    documentation = (configured.documentation if configured else ()) or DOCUMENTATION
    return affected(paths, areas, documentation)


def _against(context: Context, spot: Spot) -> Against:
    subject = by_name(context.config, spot.engine)
    base = commits.revision(subject.source, spot.base, context.config.state)
    behind = worktree.ahead_of(spot.folder, spot.base, spot.tip) if spot.tip else None
    return Against(spot.base, base.title, base.committed_at, spot.branch, behind, spot.asked)
