"""Keeps one embedded Postgres running for as long as anybody uses it; a program of its own, started by `embedded.py`.

Whoever uses the server holds a shared lock (flock) on `users.lock`. This program waits for the exclusive lock on that file, which
the kernel grants exactly when the last user has gone, by leaving or by `kill -9`, and then shuts the server down. A newcomer's
shared lock waits until the shutdown is complete. So no count can go wrong, and nobody asks whether some process still lives.

It runs by path, with the standard library only, so that it costs little memory and depends on nothing that an upgrade replaces.
"""

import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

PATIENCE_S = 60.0
RESTARTS = 5
"""After so many deaths within `SETTLED_S` of a start the server is left alone, and its log says why."""
SETTLED_S = 5.0


def main() -> None:
    """The server has run, and nobody uses it any more."""
    job: dict[str, Any] = json.loads(sys.argv[1])
    home = Path(job["home"])
    if os.fork():
        os._exit(0)
    os.setsid()
    os.chdir("/")
    lock = (home / "supervisor.lock").open("a")
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")  # for people; programs ask the lock
    lock.flush()
    Supervisor(home, job).run()


class Supervisor:
    """One server, and the thread that waits for its last user to leave."""

    def __init__(self, home: Path, job: dict[str, Any]) -> None:
        self.home = home
        self.job = job
        self.ending = threading.Event()
        self.turning = threading.Lock()
        """Held while the server is started again or told to end, so that none is started after the last user left."""
        self.pid = 0

    def run(self) -> None:
        """The server ran until its last user left, restarted whenever it died before."""
        self.pid = int(self.job["adopt"]) or self.start()
        report = sys.stdout
        report.write("ready\n" if self.wait_ready() else "failed\n")
        report.flush()
        _close_streams()
        ender = threading.Thread(target=self.end_when_unused, daemon=True)
        ender.start()
        quick_deaths = 0
        while True:
            began = time.monotonic()
            wait_gone(self.pid)
            if self.ending.is_set():
                ender.join()  # it tidies up, and ends this process
            quick_deaths = quick_deaths + 1 if time.monotonic() - began < SETTLED_S else 0
            if quick_deaths > RESTARTS:
                return
            time.sleep(0.1 * 2**quick_deaths)
            with self.turning:
                self.pid = self.start()

    def start(self) -> int:
        """The postmaster runs as a child of ours; it may not be ready yet."""
        with (self.home / "server.log").open("a") as log:
            return _spawn(self.job, log)

    def wait_ready(self) -> bool:
        """Whether the server came up, as it says itself in the last line of its pid file."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self.status() == "ready":
                return True
            if is_gone(self.pid):
                return False
            time.sleep(0.02)
        return False

    def status(self) -> str:
        """What the pid file says of our server: "starting", "ready", "stopping" or nothing."""
        try:
            lines = (Path(self.job["data"]) / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return ""
        return lines[7].strip() if len(lines) > 7 and lines[0] == str(self.pid) else ""

    def end_when_unused(self) -> None:
        """The server was told to shut down fast, because nobody uses it; the lock is ours until this process ends."""
        users = (self.home / "users.lock").open("a")
        fcntl.flock(users, fcntl.LOCK_EX)
        self.turning.acquire()  # for ever
        self.ending.set()
        while not is_gone(self.pid):
            _interrupt(self.pid)
            time.sleep(0.5)
        with contextlib.suppress(OSError):  # not empty, or gone already: nothing depends on it
            Path(self.job["socket"]).rmdir()
        os._exit(0)


def is_gone(pid: int) -> bool:
    """Whether the process has ended; a child of ours is reaped on the way."""
    try:
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return True
    except ChildProcessError:
        pass
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 0)[0])
    finally:
        os.close(handle)


def wait_gone(pid: int) -> None:
    """The process has ended; it need not be a child of ours."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    select.select([handle], [], [])
    os.close(handle)
    is_gone(pid)


def _interrupt(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGINT)  # a "fast shutdown": clients are cut off, the data folder is left clean
    except ProcessLookupError:
        return


def _spawn(job: dict[str, Any], log: IO[str]) -> int:
    as_user = {} if job["user"] is None else {"user": job["user"], "group": job["group"], "extra_groups": []}
    child = subprocess.Popen(
        job["command"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=job["environment"],
        start_new_session=True,
        **as_user,
    )
    child.returncode = 0  # reaped by its number in `is_gone`; the object has nothing left to do
    return child.pid


def _close_streams() -> None:
    empty = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(empty, number)


if __name__ == "__main__":
    main()
