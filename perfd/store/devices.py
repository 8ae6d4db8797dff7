"""Devices: looked at before a Run, refused for a while, quarantined with the evidence, released by a person."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Select, and_, case, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.build import BuildState
from perfd.domain.codec import to_json
from perfd.domain.device import AaAnswer, Cause, DeviceRow, Quarantine, Spoilt
from perfd.domain.environment import Device
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.verdict import Outcome
from perfd.store import device_page, device_rows, occasions, tables, voiding
from perfd.store.device_page import DevicePage
from perfd.store.device_rows import same
from perfd.store.writing import clean, ensure

D = tables.device.c
Q = tables.quarantine.c
R = tables.run.c
Occ = tables.occasion.c
LOOKED_LATELY = timedelta(minutes=10)
"""A device is looked at only while a Run waits for it; a refusal after a longer pause is a new one."""


@dataclass(frozen=True)
class Devices:
    """Questions about devices."""

    engine: Engine

    def looked(self, device: Device, refusal: str, now: datetime) -> DeviceRow:
        """It stands there that the device was looked at, and why no Run may begin on it ("" where one may)."""
        with self.engine.begin() as connection:
            found = _ensure(connection, device)
            still = and_(D.refused_since.is_not(None), D.looked_at >= now - LOOKED_LATELY)
            since = case((still, D.refused_since), else_=now) if refusal else None
            values = {"looked_at": now, "refusal": clean(refusal), "refused_since": since}
            connection.execute(update(tables.device).where(D.id == found).values(**values))
            return device_rows.rows(connection, D.id == found)[0]

    def good(self, device: Device, now: datetime) -> None:
        """A Run on it has ended with nothing wrong with the device."""
        with self.engine.begin() as connection:
            found = _ensure(connection, device)
            connection.execute(update(tables.device).where(D.id == found).values(good_at=now, spoilt=[]))

    def spoilt(self, device: Device, one: Spoilt) -> DeviceRow:
        """The device has spoilt one more Run; the same one twice changes nothing."""
        with self.engine.begin() as connection:
            found = _ensure(connection, device)
            row = connection.execute(select(D.spoilt).where(D.id == found).with_for_update()).one()
            if to_json(one) not in row.spoilt:
                values = {"spoilt": [*row.spoilt, clean(to_json(one))]}
                connection.execute(update(tables.device).where(D.id == found).values(**values))
            return device_rows.rows(connection, D.id == found)[0]

    def quarantine(self, device: Device, cause: Cause, actor: str, now: datetime) -> Quarantine | None:
        """The device measures nothing from now on, and what it has finished since the cause is void; see `voiding`.

        Absent, and nothing changed, where it is in quarantine already.
        """
        with self.engine.begin() as connection:
            device_id = _ensure(connection, device)
            connection.execute(select(D.id).where(same(device)).order_by(D.id).with_for_update())  # one opener at a time
            if connection.execute(_open(same(device))).first() is not None:
                return None
            values = {
                "device_id": device_id,
                "opened_at": now,
                "since": cause.since,
                "actor": clean(actor),
                "reason": clean(cause.reason),
                "evidence": clean(to_json(cause.evidence)),
            }
            made = connection.execute(insert(tables.quarantine).values(**values).returning(Q.id)).scalar_one()
            devices = connection.execute(select(D.id).where(same(device))).scalars().all()
            voiding.void(connection, devices, made, clean(cause.reason), (cause.since, now))
            return device_rows.quarantines(connection, Q.id == made)[0]

    def release(self, device: Device, actor: str, reason: str, now: datetime) -> Quarantine | None:
        """A person says that the device may measure again; absent where it is in no quarantine. What was void stays void."""
        with self.engine.begin() as connection:
            row = connection.execute(_open(same(device)).with_for_update(of=tables.quarantine)).first()
            if row is None:
                return None
            ended = {"released_at": now, "released_by": clean(actor), "release_reason": clean(reason)}
            connection.execute(update(tables.quarantine).where(Q.id == row.id).values(**ended))
            connection.execute(update(tables.device).where(same(device)).values(spoilt=[], refusal="", refused_since=None))
            return device_rows.quarantines(connection, Q.id == row.id)[0]

    def is_wanted(self, device_class: str, now: datetime) -> bool:
        """Whether a Run waits that could begin on a device of that class now."""
        asked = (
            select(R.id)
            .join(tables.build, tables.build.c.id == R.build_id)
            .where(
                R.state == RunState.QUEUED.value,
                R.device_class == device_class,
                tables.build.c.state == BuildState.BUILT.value,
                or_(R.not_before.is_(None), R.not_before <= now),
            )
        )
        with self.engine.begin() as connection:
            return connection.execute(asked.limit(1)).first() is not None

    def lasting(self, device: Device) -> Quarantine | None:
        """The quarantine that the device is in; absent where it is in none."""
        with self.engine.begin() as connection:
            return next(iter(device_rows.quarantines(connection, same(device), Q.released_at.is_(None))), None)

    def rows(self) -> tuple[DeviceRow, ...]:
        """Every device, by host and name."""
        with self.engine.begin() as connection:
            return device_rows.rows(connection)

    def read(self, device_id: int) -> DeviceRow | None:
        """The device with that number."""
        with self.engine.begin() as connection:
            return next(iter(device_rows.rows(connection, D.id == device_id)), None)

    def page(self, device: Device) -> DevicePage:
        """What the page of a device shows beside its state."""
        with self.engine.begin() as connection:
            return device_page.page(connection, device)

    def id_of(self, device: Device) -> int | None:
        """The device's number, which its address holds; absent where it is unknown."""
        with self.engine.begin() as connection:
            return device_page.id_of(connection, device)

    def quarantines(self, device: Device) -> tuple[Quarantine, ...]:
        """Every quarantine of the device, newest first."""
        with self.engine.begin() as connection:
            return device_rows.quarantines(connection, same(device))

    def aa(self, device: Device, since: datetime) -> tuple[AaAnswer, ...]:
        """The reported A/A comparisons that ended from then on and were measured on this device alone, oldest first."""
        outcome, ended_at = Occ.report["verdict"]["outcome"].astext, func.max(R.finished_at)
        asked = (
            select(Occ.name, ended_at.label("ended_at"), outcome.label("outcome"))
            .select_from(tables.occasion)
            .join(tables.run, R.occasion_id == Occ.id)
            .join(tables.device, D.id == R.device_id)
            .where(Occ.kind == OccasionKind.AA.value, outcome.is_not(None))
            .group_by(Occ.id)
            .having(func.bool_and(same(device)), ended_at >= since)
            .order_by(ended_at, Occ.id)
        )
        called = {Outcome.BETTER: True, Outcome.WORSE: True, Outcome.SAME: False}
        with self.engine.begin() as connection:
            rows = connection.execute(asked).all()
        return tuple(AaAnswer(row.name, row.ended_at, called[row.outcome]) for row in rows if row.outcome in called)

    def owed(self, device_classes: Collection[str]) -> tuple[Quarantine, ...]:
        """Quarantines that have made Points of these device classes void, which are not planned again yet; oldest first."""
        series = [kind.value for kind in OccasionKind if kind.enters_series]
        void = (
            select(R.id)
            .select_from(tables.run)
            .join(tables.occasion, Occ.id == R.occasion_id)
            .where(R.quarantine_id == Q.id, R.device_class.in_(device_classes), Occ.kind.in_(series))
            .correlate(tables.quarantine)
        )
        with self.engine.begin() as connection:
            return device_rows.quarantines(connection, Q.again_id.is_(None), void.exists())[::-1]

    def again(self, quarantine: int, occasion: Occasion) -> bool:
        """It stands there that the occasion measures again what the quarantine made void; False when one stood there before."""
        with self.engine.begin() as connection:
            planned = update(tables.quarantine).where(Q.id == quarantine, Q.again_id.is_(None))
            return connection.execute(planned.values(again_id=occasions.id_of(connection, occasion))).rowcount == 1

    def voided(self, quarantine: int) -> tuple[str, ...]:
        """Key digests of the Runs that the quarantine made void, in the order they were planned."""
        with self.engine.begin() as connection:
            asked = select(R.key).where(R.quarantine_id == quarantine).order_by(R.queued_at, R.id)
            return tuple(connection.execute(asked).scalars())


def _ensure(connection: Connection, device: Device) -> int:
    return ensure(connection, tables.device, to_json(device))


def _open(*where: ColumnElement[bool]) -> Select[Any]:
    return select(Q.id).join(tables.device, D.id == Q.device_id).where(Q.released_at.is_(None), *where)
