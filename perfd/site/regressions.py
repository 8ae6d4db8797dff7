"""Regressions: the list for triage, and one with its members, its bisections, the commits of its range, and its life."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.account import Right, Visitor
from perfd.domain.bisect import StepKind
from perfd.domain.subject import brief
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.errors import BadInputError
from perfd.rules.rights import may
from perfd.rules.triage import acknowledgement, due_day
from perfd.site import sentences
from perfd.site.fresh import kept
from perfd.site.numbers import scale_of
from perfd.site.parameters import Limit, Offset, RegressionId, linker, text
from perfd.site.rows import change_word, label
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.site.visitors import Asking
from perfd.store.records import BisectRow, ChangeRow, RegressionRow, SeriesInfo

router = APIRouter()


@router.get("/regressions")
def regressions(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The list, open ones first."""
    # Asked of the database anew: whoever has just answered one comes back to see it in the list.
    version = f"{site.started} {site.clock():%Y-%m-%dT%H:%M} {site.store.pages.snapshot()}"
    return kept(request, version, lambda: _list(request, site, offset, limit), alike=True)


def _list(request: Request, site: Site, offset: int, limit: int) -> HTMLResponse:
    chosen = text(request, "state")
    found = listed(site, chosen)
    open_count = (
        sum(one.state in OPEN_STATES for one in found) if chosen in {"", "open"} else len(site.store.regressions.unanswered())
    )
    shown = found[offset : offset + limit]
    steps = site.store.pages.last_steps([one.id for one in shown])
    return site.pages.show(
        "regressions.html",
        here="/regressions",
        sentence=sentences.regressions(found, open_count),
        regressions=[words(one) | standing(one, steps.get(one.id), site.clock()) for one in shown],
        states=[one.value for one in RegressionState],
        chosen=chosen,
        total=len(found),
        offset=offset,
        limit=limit,
        link=linker(request),
    )


@router.get("/regressions/{regression_id}")
def regression(request: Request, regression_id: RegressionId, site: Here, visitor: Asking) -> HTMLResponse:
    """The page of one Regression."""
    return page(request, site, find(site, regression_id), visitor)


def find(site: Site, regression_id: int) -> RegressionRow:
    """The Regression; raises NotHereError where there is none."""
    row = site.store.regressions.read(regression_id)
    if row is None:
        raise NotHereError(f"There is no Regression {regression_id}.")
    return row


def page(
    request: Request,
    site: Site,
    row: RegressionRow,
    visitor: Visitor,
    *,
    said: str = "",
    typed: Mapping[str, str] | None = None,
    status: int = 200,
) -> HTMLResponse:
    """The page; `said` is why an answer was not taken, and `typed` what it was."""
    steps = site.store.pages.last_steps([row.id])
    changes = [change.id for _, change in row.members]
    return site.pages.show(
        "regression.html",
        here="/regressions",
        status=status,
        visitor=visitor,
        may_answer=may(visitor.role, Right.TRIAGE),
        said=said,
        done=text(request, "done"),
        typed=typed or {},
        one=words(row) | standing(row, steps.get(row.id), site.clock()),
        members=[member(info, change) for info, change in row.members],
        commits=site.store.pages.commits(changes[0]) if changes else None,
        bisections=[bisection(one) for one in site.store.bisects.of_regression(row.id)],
        events=[
            {
                "at": event.at,
                "actor": event.actor,
                "before": event.from_state.value if event.from_state else "",
                "after": event.to_state.value,
                "moved": event.from_state is not event.to_state,
                "reason": event.reason,
            }
            for event in row.events
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
        "build": change.build,
        "label": label(info),
        "word": change_word(change).rstrip("?"),
        "effect": change.effect,
        "before": scale.text(change.before),
        "after": scale.text(change.after),
        "unit": scale.unit,
        "interval": change.interval,
        "status": change.status.value if change.gone_at is None else "no longer seen",
    }


def standing(row: RegressionRow, last_step: datetime | None, now: datetime) -> dict[str, Any]:
    """How it stands with people: the day by which to answer, what was acknowledged, its largest effect."""
    worst = max((change for _, change in row.members), key=lambda one: abs(one.effect), default=None)
    day, is_set = due_day(row.opened_at, [worst.effect] if worst else [], row.events)
    held = acknowledgement(row.events, last_step)
    return {
        "due": day.isoformat(),
        "due_set": is_set,
        "overdue": row.state in OPEN_STATES and held is None and day < now.astimezone(UTC).date(),
        "acknowledged": held,
        "effect": worst.effect if worst else None,
        "seen": len(row.events),
    }


def bisection(row: BisectRow) -> dict[str, Any]:
    """A bisection and how far it is, its places by their Revisions."""
    ended = row.ended
    pairs = sum(step.pairs for step in row.steps)
    builds = sum(step.kind is StepKind.BUILD for step in row.steps)
    between = plural(max(0, len(row.path) - 1), "commit")
    spent = f"{plural(len(row.steps), 'step')}, {plural(builds, 'Build')} of at most {row.most_builds}, {plural(pairs, 'pair')}"
    blamed = row.path[ended.bad] if ended else None
    return {
        "sentence": f"Over {between}: {spent}; {'ended' if ended else 'under way'}.",
        "end": ended.end.value if ended else "",
        "reason": ended.reason if ended else "",
        "proposal": ended.proposal if ended else "",
        "blamed": f"{brief(blamed.revision)} {blamed.title}".strip() if blamed and ended and ended.end.value == "commit" else "",
        "steps": [
            {
                "number": step.number,
                "kind": step.kind.value,
                "base": brief(row.path[step.base].revision),
                "head": brief(row.path[step.head].revision),
                "title": row.path[step.head].title,
                "outcome": step.outcome.value if step.outcome else "open",
                "effect": step.effect,
                "pairs": step.pairs,
                "told": step.reason or step.why,
            }
            for step in row.steps
        ],
    }
