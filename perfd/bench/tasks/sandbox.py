"""Runs a program that nobody trusts: kept apart from this host by cage.py, ended by the clock, its words cut short."""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from perfd.bench import processes
from perfd.errors import BadInputError

CAGE = Path(__file__).with_name("cage.py")
WALL_S = 10.0
MOST_OUTPUT_BYTES = 65_536
NO_CAGE = 97
"""cage.py's exit code when the host does not let it build a cage; no program has run then."""


class Ended(StrEnum):
    """How a program ended."""

    WELL = "well"
    BADLY = "badly"
    """Another exit code, a signal, or a limit of CPU time, memory, processes or file size."""
    SLOWLY = "slowly"
    """Stopped by the clock."""


@dataclass(frozen=True)
class Ran:
    """One program's end, and the last of what it printed."""

    ended: Ended
    output: str


def run_program(program: str, work: Path, wall_s: float = WALL_S) -> Ran:
    """How the program ended, at most `wall_s` seconds later; nothing it started is alive. Raises BadInputError without a cage."""
    with tempfile.TemporaryDirectory(dir=work) as folder, tempfile.TemporaryFile(dir=work) as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(CAGE), folder],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={},
            start_new_session=True,
            preexec_fn=processes.die_with_parent,  # noqa: PLW1509 - one prctl before exec
        )
        ended = _ended(process, program.encode("utf-8", "replace"), wall_s)
        said = _last(output.fileno())
    if process.returncode == NO_CAGE:
        raise BadInputError(
            f"programs that a model wrote cannot be kept apart on this host ({said.strip()}); "
            "run as root, or allow user namespaces, or leave HumanEval out"
        )
    return Ran(ended, said)


def _ended(process: "subprocess.Popen[bytes]", program: bytes, wall_s: float) -> Ended:
    try:
        process.communicate(program, timeout=wall_s)
    except subprocess.TimeoutExpired:
        return Ended.SLOWLY
    finally:
        _kill(process)
    return Ended.WELL if process.returncode == 0 else Ended.BADLY


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """The cage's first process dies with this group, and the kernel ends every process of the cage with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        process.wait()


def _last(handle: int) -> str:
    size = os.fstat(handle).st_size
    return os.pread(handle, MOST_OUTPUT_BYTES, max(0, size - MOST_OUTPUT_BYTES)).decode("utf-8", "replace")


def check_sandbox(work: Path) -> None:
    """Raise BadInputError where this host cannot keep a program apart, before any item is asked."""
    word = secrets.token_hex(8)
    ran = run_program(f"print({word!r})", work)
    if ran.ended is not Ended.WELL or word not in ran.output:
        raise BadInputError(f"a program that only prints did not run in the sandbox ({ran.output.strip()[-200:]})")
