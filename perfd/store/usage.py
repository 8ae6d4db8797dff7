"""How devices spent their time: what a night took of them, and how busy each was."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, func, select

from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, RunState
from perfd.store import tables

R = tables.run.c
D = tables.device.c
Occ = tables.occasion.c


@dataclass(frozen=True)
class DeviceUse:
    """A device over a span of time."""

    host: str
    name: str
    device_class: str
    runs: int
    """How many Runs ended on it, or were on it at an end of the span."""
    busy_s: float
    span_s: float

    @property
    def busy(self) -> float:
        """The share of the span in which a Run held it, from 0 to 1."""
        return min(1.0, self.busy_s / self.span_s) if self.span_s > 0 else 0.0


@dataclass(frozen=True)
class Usage:
    """Questions about devices' time."""

    engine: Engine

    def spent_s(self, occasion: Occasion, now: datetime) -> Mapping[str, float]:
        """Device seconds that the occasion's Runs took, by device class, with those under way and tries without result."""
        ended = func.coalesce(R.finished_at, now)
        held_s = func.greatest(0.0, func.extract("epoch", ended - R.started_at))
        measured = (R.started_at.is_not(None)) & (R.state != RunState.QUEUED.value)
        asked = (
            select(R.device_class, func.sum(func.coalesce(held_s, 0.0)).filter(measured), func.sum(R.lost_s))
            .join(tables.occasion, Occ.id == R.occasion_id)
            .where(Occ.name == occasion.name)
            .group_by(R.device_class)
        )
        with self.engine.begin() as connection:
            return {name: float(held or 0.0) + float(lost or 0.0) for name, held, lost in connection.execute(asked)}

    def devices(self, since: datetime, until: datetime) -> tuple[DeviceUse, ...]:
        """Every device that a Run was on in between, by host and name. Runs under way count once they have ended.

        Imported Runs don't: another tool measured them, often years ago, and perfd held no device meanwhile.
        """
        inside = func.least(R.finished_at, until) - func.greatest(R.started_at, since)
        asked = (
            select(D.host, D.name, D.device_class, func.count(), func.sum(func.greatest(0.0, func.extract("epoch", inside))))
            .join(tables.run, R.device_id == D.id)
            .join(tables.occasion, Occ.id == R.occasion_id)
            .where(R.finished_at > since, R.started_at < until, Occ.kind != OccasionKind.IMPORT.value)
            .group_by(D.host, D.name, D.device_class)
            .order_by(D.host, D.name, D.device_class)
        )
        span_s = (until - since).total_seconds()
        with self.engine.begin() as connection:
            return tuple(
                DeviceUse(host, name, device_class, runs, float(busy_s or 0.0), span_s)
                for host, name, device_class, runs, busy_s in connection.execute(asked)
            )
