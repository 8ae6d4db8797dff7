"""What many Runs from elsewhere refer to, each row found or made once, and writing by sets."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, func, select
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.dialects.postgresql import insert as pg_insert

from perfd.domain.arrival import Arrival
from perfd.store.writing import AnyRow

Row = dict[str, Any]


@dataclass
class Batch:
    """What is known of the rows that these Arrivals need, each found or made once."""

    connection: Connection
    now: datetime
    subjects: dict[str, int] = field(default_factory=dict)
    revisions: dict[tuple[int, str, str], int] = field(default_factory=dict)
    ordinals: dict[int, int] = field(default_factory=dict)
    occasions: dict[str, int] = field(default_factory=dict)
    builds: dict[str, int] = field(default_factory=dict)
    workloads: dict[str, int] = field(default_factory=dict)
    models: dict[Any, int] = field(default_factory=dict)
    environments: dict[str, AnyRow] = field(default_factory=dict)
    metrics: dict[tuple[str, str, str], int] = field(default_factory=dict)
    series: dict[str, int] = field(default_factory=dict)


def place_of(batch: Batch, arrival: Arrival) -> tuple[int, str, str]:
    """By what the Revision of the Run is found in `revisions`."""
    one = arrival.identity
    return batch.subjects[one.subject], one.branch, one.revision


def ensure_all(connection: Connection, table: Table, rows: Sequence[Row], key: str) -> dict[str, int]:
    """By natural key, the ids of all these rows, written where they were not there yet."""
    if rows:
        connection.execute(pg_insert(table).on_conflict_do_nothing(), list(rows))
    keys = bindparam("keys", [row[key] for row in rows], ARRAY(TEXT))
    return dict(connection.execute(select(table.c[key], table.c.id).where(table.c[key] == func.any(keys))).all())
