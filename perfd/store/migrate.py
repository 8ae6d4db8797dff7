"""The schema and its versions: Alembic's migrations of db/, driven from here."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, func, inspect, select, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.pool import NullPool

from perfd.errors import PerfdError
from perfd.store.tables import METADATA
from perfd.store.trouble import is_refused, said

SCRIPTS = Path(__file__).resolve().parents[2] / "db"
OLDEST_POSTGRES = 15
LOCK = 0x70657266_64_6462  # "perfd" "db": two upgrades at once wait for each other


def upgrade(url: str) -> None:
    """The database has this perfd's schema; raises PerfdError where it cannot have it."""
    engine = create_engine(url, poolclass=NullPool)
    with _told(), connecting(engine) as connection, connection.begin():
        connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
        _refuse_old_server(connection)
        _refuse_unknown(connection)
        found = _version(connection)
        command.upgrade(config(connection), "head")
    if found not in {None, head()}:
        _vacuum(engine)
    engine.dispose()


def _vacuum(engine: Engine) -> None:
    """Postgres knows of every row that it was there before: a chart of a table that was written anew reads its index alone."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM"))


def check(url: str) -> None:
    """Nothing; raises PerfdError, with what to do, unless the database has exactly this perfd's schema."""
    engine = create_engine(url, poolclass=NullPool)
    with _told(), connecting(engine) as connection:
        _refuse_old_server(connection)
        _refuse_unknown(connection)
        found = _version(connection)
        if found is None:
            raise PerfdError("the database has no tables of perfd yet; run `perfd db upgrade`")
        if found != head():
            raise PerfdError(f"the database is at schema {found}, and this perfd needs {head()}; run `perfd db upgrade`")
    engine.dispose()


@contextmanager
def _told() -> Iterator[None]:
    """What the database refuses is a sentence: either perfd's role may not, or the tables are not what their version says."""
    try:
        yield
    except ProgrammingError as error:
        if is_refused(error):
            raise PerfdError(f"the database refuses perfd's role: {said(error)}; perfd needs to own its database") from None
        raise PerfdError(
            f"the database is half-migrated: {said(error)}; nothing was changed: restore a backup (docs/operations.md), "
            "or give perfd an empty database"
        ) from None


def differences(connection: Connection) -> list[Any]:
    """What the tables in the database lack or have beyond the tables in the code: empty when the two agree."""
    context = MigrationContext.configure(
        connection, opts={"include_object": is_ours, "compare_type": True, "compare_server_default": True}
    )
    return list(compare_metadata(context, METADATA))


def head() -> str:
    """The schema version of this perfd."""
    version = _scripts().get_current_head()
    if version is None:
        raise PerfdError(f"{SCRIPTS}: no migrations are there; run perfd from a complete checkout")
    return version


def is_ours(_thing: object, name: str | None, kind: str, _reflected: bool, _other: object) -> bool:  # noqa: FBT001  # Alembic calls it so
    """Whether a table or index is part of the schema; partitions of `sample` come and go, and Postgres names their indexes."""
    return not (kind in {"table", "index"} and name is not None and name.startswith("sample_"))


def connecting(engine: Engine) -> Connection:
    """A connection; raises PerfdError in one sentence where there is none to be had."""
    try:
        return engine.connect()
    except (
        OperationalError,
        ProgrammingError,
    ) as error:  # ProgrammingError: an option in the address that Postgres does not know
        shown = engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
        raise PerfdError(
            f"no connection to the database {shown}: {said(error)}; start that Postgres, correct PERFD_DATABASE_URL, "
            "or unset it to use perfd's own",
            permanent=False,
        ) from None


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(SCRIPTS))


def config(connection: Connection) -> Config:
    """Alembic's configuration for one connection."""
    made = Config()
    made.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


def _version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _refuse_old_server(connection: Connection) -> None:
    major = int((connection.dialect.server_version_info or (0,))[0])
    if major < OLDEST_POSTGRES:
        raise PerfdError(f"the database is Postgres {major}, and perfd needs {OLDEST_POSTGRES} or newer; upgrade that server")


def _refuse_unknown(connection: Connection) -> None:
    """Raises for a schema that a newer perfd made, or that is there only in part."""
    found = _version(connection)
    known = {script.revision for script in _scripts().walk_revisions()}
    if found is not None and found not in known:
        raise PerfdError(
            f"the database is at schema {found}, which a newer perfd made; use that perfd, or restore a backup from before it"
        )
    missing = _missing_tables(connection, found)
    if missing:
        raise PerfdError(
            f"the database is half-migrated: the tables {', '.join(missing)} are not as schema {found or 'none'} has them; "
            "restore a backup (docs/operations.md), or give perfd an empty database"
        )


def _missing_tables(connection: Connection, found: str | None) -> list[str]:
    there = set(inspect(connection).get_table_names())
    ours = set(METADATA.tables)
    if found is None:
        return sorted(ours & there)
    return sorted(ours - there) if found == head() else []
