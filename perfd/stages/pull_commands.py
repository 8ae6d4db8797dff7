"""What people say to perfd in comments on pull requests: read, allowed or refused by their own permission, and answered once."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from perfd.config import GitHubRepository
from perfd.domain.command import USAGE, Acknowledge, Bisect, Command, CompareWith, Help, Rerun, RunSuites
from perfd.domain.forge import Comment, Permission
from perfd.domain.pull import Approval, Asked, CommentMade, JobState
from perfd.domain.verdict import RegressionState
from perfd.errors import BadInputError
from perfd.forge.markdown import code, escaped, table
from perfd.rules.admission import GRACE, HeadSeen, bound_head, is_allowed, is_fresh, refusal
from perfd.rules.commands import commands_in
from perfd.stages.context import Context
from perfd.stages.plan import suite_of
from perfd.stages.pull_bisect import open_for
from perfd.stages.pull_open import open_job, say_first_word, who_brought
from perfd.store.pull_jobs import JobRow
from perfd.store.pulls import PullRow

MOVED = "the head moved at the moment of that comment, or was never seen before it: look at it, and say it again"
FRESH = (
    f"the head changed in the {GRACE.total_seconds():g} s before that comment, and you may have read the one before it: "
    "look at it, and ask again; or press “Measure this commit” on its check, which names the commit"
)
HOUR = timedelta(hours=1)
MOST_AN_HOUR = 20
"""Comments of one account that are answered: each costs a question to the forge and a comment, and GitHub limits both."""
TOO_MANY = f"Not done: more than {MOST_AN_HOUR} comments with commands within an hour. The next ones are not answered."
OPEN = (RegressionState.SUSPECT, RegressionState.DETECTED, RegressionState.CONFIRMED, RegressionState.OWNED)


@dataclass(frozen=True)
class _Said:
    """A comment, and what it is about."""

    event: CommentMade
    pull: PullRow
    settings: GitHubRepository
    delivery: int

    @property
    def place(self) -> str:
        return f"{self.pull.pull.repository}#{self.pull.pull.number}"


def handle_comment(context: Context, delivery: int, event: CommentMade) -> str:
    """Every command of the comment is done or refused, in one reply; what came of it, in a sentence.

    Raises ForgeError where the forge cannot be asked what the commenter may do: then nothing was done, and it is tried again.
    """
    asked = commands_in(event.body)
    settings = context.config.github.repository(event.repository.name)
    pull = context.store.pulls.read(event.repository.name, event.number)
    if not asked or settings is None:
        return f"{event.repository.name}#{event.number}: a comment without a command for perfd"
    if pull is None:
        return f"{event.repository.name}#{event.number}: perfd never heard of this pull request: close and reopen it"
    said = _Said(event, pull, settings, delivery)
    over = _over(context, said)
    if over > 0:
        if over == 1:
            _reply(context, said, TOO_MANY)
        return f"{said.place}: {event.author} said too much in an hour"
    permission = Permission.NONE
    if any(not isinstance(one, Help) for one in asked) and context.forge is not None:
        permission = context.forge.permission(event.repository.name, event.author)
    told = [_answered(context, said, one, permission) for one in asked]
    _reply(context, said, "\n\n".join(told))
    return f"{said.place}: {len(asked)} commands of {event.author} answered"


def _over(context: Context, said: _Said) -> int:
    """How many comments beyond what is listened to it is; of allowed authors every one is heard."""
    if is_allowed(said.event.author, said.settings.authors):
        return 0
    return context.store.deliveries.comments_of(said.event.author, said.delivery, context.now() - HOUR) - MOST_AN_HOUR


def _reply(context: Context, said: _Said, body: str) -> None:
    post = Comment(said.pull.pull.repository, said.event.number, f"reply {said.event.comment}", body)
    context.store.posts.want(post, context.now())


def _answered(context: Context, said: _Said, command: Command, permission: Permission) -> str:
    """The reply to one command, as Markdown."""
    refused = refusal(command, permission)
    if refused is not None:
        return f"Not done: {escaped(refused, 300)}."
    try:
        return _done(context, said, command)
    except BadInputError as error:
        return f"Not done: {escaped(error.message, 500)}."


def _done(context: Context, said: _Said, command: Command) -> str:
    if isinstance(command, Help):
        return "\n\n".join(_help(command))
    if isinstance(command, Acknowledge):
        return _acknowledge(context, said, command)
    if isinstance(command, Bisect):
        number = open_for(context, _last_told(context, said), said.settings)
        return f"Bisection {number} searches for the commit; its end is told here."
    return _measure(context, said, command)


def _help(command: Help) -> Iterator[str]:
    if command.why:
        yield f"Not done: {escaped(command.why, 200)}."
    yield table(("write on a line of its own", "and perfd will"), [(code(usage), does) for usage, does in USAGE])


def _acknowledge(context: Context, said: _Said, command: Acknowledge) -> str:
    row = context.store.regressions.read(command.regression)
    if row is None or row.subject != said.settings.engine:
        raise BadInputError(f"there is no regression {command.regression} of {said.settings.engine}")
    actor, reason = f"github:{said.event.author}", f"{command.reason} ({said.place})"
    for state in OPEN:
        if context.store.regressions.move(row.id, state, RegressionState.ACCEPTED, actor=actor, reason=reason, now=context.now()):
            return f"Regression {row.id} is accepted: {escaped(command.reason, 300)}"
    raise BadInputError(f"regression {row.id} is {row.state} already")


def _measure(context: Context, said: _Said, command: Command) -> str:
    """A job for the head that the comment speaks of, approved by whoever wrote it."""
    event, pull = said.event, said.pull
    jobs = context.store.pull_jobs.of(pull)
    seen = [HeadSeen(job.head, job.head_at) for job in jobs]
    head = bound_head(seen, event.at)
    if head is None:
        raise BadInputError(MOVED)
    if head != pull.pull.head or not pull.pull.is_open:
        raise BadInputError(f"{head[:12]} is not the head of this pull request any more: look at the new one, and say it again")
    if is_fresh(head, seen, event.at) and not is_allowed(who_brought(context, pull, said.settings), said.settings.authors):
        raise BadInputError(FRESH)
    approval = Approval(event.author, head, event.at)
    waiting = next((job for job in jobs if job.state is JobState.WAITING and job.head == head), None)
    if waiting is not None and command == RunSuites() and context.store.pull_jobs.approve(waiting, approval, context.now()):
        say_first_word(context, context.store.pull_jobs.read(waiting.id) or waiting, said.settings)
        return f"{code(head[:12])} may run, on the word of {escaped(event.author)}; its check tells how far it is."
    job = open_job(context, pull, said.settings, _asked(context, said, command, jobs), delivery=said.delivery, approval=approval)
    return f"{code(head[:12])} is {job.state}; its check tells how far it is."


def _asked(context: Context, said: _Said, command: Command, jobs: tuple[JobRow, ...]) -> Asked:
    by, comment = said.event.author, said.event.comment
    if isinstance(command, CompareWith):
        return Asked(by, f"/perfd compare {command.ref}", against=command.ref, comment=comment)
    if isinstance(command, RunSuites):
        for name in command.suites:
            suite_of(context.config, name)  # raises for one that is not there, before anything is opened
        return Asked(by, " ".join(("/perfd run", *command.suites)), command.suites, comment=comment)
    last = jobs[-1].asked if isinstance(command, Rerun) and jobs else None
    return Asked(by, "/perfd rerun", last.suites if last else (), last.against if last else "", comment)


def _last_told(context: Context, said: _Said) -> JobRow:
    told = [job for job in context.store.pull_jobs.of(said.pull) if job.verdict is not None]
    if not told:
        raise BadInputError("there is no answer on this pull request yet")
    return told[-1]
