"""Locks that live as long as a connection: one measuring process a device, one clock a database.

A Postgres session lock is let go when its holder dies, however it dies. Its connection is in autocommit, so that no transaction
stays open while something is measured.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, Function, func, select

from perfd.store.trouble import DATABASE_GONE


@contextmanager
def session_lock(engine: Engine, name: str) -> Iterator[bool]:
    """Whether the lock is ours while the block runs; never waits."""
    key = func.hashtextextended(name, 0)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        got = bool(connection.execute(select(func.pg_try_advisory_lock(key))).scalar_one())
        try:
            yield got
        finally:
            if got and not connection.invalidated:
                _let_go(connection, key)


def _let_go(connection: Connection, key: Function[int]) -> None:
    try:
        connection.execute(select(func.pg_advisory_unlock(key)))
    except DATABASE_GONE:
        connection.invalidate()  # the server went away meanwhile, and our lock with it
