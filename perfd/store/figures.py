"""Figures that a monitor counts and no page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, func, select

from perfd.store import tables

R = tables.run.c
B = tables.build.c
X = tables.outbox.c


@dataclass(frozen=True)
class Figures:
    """What ended since a moment, and what the outbox holds."""

    runs: Mapping[tuple[str, str], int]
    """Runs that ended, by state and kind of failure ("" for none)."""
    builds: Mapping[str, int]
    """Builds that ended, by state."""
    waiting: Mapping[str, tuple[int, datetime]]
    """Messages that wait, by kind: how many, and when the oldest was written."""
    given_up: Mapping[str, int]
    """Messages that were given up, by kind."""


def figures(engine: Engine, since: datetime) -> Figures:
    """What ended from that moment on, and what waits now."""
    runs = select(R.state, func.coalesce(R.failure, ""), func.count()).where(R.finished_at >= since).group_by(R.state, R.failure)
    builds = select(B.state, func.count()).where(B.finished_at >= since).group_by(B.state)
    waiting = select(X.kind, func.count(), func.min(X.created_at)).where(X.done_at.is_(None)).group_by(X.kind)
    given_up = select(X.kind, func.count()).where(X.given_up, X.done_at >= since).group_by(X.kind)
    with engine.begin() as connection:
        return Figures(
            runs={(state, failure): count for state, failure, count in connection.execute(runs)},
            builds=dict(connection.execute(builds).all()),
            waiting={kind: (count, oldest) for kind, count, oldest in connection.execute(waiting)},
            given_up=dict(connection.execute(given_up).all()),
        )
