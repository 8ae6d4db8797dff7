"""What every page needs: the store, the clock, the schedule and the templates, found through the request."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Annotated, cast
from zoneinfo import ZoneInfo

from fastapi import Depends, Request

from perfd.config import Schedule, SiteConfig
from perfd.rules.calendar import last_due, next_due
from perfd.site.limits import Limits
from perfd.site.memory import Memory
from perfd.site.templates import Pages
from perfd.store import Store
from perfd.store.pages import Version

PATIENCE = timedelta(minutes=15)


@dataclass(frozen=True)
class Site:
    """Everything that the pages read from; nothing here changes while the site runs."""

    store: Store
    clock: Callable[[], datetime]
    schedule: Schedule
    pages: Pages
    started: str = field(default_factory=lambda: secrets.token_hex(4))
    """Tells this process from an earlier one, whose templates may have been others."""
    access: SiteConfig = field(default_factory=SiteConfig)
    """Who may do what."""
    address: str = ""
    """Where people reach the site, such as https://perfd.example.com; "" where nobody said."""
    limits: Limits = field(default_factory=Limits)
    memory: Memory = field(default_factory=Memory)
    """What was made lately."""
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    """Seals the forms of those who have no cookie; another one in every process."""

    recent_s: float = 0.0
    """So many seconds late a page about everything may tell what others write than this site: it would else be made anew for
    every row of a night."""

    def page_version(self, series: Sequence[int] | None = None) -> str:
        """What a page about these Series (about all) is made of: what is stored, and the templates of this process."""
        version = self.version() if series is None else self.store.pages.version(series)
        return f"{self.started} {version}"

    def version(self) -> Version:
        """The version of all Series, of the moment of `snapshot` or later: a page that is remembered under one is of both."""
        return self.memory.fact(("version", self.snapshot()), self.store.pages.version)

    def snapshot(self) -> str:
        """The version of all that pages show, at most `recent_s` old."""
        return self.memory.recent("snapshot", self.store.pages.snapshot, self.recent_s)

    def choices(self) -> Mapping[str, tuple[str, ...]]:
        """For every part of a Series' key, the values to choose from; looked up once until other Series have Points."""
        return self.memory.fact(("choices", self.version().members), self.store.pages.choices)

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
