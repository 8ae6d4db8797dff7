"""The data folder of the embedded Postgres: made whole or not at all, and what goes wrong on the way in one sentence."""

import os
import shutil
import subprocess
from pathlib import Path

from perfd.errors import PerfdError
from perfd.store.places import Places

DATABASE = "perfd"
ROLE = "perfd"
INITDB = (
    f"--username={ROLE}",
    "--auth=trust",  # the socket's folder is the lock: only the server's user (and root) can enter it
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",  # the host's locales change with its libc, and would spoil the order of indexes
    "--builtin-locale=C.UTF-8",
)
SIGNS = {
    "No space left on device": "{where}: the disk is full; free some space and start again (nothing was lost)",
    "Permission denied": "{where}: the database's user may not use this folder; set PERFD_STATE to a folder that it can enter",
    "Address already in use": "another Postgres listens where perfd's should; end it and start again ({where})",
    "database files are incompatible": (
        "{where} was made by another version of Postgres; docs/operations.md says how to move the data"
    ),
}


def make_data(places: Places, *, synced: bool) -> None:
    """A new data folder with an empty database, whole or not at all (made beside it, then renamed)."""
    part = places.data.with_name("data.part")
    if part.exists():
        shutil.rmtree(part)
    part.mkdir(mode=0o700)
    if places.user is not None and places.group is not None:
        os.chown(part, places.user, places.group)
    _run(places, "initdb", "-D", str(part), *INITDB, *([] if synced else ["--no-sync"]))
    safe = "on" if synced else "off"
    _run(
        places, "postgres", "--single", "-D", str(part), "-c", f"fsync={safe}", "postgres", given=f"CREATE DATABASE {DATABASE}\n"
    )
    part.replace(places.data)


def _run(places: Places, program: str, *arguments: str, given: str = "") -> None:
    answer = subprocess.run(
        [places.binary(program), *arguments],
        input=given,
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
        cwd="/",
        env=places.environment(),
        **places.as_user(),
    )
    if answer.returncode != 0:
        raise PerfdError(explain(answer.stdout + answer.stderr, places.data))


def explain(log: str, where: Path) -> str:
    """One sentence for what the end of a Postgres log tells."""
    tail = log[-4000:]
    for sign, sentence in SIGNS.items():
        if sign in tail:
            return sentence.format(where=where)
    last = next((line for line in reversed(tail.splitlines()) if line.strip()), "it said nothing")
    return f"the embedded Postgres did not start: {last.strip()}; its log is {where.parent / 'server.log'}"
