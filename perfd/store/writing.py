"""Small ways of writing that every question shares: upserts by natural key, and text that Postgres can hold."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Row,
    Table,
    TableValuedAlias,
    bindparam,
    func,
    literal,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, Insert, insert

from perfd.errors import BadInputError

LONGEST_NAME = 300
"""Characters; a key of an index holds 2,700 bytes."""
AnyRow: TypeAlias = Row[*tuple[Any, ...]]
"""A row whose columns are read by name."""


def ensure(connection: Connection, table: Table, key: Mapping[str, Any], rest: Mapping[str, Any] | None = None) -> int:
    """The id of the row with this natural key, written with `rest` if it was not there; an existing row is left as it is."""
    where = [table.c[name] == value for name, value in key.items()]
    found = connection.execute(select(table.c.id).where(*where)).scalar()
    if found is not None:
        return int(found)
    added = insert(table).values(**key, **(rest or {})).on_conflict_do_nothing().returning(table.c.id)
    made = connection.execute(added).scalar()
    if made is None:  # another writer was faster, and its row is visible now
        made = connection.execute(select(table.c.id).where(*where)).scalar_one()
    return int(made)


def add_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Every row whose natural key was not there yet is there; answers how many were added."""
    if not rows:
        return 0
    return len(connection.execute(insert(table).on_conflict_do_nothing().returning(literal(1)), list(rows)).all())


def put_all(
    connection: Connection,
    table: Table,
    key: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    kept: Mapping[str, ColumnElement[Any]] | None = None,
) -> None:
    """Every row stands there, in place of the one with its natural key; all rows name the same columns, in JSON's words.

    `kept` says by column what a row that stood there before gets instead of what is given. One statement with one
    parameter: ten times as fast as a statement a row.
    """
    if not rows:
        return
    written = _of_rows(table, rows)
    values = {name: written.excluded[name] for name in rows[0] if name not in key} | dict(kept or {})
    connection.execute(written.on_conflict_do_update(index_elements=key, set_=values))


def add_all(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """As `add_missing`, in one statement with one parameter; all rows name the same columns, in JSON's words."""
    if not rows:
        return 0
    return len(connection.execute(_of_rows(table, rows).on_conflict_do_nothing().returning(literal(1))).all())


def change_all(connection: Connection, table: Table, key: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Every row that is there holds what is given for its key; one statement as in `put_all`."""
    if not rows:
        return
    given = _given(table, rows)
    values = {name: given.c[name] for name in rows[0] if name != key}
    connection.execute(update(table).where(table.c[key] == given.c[key]).values(values))


def _of_rows(table: Table, rows: Sequence[Mapping[str, Any]]) -> Insert:
    return insert(table).from_select(list(rows[0]), select(*_given(table, rows).c))


def _given(table: Table, rows: Sequence[Mapping[str, Any]]) -> TableValuedAlias:
    """The rows as a table with `table`'s types; all name the same columns."""
    typed = [Column(name, table.c[name].type) for name in rows[0]]
    given = func.jsonb_to_recordset(bindparam("rows", rows, JSONB))
    return given.table_valued(*typed, name="given").render_derived(with_types=True)


def added(connection: Connection, row: Insert) -> bool:
    """Whether the row is new; one with its natural key stays as it is (SQLAlchemy tells no rowcount for an INSERT)."""
    return connection.execute(row.on_conflict_do_nothing().returning(literal(1))).first() is not None


def among(column: ColumnElement[int], ids: Iterable[int]) -> ColumnElement[bool]:
    """Whether the column holds one of these; one parameter however many they are, where IN takes one each and 65,535 at most."""
    return column == func.any(bindparam(None, list(ids), ARRAY(BigInteger)))


def ids_text(ids: Iterable[int]) -> str:
    """Whole numbers as Postgres reads an array: text, since the driver takes microseconds for each number of a list.

    For what is unnested only: Postgres would compare each row with every number of an array that it has to read first.
    """
    return f"{{{','.join(map(str, ids))}}}"


def clean(value: Any) -> Any:
    """The same text or JSON without what Postgres refuses: NUL, lone surrogates, infinite numbers. Engines do print them."""
    if isinstance(value, str):
        shown = value.replace("\x00", "\N{SYMBOL FOR NULL}")
        return shown.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        numbers = {float}.issuperset(map(type, value)) and all(map(math.isfinite, value))
        return list(value) if numbers else [clean(item) for item in value]
    return value


def name(value: str, what: str) -> str:
    """A name that came from outside, fit to be a key; raises BadInputError for one that is too long for that."""
    if len(value) > LONGEST_NAME:
        raise BadInputError(f"{what} has a name of {len(value)} characters ({value[:30]}…); at most {LONGEST_NAME} are stored")
    return str(clean(value))
