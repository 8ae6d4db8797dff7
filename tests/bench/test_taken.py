"""One measuring process a device of a host, whoever runs it."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfd.bench.taken import is_taken, place, taken
from perfd.errors import PerfdError

HOLDER = """
import time
from perfd.bench.taken import taken
with taken("gpu") as lock:
    print(lock is not None, flush=True)
    time.sleep(60)
"""
PARENT = """
import subprocess, sys, time
from perfd.bench.taken import taken
with taken("gpu") as lock:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], pass_fds=[lock])
    print(child.pid, flush=True)
    time.sleep(60)
"""
THEIRS = """
import fcntl, os, sys, time
file = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""
"""Another user may not even be able to read this checkout."""


@pytest.fixture
def locks(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = open_folder / "locks of devices"
    folder.mkdir()
    folder.chmod(0o1777)
    monkeypatch.setenv("PERFD_LOCKS", str(folder))
    yield folder
    for one in folder.iterdir():
        one.unlink()
    folder.rmdir()


def started(program: str, **how: int) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, **how)


def said(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.usefixtures("locks")
def test_a_device_is_one_process_s_until_that_dies() -> None:
    with started(HOLDER) as holder:
        assert "True" == said(holder)
        assert is_taken("gpu")
        assert not is_taken("cpu")
        holder.kill()

    assert not is_taken("gpu")


@pytest.mark.usefixtures("locks")
def test_a_child_that_outlives_its_worker_goes_on_holding_the_device() -> None:
    with started(PARENT) as worker:
        child = int(said(worker))
        worker.kill()

    assert is_taken("gpu")
    os.kill(child, signal.SIGKILL)
    deadline = time.monotonic() + 10.0
    while is_taken("gpu"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_users_of_one_host_exclude_each_other(locks: Path) -> None:
    assert not is_taken("gpu")
    (path,) = locks.iterdir()
    command = ["/usr/bin/python3", "-c", THEIRS, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, user=65534) as other:
        assert "held" == said(other)
        assert is_taken("gpu")
        other.kill()

    os.chown(path, 65534, 65534)
    assert not is_taken("gpu")  # a file that another user made serves just as well


def test_what_is_in_the_place_of_a_lock_is_told(locks: Path) -> None:
    (locks / "perfd-device-gpu.lock").symlink_to("/etc/passwd")

    with pytest.raises(PerfdError, match="cannot be opened"), taken("gpu"):
        pass


def test_all_users_come_to_the_same_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERFD_LOCKS")

    assert stat.S_IRWXO == place().stat().st_mode & stat.S_IRWXO
