"""All about one device that is not said by its own row: its last Runs, the last look, and what became void by it."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from perfd.domain.environment import Device, DeviceState
from perfd.store import reading, tables
from perfd.store.pages.runs import states_of
from perfd.store.records import RunRow

R = tables.run.c
D = tables.device.c
MOST = 20


@dataclass(frozen=True)
class DevicePage:
    """What the page of a device shows beside its state."""

    runs: tuple[RunRow, ...]
    """Its last Runs, newest first."""
    states_of: str
    """Key digest of the last Run that was looked at; "" where none was."""
    states: tuple[DeviceState, ...]
    """What was seen during that Run."""
    voided: tuple[RunRow, ...]
    """Every Run that a quarantine of it made void, newest first."""


def page(connection: Connection, device: Device) -> DevicePage:
    """The device's page, whatever classes it was measured under."""
    same = R.device_id.in_(select(D.id).where(D.host == device.host, D.name == device.name))
    newest = select(R.id).where(same, R.finished_at.is_not(None)).order_by(R.finished_at.desc(), R.id.desc()).limit(MOST)
    last = reading.run_rows(connection, R.id.in_(connection.execute(newest).scalars().all()))
    runs = sorted(last, key=lambda run: (run.finished_at or run.queued_at, run.id), reverse=True)
    looked = next(((run.key, states) for run in runs if (states := states_of(connection, run.id))), ("", ()))
    voided = reading.run_rows(connection, same, R.quarantine_id.is_not(None))[::-1]
    return DevicePage(tuple(runs), looked[0], looked[1], voided)


def id_of(connection: Connection, device: Device) -> int | None:
    """The device's number, which its address holds; absent where it is unknown."""
    words = (D.host == device.host, D.name == device.name, D.device_class == device.device_class)
    found: int | None = connection.execute(select(D.id).where(*words)).scalar()
    return found
