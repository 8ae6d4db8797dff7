"""How a column is written down: a name, a sentence, and what it may hold. Every column has its sentence."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Computed,
    DateTime,
    Double,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def identity(comment: str = "A number of the database's own; never shown as a name.") -> Column[int]:
    """The primary key of a table that has a natural key beside it."""
    return Column("id", BigInteger, Identity(always=True), primary_key=True, comment=comment)


def text(name: str, comment: str, *, default: str | None = None, unique: bool = False, null: bool = False) -> Column[str]:
    """Text; "" rather than NULL where nothing is there to be said."""
    return Column(name, Text, nullable=null, unique=unique or None, server_default=default, comment=comment)


def whole(name: str, comment: str, *, default: int | None = None, null: bool = False, key: bool = False) -> Column[int]:
    """A whole number."""
    shown = None if default is None else str(default)
    return Column(name, Integer, nullable=null, server_default=shown, primary_key=key, autoincrement=False, comment=comment)


def large(name: str, comment: str, *, default: int | None = None) -> Column[int]:
    """A whole number that may outgrow 31 bits."""
    shown = None if default is None else str(default)
    return Column(name, BigInteger, nullable=False, server_default=shown, comment=comment)


def number(name: str, comment: str, *, null: bool = False) -> Column[float]:
    """A measured or computed number, in the unit that the name says."""
    return Column(name, Double, nullable=null, comment=comment)


def mark(name: str, of: str, comment: str) -> Column[int]:
    """Four bytes that Postgres makes of a text: equal texts have equal ones, and others nearly always another."""
    expression = Computed(f"('x' || left(md5({of}), 8))::bit(32)::integer", persisted=True)
    return Column(name, Integer, expression, nullable=False, comment=comment)


def truth(name: str, comment: str, *, default: str = "false") -> Column[bool]:
    """True or false."""
    return Column(name, Boolean, nullable=False, server_default=default, comment=comment)


def moment(name: str, comment: str, *, null: bool = False, key: bool = False) -> Column[datetime]:
    """A time, with its zone."""
    return Column(name, DateTime(timezone=True), nullable=null, primary_key=key, comment=comment)


def document(name: str, comment: str, *, default: str | None = "{}", null: bool = False) -> Column[Any]:
    """JSON."""
    return Column(name, JSONB(none_as_null=True), nullable=null, server_default=default, comment=comment)


def reference(name: str, target: str, comment: str, *, null: bool = False, key: bool = False) -> Column[int]:
    """The id of a row of `target`."""
    return Column(
        name, BigInteger, ForeignKey(f"{target}.id"), nullable=null, primary_key=key, autoincrement=False, comment=comment
    )


def one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    """The column holds one of the domain's words, and nothing else."""
    listed = ", ".join(f"'{word.value}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=column)
