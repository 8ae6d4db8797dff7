"""Jobs of pull requests: opened for a head, with the first word of their check, waiting where nobody let that code run."""

from perfd.config import GitHubRepository
from perfd.domain.forge import CheckStatus, Conclusion
from perfd.domain.pull import Approval, Asked, JobState
from perfd.forge.notes import queued, waiting
from perfd.rules.admission import brought_by, may_run
from perfd.rules.conclusion import deadline
from perfd.stages.context import Context
from perfd.stages.deliver import LET_RUN, close_superseded, put_check
from perfd.store.pull_jobs import JobRow
from perfd.store.pulls import PullRow


def open_job(
    context: Context,
    row: PullRow,
    settings: GitHubRepository,
    asked: Asked,
    *,
    delivery: int | None = None,
    approval: Approval | None = None,
) -> JobRow:
    """A job for the head with the first word of its check; it waits where nobody who may has let that code run.

    Whatever was open on the pull request is superseded, its check ended. The same delivery finds the job that it opened.
    """
    before = context.store.pull_jobs.of(row)
    approvals = [*(job.approval for job in before if job.approval), *([approval] if approval else ())]
    waits = not may_run(who_brought(context, row, settings, asked.by), settings.authors, row.pull.head, approvals)
    given = next((one for one in reversed(approvals) if one.head == row.pull.head), None)
    deadline_at = deadline(context.now(), settings.deadline_hours)
    job = context.store.pull_jobs.open(
        row, asked, context.now(), deadline_at=deadline_at, approval=given, waits=waits, delivery=delivery
    )
    close_superseded(context, context.store.pull_jobs.of(row))
    say_first_word(context, job, settings)
    return job


def who_brought(context: Context, row: PullRow, settings: GitHubRepository, asked_by: str = "") -> str:
    """Who answers for the pull request's head: its first job was asked for by whoever pushed it; empty where nobody is known."""
    jobs = context.store.pull_jobs.of(row)
    pushed_by = next((job.asked.by for job in jobs if job.head == row.pull.head), asked_by)
    return brought_by(row.pull, pushed_by, settings.authors)


def say_first_word(context: Context, job: JobRow, settings: GitHubRepository) -> None:
    """The check of a job that has just been opened or approved says what it waits for."""
    if job.state is JobState.WAITING:
        again = any(one.approval for one in context.store.pull_jobs.of(job.pull) if one.head != job.head)
        note = waiting(who_brought(context, job.pull, settings) or "an unknown account", pushed=again)
        put_check(context, job, note, CheckStatus.COMPLETED, Conclusion.ACTION_REQUIRED, buttons=(LET_RUN,))
    elif job.state is JobState.QUEUED:
        before = [one for one in context.store.pull_jobs.in_state(JobState.QUEUED, JobState.RUNNING) if one.id < job.id]
        put_check(context, job, queued(len(before) + 1, None), CheckStatus.QUEUED)
