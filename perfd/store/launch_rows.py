"""Rows of Launches and Checkpoints into words."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from perfd.domain.launch import Checkpoint, ModelLaunch
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.store import tables
from perfd.store.writing import AnyRow

L = tables.launch.c
K = tables.checkpoint.c
Own = tables.occasion.alias("own")
Beside = tables.occasion.alias("beside")


@dataclass(frozen=True)
class LaunchRow:
    """A Launch with its Checkpoints in order."""

    id: int
    launch: ModelLaunch
    known_at: datetime
    checkpoints: tuple[Checkpoint, ...]

    def day(self, day: int | None) -> Checkpoint | None:
        """The Checkpoint of that day."""
        return next((one for one in self.checkpoints if one.day == day), None)


def with_occasions(asked: Any) -> Any:
    """The select over Checkpoints, each with its occasion (`Own`) and its comparison (`Beside`)."""
    return (
        asked.select_from(tables.checkpoint)
        .outerjoin(Own, Own.c.id == K.occasion_id)
        .outerjoin(Beside, Beside.c.id == K.comparison_id)
    )


def rows(connection: Connection, *where: ColumnElement[bool]) -> tuple[LaunchRow, ...]:
    """Launches with their Checkpoints, the newest day 0 first."""
    asked = select(tables.launch, tables.subject.c.name.label("engine")).join(tables.subject).where(*where)
    found = connection.execute(asked.order_by(L.at.desc(), L.id.desc())).all()
    days: dict[int, list[AnyRow]] = {row.id: [] for row in found}
    columns: tuple[Any, ...] = (
        tables.checkpoint,
        *(Own.c[name].label(f"own_{name}") for name in ("kind", "nominal_at", "label", "state", "opened_at", "closed_at")),
        *(Beside.c[name].label(f"beside_{name}") for name in ("kind", "nominal_at", "label")),
    )
    of_these = with_occasions(select(*columns)).where(K.launch_id.in_(days)).order_by(K.day)
    for row in connection.execute(of_these):
        days[row.launch_id].append(row)
    return tuple(_as_launch(row, days[row.id]) for row in found)


def _as_launch(row: AnyRow, days: list[AnyRow]) -> LaunchRow:
    launch = ModelLaunch(
        row.model, row.engine, row.at, tuple(day.day for day in days) or (0,), tuple(row.suites), row.compare_minutes
    )
    return LaunchRow(row.id, launch, row.known_at, tuple(_as_checkpoint(launch.name, day) for day in days))


def _as_checkpoint(launch: str, row: AnyRow) -> Checkpoint:
    return Checkpoint(
        launch=launch,
        day=row.day,
        due_at=row.due_at,
        owed=row.owed,
        occasion=_occasion(row, "own"),
        state=None if row.own_state is None else OccasionState(row.own_state),
        opened_at=row.own_opened_at,
        closed_at=row.own_closed_at,
        comparison=_occasion(row, "beside"),
        why_no_comparison=row.why_no_comparison,
        launched_with=row.launched_with,
    )


def _occasion(row: AnyRow, which: str) -> Occasion | None:
    kind, at, label = (getattr(row, f"{which}_{name}") for name in ("kind", "nominal_at", "label"))
    return None if kind is None else Occasion(OccasionKind(kind), at, label)
