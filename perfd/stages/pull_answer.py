"""The answer to a head: its check, and the comment on its pull request, which is a new one only where something is news."""

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from perfd.config import GitHubRepository
from perfd.domain.answer import Against, Answer
from perfd.domain.forge import LONGEST_TEXT, MOST_ANNOTATIONS, Check, CheckStatus, Comment, Conclusion
from perfd.domain.occasion import Occasion
from perfd.domain.pull import JobState
from perfd.domain.verdict import Outcome
from perfd.forge.comment import comment_of, details_of, sentence, summary_of
from perfd.forge.markdown import plain
from perfd.forge.notes import Note
from perfd.rules.conclusion import Bad, Said, conclude, is_news
from perfd.stages.annotations import annotations
from perfd.stages.answer import Asking, answer_of, page_of
from perfd.stages.context import Context
from perfd.stages.deliver import CHECK
from perfd.store.pull_jobs import JobRow


def say_answer(context: Context, job: JobRow, occasion: Occasion, settings: GitHubRepository) -> None:
    """Check and comment should stand at the forge, and the job is over; saying it twice says it once."""
    answer = answer_of(context, occasion, _asking(context, job, settings))
    lines = [Said(row.verdict.outcome, row.gates) for row in answer.counting]
    conclusion = conclude(answer.verdict.outcome, lines, len(answer.unmeasured))
    bad = losses(answer)
    slot = _slot(context, job, bad)
    context.store.posts.want(_check(context, job, answer, conclusion), context.now())
    _comment(context, job, slot, comment_of(answer))
    verdict = {
        "outcome": answer.verdict.outcome.value,
        "conclusion": conclusion.value,
        "slot": slot,
        "bad": {name: one.loss for name, one in bad.items()},
    }
    state = JobState.DONE if answer.counting else JobState.FAILED
    context.store.pull_jobs.end(job, state, sentence(answer), context.now(), verdict)


def losses(answer: Answer) -> Mapping[str, Bad]:
    """What became worse, and by how much."""
    return {
        row.name: Bad(abs(row.verdict.effect or 0.0), row.metric.relevant)
        for row in answer.counting
        if row.verdict.outcome is Outcome.WORSE
    }


def close_without(context: Context, job: JobRow, note: Note) -> None:
    """A comment that stands there from an earlier head says that there is nothing to measure now; else none is made."""
    last = _last_told(context, job)
    if last is not None:
        _comment(context, job, int(last["slot"]), f"### {note.title}\n\n{note.summary}")


def _slot(context: Context, job: JobRow, bad: Mapping[str, Bad]) -> int:
    """Which comment it is; chosen once for the job, so that a crash before its end makes no second one."""
    chosen = job.facts.get("slot")
    if chosen is None:
        last = _last_told(context, job)
        chosen = 1 if last is None else int(last["slot"]) + is_news(last["bad"], bad)
        context.store.pull_jobs.learn(job, {"slot": chosen})
    return int(chosen)


def _last_told(context: Context, job: JobRow) -> Mapping[str, Any] | None:
    """What the last answer on this pull request was."""
    told = [one.verdict for one in context.store.pull_jobs.of(job.pull) if one.id < job.id and one.verdict is not None]
    return told[-1] if told else None


def _comment(context: Context, job: JobRow, slot: int, body: str) -> None:
    pull = job.pull.pull
    context.store.posts.want(Comment(pull.repository, pull.number, str(slot), body), context.now())


def _asking(context: Context, job: JobRow, settings: GitHubRepository) -> Asking:
    base = job.facts["base"]
    words = ["perfd", "compare", job.merge_base, job.head, "--engine", settings.engine]
    return Asking(
        subject=settings.engine,
        head=job.head,
        against=Against(
            commit=job.merge_base,
            title=base["title"],
            committed_at=datetime.fromisoformat(base["committed_at"]),
            branch=job.pull.pull.base_branch,
            behind=base["behind"],
            asked=job.asked.against,
        ),
        gates=settings.gates,
        why=job.facts.get("why", ""),
        reproduce=shlex.join(words),
        remarks=(f"The code of this head was let run by {job.approval.by}",) if job.approval else (),
        site=context.config.github.site,
    )


def _check(context: Context, job: JobRow, answer: Answer, conclusion: Conclusion) -> Check:
    return Check(
        repository=job.pull.pull.repository,
        head=job.head,
        slot=str(job.id),
        status=CheckStatus.COMPLETED,
        title=plain(sentence(answer), 250),
        summary=summary_of(answer)[:LONGEST_TEXT],
        conclusion=conclusion,
        text=details_of(answer, LONGEST_TEXT),
        annotations=tuple(annotations(context, answer))[:MOST_ANNOTATIONS],
        details_url=page_of(context.config.github.site, job.occasion) if job.occasion else "",
        name=CHECK,
    )
