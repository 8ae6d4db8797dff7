"""Which Series a question is about: parts of their keys as conditions, and the values to choose from."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, exists, func, select

from perfd.store import tables

S = tables.series.c
L = tables.series_latest.c
UNJUDGED = "none"
"""The `outcome` of a Series without a Verdict."""


@dataclass(frozen=True)
class SeriesFilter:
    """Which Series to list; every part that is given must match. `workload` is a Workload's name, not its identity."""

    subject: str | None = None
    branch: str | None = None
    suite: str | None = None
    workload: str | None = None
    workload_class: str | None = None
    metric: str | None = None
    model: str | None = None
    quantisation: str | None = None
    parallelism: str | None = None
    device_class: str | None = None
    outcome: str | None = None
    """Of the last Verdict, or UNJUDGED; no part of a key."""


class Version(NamedTuple):
    """What stands about some Series is the same as long as this is."""

    members: str
    """Which of them have Points: what depends on their names alone is the same as long as this is."""
    written: int
    """How often they were written about, added up: every write raises it."""

    def __str__(self) -> str:
        """As a part of a tag."""
        return f"{self.members}.{self.written}"


COLUMNS: dict[str, ColumnElement[Any]] = {
    "subject": tables.subject.c.name,
    "branch": S.branch,
    "suite": tables.suite.c.name,
    "workload": tables.workload.c.name,
    "workload_class": tables.workload.c["class"],
    "metric": tables.metric.c.name,
    "model": S.model,
    "quantisation": S.quantisation,
    "parallelism": S.parallelism,
    "device_class": S.device_class,
}


def conditions(wanted: SeriesFilter) -> list[ColumnElement[bool]]:
    """What a question over `reading.series_select()` and series_latest must ask for."""
    given = {field.name: value for field in fields(wanted) if (value := getattr(wanted, field.name)) is not None}
    outcome = given.pop("outcome", None)
    asked = [COLUMNS[name] == value for name, value in given.items()]
    if outcome is not None:
        asked.append(L.outcome.is_(None) if outcome == UNJUDGED else L.outcome == outcome)
    return asked


def choices(connection: Connection) -> dict[str, tuple[str, ...]]:
    """For every part of a key: the values that some Series has. No question joins: names are looked up where they stand."""
    workload = tables.workload.c
    used = exists().where(S.workload_id == workload.id)
    named = {
        "subject": select(tables.subject.c.name).where(exists().where(S.subject_id == tables.subject.c.id)),
        "suite": select(tables.suite.c.name).where(exists().where(workload.suite_id == tables.suite.c.id, used)),
        "workload": select(workload.name).where(used),
        "workload_class": select(workload["class"]).where(used),
        "metric": select(tables.metric.c.name).where(exists().where(S.metric_id == tables.metric.c.id)),
    }
    return {
        name: tuple(sorted(connection.execute(named.get(name, select(column)).distinct()).scalars()))
        for name, column in COLUMNS.items()
    }


def version(connection: Connection, ids: Collection[int] | None = None) -> Version:
    """The version of these Series (of all)."""
    which = func.coalesce(func.bit_xor(func.hashint8extended(L.series_id, 0)), 0)
    asked = select(func.count(), which, func.coalesce(func.sum(L.version), 0))
    if ids is not None:
        asked = asked.where(L.series_id.in_(ids))
    many, members, written = connection.execute(asked).one()
    return Version(f"{many}.{members % 2**64:x}", int(written))
