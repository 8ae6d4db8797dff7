"""The report of a week: what was measured, what changed, what was answered; as a page to print, and as Markdown to send."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from perfd.domain.codec import to_json
from perfd.domain.run import RunState
from perfd.domain.subject import brief
from perfd.domain.verdict import OPEN_STATES, ChangeStatus
from perfd.errors import BadInputError
from perfd.forge.markdown import escaped, table
from perfd.site import believed, underway
from perfd.site.fresh import this_minute
from perfd.site.numbers import arrow, percent, scale_of
from perfd.site.parameters import text
from perfd.site.regressions import standing, words
from perfd.site.rows import change_word, label
from perfd.site.sentences import plural
from perfd.site.sheets import judged, service
from perfd.site.site import Here, Site
from perfd.site.templates import iso
from perfd.store.records import ChangeRow, OccasionRow, RegressionRow, SeriesInfo

router = APIRouter()
MOST_CHANGES = 50
MOST_DRAWN = 4
_WEEK = re.compile(r"(\d{4})-W(\d{2})")


@dataclass(frozen=True)
class Week:
    """Seven days from Monday on, in UTC."""

    name: str
    """As ISO 8601 has it: 2026-W11."""
    start: datetime
    stop: datetime

    def closed(self, moved: Sequence[RegressionRow]) -> list[RegressionRow]:
        """Those of them that were answered in this week, and are not open again."""
        return [one for one in moved if one.state not in OPEN_STATES and self.start <= one.moved_at < self.stop]


@router.get("/report")
def report(request: Request, site: Here) -> Response:
    """The page."""
    week = week_of(request, site)
    return this_minute(request, lambda: site.pages.show("report.html", here="/report", **told(site, week)), alike=True)


@router.get("/report.md")
def report_as_markdown(request: Request, site: Here) -> Response:
    """The same as Markdown, which is the body of a mail as well."""
    week = week_of(request, site)
    return this_minute(request, lambda: Response(markdown(told(site, week)), media_type="text/markdown; charset=utf-8"))


def week_of(request: Request, site: Site) -> Week:
    """The week that the address names, else `last_week`; raises BadInputError."""
    asked = text(request, "week")
    if not asked:
        return last_week(site)
    return named(asked)


def named(asked: str) -> Week:
    """The week of that name, or of a day in it; raises BadInputError."""
    found = _WEEK.fullmatch(asked)
    try:
        day = date.fromisocalendar(int(found[1]), int(found[2]), 1) if found else date.fromisoformat(asked)
        week = week_of_day(day)
        _ = week.start - timedelta(days=7)  # the report leads on to the week before, and the first of all has none
    except (ValueError, OverflowError) as error:
        raise BadInputError("week is a week such as 2026-W11, or a day in it such as 2026-03-14") from error
    return week


def last_week(site: Site) -> Week:
    """The last complete week; the one under way where nothing was measured or judged in it, such as in perfd's first."""
    today = site.clock().astimezone(UTC).date()
    before = week_of_day(today - timedelta(days=7))
    pages = site.store.pages
    told = pages.nights_between(before.start, before.stop) or pages.found_between(before.start, before.stop)
    return before if told else week_of_day(today)


def week_of_day(day: date) -> Week:
    """The week that the day lies in."""
    monday = day - timedelta(days=day.weekday())
    start = datetime(monday.year, monday.month, monday.day, tzinfo=UTC)
    return Week(_name(monday), start, start + timedelta(days=7))


def _name(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def told(site: Site, week: Week) -> dict[str, Any]:
    """All that the report says."""
    now = site.clock()
    nights = site.store.pages.nights_between(week.start, week.stop)
    found = site.store.pages.found_between(week.start, week.stop)
    moved = site.store.regressions.between(week.start, week.stop)
    left = site.store.regressions.unanswered()
    steps = site.store.pages.last_steps([one.id for one in left])
    worse, better = ([one for one in found if one[1].worse is is_worse] for is_worse in (True, False))
    drawn = list(dict.fromkeys(info.id for info, _ in found))[:MOST_DRAWN]
    closed = week.closed(moved)
    return {
        "week": week.name,
        "days": f"{week.start:%Y-%m-%d} to {week.stop - timedelta(days=1):%Y-%m-%d}",
        "before": _name((week.start - timedelta(days=7)).date()),
        "after": _name(week.stop.date()) if week.stop <= now else "",
        "sentence": sentence(nights, worse, better, len(left)),
        "nights": [_night(one) for one in nights],
        "worse": [_change(*one) for one in worse[:MOST_CHANGES]],
        "better": [_change(*one) for one in better[:MOST_CHANGES]],
        "cut": max(0, len(worse) - MOST_CHANGES) + max(0, len(better) - MOST_CHANGES),
        "closed": [words(one) | {"why": one.events[-1].reason, "who": one.events[-1].actor} for one in closed],
        "left": [words(one) | standing(one, steps.get(one.id), now) for one in reversed(left)],
        "launches": underway.launches(site, now),
        "quarantined": underway.quarantined(site),
        "believed": believed.sentence(believed.false_alarms(site, now)),
        "picture": f"/charts.png?series={','.join(map(str, drawn))}" if drawn else "",
        "drawn": drawn,
    }


def sentence(nights: Sequence[OccasionRow], worse: Sequence[Any], better: Sequence[Any], left: int) -> str:
    """The week in one sentence."""
    if not nights and not worse and not better:
        return "No night was run in this week."
    planned = sum(sum(one.runs.values()) for one in nights)
    done = sum(one.runs.get(RunState.DONE.value, 0) for one in nights)
    changed = f"{plural(len(worse), 'Change')} for the worse, {len(better)} for the better"
    measured = f"{plural(len(nights), 'night')} measured {done:,} of {plural(planned, 'Run')}"
    return f"{measured}: {changed}; {plural(left, 'Regression')} open."


def _night(row: OccasionRow) -> dict[str, Any]:
    done = row.runs.get(RunState.DONE.value, 0)
    planned = sum(row.runs.values())
    return {"at": row.occasion.nominal_at, "state": row.state.value, "done": done, "planned": planned, "not": planned - done}


def _change(info: SeriesInfo, change: ChangeRow) -> dict[str, Any]:
    scale = scale_of(info.metric.unit, (change.before, change.after))
    return {
        "series": info.id,
        "label": label(info),
        "word": change_word(change).rstrip("?"),
        "suspect": change.status is ChangeStatus.SUSPECT,
        "effect": change.effect,
        "interval": change.interval,
        "before": scale.text(change.before),
        "after": scale.text(change.after),
        "unit": scale.unit,
        "build": change.build,
        "revision": change.revision,
        "title": change.title,
        "regression": change.regression_id,
    }


def document(site: Site, week: Week) -> dict[str, Any]:
    """The report as JSON, in base units, with its Markdown."""
    report, pages = told(site, week), site.store.pages
    found = pages.found_between(week.start, week.stop)
    worse, better = ([judged.change(*one) for one in found if one[1].worse is is_worse] for is_worse in (True, False))
    return {
        "week": week.name,
        "start": iso(week.start),
        "stop": iso(week.stop),
        "sentence": report["sentence"],
        "worse": to_json(worse),
        "better": to_json(better),
        "left": [_regression(one) for one in report["left"]],
        "closed": [_regression(one) for one in report["closed"]],
        "nights": to_json(list(service.nights(pages.nights_between(week.start, week.stop)))),
        "false_alarms": report["believed"],
        "markdown": markdown(report),
    }


def _regression(one: dict[str, Any]) -> dict[str, Any]:
    names = ("id", "title", "state", "owner", "subject", "revision")
    return {name: one[name] for name in names} | {name: iso(one[name]) for name in ("opened_at", "moved_at")}


def markdown(report: dict[str, Any]) -> str:
    """The report as Markdown: text from outside is escaped, and no line says more than the page."""
    parts = [f"# Week {report['week']} ({report['days']})", escaped(report["sentence"], 400)]
    for heading, key in (("Worse", "worse"), ("Better", "better")):
        parts.append(f"## {heading}")
        parts.append(_changes_table(report[key]) if report[key] else "None.")
    parts.append("## Regressions that must be answered")
    parts += [_open_line(one) for one in report["left"]] or ["None."]
    parts.append("## Regressions answered in this week")
    parts += [f"- {one['id']} ({one['state']}): {escaped(one['title'], 200)}" for one in report["closed"]] or ["None."]
    parts.append("## Nights")
    nights: list[tuple[str, ...]] = [
        (f"{one['at']:%Y-%m-%d}", one["state"], f"{one['done']} of {one['planned']}") for one in report["nights"]
    ]
    parts.append(table(("Night", "State", "Runs done"), nights) if nights else "None.")
    parts += [escaped(said, 300) for said, _ in (*report["launches"], *report["quarantined"])]
    parts.append(escaped(report["believed"], 400))
    return "\n\n".join(parts) + "\n"


def _changes_table(changes: Sequence[dict[str, Any]]) -> str:
    rows: list[tuple[str, ...]] = [
        (
            escaped(one["label"], 120),
            f"{arrow(one['effect'])} {percent(one['effect'])}{' (suspect)' if one['suspect'] else ''}",
            f"{one['before']} → {one['after']} {escaped(one['unit'], 18)}",
            escaped(f"{brief(one['revision'])} {one['title']}", 80),
        )
        for one in changes
    ]
    return table(("Series", "Effect", "Before → after", "Since"), rows)


def _open_line(one: dict[str, Any]) -> str:
    owner, late = escaped(one["owner"] or "nobody", 60), ", overdue" if one["overdue"] else ""
    return f"- {one['id']} ({one['state']}, {owner}, due {one['due']}{late}): {escaped(one['title'], 200)}"
