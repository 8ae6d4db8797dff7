"""The processes of the town, real ones; each is started again whenever it was killed, as a service manager would."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from town import Town

from perfd.bench import processes

GRACE_S = 40.0
FREED_WITHIN_S = 10.0
"""A keeper looks after its parent once a second; a busy machine may take longer."""


@dataclass
class Actor:
    """A program of perfd's that may be killed."""

    name: str
    command: tuple[str, ...]
    town: Town
    environment: Mapping[str, str]
    process: "subprocess.Popen[bytes] | None" = None
    starts: int = 0

    def start(self) -> None:
        """It runs; what it says is kept for whoever must find out why."""
        with (self.town.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.command], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.starts += 1

    def revive(self) -> bool:
        """It runs; True when it had ended by itself, which a database that is away may have brought about."""
        assert self.process is not None
        if self.process.poll() is None:
            return False
        self.start()
        return True

    def kill(self) -> list[str]:
        """It is dead, and so is everything that it measured with; what outlived it is told."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        return left_by(self.town.runs, self.process.pid, FREED_WITHIN_S)

    def stop(self) -> None:
        """It stands still, as in a machine that was suspended."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It goes on as if nothing had happened."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> list[str]:
        """It was asked to end, and did."""
        assert self.process is not None
        self.process.terminate()
        try:
            self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return [f"{self.name} did not end within {GRACE_S:g} s of SIGTERM"]
        return []


@dataclass
class Postgres:
    """The server under all of them; perfd's own supervisor starts it again."""

    home: Path
    """The folder that holds its supervisor's lock, in which that writes its process id."""
    data: Path
    name: str = "postgres"

    def kill(self) -> list[str]:
        """The postmaster is dead."""
        processes.signal_all([self._postmaster()], signal.SIGKILL)
        return []

    def stop(self) -> None:
        """It answers nobody, and refuses nobody: as a machine does that swaps."""
        self._signal_all(signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        self._signal_all(signal.SIGCONT)

    def be_away(self, seconds: float) -> None:
        """It is dead, and nobody starts it for so long."""
        supervisor = int((self.home / "supervisor.lock").read_text(encoding="utf-8"))
        os.kill(supervisor, signal.SIGSTOP)
        self.kill()
        time.sleep(seconds)
        os.kill(supervisor, signal.SIGCONT)

    def _postmaster(self) -> int:
        return int((self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0])

    def _signal_all(self, number: int) -> None:
        postmaster = self._postmaster()
        processes.signal_all([postmaster, *processes.descendants(postmaster)], number)


def company(town: Town, url: str) -> list[Actor]:
    """Two clocks, a site, a service that runs every stage, and a worker."""
    environment = os.environ | {
        "PERFD_DATABASE_URL": url,
        "PERFD_STATE": str(town.folder / "state"),
        "PERFD_LOCKS": str(town.folder / "locks"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    perfd = ("-m", "perfd", "--config", str(town.config))
    clock = (str(Path(__file__).with_name("clock.py")), str(town.config), str(town.calendar))
    commands = {
        "clock 1": clock,
        "clock 2": clock,
        "site": (*perfd, "serve", "--no-clock", "--no-worker", "--port", "0"),
        "service": (*perfd, "serve", "--no-clock", "--port", "0"),
        "worker": (*perfd, "work"),
    }
    return [Actor(name, command, town, environment) for name, command in commands.items()]


def left_by(runs: Path, pid: int, patience_s: float) -> list[str]:
    """What still works in a folder of that worker's Runs after some seconds."""
    return until_none(lambda: [f"process {one} of dead worker {pid} lives on" for one in _of(runs, pid)], patience_s)


def _of(runs: Path, pid: int) -> list[int]:
    folders = list(runs.glob(f"*@{pid}@*")) if runs.is_dir() else []
    return [one for folder in folders for one in processes.working_in(folder)]


def until_none(look: Callable[[], list[str]], patience_s: float) -> list[str]:
    """Nothing, as soon as `look` finds nothing; what it still finds after some seconds."""
    deadline = time.monotonic() + patience_s
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
