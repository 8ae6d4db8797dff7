"""What Launches can still use: optimisations with an owner, a state, and what they were measured to bring."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.launch import Todo, TodoState
from perfd.errors import BadInputError
from perfd.store import tables
from perfd.store.writing import AnyRow, clean, name

T = tables.todo.c
L = tables.launch.c
Occ = tables.occasion.c


@dataclass(frozen=True)
class TodoMove:
    """What changes of an optimisation; what is absent stays."""

    state: TodoState | None = None
    owner: str | None = None
    note: str | None = None
    change: int | None = None
    comparison: str | None = None


@dataclass(frozen=True)
class Todos:
    """Questions about optimisations."""

    engine: Engine

    def add(self, launch_id: int, title: str, area: str, owner: str, now: datetime) -> int:
        """The optimisation stands on the Launch's list; its number, which is the old one where the title stood there before.

        Raises BadInputError for a title, an area or an owner that is longer than a name.
        """
        values = {
            "launch_id": launch_id,
            "title": name(title, "an optimisation"),
            "area": name(area, "its area"),
            "owner": name(owner, "its owner"),
        }
        row = insert(tables.todo).values(**values, opened_at=now, moved_at=now).on_conflict_do_nothing().returning(T.id)
        with self.engine.begin() as connection:
            made = connection.execute(row).scalar()
            if made is None:
                standing = select(T.id).where(T.launch_id == launch_id, T.title == values["title"])
                made = connection.execute(standing).scalar_one()
        return int(made)

    def move(self, number: int, move: TodoMove, now: datetime) -> Todo:
        """The optimisation as it stands after the move.

        Raises BadInputError for an unknown number, Change or comparison, and for one that is being done by nobody.
        """
        with self.engine.begin() as connection:
            standing = _rows(connection, T.id == number)
            if not standing:
                raise BadInputError(f"there is no optimisation {number}; `perfd launch todo list` tells their numbers")
            owner = standing[0].owner if move.owner is None else move.owner
            if (move.state or standing[0].state) is TodoState.DOING and not owner.strip():
                raise BadInputError(f"optimisation {number} has nobody who does it; say who with --owner")
            connection.execute(update(tables.todo).where(T.id == number).values(**_values(connection, move), moved_at=now))
            return _rows(connection, T.id == number)[0]

    def of(self, launch_id: int) -> tuple[Todo, ...]:
        """A Launch's list, in the order it was written."""
        with self.engine.begin() as connection:
            return _rows(connection, T.launch_id == launch_id)


def _values(connection: Connection, move: TodoMove) -> dict[str, Any]:
    given: dict[str, Any] = {
        "state": None if move.state is None else move.state.value,
        "owner": None if move.owner is None else name(move.owner, "its owner"),
        "note": clean(move.note),
        "change_id": None if move.change is None else _change(connection, move.change),
        "comparison_id": None if move.comparison is None else _comparison(connection, move.comparison),
    }
    return {name: value for name, value in given.items() if value is not None}


def _change(connection: Connection, number: int) -> int:
    found = connection.execute(select(tables.change.c.id).where(tables.change.c.id == number)).scalar()
    if found is None:
        raise BadInputError(f"there is no Change {number}; `perfd launch report` tells the numbers of a Launch's Changes")
    return int(found)


def _comparison(connection: Connection, name: str) -> int:
    found = connection.execute(select(Occ.id).where(Occ.name == name, Occ.kind == "compare")).scalar()
    if found is None:
        raise BadInputError(f"there is no comparison {name!r}; its name begins with compare: and stands on its page")
    return int(found)


def _rows(connection: Connection, *where: ColumnElement[bool]) -> tuple[Todo, ...]:
    asked = (
        select(tables.todo, L.model, tables.subject.c.name.label("engine"), Occ.name.label("comparison"))
        .join(tables.launch, L.id == T.launch_id)
        .join(tables.subject, tables.subject.c.id == L.subject_id)
        .outerjoin(tables.occasion, Occ.id == T.comparison_id)
        .where(*where)
        .order_by(T.id)
    )
    return tuple(_as_todo(row) for row in connection.execute(asked))


def _as_todo(row: AnyRow) -> Todo:
    return Todo(
        number=row.id,
        launch=f"{row.model} on {row.engine}",
        title=row.title,
        area=row.area,
        owner=row.owner,
        state=TodoState(row.state),
        note=row.note,
        opened_at=row.opened_at,
        moved_at=row.moved_at,
        change=row.change_id,
        comparison=row.comparison or "",
    )
