"""deliver: comments and checks are brought to the forge, each once, whatever happens between any two steps.

What should stand there is in the database, and a message in the outbox says that it changed. Who sends reads the latest version,
so that an old one never overwrites a new one, and looks at the forge before making anything anew.
"""

from dataclasses import replace
from datetime import timedelta

from perfd.domain.forge import Button, Check, CheckStatus, Comment, Conclusion, ForgeError, Trouble
from perfd.domain.pull import JobState
from perfd.forge import Forge, Posted
from perfd.forge.notes import Note, expired, superseded
from perfd.stages.context import Context
from perfd.store.outbox import Message
from perfd.store.posts import MESSAGE, PostRow
from perfd.store.pull_jobs import JobRow

AGAIN_AFTER = timedelta(minutes=2)
"""When somebody else takes over from a sender that died."""
BACK_OFF = timedelta(seconds=10)
LONGEST_BACK_OFF = timedelta(minutes=15)
MOST_TRIES = 100
"""With these waits about a day."""
CHECK = "perfd"
"""The name of perfd's check, which branch protection speaks of."""
LET_RUN = Button("approve", "Measure this commit", "Lets the code of this very commit run")
"""A press is bound to the commit that the check stands at: nothing that is pushed meanwhile can slip in."""


def deliver(context: Context) -> bool:
    """One comment or check is brought to the forge, or is to be tried again later; False when none is due."""
    forge = context.forge
    message = None if forge is None else context.store.outbox.claim(context.now(), AGAIN_AFTER, kinds=(MESSAGE,))
    if forge is None or message is None:
        return False
    number = int(message.payload["post"])
    with context.store.post_lock(number) as mine:
        if mine:
            _bring(context, forge, message, number)
        else:
            context.store.outbox.failed(message, "another process sends it at this moment", context.now() + BACK_OFF)
    return True


def _bring(context: Context, forge: Forge, message: Message, number: int) -> None:
    row = context.store.posts.read(number)
    if row is None or row.posted_version == row.version:
        context.store.outbox.sent(message, context.now())
        return
    try:
        posted = _put(forge, row)
    except ForgeError as error:
        _not_taken(context, message, row, error)
        return
    except Exception as error:  # noqa: BLE001  # one strange post must not end the service for everybody else
        fault = ForgeError(Trouble.BROKEN, f"perfd's own fault: {error!r}", context.now() + BACK_OFF)
        _not_taken(context, message, row, fault)
        return
    context.store.posts.stands(row, posted.number, posted.url, context.now())
    context.store.outbox.sent(message, context.now())


def _put(forge: Forge, row: PostRow) -> Posted:
    if isinstance(row.wanted, Comment):
        return forge.put_comment(row.wanted, row.marker, row.number)
    return forge.put_check(row.wanted, row.marker, row.number)


def _not_taken(context: Context, message: Message, row: PostRow, error: ForgeError) -> None:
    outbox, now = context.store.outbox, context.now()
    if error.trouble is Trouble.GONE and row.number is not None:
        context.store.posts.is_gone(row)
        outbox.failed(message, error.message, now)
    elif error.again_at is None or message.attempts >= MOST_TRIES:
        context.tell.say("deliver", f"given up: {error.message}")
        context.store.posts.is_refused(row, error.message)
        outbox.given_up(message, error.message, now)
    else:
        waits = min(BACK_OFF * 2 ** min(message.attempts - 1, 10), LONGEST_BACK_OFF)
        context.tell.say("deliver", error.message)
        outbox.failed(message, error.message, max(error.again_at, now + waits))


def expire(context: Context) -> bool:
    """A job, or a check, whose deadline has passed is ended with its reason; False when there is none."""
    job = next(iter(context.store.pull_jobs.overdue(context.now())), None)
    if job is not None:
        hours = (job.deadline_at - job.opened_at).total_seconds() / 3600
        context.store.pull_jobs.end(job, JobState.EXPIRED, f"it was not over after {hours:g} hours", context.now())
        close_check(context, job, expired(hours))
        return True
    row = next(iter(context.store.posts.overdue(context.now())), None)
    return row is not None and isinstance(row.wanted, Check) and context.store.posts.want(_neutral(row.wanted), context.now())


def _neutral(check: Check) -> Check:
    """The last word on a check that nobody ended."""
    summary = "perfd did not end this check in time, so that nothing is known. Say `/perfd rerun` to measure again."
    return replace(
        check, status=CheckStatus.COMPLETED, conclusion=Conclusion.NEUTRAL, title="Not finished in time", summary=summary
    )


def put_check(
    context: Context,
    job: JobRow,
    note: Note,
    status: CheckStatus,
    conclusion: Conclusion | None = None,
    *,
    buttons: tuple[Button, ...] = (),
) -> bool:
    """The job's check says that from now on; False where it said so already, or is over."""
    wanted = Check(
        repository=job.pull.pull.repository,
        head=job.head,
        slot=str(job.id),
        status=status,
        title=note.title,
        summary=note.summary,
        conclusion=conclusion,
        buttons=buttons,
        name=CHECK,
    )
    deadline = None if status is CheckStatus.COMPLETED else job.deadline_at
    return context.store.posts.want(wanted, context.now(), deadline)


def close_check(context: Context, job: JobRow, note: Note) -> bool:
    """The job's check is ended as neutral, where it was not over yet."""
    standing = context.store.posts.of(check_key(job))
    if standing is None or not isinstance(standing.wanted, Check) or _is_over(standing.wanted):
        return False
    return put_check(context, job, note, CheckStatus.COMPLETED, Conclusion.NEUTRAL)


def close_superseded(context: Context, jobs: tuple[JobRow, ...]) -> None:
    """No check of a job that something else took the place of stays open."""
    for job in jobs:
        if job.state is JobState.SUPERSEDED:
            close_check(context, job, superseded(job.reason))


def check_key(job: JobRow) -> str:
    """The key of the job's check."""
    return f"check:{job.pull.pull.repository}@{job.head}:{job.id}"


def _is_over(check: Check) -> bool:
    return check.conclusion not in {None, Conclusion.ACTION_REQUIRED}
