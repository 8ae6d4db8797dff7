"""Home: last night in one screen, then every Series in a line."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.verdict import Outcome
from perfd.site import believed, sentences, underway
from perfd.site.choosing import Choice, chosen_of, parts_of
from perfd.site.fresh import this_minute
from perfd.site.listing import listed
from perfd.site.parameters import Limit, Offset, linker
from perfd.site.rows import groups, run_label, unmeasured_word
from perfd.site.site import Here, Site
from perfd.site.spans import DAYS, columns, sentence
from perfd.site.status import without_result
from perfd.store.records import NightCounts, OpenRegression

router = APIRouter()
MOST_MISSING = 5
SEVERITIES = ((0.2, "20 % or more"), (0.05, "5 to 20 %"), (0.0, "below 5 %"))
"""Regressions by their largest effect, the largest first."""
UNSIZED = "unsized"
"""A budget that is broken has no size."""


class Night(NamedTuple):
    """Last night, as the first screen says it."""

    sentence: str
    name: str | None
    verdicts: tuple[tuple[str, int], ...]
    missing: tuple[dict[str, str], ...]
    missing_count: int
    judged: int


@router.get("/")
def home(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The home page: made again when anything was written, and every minute, for it says how long things are ago."""
    return this_minute(request, lambda: _page(request, site, offset, limit), alike=True)


def _page(request: Request, site: Site, offset: int, limit: int) -> HTMLResponse:
    """The page; while a night is written, what tells of Series is made again only where one of them moved."""
    now = site.clock()
    last = site.store.pages.last_night(MOST_MISSING)
    chosen = chosen_of(request)
    version = site.version()
    found = site.memory.fact(("list", version, chosen, offset, limit), lambda: listed(site, chosen, version, offset, limit))
    shown = found.total - sum(found.quiet.values())
    unanswered = site.store.pages.unanswered()
    next_night = site.next_night(now)
    alarms = believed.false_alarms_of(site, now, [1, *DAYS])
    spans = columns(site, last, now, version, alarms)
    return site.pages.show(
        "home.html",
        here="/",
        overdue=sentences.overdue(last, site.due_by(now)),
        night=_night(last, sentences.home(last, len(unanswered), found.total, now)),
        spans=spans,
        improved=sentence(spans),
        last_day=f"{last.row.occasion.nominal_at:%Y-%m-%d}" if last else "",
        regressions=unanswered,
        severities=_severities(unanswered),
        launches=underway.launches(site, now),
        quarantined=underway.quarantined(site),
        believed=believed.sentence(alarms[believed.DAYS]),
        next_night=next_night,
        until_s=(next_night - now).total_seconds(),
        queue=site.store.pages.queued(),
        parts=parts_of(site.choices(), chosen),
        filtered=chosen != Choice(),
        groups=groups(found.lines, found.quiet if offset + limit >= shown else {}),
        total=found.total,
        shown=shown,
        offset=offset,
        limit=limit,
        link=linker(request),
    )


def _severities(found: Iterable[OpenRegression]) -> list[tuple[str, int]]:
    """How many there are of each size, the largest first."""
    sizes = [_severity(one.effect) for one in found]
    return [(word, sizes.count(word)) for word in (*(word for _, word in SEVERITIES), UNSIZED) if word in sizes]


def _severity(effect: float | None) -> str:
    return UNSIZED if effect is None else next(word for least, word in SEVERITIES if effect >= least)


def _night(summary: NightCounts | None, told: str) -> Night:
    counts: Mapping[Outcome, int] = summary.verdict_counts if summary else {}
    order = (Outcome.WORSE, Outcome.BETTER, Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE)
    lost = without_result(summary)
    return Night(
        told,
        summary.row.occasion.name if summary else None,
        tuple((one.value, counts.get(one, 0)) for one in order),
        tuple({"key": one.key, "label": run_label(one), "word": unmeasured_word(one)} for one in lost[:MOST_MISSING]),
        sentences.unmeasured(summary.row) if summary else 0,
        sum(counts.values()),
    )
