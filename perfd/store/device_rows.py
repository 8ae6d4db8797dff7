"""Rows about devices into words: devices with the quarantine that lasts, and quarantines with what they made void."""

from sqlalchemy import ColumnElement, Connection, func, select

from perfd.domain.codec import from_json
from perfd.domain.device import Cause, DeviceRow, Quarantine, Released, Spoilt
from perfd.domain.environment import Device
from perfd.domain.run import RunState
from perfd.store import tables
from perfd.store.writing import AnyRow

D = tables.device.c
Q = tables.quarantine.c
R = tables.run.c
Occ = tables.occasion.c


def same(device: Device) -> ColumnElement[bool]:
    """The same piece of hardware, whatever class it is measured under."""
    return (D.host == device.host) & (D.name == device.name)


def rows(connection: Connection, *where: ColumnElement[bool]) -> tuple[DeviceRow, ...]:
    """The devices that fit, by host and name."""
    found = connection.execute(select(tables.device).where(*where).order_by(D.host, D.name, D.device_class)).all()
    lasting = {(one.device.host, one.device.name): one for one in quarantines(connection, Q.released_at.is_(None))}
    return tuple(
        DeviceRow(
            id=row.id,
            device=Device(row.host, row.name, row.device_class),
            looked_at=row.looked_at,
            refusal=row.refusal,
            refused_since=row.refused_since,
            good_at=row.good_at,
            spoilt=tuple(from_json(Spoilt, one) for one in row.spoilt),
            quarantine=lasting.get((row.host, row.name)),
        )
        for row in found
    )


def quarantines(connection: Connection, *where: ColumnElement[bool]) -> tuple[Quarantine, ...]:
    """The quarantines that fit, newest first."""
    voided = select(func.count()).where(R.quarantine_id == Q.id, R.state == RunState.VOID.value).scalar_subquery()
    asked = (
        select(tables.quarantine, D.host, D.name, D.device_class, Occ.name.label("again"), voided.label("voided"))
        .join(tables.device, D.id == Q.device_id)
        .outerjoin(tables.occasion, Occ.id == Q.again_id)
        .where(*where)
        .order_by(Q.id.desc())
    )
    return tuple(_as_quarantine(row) for row in connection.execute(asked))


def _as_quarantine(row: AnyRow) -> Quarantine:
    return Quarantine(
        id=row.id,
        device=Device(row.host, row.name, row.device_class),
        cause=Cause(row.reason, row.since, row.evidence),
        actor=row.actor,
        opened_at=row.opened_at,
        released=None if row.released_at is None else Released(row.released_at, row.released_by, row.release_reason),
        voided=row.voided,
        again=row.again or "",
    )
