"""The whole database into one file and back, with Postgres' own pg_dump and pg_restore."""

import os
import shutil
import subprocess
from pathlib import Path

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

from perfd.errors import BadInputError, PerfdError
from perfd.store import tables
from perfd.store.migrate import connecting
from perfd.store.places import find_wheel

NO_BACKUP = (
    "could not read from input file",
    "input file is too short",
    "does not appear to be a valid archive",
    "unsupported version",
)
"""What pg_restore says of a file that was cut short, or is something else."""


def backup(url: str, file: Path) -> None:
    """`file` holds the whole database, whole or not at all; raises BadInputError where it exists already."""
    if file.exists():
        raise BadInputError(f"{file} exists already; name another file, so that no backup is overwritten")
    if not file.absolute().parent.is_dir():
        raise BadInputError(f"{file.absolute().parent} is no folder; make it, or name a file in another one")
    part = file.with_name(file.name + ".part")
    try:
        _run(url, "pg_dump", "--format=custom", "--no-owner", f"--file={part}")
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def restore(url: str, file: Path) -> None:
    """The database is as the backup in `file` has it, all or nothing; raises BadInputError where it holds data already."""
    if not file.exists():
        raise BadInputError(f"{file}: there is no such file; name one that `perfd db backup` wrote")
    _refuse_data(url)
    _run(url, "pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", "--exit-on-error", str(file))


def _refuse_data(url: str) -> None:
    engine = create_engine(url, poolclass=NullPool)
    with connecting(engine) as connection:
        for table in (tables.subject, tables.occasion):
            there = connection.execute(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": table.name}).scalar_one()
            if there and connection.execute(text(f"SELECT EXISTS (SELECT FROM {table.name})")).scalar_one():  # noqa: S608  # ours
                raise BadInputError(
                    "the database holds data already, and a restore would replace it; restore into an empty one "
                    "(another PERFD_STATE, or another PERFD_DATABASE_URL)"
                )
    engine.dispose()


def _run(url: str, program: str, *arguments: str) -> None:
    """The program ran on that database; its own complaint becomes a PerfdError."""
    where = make_url(url)
    bare = where.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = dict(os.environ)
    if where.password is not None:
        environment["PGPASSWORD"] = str(where.password)  # not on the command line, where every user of the machine sees it
    answer = subprocess.run(
        [_program(program, url), f"--dbname={bare}", *arguments],
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
        env=environment,
    )
    if answer.returncode != 0:
        complaint = next((line for line in answer.stderr.splitlines() if "error" in line), answer.stderr.strip())
        if any(sign in answer.stderr for sign in NO_BACKUP):
            raise BadInputError(
                f"{arguments[-1]} is no whole backup of perfd ({complaint.strip()}); nothing was changed: name another"
            )
        raise PerfdError(f"{program} failed: {complaint.strip()}")


def _program(name: str, url: str) -> Path | str:
    """The wheel's program where it is as new as the server, or the one on PATH: pg_dump refuses a newer server."""
    ours = find_wheel() / "bin" / name
    engine = create_engine(url, poolclass=NullPool)
    with connecting(engine) as connection:
        server = int((connection.dialect.server_version_info or (0,))[0])
    engine.dispose()
    if server == _major(ours):
        return ours
    theirs = shutil.which(name)
    if theirs is not None and _major(Path(theirs)) == server:
        return theirs
    if name == "pg_dump" and server < _major(ours):
        return ours
    raise PerfdError(
        f"the database is Postgres {server}, and there is no {name} {server} on PATH; install Postgres {server}'s client programs"
    )


def _major(program: Path) -> int:
    answer = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return int(answer.stdout.split()[2].split(".")[0])
