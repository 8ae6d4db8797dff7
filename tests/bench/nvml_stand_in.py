"""NVIDIA's driver library, played by a small one of our own: the real nvidia-ml-py loads it, here and in measuring children."""

import atexit
import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from perfd.bench import nvml

SOURCE = Path(__file__).with_name("nvml_stand_in.c")
LIBRARY = "libnvidia-ml.so.1"
UUID = "GPU-5741ad1e-0000-4000-8000-00000000c0de"
NAME = "NVIDIA H200 of the tests"
HEALTHY = {
    "uuid": UUID,
    "name": NAME,
    "vbios": "96.00.CF.00.01",
    "driver": "580.65.06",
    "power_limit_mw": "700000",
    "power_mw": "120000",
    "temperature_c": "41",
    "sm_mhz": "1980",
    "memory_mhz": "3201",
    "most_sm_mhz": "1980",
    "application_mhz": "1980",
    "throttle_bits": "1",
    "energy_mj": "5000000",
    "ecc": "1",
    "mig": "0",
    "ecc_corrected": "2",
    "ecc_uncorrected": "0",
    "retired_pages": "0",
    "rows_remapped": "1",
    "remapping_failed": "0",
    "memory_used": "1048576",
    "busy_percent": "0",
    "process": "0",
}


@dataclass
class StandIn:
    """One GPU whose state the test writes; every process that asks NVML sees it at once."""

    folder: Path
    state: dict[str, str] = field(default_factory=lambda: dict(HEALTHY))

    def is_now(self, **facts: object) -> None:
        """From now on the GPU tells these facts too."""
        self.state |= {name: str(value) for name, value in facts.items()}
        beside = self.folder / "gpu.state.part"
        beside.write_text("".join(f"{name} {value}\n" for name, value in self.state.items()), encoding="utf-8")
        beside.replace(self.folder / "gpu.state")

    def heals(self) -> None:
        """The GPU is as it was at first."""
        self.state = dict(HEALTHY)
        self.is_now()


@cache
def library() -> Path:
    """The library, compiled once: a process that has loaded one never takes another of that name."""
    folder = Path(tempfile.mkdtemp(prefix="perfd driver "))
    atexit.register(shutil.rmtree, folder)
    made = folder / LIBRARY
    subprocess.run(["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{LIBRARY}", "-o", made, SOURCE], check=True)
    return made


@contextmanager
def one_gpu(patch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """A healthy GPU while the block runs, in this process and in its children; there is none before and after."""
    made = StandIn(library().parent)
    made.is_now()
    ctypes.CDLL(str(library()))  # by its soname, what asks for the driver's library gets this one
    patch.setenv("LD_LIBRARY_PATH", str(made.folder))
    nvml.module.cache_clear()
    try:
        yield made
    finally:
        (made.folder / "gpu.state").unlink()
        nvml.module.cache_clear()
