"""What every page needs: the store, the clock, the schedule and the templates, found through the request."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Annotated, cast
from zoneinfo import ZoneInfo

from fastapi import Depends, Request

from perfd.config import Schedule
from perfd.rules.calendar import last_due, next_due
from perfd.site.templates import Pages
from perfd.store import Store

PATIENCE = timedelta(minutes=15)


@dataclass(frozen=True)
class Site:
    """Everything that the pages read from; nothing here changes while the site runs."""

    store: Store
    clock: Callable[[], datetime]
    schedule: Schedule
    pages: Pages

    def next_night(self, now: datetime) -> datetime:
        """When the clock will next open a night, in UTC."""
        return next_due(now, time.fromisoformat(self.schedule.nightly), ZoneInfo(self.schedule.timezone))

    def due_by(self, now: datetime) -> datetime:
        """When a night should have begun for the last time, with some patience for a clock that just wakes up."""
        return last_due(now - PATIENCE, time.fromisoformat(self.schedule.nightly), ZoneInfo(self.schedule.timezone))


def site_of(request: Request) -> Site:
    """The Site that serves this request."""
    return cast("Site", request.app.state.site)


Here = Annotated[Site, Depends(site_of)]
