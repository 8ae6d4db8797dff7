"""One server for many processes, whatever dies; real processes, a real Postgres, real signals."""

import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from perfd.errors import PerfdError
from perfd.store import places
from perfd.store.data_folder import explain
from perfd.store.embedded import EmbeddedPostgres, running_postmaster

PROGRAM = Path(__file__).with_name("store_user.py")
User = subprocess.Popen[str]


@pytest.fixture
def state(open_folder: Path) -> Iterator[Path]:
    """A state folder with a space in its path, and without any server when the test has ended."""
    with tempfile.TemporaryDirectory(prefix="a state ", dir=open_folder) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        wait_for_the_end(Path(folder))


@pytest.fixture
def user(state: Path) -> Iterator[Callable[[], User]]:
    """Starts another process that uses the server of the state folder."""
    with contextlib.ExitStack() as stack:

        def start() -> User:
            process = subprocess.Popen(
                [sys.executable, PROGRAM, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
            )
            stack.callback(leave, process)
            return process

        yield start


def server_of(process: User) -> int:
    """Waits until the process uses a server; that server's process id."""
    assert process.stdout is not None
    return int(process.stdout.readline())


def leave(process: User) -> None:
    with contextlib.suppress(BrokenPipeError):
        process.communicate("")


def wait_for_the_end(state: Path) -> None:
    """The supervisor has ended: its lock is free. (The test's own time limit is the only one.)"""
    lock = state / "postgres" / "supervisor.lock"
    if lock.exists():
        with lock.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


def quick(state: Path) -> EmbeddedPostgres:
    """As perfd runs it, but careless of power cuts: making a data folder then takes a tenth of the time."""
    return EmbeddedPostgres(state, settings={"fsync": "off"})


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def query(url: str, statement: str) -> object:
    engine = create_engine(url, poolclass=NullPool)
    with engine.begin() as connection:
        result = connection.execute(text(statement))
        return result.scalar() if result.returns_rows else None


def query_when_it_answers(url: str, statement: str) -> object:
    while True:
        with contextlib.suppress(OperationalError):
            return query(url, statement)
        time.sleep(0.02)


def test_two_processes_share_one_server_and_it_ends_with_the_last(state: Path, user: Callable[[], User]) -> None:
    other = user()
    theirs = server_of(other)
    with quick(state) as server:
        assert theirs == running_postmaster(server.places.data)
        leave(other)
        assert 1 == query(server.url, "SELECT 1")
        data = server.places.data

    assert 0 == running_postmaster(data)


def test_processes_that_start_at_once_start_one_server(user: Callable[[], User]) -> None:
    users = [user() for _ in range(3)]

    assert 1 == len({server_of(one) for one in users})


def test_the_server_ends_when_its_last_user_is_killed(state: Path, user: Callable[[], User]) -> None:
    only = user()
    server_of(only)
    kill(only.pid)
    wait_for_the_end(state)

    assert 0 == running_postmaster(state / "postgres" / "data")


def test_a_killed_server_comes_back_and_what_was_written_is_there(state: Path) -> None:
    with quick(state) as server:
        query(server.url, "CREATE TABLE kept AS SELECT 42 AS answer")
        killed = running_postmaster(server.places.data)
        kill(killed)

        assert 42 == query_when_it_answers(server.url, "SELECT answer FROM kept")
        assert killed != running_postmaster(server.places.data)


def test_a_server_whose_supervisor_was_killed_is_adopted(state: Path, user: Callable[[], User]) -> None:
    other = user()
    theirs = server_of(other)
    kill(int((state / "postgres" / "supervisor.lock").read_text()))
    with quick(state) as server:
        assert theirs == running_postmaster(server.places.data)
        leave(other)
        data = server.places.data

    assert 0 == running_postmaster(data)


def test_a_server_is_started_again_and_again(state: Path) -> None:
    for number in range(3):
        with quick(state) as server:
            query(server.url, f"CREATE TABLE night_{number} ()")

    with quick(state) as server:
        assert 3 == query(server.url, "SELECT count(*) FROM pg_class WHERE relname LIKE 'night!_%' ESCAPE '!'")


def test_an_unfinished_data_folder_is_made_again(state: Path) -> None:
    half = state / "postgres" / "data.part"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    with quick(state) as server:
        assert 1 == query(server.url, "SELECT 1")


def test_the_socket_is_for_its_user_alone(state: Path) -> None:
    with quick(state) as server:
        assert 0o700 == server.places.socket.stat().st_mode & 0o777
        assert len(str(server.places.socket / ".s.PGSQL.5432.lock")) < 107
        assert "" == query(server.url, "SHOW listen_addresses")


def test_data_of_another_version_is_refused_and_left_alone(state: Path) -> None:
    with quick(state) as server:
        version = server.places.data / "PG_VERSION"
    version.write_text("99\n")

    with pytest.raises(PerfdError, match=r"made by Postgres 99, and this perfd brings Postgres \d+; docs/operations.md"):
        quick(state).__enter__()
    assert "99\n" == version.read_text()


def test_a_server_that_cannot_start_tells_why_and_nothing_is_left_running(state: Path) -> None:
    with quick(state) as server:
        settings = server.places.data / "postgresql.conf"
    good = settings.read_text()
    settings.write_text(good + "shared_buffers = plenty\n")

    with pytest.raises(PerfdError, match=r"did not start: .*configuration file .* contains errors"):
        quick(state).__enter__()
    wait_for_the_end(state)
    settings.write_text(good)
    with quick(state) as server:
        assert 1 == query(server.url, "SELECT 1")


def test_an_old_complaint_in_the_log_is_not_taken_for_a_new_one(state: Path) -> None:
    with quick(state) as server:
        settings = server.places.data / "postgresql.conf"
    with (state / "postgres" / "server.log").open("a") as log:
        log.write("PANIC: No space left on device\n")
    settings.write_text("shared_buffers = plenty\n")

    with pytest.raises(PerfdError, match="configuration file"):
        quick(state).__enter__()


def test_a_state_folder_that_is_a_file_is_one_sentence(state: Path) -> None:
    (state / "postgres").write_text("")

    with pytest.raises(PerfdError, match="could not be started"):
        quick(state).__enter__()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder that belongs to somebody else")
def test_a_socket_folder_of_somebody_else_is_refused(state: Path) -> None:
    with quick(state) as server:
        socket = server.places.socket
    assert not socket.exists()
    socket.mkdir()
    os.chown(socket, 12345, 12345)

    with pytest.raises(PerfdError, match="belongs to user 12345; remove it"):
        quick(state).__enter__()
    socket.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's server runs as that user, so it can always enter")
def test_roots_closed_folders_stay_closed_and_a_pointer_tells_where_the_data_is(
    state: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ROOTS", (open_folder / "elsewhere",))
    closed = state / "closed"
    closed.mkdir(mode=0o700)

    with quick(closed) as server:
        query(server.url, "CREATE TABLE kept ()")
        assert open_folder / "elsewhere" in server.places.data.parents
    with quick(closed) as server:
        assert 0 == query(server.url, "SELECT count(*) FROM kept")
    assert 0o700 == closed.stat().st_mode & 0o777
    assert server.places.data == Path((closed / "postgres" / "data.elsewhere").read_text().strip())


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's server runs as that user, so it can always run the programs")
def test_programs_that_the_servers_user_cannot_reach_are_copied_once(
    state: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = places.find_wheel().parent
    closed = state / "closed"
    closed.mkdir(mode=0o700)
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.parent / name, closed / name)
    monkeypatch.setattr(places, "ROOTS", (open_folder / "copies",))
    monkeypatch.setattr(places, "find_wheel", lambda: closed / package.name / "pginstall")

    for _ in range(2):
        with quick(state) as server:
            assert 1 == query(server.url, "SELECT 1")
            assert open_folder / "copies" in server.places.install.parents
    assert 1 == len(list((open_folder / "copies").iterdir()))
    assert 0o700 == closed.stat().st_mode & 0o777


def python_of(account: pwd.struct_passwd) -> list[str] | None:
    """A Python that this user can run and that finds what this one finds; absent where there is none."""
    for python in (sys.executable, "/usr/bin/python3"):
        program = ["env", f"PYTHONPATH={':'.join(sys.path)}", python]
        try_it = [*program, "-c", "import perfd.store"]
        if (
            subprocess.run(try_it, check=False, capture_output=True, cwd="/", user=account.pw_uid, extra_groups=[]).returncode
            == 0
        ):
            return program
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests have shown it")
def test_an_ordinary_user_runs_a_server_of_their_own(state: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    python = python_of(nobody)
    if python is None:
        pytest.skip("every Python here lies where an ordinary user cannot run it")
    os.chown(state, nobody.pw_uid, nobody.pw_gid)
    with subprocess.Popen(
        [*python, PROGRAM, state],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
    ) as process:
        pid = server_of(process)
        assert nobody.pw_uid == Path(f"/proc/{pid}").stat().st_uid
        leave(process)


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        ('PANIC:  could not write to file "pg_wal/xlogtemp.7": No space left on device', "the disk is full"),
        ("could not change directory: Permission denied", "may not use this folder"),
        ('could not bind Unix address "/tmp/x/.s.PGSQL.5432": Address already in use', "another Postgres listens"),
        ("FATAL:  something new\n", "did not start: FATAL:  something new"),
        ("", "it said nothing"),
    ],
)
def test_the_end_of_a_log_becomes_one_sentence(log: str, sentence: str) -> None:
    assert sentence in explain(log, Path("/state/postgres/data"))
