"""`/perfd bisect`: which commit of a pull request did it; its end is told on the pull request."""

from dataclasses import replace
from datetime import timedelta

from perfd.builders import commits
from perfd.config import GitHubRepository
from perfd.domain.bisect import Place, Wanted
from perfd.domain.forge import Comment
from perfd.domain.subject import SubjectKind
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.forge.markdown import escaped
from perfd.rules.admission import is_allowed
from perfd.rules.bisect import default_builds
from perfd.stages.context import Context
from perfd.stages.proposal import account
from perfd.stages.pull_open import who_brought
from perfd.stages.subjects import by_name
from perfd.store.pull_jobs import JobRow
from perfd.store.records import BisectRow

MINUTES = 60.0
"""Device minutes of a search that a comment asked for."""
REMEMBERED = timedelta(days=7)


def open_for(context: Context, job: JobRow, settings: GitHubRepository) -> int:
    """A bisection along the pull request's own commits stands there; its number. Raises BadInputError where there is none to do.

    Its steps run without a cage, so that it is for pull requests of allowed authors only.
    """
    brought = who_brought(context, replace(job.pull, pull=replace(job.pull.pull, head=job.head)), settings)
    if not is_allowed(brought, settings.authors):
        raise BadInputError(f"{brought or 'nobody'} is none of the repository's `authors`, whose code alone is bisected")
    if (job.verdict or {}).get("outcome") != Outcome.WORSE.value:
        raise BadInputError("the last answer on this pull request is not “worse”: there is nothing to search")
    subject = by_name(context.config, settings.engine)
    way = commits.between(subject.source, job.merge_base, job.head, context.config.state)
    if len(way) < 3:
        raise BadInputError("this pull request has one commit only, and that one did it")
    branch = branch_of(job)
    context.store.subjects.record(subject.name, SubjectKind.ENGINE, branch, way)
    path = tuple(Place(one.name, one.title) for one in way)
    row = BisectRow(
        subject=subject.name,
        kind=subject.kind,
        branch=branch,
        path=path,
        wanted=Wanted(),
        most_builds=default_builds(len(path)),
        most_minutes=MINUTES,
        opened_at=context.now(),
    )
    standing = next((one for one in context.store.bisects.unended() if (one.branch, one.path) == (branch, path)), None)
    return standing.id if standing is not None else context.store.bisects.open(row)


def branch_of(job: JobRow) -> str:
    """Under which the commits of a pull request are known: no branch that is tracked."""
    return f"pull {job.pull.pull.repository}#{job.pull.pull.number}"


def tell_bisects(context: Context) -> bool:
    """The end of one of them is told on its pull request; False when all were."""
    for row in context.store.bisects.since(context.now() - REMEMBERED):
        name, _, number = row.branch.removeprefix("pull ").rpartition("#")
        if row.ended is None or not row.branch.startswith("pull ") or not number.isdigit():
            continue
        body = f"{escaped(account(row)['sentence'], 1000)}\n\n{escaped(row.ended.proposal, 1000)}".strip()
        if context.store.posts.want(Comment(name, int(number), f"bisect {row.id}", body), context.now()):
            return True
    return False
