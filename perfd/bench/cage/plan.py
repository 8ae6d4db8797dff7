"""What a cage holds: the program, what it is shown, and its limits. The plan is an argument of the cage's own program."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

MEGABYTE = 1 << 20
GIGABYTE = 1 << 30
HOME = "/cage"
"""Where a caged program starts: an empty folder in memory, and its home."""
NO_NETWORK, OWN_LOOPBACK = "none", "loopback"
"""Nothing, not even loopback; or a loopback of the cage's own. A third is the network that the harness entered (network.py)."""
ROOT = Path(__file__).resolve().parents[3]
_START = "import sys; sys.path.append(sys.argv[1]); from perfd.bench.cage.inside import main; main(*sys.argv[2:])"
# A virtual environment's own interpreter is a link; only these parts of an installation are shown, since a state folder may lie
# in the same place.
_PYTHON_PARTS = ("bin", "lib", "lib64", "include", "share", "pyvenv.cfg")


@dataclass(frozen=True)
class Limits:
    """What a caged program may use. Memory and processes are those of all of it together, where control groups can be used."""

    wall_s: float
    memory_bytes: int
    processes: int
    """Threads count too."""
    disk_bytes: int
    """Of its folders in memory, and of what it may write on the host; no single file is longer."""
    files: int
    output_bytes: int
    """Of standard output and standard error together; whoever says more is ended."""
    cpu_s: int | None = None
    """CPU time of each process."""
    address_bytes: int | None = None
    """Address space of each process. CUDA and sanitizers reserve far more than they use, so engines have no such limit."""
    open_files: int = 4096


PROGRAM = Limits(10.0, 512 * MEGABYTE, 8, 16 * MEGABYTE, 512, MEGABYTE, cpu_s=5, address_bytes=512 * MEGABYTE, open_files=64)
"""A short program that a model wrote."""
TRIAL = Limits(600.0, 16 * GIGABYTE, 512, GIGABYTE, 10_000, 16 * MEGABYTE)
"""A kernel on trial."""
ENGINE = Limits(7200.0, 256 * GIGABYTE, 4096, 4 * GIGABYTE, 100_000, 64 * MEGABYTE)
"""A server under load; its Run has a shorter time limit of its own."""
BUILD = Limits(3600.0, 32 * GIGABYTE, 2048, 16 * GIGABYTE, 400_000, 64 * MEGABYTE)
"""A compilation."""


@dataclass(frozen=True)
class Plan:
    """One caged program."""

    command: Sequence[str]
    limits: Limits
    environment: Mapping[str, str] = field(default_factory=dict)
    """All that it gets; the cage adds nothing but a home and a temporary folder."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """Place in the cage → file or folder of the host, read-only there."""
    writes: Sequence[str] = ()
    """Folders of the host that it may write, at their own place: a Build's work folder. They become its own."""
    cwd: str = HOME
    network: str = NO_NETWORK
    processes_seen: bool = True
    """Whether it has a /proc, with its own processes only."""
    gpu: bool = False
    """Whether it is shown the NVIDIA devices and /sys."""


def command(plan: Plan, report: int | None = None) -> list[str]:
    """The command line that runs the plan in a cage. It exits as the program does; 97 where there is no cage, 98 beyond a limit.

    `report` is an open file descriptor that is told the same as JSON, so that no program can say it in the cage's name.
    """
    told = json.dumps(asdict(plan))
    return [sys.executable, "-I", "-S", "-B", "-c", _START, str(ROOT), told, *([str(report)] if report is not None else [])]


def python_places(prefixes: Sequence[str] | None = None) -> dict[str, str]:
    """What a Python program needs to be shown: this interpreter, and the packages of its environment."""
    real = str(Path(os.path.realpath(sys.executable)).parent.parent)
    found = [Path(prefix, part) for prefix in (real, *(prefixes or (sys.prefix, sys.base_prefix))) for part in _PYTHON_PARTS]
    return {str(path): str(path) for path in found if path.exists() and not str(path).startswith("/usr/")}


def same_place(*paths: Path) -> dict[str, str]:
    """Each of these files and folders is shown where it lies."""
    return {str(path.absolute()): str(path.absolute()) for path in paths}
