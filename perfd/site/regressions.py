"""Regressions: the list, and one with its members and its life. For reading; states are moved by the judge for now."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.errors import BadInputError
from perfd.site import sentences
from perfd.site.numbers import scale_of
from perfd.site.parameters import Limit, Offset, RegressionId, linker, text
from perfd.site.rows import change_word, label
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.store.records import ChangeRow, RegressionRow, SeriesInfo

router = APIRouter()


@router.get("/regressions")
def regressions(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> HTMLResponse:
    """The list, open ones first."""
    chosen = text(request, "state")
    found = listed(site, chosen)
    open_count = (
        sum(one.state in OPEN_STATES for one in found) if chosen in {"", "open"} else len(site.store.regressions.unanswered())
    )
    return site.pages.show(
        "regressions.html",
        here="/regressions",
        sentence=sentences.regressions(found, open_count),
        regressions=[words(one) for one in found[offset : offset + limit]],
        states=[one.value for one in RegressionState],
        chosen=chosen,
        total=len(found),
        offset=offset,
        limit=limit,
        link=linker(request),
    )


@router.get("/regressions/{regression_id}")
def regression(regression_id: RegressionId, site: Here) -> HTMLResponse:
    """The page of one Regression."""
    one = site.store.regressions.read(regression_id)
    if one is None:
        raise NotHereError(f"There is no Regression {regression_id}.")
    return site.pages.show(
        "regression.html",
        here="/regressions",
        one=words(one),
        members=[member(info, change) for info, change in one.members],
        events=[
            {
                "at": event.at,
                "actor": event.actor,
                "before": event.from_state.value if event.from_state else "",
                "after": event.to_state.value,
                "reason": event.reason,
            }
            for event in one.events
        ],
    )


def listed(site: Site, chosen: str) -> tuple[RegressionRow, ...]:
    """Regressions in a state ("" is all, "open" is what must be answered), open ones first, newest first."""
    if chosen not in {"", "open", *RegressionState}:
        raise BadInputError(f"state is one of open, {', '.join(RegressionState)}")
    states = (
        frozenset(RegressionState) if not chosen else OPEN_STATES if chosen == "open" else frozenset({RegressionState(chosen)})
    )
    newest_first = sorted(site.store.regressions.every(states), key=lambda one: one.opened_at, reverse=True)
    return tuple(sorted(newest_first, key=lambda one: one.state not in OPEN_STATES))


def words(one: RegressionRow) -> dict[str, Any]:
    """A Regression as pages show it."""
    titles = [change.title for _, change in one.members if change.revision == one.revision]
    return {
        "id": one.id,
        "title": one.title,
        "state": one.state.value,
        "open": one.state in OPEN_STATES,
        "owner": one.owner,
        "subject": one.subject,
        "members": len(one.members),
        "opened_at": one.opened_at,
        "moved_at": one.moved_at,
        "build": one.build,
        "revision": one.revision,
        "revision_title": titles[0] if titles else "",
        "duplicate_of": one.duplicate_of,
    }


def member(info: SeriesInfo, change: ChangeRow) -> dict[str, Any]:
    """One Change of a Regression as a line."""
    scale = scale_of(info.metric.unit, [change.before, change.after])
    return {
        "series": info.id,
        "label": label(info),
        "word": change_word(change).rstrip("?"),
        "effect": change.effect,
        "before": scale.text(change.before),
        "after": scale.text(change.after),
        "unit": scale.unit,
        "interval": change.interval,
        "status": change.status.value if change.gone_at is None else "no longer seen",
    }
