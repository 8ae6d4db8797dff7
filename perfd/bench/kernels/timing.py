"""How long does a kernel take on a GPU, with a cold cache?

One CUDA graph launches the op once on each of several copies of all its inputs, weights included. Together the copies are
at least five times the L2 cache, so that none is still cached when its turn comes again. A round refills the copies with
fresh values, replays the graph, and divides by the launches; the few microseconds that a launch costs the host are hidden
behind a spinning kernel, and what the graph forked it has joined, so that no work can hide on another stream.

Rounds are kept raw. Nothing here has a meaning on a CPU.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

import torch

from perfd.bench import gpu
from perfd.bench.kernels import op as ops
from perfd.bench.kernels import peaks, values
from perfd.bench.kernels.draw import Draw, seeded
from perfd.bench.kernels.finding import Finding, KernelError
from perfd.bench.kernels.op import Op
from perfd.domain.environment import DeviceState
from perfd.domain.health import why_sick, why_slowed
from perfd.domain.identity import digest
from perfd.domain.job import Job
from perfd.domain.run import FailureKind

WARMUP_ROUNDS = 10
ROUNDS = 50
"""Fixed, so that a kernel that is slow at first cannot choose how often it is measured."""
CACHE_MULTIPLE = 5
SPIN_CYCLES, SPIN_CYCLES_A_LAUNCH = 2_000_000, 2_000
"""About a millisecond, and another for a thousand launches: longer than the host needs to launch a graph."""
ALIGNMENT = 256
"""Bytes; what a launch finds divisible by 16 in a server must be so here."""


def copies_needed(input_bytes: int, cache_bytes: int) -> int:
    """How many copies of the inputs are CACHE_MULTIPLE times the cache; never fewer than two, so that none follows itself."""
    return max(2, math.ceil(CACHE_MULTIPLE * cache_bytes / input_bytes))


@dataclass(frozen=True)
class Rotation:
    """An op captured over copies of its inputs; `replay` runs each once, `refill` gives them fresh values."""

    op: Op
    draw: Draw
    values: torch.Tensor
    """All floating-point inputs of all copies, in one allocation, so that a refill is one launch."""
    copies: tuple[tuple[Any, ...], ...]
    outputs: tuple[tuple[Any, ...], ...]
    graph: torch.cuda.CUDAGraph

    @property
    def launches(self) -> int:
        """Launches of the op in one replay."""
        return len(self.copies)

    def refill(self) -> None:
        """Every floating-point input holds new normal values; tables and lengths stay as they were drawn."""
        self.values.normal_(generator=self.draw.generator)

    def replay(self) -> None:
        """The op has been launched once on each copy; returns before the GPU has finished."""
        self.graph.replay()

    def error(self) -> float:
        """The error of the last replay on its first and last copy: what was timed is what was right."""
        torch.cuda.synchronize()
        dtype = self.values.dtype
        ends = (0, len(self.copies) - 1)
        return max(values.compare(self.outputs[at], self.op.reference(*self.copies[at]), dtype) for at in ends)


def rotation(op: Op, axes: Mapping[str, int], dtype: str, seed: int) -> Rotation:
    """The op captured on enough copies to be cold. The capture is made after one call of each kind has compiled the kernels."""
    draw = seeded(getattr(torch, dtype), "normal", seed, device="cuda", ragged=False)
    first = op.inputs(draw, **axes)
    cache_bytes = torch.cuda.get_device_properties(draw.generator.device).L2_cache_size
    count = copies_needed(sum(tensor.nbytes for tensor in first), cache_bytes)
    del first
    store, copies = copies_of(op, axes, draw, count)
    store.normal_(generator=draw.generator)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        op.run(*copies[0])
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        # Outputs are kept: memory that the next launch wrote again would still be in the cache.
        outputs = tuple(values.as_tuple(op.run(*copy)) for copy in copies)
    return Rotation(op, draw, store, copies, outputs, graph)


def copies_of(op: Op, axes: Mapping[str, int], draw: Draw, count: int) -> tuple[torch.Tensor, tuple[tuple[Any, ...], ...]]:
    """A store of values, and `count` copies of the op's inputs whose floating-point tensors are views of it without overlap."""
    shapes = [tensor.shape if tensor.is_floating_point() else None for tensor in op.inputs(draw, **axes)]
    room = sum(_padded(shape.numel(), draw.dtype) for shape in shapes if shape is not None)
    store = torch.empty(count * room, dtype=draw.dtype, device=draw.generator.device)
    copies, at = [], 0
    for _ in range(count):
        copy = list(op.inputs(draw, **axes))
        for index, shape in enumerate(shapes):
            if shape is not None:
                copy[index] = store[at : at + shape.numel()].view(shape)
                at += _padded(shape.numel(), draw.dtype)
        copies.append(tuple(copy))
    return store, tuple(copies)


def _padded(elements: int, dtype: torch.dtype) -> int:
    step = ALIGNMENT // dtype.itemsize
    return -(-elements // step) * step


class GpuClock:
    """A timer called in pairs, before and after: the difference of the two answers is GPU time divided by `launches`.

    The form is that of `time.perf_counter`, so that pytest-benchmark takes it as its timer.
    """

    def __init__(self) -> None:
        self.launches = 1
        self._seconds = 0.0
        self._started: torch.cuda.Event | None = None

    def __call__(self) -> float:
        """Seconds so far, counted only between the calls of a pair."""
        event = torch.cuda.Event(enable_timing=True)
        if self._started is None:
            torch.cuda.synchronize()
            # While this spins the host launches what is timed; otherwise the launch itself would be part of the time.
            torch.cuda._sleep(SPIN_CYCLES + SPIN_CYCLES_A_LAUNCH * self.launches)  # noqa: SLF001 - the only kernel in torch that waits; torch's own tests time with it
            event.record()
            self._started = event
        else:
            event.record()
            torch.cuda.synchronize()
            self._seconds += self._started.elapsed_time(event) / 1e3 / self.launches
            self._started = None
        return self._seconds


def rounds_s(turning: Rotation, rounds: int = ROUNDS, warmup_rounds: int = WARMUP_ROUNDS) -> tuple[float, ...]:
    """Seconds a launch, one value a round, as measured."""
    clock = GpuClock()
    clock.launches = turning.launches
    return tuple(_round(turning, clock) for _ in range(warmup_rounds + rounds))[warmup_rounds:]


def _round(turning: Rotation, clock: Callable[[], float]) -> float:
    turning.refill()
    before = clock()
    turning.replay()
    return clock() - before


def measure(job: Job) -> Finding:
    """The Workload's shape timed on the job's GPU, and checked against float64 after the last round."""
    card = gpu.find(job.device.name)
    if card is None or not torch.cuda.is_available():
        raise KernelError(FailureKind.DEVICE, "torch sees no GPU here, and a time on a CPU would say nothing about one")
    before = state(card)
    samples, extra = _timed(job, card)
    return found(card, samples, extra, (before, state(card)))


def hardware(job: Job) -> dict[str, str]:
    """The GPU's model, memory and limits; nothing where there is none."""
    card = gpu.find(job.device.name)
    return {} if card is None else gpu.hardware(card)


def found(card: gpu.Card, samples: tuple[float, ...], extra: Mapping[str, Any], states: tuple[DeviceState, ...]) -> Finding:
    """Raw rounds as a Finding; void when heat or power slowed the GPU meanwhile."""
    return Finding(
        gpu.hardware(card),
        {"kernel_s": samples},
        extra,
        device_states=states,
        software=gpu.software(),
        clock_policy=gpu.clock_policy(card),
        why_void=why_sick(states) or why_slowed(states),
    )


def _timed(job: Job, card: gpu.Card) -> tuple[tuple[float, ...], dict[str, Any]]:
    parameters = job.workload.parameters
    dtype = str(parameters["dtype"])
    op = ops.load(job.artifact, str(parameters["op"]))
    # The occasion is part of the seed: values are fresh every night, so that nothing can be remembered.
    seed = int(digest([job.workload.seed, job.occasion])[:15], 16)
    turning = rotation(op, parameters["axes"], dtype, seed)
    samples = rounds_s(turning)
    values.refuse_beyond_tolerance(op.name, str(parameters["shape"]), dtype, turning.error())
    return samples, about(turning, parameters["axes"], card.name, samples)


def about(turning: Rotation, axes: Mapping[str, int], gpu_name: str, samples: tuple[float, ...]) -> dict[str, Any]:
    """What stands beside the rounds: launches a round, work, and the share of the hardware's limit at the median."""
    flops, moved = turning.op.cost(**axes, itemsize=turning.values.dtype.itemsize)
    share = peaks.of_floor(gpu_name, flops, moved, median(samples))
    return {"launches": turning.launches, "flops": flops, "bytes": moved, "of_floor": share}


def state(card: gpu.Card) -> DeviceState:
    """One look at the GPU: clocks, heat, throttling, neighbours."""
    return DeviceState(datetime.now(UTC), gpu.state(card, frozenset()))
