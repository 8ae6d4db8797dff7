"""pull: one step of answering one head of a pull request; or a comparison whose head counts no more is cancelled between blocks.

Everything stands in the database before the forge hears of it: a kill between any two steps repeats a step and never a comment.
The step looks at the Runs itself, so that the answer does not wait for a worker that goes on to other work.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from perfd.builders import commits, merge_base
from perfd.config import GitHubRepository
from perfd.domain.forge import CheckStatus, Conclusion, ForgeError, MergeBase
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.pull import JobState
from perfd.domain.run import OccasionKind, RunState
from perfd.errors import PerfdError
from perfd.forge.notes import Note, failed, nothing, queued, under_way
from perfd.rules.admission import is_allowed
from perfd.rules.affected import DOCUMENTATION, Affected, affected
from perfd.rules.trust import VOUCHED
from perfd.stages.aside import Aside, open_aside
from perfd.stages.comparison import judge_comparison, look
from perfd.stages.context import Context
from perfd.stages.deliver import put_check
from perfd.stages.pull_answer import close_without, say_answer
from perfd.stages.pull_bisect import tell_bisects
from perfd.stages.pull_open import who_brought
from perfd.stages.report import comparison_report
from perfd.stages.subjects import Chosen, by_name
from perfd.store.pull_jobs import JobRow
from perfd.store.trouble import DATABASE_GONE

MOST_KEPT = 5000
"""Paths that are kept with a job."""
AGAIN = timedelta(seconds=60)
MENDED = timedelta(minutes=15)
"""By then somebody may have mended what perfd got wrong; a job ends at its deadline anyway."""
SEEN = timedelta(seconds=60)
"""How often a check tells how far the measuring is: every word at the forge costs the machine a moment."""


def pull(context: Context) -> bool:
    """One unit of work is done; False when every open job waits for Builds or Runs, or for a maintainer."""
    if not context.config.github.repositories:
        return False
    jobs = context.store.pull_jobs.in_state(JobState.QUEUED, JobState.RUNNING)
    return any(_step(context, job) for job in jobs) or _cancel(context) or tell_bisects(context)


def _step(context: Context, job: JobRow) -> bool:
    settings = context.config.github.repository(job.pull.pull.repository)
    if settings is None:
        return _fail(context, job, "This repository is not configured any more", "Name it in [github] of perfd.toml.")
    if _waits(context, job):
        return False
    try:
        return _begin(context, job, settings) if job.state is JobState.QUEUED else _go_on(context, job, settings)
    except ForgeError as error:
        return _trouble(context, job, error.message, error.again_at)
    except PerfdError as error:
        return _trouble(context, job, error.message, None if error.permanent else context.now() + AGAIN)
    except DATABASE_GONE:
        raise
    except Exception as error:  # noqa: BLE001  # what a stranger committed must not end the service for everybody else
        return _trouble(context, job, f"perfd's own fault: {error!r}", context.now() + MENDED)


def _waits(context: Context, job: JobRow) -> bool:
    until = job.facts.get("again_at")
    return until is not None and datetime.fromisoformat(until) > context.now()


def _trouble(context: Context, job: JobRow, message: str, again_at: datetime | None) -> bool:
    """What may pass is tried again then, until the deadline; anything else ends the job, with its remedy in the check."""
    if again_at is None:
        return _fail(context, job, "This pull request could not be measured", message)
    context.store.pull_jobs.learn(job, {"again_at": again_at.astimezone(UTC).isoformat(), "trouble": message})
    context.tell.say("pull", f"{place_of(job)} waits: {message}")
    return True


def _fail(context: Context, job: JobRow, what: str, remedy: str) -> bool:
    put_check(context, job, failed(what, remedy), CheckStatus.COMPLETED, Conclusion.ACTION_REQUIRED)
    context.tell.say("pull", f"{place_of(job)}: {what}: {remedy}")
    return context.store.pull_jobs.end(job, JobState.FAILED, remedy, context.now())


def place_of(job: JobRow) -> str:
    """The head as people name it."""
    return f"{job.pull.pull.repository}#{job.pull.pull.number}@{job.head[:12]}"


def _begin(context: Context, job: JobRow, settings: GitHubRepository) -> bool:
    """The comparison is planned, or there is nothing to measure."""
    subject = by_name(context.config, settings.engine)
    base = _base(context, job, subject)
    touched = _affected(job, base, settings)
    if touched.nothing:
        return _nothing(context, job, touched.why)
    suites = job.asked.suites or settings.suites
    name = f"{job.pull.pull.repository}#{job.pull.pull.number}"
    vouched = f" {VOUCHED}" if _is_vouched(context, job, subject, base, settings) else ""
    label = f"pull {name}{vouched} {base.commit[:12]}..{job.head[:12]} job {job.id}"
    aside = Aside(subject, base.commit, job.head, label, f"pull {name}", suites, job.opened_at)
    occasion = open_aside(context, aside, touched.covers)
    if occasion is None:
        return _nothing(context, job, f"{touched.why}, and no workload of {settings.engine} is among what they affect")
    context.store.pull_jobs.learn(job, {"why": touched.why})
    context.tell.say("pull", f"{place_of(job)}: {occasion.name} is planned ({touched.why})")
    if not context.store.pull_jobs.start(job, occasion, context.now()):
        return True  # superseded meanwhile: its comparison is cancelled like any other whose head counts no more
    started = replace(job, state=JobState.RUNNING, occasion=occasion)
    return _say_how_far(context, started, occasion) or True


def _is_vouched(context: Context, job: JobRow, subject: Chosen, base: MergeBase, settings: GitHubRepository) -> bool:
    """Whether the code runs without a cage: only what an allowed author brought. An approval lets it run, inside one.

    A base that a comment names may be any commit that perfd ever fetched, a stranger's too.
    """
    head = replace(job.pull, pull=replace(job.pull.pull, head=job.head))
    if not is_allowed(who_brought(context, head, settings), settings.authors):
        return False
    return not job.asked.against or commits.is_tracked(subject.source, base.commit, context.config.state)


def _base(context: Context, job: JobRow, subject: Chosen) -> MergeBase:
    """What head is compared with: the merge base as the forge tells it, or what was asked for; remembered, so that it stays."""
    kept = job.facts.get("base")
    if kept is not None:
        committed = datetime.fromisoformat(kept["committed_at"])
        return MergeBase(job.merge_base, committed, kept["title"], tuple(kept["files"]), complete=kept["complete"])
    found = _asked_base(context, job, subject) if job.asked.against else _merge_base(context, job, subject)
    state = context.config.state
    tracked = job.pull.pull.base_branch == subject.source.branch  # of another branch perfd keeps no tip
    files = found.files if found.complete else commits.changed_paths(subject.source, found.commit, job.head, state)
    document = {
        "title": found.title,
        "committed_at": found.committed_at.isoformat(),
        "files": list(files[:MOST_KEPT]),
        "complete": len(files) <= MOST_KEPT,
        "behind": commits.behind(subject.source, found.commit, state) if tracked else None,
    }
    context.store.pull_jobs.learn(job, {"base": document}, found.commit)
    return replace(found, files=files, complete=True)


def _merge_base(context: Context, job: JobRow, subject: Chosen) -> MergeBase:
    if context.forge is not None:
        return context.forge.merge_base(job.pull.pull.repository, job.pull.pull.base, job.head)
    commit = merge_base(subject.source, job.pull.pull.base, job.head, context.config.state)
    return _described(context, subject, commit)


def _asked_base(context: Context, job: JobRow, subject: Chosen) -> MergeBase:
    return _described(context, subject, commits.resolve(subject.source, job.asked.against, context.config.state))


def _described(context: Context, subject: Chosen, commit: str) -> MergeBase:
    one = commits.revision(subject.source, commit, context.config.state)
    return MergeBase(commit, one.committed_at or context.now(), one.title, (), complete=False)


def _affected(job: JobRow, base: MergeBase, settings: GitHubRepository) -> Affected:
    if job.asked.comment is not None:  # a person knows better than the paths
        return Affected(everything=True, suites=frozenset(), workloads=frozenset(), why=f"asked for by {job.asked.by}")
    documentation = settings.documentation or DOCUMENTATION
    return affected(base.files, settings.areas, documentation, complete=base.complete)


def _nothing(context: Context, job: JobRow, why: str) -> bool:
    note = nothing(why)
    put_check(context, job, note, CheckStatus.COMPLETED, Conclusion.SUCCESS)
    close_without(context, job, note)
    context.tell.say("pull", f"{place_of(job)}: {note.title}")
    return context.store.pull_jobs.end(job, JobState.DONE, note.title, context.now())


def _go_on(context: Context, job: JobRow, settings: GitHubRepository) -> bool:
    """More blocks are planned, the check tells how far it is, or the answer is given."""
    occasion = job.occasion
    if occasion is None:
        return _fail(context, job, "The comparison is gone", "Say /perfd rerun.")
    if context.store.runs.unfinished(occasion) > 0:
        return _say_how_far(context, job, occasion)
    if context.store.occasions.state(occasion) is OccasionState.PLANNED:
        return judge_comparison(context, occasion) or True
    # Reported before it is answered: the picture that the comment shows is drawn from the report.
    context.store.occasions.close(occasion, comparison_report(context, occasion, look(context, occasion)), context.now())
    say_answer(context, job, occasion, settings)
    context.tell.say("pull", f"{place_of(job)} is answered")
    return True


def _say_how_far(context: Context, job: JobRow, occasion: Occasion) -> bool:
    """The check says its place in the queue, then how much is measured; once a minute at most, and False where it said so."""
    said_at = job.facts.get("said_at")
    if said_at is not None and datetime.fromisoformat(said_at) + SEEN > context.now():
        return False
    counts = context.store.runs.counts(occasion)
    expected = context.store.forecast.of(occasion)
    done = sum(counts[state] for state in (RunState.DONE, RunState.FAILED, RunState.VOID))
    began = done > 0 or counts[RunState.CLAIMED] > 0
    note: Note = (
        under_way(done, sum(counts.values()), expected.seconds) if began else queued(expected.ahead + 1, expected.seconds)
    )
    put_check(context, job, note, CheckStatus.IN_PROGRESS if began else CheckStatus.QUEUED)
    facts: dict[str, Any] = {"said_at": context.now().isoformat(), "place": expected.ahead + 1}
    context.store.pull_jobs.learn(job, facts)
    return True


def _named_in(context: Context, occasion: Occasion) -> JobRow | None:
    """The job that the label names: one that was superseded before it knew of the comparison that was planned for it."""
    words = occasion.label.split()
    number = words[-1] if words[-2:-1] == ["job"] else ""
    return context.store.pull_jobs.read(int(number)) if number.isdecimal() and number.isascii() else None


def _cancel(context: Context) -> bool:
    """Runs that nobody claimed are cancelled where their head counts no more; the block under way is finished and kept."""
    for occasion in context.store.occasions.every_in_state(OccasionState.PLANNED):
        if occasion.kind is not OccasionKind.COMPARE or not occasion.label.startswith("pull "):
            continue
        job = context.store.pull_jobs.of_occasion(occasion) or _named_in(context, occasion)
        if job is not None and job.state not in {JobState.QUEUED, JobState.RUNNING}:
            context.store.cancelling.supersede(occasion, job.reason, context.now())
            context.tell.say("pull", f"{occasion.name} is cancelled: {job.reason}")
            return context.store.occasions.move(occasion, OccasionState.PLANNED, OccasionState.JUDGED, context.now())
    return False
