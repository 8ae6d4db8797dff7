"""Whether things have become better, as numbers: last night, the last seven days and the last thirty."""

from collections.abc import Iterator
from dataclasses import dataclass

from perfd.domain.run import RunState
from perfd.site import believed
from perfd.site.site import Site
from perfd.site.spans import beginnings, movements


@dataclass(frozen=True)
class SpanLine:
    """What came of the nights of some days."""

    days: int
    nights_due: int
    nights: int
    better: int | None
    """Series whose last Point lies beyond their bar from the Point of so many days before; absent for one night."""
    worse: int | None
    within: int | None
    unknown: int | None
    changes_better: int
    changes_worse: int
    regressions: int
    regressions_open: int
    runs_done: int
    runs_planned: int
    checks: int
    """A/A comparisons and re-measurements that came to an answer."""
    false_alarms: int
    """Of those, the ones that cried wolf."""


def lines(site: Site) -> Iterator[SpanLine]:
    """Last night and both spans; none before the first night."""
    now, night = site.clock(), site.store.pages.last_night(0)
    if night is None:
        return
    moved = {found.days: found for found in movements(site, now, site.version())}
    for days, span in site.store.pages.spans(beginnings(night)).items():
        one, alarms = moved.get(days), believed.false_alarms(site, now, days)
        yield SpanLine(
            days=days,
            nights_due=span.days,
            nights=span.nights,
            better=one.better if one else None,
            worse=one.worse if one else None,
            within=one.within if one else None,
            unknown=one.unknown if one else None,
            changes_better=span.changes_better,
            changes_worse=span.changes_worse,
            regressions=span.regressions,
            regressions_open=span.regressions_open,
            runs_done=span.runs[RunState.DONE],
            runs_planned=sum(span.runs.values()),
            checks=alarms["of"],
            false_alarms=alarms["wrong"],
        )
