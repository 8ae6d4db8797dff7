"""Home: last night in one screen, then every Series in a line."""

from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from perfd.domain.run import RunState
from perfd.domain.verdict import Outcome
from perfd.site import believed, sentences
from perfd.site.choosing import Choice, choose, chosen_of, parts_of
from perfd.site.parameters import Limit, Offset, linker
from perfd.site.regressions import words
from perfd.site.rows import groups, in_list_order, run_label, unmeasured_word
from perfd.site.site import Here
from perfd.site.status import without_result
from perfd.store.records import OccasionSummary

router = APIRouter()
MOST_MISSING = 5


class Night(NamedTuple):
    """Last night, as the first screen says it."""

    sentence: str
    name: str | None
    verdicts: tuple[tuple[str, int], ...]
    missing: tuple[dict[str, str], ...]
    missing_count: int
    judged: int


@router.get("/")
def home(request: Request, site: Here, offset: Offset = 0, limit: Limit = 200) -> HTMLResponse:
    """The home page."""
    now = site.clock()
    status = site.store.pages.status()
    chosen = chosen_of(request)
    fitting = in_list_order(choose(site.store.pages, chosen))
    unanswered = site.store.regressions.unanswered()
    next_night = site.next_night(now)
    return site.pages.show(
        "home.html",
        here="/",
        overdue=sentences.overdue(status.last_night, site.due_by(now)),
        night=_night(status.last_night, sentences.home(status.last_night, len(unanswered), now)),
        regressions=[words(one) for one in reversed(unanswered)],
        believed=believed.sentence(believed.false_alarms(site, now)),
        next_night=next_night,
        until_s=(next_night - now).total_seconds(),
        queue=sum(one.queued for one in status.queue),
        parts=parts_of(site.store.pages.choices(), chosen),
        filtered=chosen != Choice(),
        groups=groups(fitting[offset : offset + limit], fold=chosen == Choice()),
        total=len(fitting),
        offset=offset,
        limit=limit,
        link=linker(request),
    )


def _night(summary: OccasionSummary | None, sentence: str) -> Night:
    counts: dict[Any, int] = summary.verdict_counts if summary else {}
    order = (Outcome.WORSE, Outcome.BETTER, Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE)
    lost = without_result(summary)
    return Night(
        sentence,
        summary.row.occasion.name if summary else None,
        tuple((one.value, counts.get(one, 0)) for one in order),
        tuple({"key": one.key, "label": run_label(one), "word": unmeasured_word(one)} for one in lost[:MOST_MISSING]),
        sum(one.state is not RunState.DONE for one in lost),
        sum(counts.values()),
    )
