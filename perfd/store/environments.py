"""Environments: machine, device and versions, stored once each."""

from sqlalchemy import Connection, select

from perfd.domain.codec import to_json
from perfd.domain.environment import Environment
from perfd.domain.identity import digest
from perfd.store import tables
from perfd.store.writing import AnyRow, clean, ensure, name

E = tables.environment.c


def write(connection: Connection, environment: Environment) -> AnyRow:
    """The Environment stands there; its row (id, device_id, hardware_hash, epoch)."""
    device = environment.device
    words = {
        "host": name(device.host, "a host"),
        "name": name(device.name, "a device"),
        "device_class": name(device.device_class, "a device class"),
    }
    rest = {
        "device_id": ensure(connection, tables.device, words),
        "hardware_hash": environment.hardware_hash,
        "hardware": clean(to_json(environment.hardware)),
        "clock_policy": clean(environment.clock_policy),
        "software": clean(to_json(environment.software)),
        "epoch": digest(dict(environment.software)),
    }
    ensure(connection, tables.environment, {"hash": environment.hash}, rest)
    return connection.execute(select(E.id, E.device_id, E.hardware_hash, E.epoch).where(E.hash == environment.hash)).one()
