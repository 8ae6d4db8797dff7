"""What a cage costs: `python tests/benchmarks/cage_cost.py [PAIRS]` starts programs and engines with and without, in turns.

First the time from start to end of a program that only exits, by the clock and on the CPU; then the TTFT of an engine whose
first token leaves 4 ms after a request, asked one at a time. Medians of pairs; arms change places.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from perfd.bench.cage.plan import OWN_LOOPBACK, TRIAL, Plan, command, python_places
from perfd.bench.cage.refuse import refusal
from perfd.bench.cage.run import PLACES
from perfd.bench.runner import run_child
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload, WorkloadClass

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
LOAD = {
    "requests": 200,
    "warmup_requests": 5,
    "concurrency": 1,
    "prompts": "chat",
    "api": "chat",
    "prompt_tokens": 32,
    "output_tokens": 8,
    "system_tokens": 0,
    "temperature": 0.0,
    "ignore_eos": True,
    "send_lag_p99_s": 5.0,
}
PROGRAMS = {
    "/bin/true": ("/bin/true",),
    "python": (sys.executable, "-I", "-S", "-c", "pass"),
}


def seconds(words: Sequence[str]) -> float:
    start_s = time.monotonic()
    subprocess.run(words, check=True, env={}, stdin=subprocess.DEVNULL)
    return time.monotonic() - start_s


def cpu_s(words: Sequence[str]) -> float:
    """Of the program and all it started: a busy machine makes it wait, and hardly makes it work more."""
    before = os.times()
    seconds(words)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def in_turns(plain: Callable[[], float], caged: Callable[[], float], pairs: int) -> tuple[list[float], list[float]]:
    """Both arms, as often; which goes first changes."""
    first: list[float] = []
    second: list[float] = []
    for pair in range(pairs):
        arms = [(plain, first), (caged, second)]
        for arm, found in arms if pair % 2 == 0 else reversed(arms):
            found.append(arm())
    return first, second


def ttft(folder: Path, *, caged: bool) -> float:
    """Seconds, the median of one Run."""
    job = Job(
        subject="tiny",
        revision="1",
        build="b" * 64,
        artifact=folder,
        workload=Workload("benchmarks", "tiny", WorkloadClass.CHAT, LOAD, seed=1, data_hash="", time_limit_s=60.0),
        device=Device("here", "cpu", "cpu:test:t1"),
        occasion="benchmark",
        run="r" * 64,
        work=folder / "work",
        threads=1,
        launch=Launch(("{python}", str(ENGINE), "--host", "{host}", "--port", "{port}"), "llamacpp", ready_timeout_s=20.0),
        caged=caged,
    )
    results = run_child(job, folder / "work" / "results.json", 60.0)
    return statistics.median(next(one.values for one in results.samples if one.name == "ttft_s"))


def told(name: str, arms: tuple[list[float], list[float]]) -> None:
    plain, caged = (statistics.median(arm) * 1e3 for arm in arms)
    more = statistics.median(after - before for before, after in zip(*arms, strict=True)) * 1e3
    spread = statistics.quantiles([(after - before) * 1e3 for before, after in zip(*arms, strict=True)], n=4)
    sys.stdout.write(
        f"{name:20} {plain:9.3f} {caged:9.3f} {more:+9.3f} ms, half of the pairs {spread[0]:+.3f} to {spread[2]:+.3f}\n"
    )


def main() -> None:
    if refusal():
        sys.exit(refusal())
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    sys.stdout.write(f"{'':20} {'plain':>9} {'caged':>9} {'more':>9}\n")
    for name, words in PROGRAMS.items():
        plan = Plan(words, TRIAL, PLACES, python_places(), network=OWN_LOOPBACK)
        for what, measure in (("", seconds), (", CPU", cpu_s)):
            arms = in_turns(partial(measure, words), partial(measure, command(plan)), pairs)
            told(name + what, arms)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        told("TTFT", in_turns(lambda: ttft(place, caged=False), lambda: ttft(place, caged=True), max(2, pairs // 3)))


if __name__ == "__main__":
    main()
