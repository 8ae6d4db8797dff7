import os
import subprocess
import sys
from pathlib import Path

from perfd.bench import gpu

ROOT = Path(__file__).parents[2]


def suite(*arguments: str) -> str:
    """What `python -m pytest suites/kernels` prints, from the project's folder and with no database named."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PERFD_", "PYTEST_", "TRITON_"))}
    command = [sys.executable, "-m", "pytest", "suites/kernels", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_suite_runs_alone_and_times_nothing_without_a_gpu() -> None:
    printed = suite("-k", "add_rms_norm and (sm_90 or timing)")

    if gpu.cards():
        assert "4 passed" in printed
    else:
        assert "1 passed, 3 skipped" in printed
        assert "a CPU's time would say nothing about a GPU's" in printed
