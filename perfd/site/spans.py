"""Whether things have become better: last night, the last seven days and the last thirty, side by side."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from perfd.domain.run import RunState
from perfd.site.numbers import percent
from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.store.pages import Version
from perfd.store.records import Movement, NightCounts, Span

DAYS = (7, 30)


class Column(NamedTuple):
    """One span of nights, as the table of the home page says it."""

    head: str
    days: int
    nights: str
    moved: tuple[tuple[str, int], ...]
    """Words and numbers of Series: better, worse, within the bar, unknown; for last night, what was judged."""
    changes: tuple[tuple[str, int], ...]
    coverage: str
    unmeasured: int
    regressions: str
    alarms: str
    since: str
    """The day from which on /compare shows the Series; "" for last night alone."""


def columns(
    site: Site, night: NightCounts | None, now: datetime, version: Version, alarms: Mapping[int, Mapping[str, Any]]
) -> list[Column]:
    """Last night and both spans, with their false alarms; none before the first night. `version` is that of all Series."""
    if night is None:
        return []
    last = night.row.occasion.nominal_at
    spans = site.store.pages.spans(beginnings(night))
    moved = {found.days: _moved(found) for found in movements(site, now, version)}
    moved[1] = tuple((outcome.value, number) for outcome, number in night.verdict_counts.items())
    return [_column(span, moved[days], last, alarms[days]) for days, span in spans.items()]


def beginnings(night: NightCounts) -> dict[int, datetime]:
    """From which moment on the nights of each span are due, the last night included."""
    last = night.row.occasion.nominal_at
    return {days: last - timedelta(days=days - 1, hours=1) for days in (1, *DAYS)}


def movements(site: Site, now: datetime, version: Version) -> tuple[Movement, Movement]:
    """How many Series stand better or worse than so many days before; remembered while no Series moves."""
    hour = now.replace(minute=0, second=0, microsecond=0)  # a Point is old after three days, and nobody counts their seconds
    return site.memory.fact(("movements", version, hour), lambda: site.store.pages.movements(hour))


def _column(span: Span, moved: tuple[tuple[str, int], ...], last: datetime, alarms: Mapping[str, Any]) -> Column:
    planned, done = sum(span.runs.values()), span.runs[RunState.DONE]
    unmeasured = planned - done
    one = span.days == 1
    return Column(
        head="Last night" if one else f"{span.days} days",
        days=span.days,
        nights=plural(span.nights, "night") if span.nights >= span.days else f"{span.nights} of {plural(span.days, 'night')}",
        moved=moved,
        changes=(("better", span.changes_better), ("worse", span.changes_worse)),
        coverage=f"{done:,} of {plural(planned, 'Run')}",
        unmeasured=unmeasured,
        regressions=_regressions(span),
        alarms=_alarms(alarms),
        since="" if one else f"{last - timedelta(days=span.days):%Y-%m-%d}",
    )


def _regressions(span: Span) -> str:
    if not span.regressions:
        return "none opened"
    return f"{span.regressions:,} opened, {f'{span.regressions_open:,}' if span.regressions_open else 'none'} still open"


def _moved(found: Movement) -> tuple[tuple[str, int], ...]:
    return (("better", found.better), ("worse", found.worse), ("within the bar", found.within), ("unknown", found.unknown))


def _alarms(counted: Mapping[str, Any]) -> str:
    if not counted["of"]:
        return "none counted"
    return f"{percent(counted['rate']).lstrip('+')} of {counted['of']}"


def sentence(found: list[Column]) -> str:
    """Have we improved? By Series that stand beyond their bar, in the longest span that knows anything; "" where none does."""
    for column in reversed(found):
        moved = dict(column.moved)
        better, worse, within = (moved.get(word, 0) for word in ("better", "worse", "within the bar"))
        if column.days > 1 and better + worse + within:
            counts = f"{better:,} better, {worse:,} worse, {within:,} within their bar"
            return f"In {column.days} days {_balance(better, worse)}: {counts}."
    return ""


def _balance(better: int, worse: int) -> str:
    if better == worse:
        return "as many Series became better as worse" if better else "no Series moved"
    return "more Series became better than worse" if better > worse else "more Series became worse than better"
