"""Every op timed on a GPU with a cold cache, by pytest-benchmark: rounds are kept raw, statistics are perfd's own.

How a round is made stands in perfd/bench/kernels/timing.py. The table that pytest-benchmark prints is in seconds a launch.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perfd.bench import gpu, machine
from perfd.bench.kernels import kernel_workloads, timing, values
from perfd.bench.kernels.measuring import results
from perfd.bench.kernels.op import load, names
from perfd.domain import results as results_file
from perfd.domain.codec import to_json
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.suite import Workload

KERNELS = Path(__file__).parents[2] / "kernels"
SHAPES = Path(__file__).parent / "shapes.py"
CLOCK = timing.GpuClock()
WORKLOADS = [
    workload
    for op in names(KERNELS)
    for workload in kernel_workloads(op, SHAPES, gpu="any")
    if workload.parameters["kind"] == "timing"
]


@pytest.mark.benchmark(timer=CLOCK)
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_time(
    workload: Workload,
    card: gpu.Card,
    benchmark: Any,
    job: Callable[[Workload, Device], Job],
    request: pytest.FixtureRequest,
) -> None:
    """It is right while it is timed, and the GPU was not throttled."""
    parameters, started_at = workload.parameters, datetime.now(UTC)
    turning = timing.rotation(load(KERNELS, parameters["op"]), parameters["axes"], parameters["dtype"], workload.seed)
    CLOCK.launches = turning.launches

    before = timing.state(card)
    benchmark.pedantic(turning.replay, setup=turning.refill, rounds=timing.ROUNDS, warmup_rounds=timing.WARMUP_ROUNDS)
    states = (before, timing.state(card))

    values.refuse_beyond_tolerance(parameters["op"], parameters["shape"], parameters["dtype"], turning.error())
    rounds_s = tuple(benchmark.stats.stats.data)
    extra = timing.about(turning, parameters["axes"], card.name, rounds_s)
    benchmark.extra_info.update(extra, states=to_json(states))
    found = timing.found(card, rounds_s, extra, states)
    folder: Path | None = request.config.getoption("--perfd-results")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        kept = results(job(workload, machine.device(card.uuid, 1)), found, started_at)
        results_file.write(kept, folder / f"{workload.name.replace('/', '-')}.json")
    assert not found.why_void
