"""receive: what the forge told us is taken in, and heads of pull requests get their jobs and the first word of their checks."""

from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from typing import Any

from perfd.domain.forge import ForgeError, Permission
from perfd.domain.pull import (
    OPEN_JOBS,
    Approval,
    Asked,
    BranchPushed,
    CheckAsked,
    CommentMade,
    ComparisonAsked,
    InstallationSeen,
    JobState,
    PullAction,
    PullSeen,
)
from perfd.rules.admission import NEEDED
from perfd.stages.asked import handle_asked
from perfd.stages.context import Context
from perfd.stages.deliver import LET_RUN, close_superseded
from perfd.stages.pull_commands import handle_comment
from perfd.stages.pull_open import open_job, say_first_word
from perfd.store.deliveries import Claimed
from perfd.store.pull_jobs import JobRow
from perfd.store.pulls import PullRow
from perfd.store.trouble import DATABASE_GONE

AGAIN_AFTER = timedelta(minutes=2)
MENDED = timedelta(minutes=15)
"""By then somebody may have mended what perfd got wrong."""
MOST_TRIES = 30
ASKS = {PullAction.OPENED: "opened", PullAction.PUSHED: "pushed", PullAction.REBASED: "moved to another base branch"}
RERUN = "rerun"
"""GitHub's own button on a check."""


def receive(context: Context) -> bool:
    """One webhook is handled, or is to be tried again; False when none is due."""
    return _handle(context, WEBHOOKS)


def take_question(context: Context) -> bool:
    """One comparison that a pipeline asked for is planned; apart from webhooks, since it may clone its engine first."""
    return _handle(context, (ComparisonAsked,))


def _handle(context: Context, kinds: Collection[type]) -> bool:
    claimed = context.store.deliveries.claim(context.now(), AGAIN_AFTER, kinds)
    if claimed is None:
        return False
    try:
        outcome = HANDLERS[type(claimed.event)](context, claimed, claimed.event)
    except ForgeError as error:
        outcome, again_at = error.message, error.again_at
    except DATABASE_GONE:
        raise
    except Exception as error:  # noqa: BLE001  # what a stranger wrote must not end the service: the fault stands on the row
        outcome, again_at = f"perfd's own fault: {error!r}", context.now() + MENDED
    else:
        again_at = None
    context.tell.say("receive", outcome)
    if again_at is not None and claimed.attempts < MOST_TRIES:
        context.store.deliveries.failed(claimed, outcome, again_at)
    else:
        context.store.deliveries.handled(claimed, outcome, context.now())
    return True


def _pull_seen(context: Context, claimed: Claimed, event: PullSeen) -> str:
    place = f"{event.pull.repository}#{event.pull.number}"
    settings = context.config.github.repository(event.pull.repository)
    if settings is None:
        return f"{place}: pull requests of this repository are not answered; name it in [github]"
    row = context.store.pulls.see(event, context.now())
    if row is None:
        return f"{place}: a later event was here before"
    if event.action is PullAction.CLOSED:
        context.store.pull_jobs.end_open(row, "the pull request was closed", context.now())
        close_superseded(context, context.store.pull_jobs.of(row))
        return f"{place}: closed"
    if not row.pull.is_open or not _asks(context, row, event.action):
        return f"{place}: nothing to measure anew"
    asked = Asked(by=_pusher(context, row, event), why=ASKS.get(event.action, "pushed"))
    return _told(place, open_job(context, row, settings, asked, delivery=claimed.id))


def _pusher(context: Context, row: PullRow, event: PullSeen) -> str:
    """Who put the head there: whoever pushed, or first opened; empty where another event tells of it.

    An edit may overtake the push before it, and of what was pushed to a closed pull request its reopening tells.
    """
    first = event.action is PullAction.OPENED and not context.store.pull_jobs.of(row)
    return event.sender if first or event.action is PullAction.PUSHED else ""


def _asks(context: Context, row: PullRow, action: PullAction) -> bool:
    """Whether what happened asks for an answer: so does whatever tells of a head that was never heard of."""
    heard = any(job.head == row.pull.head for job in context.store.pull_jobs.of(row))
    return not heard or (action in ASKS and not (action is PullAction.OPENED and _is_answered(context, row)))


def _is_answered(context: Context, row: PullRow) -> bool:
    """Whether this very head is being answered, or was: it is opened again, or no longer a draft."""
    counted = OPEN_JOBS | {JobState.DONE}
    return any(job.head == row.pull.head and job.state in counted for job in context.store.pull_jobs.of(row))


def _check_asked(context: Context, claimed: Claimed, event: CheckAsked) -> str:
    """A press of a button: what it lets run is the head that the check stands at, and nothing later."""
    job = _pressed(context, event)
    if job is None:
        return f"{event.repository.name}@{event.head[:12]}: no check of perfd stands there"
    place = f"{job.pull.pull.repository}#{job.pull.pull.number}"
    settings = context.config.github.repository(job.pull.pull.repository)
    if settings is None or not job.pull.pull.is_open or job.pull.pull.head != event.head:
        return f"{place}: {event.head[:12]} is not the head of an open pull request any more"
    if not permitted(context, job.pull.pull.repository, event.sender, NEEDED):
        return f"{place}: {event.sender} may not write there, so that the button did nothing"
    approval = Approval(event.sender, event.head, context.now())
    if event.button == RERUN:
        asked = Asked(event.sender, "re-run")
        return _told(place, open_job(context, job.pull, settings, asked, delivery=claimed.id, approval=approval))
    if event.button == LET_RUN.name and context.store.pull_jobs.approve(job, approval, context.now()):
        approved = context.store.pull_jobs.read(job.id)
        say_first_word(context, approved or job, settings)
        return f"{place}: {event.head[:12]} was approved by {event.sender}"
    return f"{place}: the button did nothing"


def _pressed(context: Context, event: CheckAsked) -> JobRow | None:
    """The job of the check; of the commit's newest check where the button was "re-run all"."""
    if event.slot.isdigit() and len(event.slot) < len(str(2**63)):
        job = context.store.pull_jobs.read(int(event.slot))
        return job if job is not None and job.head == event.head else None
    return context.store.pull_jobs.newest_at(event.head) if not event.slot else None


def permitted(context: Context, repository: str, login: str, needed: Permission) -> bool:
    """Whether the forge says, at this moment, that the account may do that; raises ForgeError where it cannot be asked."""
    return bool(login) and context.forge is not None and context.forge.permission(repository, login).covers(needed)


def _installed(context: Context, _: Claimed, event: InstallationSeen) -> str:
    context.store.pulls.see_installation(event, context.now())
    return f"installation {event.installation} {'is gone' if event.gone else 'changed'}"


def _pushed(_: Context, __: Claimed, event: BranchPushed) -> str:
    """Pull requests tell of their heads by themselves, and nights look at branches by themselves."""
    return f"{event.repository.name}: {event.branch} is at {event.after[:12] or 'its end'}"


def _told(place: str, job: JobRow) -> str:
    return f"{place}: {job.head[:12]} is {job.state.value}"


HANDLERS: Mapping[type, Callable[[Context, Claimed, Any], str]] = {
    PullSeen: _pull_seen,
    CheckAsked: _check_asked,
    InstallationSeen: _installed,
    BranchPushed: _pushed,
    CommentMade: lambda context, claimed, event: handle_comment(context, claimed.id, event),
    ComparisonAsked: lambda context, _, event: handle_asked(context, event),
}
WEBHOOKS = frozenset(HANDLERS) - {ComparisonAsked}
