"""Run a caged program to its end: what it printed, cut to its limits, and how it ended. Nothing that it started is alive then."""

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from perfd.bench import processes
from perfd.bench.cage.plan import HOME, TRIAL, Limits, Plan, command, python_places
from perfd.errors import BadInputError

ENDING_S = 30.0
"""The cage's own program needs milliseconds to end what it holds; a machine that swaps may take longer."""
PLACES: Mapping[str, str] = {"HOME": HOME, "TMPDIR": "/tmp", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}  # noqa: S108 - the cage's own
INPUTS = "/inputs"
"""Where `run_file` shows a program and its inputs."""
REPORT_BYTES = 4096


class NoCageError(BadInputError):
    """This host lets perfd build no cage; nothing has run."""


class Ended(StrEnum):
    """How a program ended."""

    WELL = "well"
    BADLY = "badly"
    """Another exit code, a signal, or a limit of CPU time, memory, processes or file size."""
    SLOWLY = "slowly"
    """Stopped by the clock."""
    GREEDILY = "greedily"
    """Stopped because of its output, its memory or what it wrote."""


@dataclass(frozen=True)
class Ran:
    """One program's end. What it printed is its own word: read it as hostile data."""

    ended: Ended
    code: int | None
    """Its exit code, or the signal that ended it, negative; absent when the cage ended it."""
    over: str
    """The limit that it broke; "" when none."""
    output: bytes
    errors: str
    """Standard error as text."""


def run(plan: Plan, stdin: bytes = b"") -> Ran:
    """How the program ended, at most its wall time and a few seconds later. Raises NoCageError, and then nothing has run."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        end = _ended(plan, stdin, output.fileno(), errors.fileno())
        if end.get("no_cage"):
            raise NoCageError(f"untrusted code cannot be kept apart on this host ({end['no_cage']}); {REMEDY}")
        most = plan.limits.output_bytes
        said = os.pread(output.fileno(), most, 0), os.pread(errors.fileno(), most, 0)
    return Ran(_how(end), None if end["over"] else end["code"], end["over"], said[0], said[1].decode("utf-8", "replace"))


REMEDY = "run perfd as root on Linux 5.12 or newer, or allow user namespaces to its user"


def _how(end: Mapping[str, Any]) -> Ended:
    if end["over"]:
        return Ended.SLOWLY if end["over"].endswith("of time") else Ended.GREEDILY
    return Ended.WELL if end["code"] == 0 else Ended.BADLY


def _ended(plan: Plan, stdin: bytes, output: int, errors: int) -> dict[str, Any]:
    """What the cage's own program reports."""
    hear, tell = os.pipe()
    try:
        process = subprocess.Popen(
            command(plan, tell),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            cwd="/",
            env={},
            pass_fds=(tell,),
            start_new_session=True,
            preexec_fn=processes.die_with_parent,  # noqa: PLW1509 - one prctl before exec
        )
        os.close(tell)
        tell = -1
        _wait(process, stdin, plan.limits.wall_s + ENDING_S)
        told = os.read(hear, REPORT_BYTES)
    finally:
        for fd in (hear, tell):
            with suppress(OSError):
                os.close(fd)
    if not told:
        raise NoCageError(f"the cage's own program ended with {process.returncode} and said nothing: {_tail(errors)}")
    end: dict[str, Any] = {"no_cage": "", "over": "", "code": None, **json.loads(told)}
    return end


def _wait(process: "subprocess.Popen[bytes]", stdin: bytes, limit_s: float) -> None:
    """The cage's own program has ended, and the kernel has ended every process of the cage with it."""
    try:
        process.communicate(stdin, limit_s)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(handle: int) -> str:
    return os.pread(handle, REPORT_BYTES, 0).decode("utf-8", "replace").strip()[-300:]


def run_file(
    file: Path,
    inputs: Mapping[str, Path] | None = None,
    arguments: Sequence[str] = (),
    *,
    limits: Limits = TRIAL,
    gpu: bool = False,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> Ran:
    """How a Python file ended that ran in a cage by this interpreter, with its packages and without perfd's own.

    The file is /inputs/NAME there, and each of `inputs` is /inputs/ITS-NAME, read-only. Its answer is what it writes to standard
    output, as bytes. A kernel on trial needs `gpu` where there is one. Raises NoCageError, and BadInputError for a file that a
    cage cannot read.
    """
    files = {file.name: file, **(inputs or {})}
    for path in files.values():
        _check_readable(path)
    shown = {f"{INPUTS}/{name}": str(path.absolute()) for name, path in files.items()}
    plan = Plan(
        command=(sys.executable, "-I", "-B", f"{INPUTS}/{file.name}", *arguments),
        limits=limits,
        environment={**PLACES, **(environment or {})},
        shown={**python_places(), **shown},
        gpu=gpu,
    )
    return run(plan, stdin)


def _check_readable(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None
    if not mode & stat.S_IROTH:
        raise BadInputError(f"{path}: only its owner may read it, and a cage has another user: chmod a+r")
