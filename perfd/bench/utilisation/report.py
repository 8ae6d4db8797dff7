"""Utilisation of one Run: its model's least work over its window, as shares of the device's peaks where they are known."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from perfd.bench.kernels.peaks import PEAKS, Peak
from perfd.bench.load import RequestTrace, metrics
from perfd.bench.utilisation.prices import FILE, Price, price_for
from perfd.bench.utilisation.shape import Shape, Weights, shape_of
from perfd.bench.utilisation.work import Served, Work, decode_steps, work_of
from perfd.domain.identity import Json
from perfd.domain.job import Job
from perfd.errors import BadInputError

_NS = 1e-9


@dataclass(frozen=True)
class Utilisation:
    """What the model needed, and what share of the device that was."""

    work: Work | None
    """Absent where the model's shape is not known."""
    window_s: float
    output_tokens: int
    prompt_tokens: int
    devices: int
    peak: Peak | None
    """Of one device; absent for a device whose peaks are not known."""
    why_no_share: str
    """One sentence where no share is told."""
    steps: float
    steps_are: str
    serial: tuple[float, float] | None
    """(prefill seconds, decode seconds) where never two requests ran at once; absent where the phases overlap."""
    energy_j: float | None
    why_no_energy: str
    price: Price | None
    model: Json

    @property
    def mfu(self) -> float | None:
        """Model FLOPs over what the devices could have done in the window."""
        return None if self.work is None else self._share(self.work.flops, self.window_s, bandwidth=False)

    @property
    def mbu(self) -> float | None:
        """Bytes that had to move over what the memory could have moved in the window."""
        return None if self.work is None else self._share(self.work.bytes, self.window_s, bandwidth=True)

    @property
    def energy_j_per_token(self) -> float | None:
        """Joules of the window for each output token in it, its share of prefill and waiting included."""
        return self.energy_j / self.output_tokens if self.energy_j is not None and self.output_tokens else None

    def _share(self, amount: float, seconds: float, *, bandwidth: bool) -> float | None:
        if self.peak is None or seconds <= 0:
            return None
        peak = self.peak.bytes_per_s if bandwidth else self.peak.bfloat16_flops_per_s
        return amount / (peak * self.devices * seconds)

    def samples(self) -> dict[str, Sequence[float]]:
        """The Metrics that are known."""
        found = {"mfu": self.mfu, "mbu": self.mbu, "energy_j_per_token": self.energy_j_per_token}
        return {name: [value] for name, value in found.items() if value is not None}

    def as_json(self) -> dict[str, Json]:
        """For the results file."""
        return {
            "model": self.model,
            "window_s": self.window_s,
            "devices": self.devices,
            "decode_steps": {"count": self.steps, "are": self.steps_are},
            "prefill": self._phase(0),
            "decode": self._phase(1),
            "mfu": self.mfu,
            "mbu": self.mbu,
            "why_no_share": self.why_no_share,
            "energy": {
                "joules": self.energy_j,
                "joules_per_output_token": self.energy_j_per_token,
                "why_absent": self.why_no_energy,
            },
            "cost": self._cost(),
        }

    def _phase(self, which: int) -> Json:
        """One phase's work, and its own shares where it had the device to itself."""
        if self.work is None:
            return None
        flops = (self.work.prefill_flops, self.work.decode_flops)[which]
        moved = (self.work.prefill_bytes, self.work.decode_bytes)[which]
        told: dict[str, Json] = {"flops": flops, "bytes": moved, "seconds": None, "mfu": None, "mbu": None}
        if self.serial is None or self.serial[which] <= 0:
            return told
        seconds = self.serial[which]
        shares = {"mfu": self._share(flops, seconds, bandwidth=False), "mbu": self._share(moved, seconds, bandwidth=True)}
        return {**told, "seconds": seconds, "flops_per_s": flops / seconds, "bytes_per_s": moved / seconds, **shares}

    def _cost(self) -> Json:
        if self.price is None:
            return {"none_because": "the price table has no price for this device class on that day"}
        spent = self.price.per_hour * self.devices * self.window_s / 3600
        both = self.output_tokens + self.prompt_tokens
        return {
            "currency": self.price.currency,
            "per_million_output_tokens": spent / self.output_tokens * 1e6 if self.output_tokens else None,
            "per_million_tokens": spent / both * 1e6 if both else None,
            "per_device_hour": self.price.per_hour,
            "valid_from": self.price.valid_from.isoformat(),
            "source": self.price.source,
        }


def utilisation(
    job: Job,
    traces: Sequence[RequestTrace],
    day: date,
    steps_told: float | None = None,
    energy: tuple[float | None, str] = (None, "energy was not read"),
) -> Utilisation:
    """The Run's utilisation over the window of its measured requests.

    `steps_told` is the engine's own count of decode steps in that window, where it counts them; `energy` is (joules of the window
    or None, why none). Nothing here fails a Run: what is not known is said in words.
    """
    good = metrics.done(traces)
    window = metrics.window_ns(traces)
    window_s = (window[1] - window[0]) * _NS if window else 0.0
    served = [served_of(trace) for trace in good]
    steps = decode_steps(trace.chunks for trace in good) if steps_told is None else steps_told
    shape, weights, why = _model(job.weights)
    peak, why_no_peak = peak_of(job.device.device_class)
    devices = devices_of(job.model.parallelism if job.model else "1")
    return Utilisation(
        work=None if shape is None or weights is None or not good else work_of(shape, weights, served, steps),
        window_s=window_s,
        output_tokens=sum(one.output for one in served),
        prompt_tokens=sum(one.cached + one.computed for one in served),
        devices=devices,
        peak=peak,
        why_no_share=why or why_no_peak,
        steps=steps,
        steps_are="counted by the engine" if steps_told is not None else "estimated from when tokens came",
        serial=_serial(traces),
        energy_j=energy[0],
        why_no_energy=energy[1],
        price=_price(job, day),
        model=_model_json(shape, weights),
    )


def served_of(trace: RequestTrace) -> Served:
    """One request's tokens; a server that tells no cached tokens is taken to have computed all of them."""
    prompt = trace.asked_prompt_tokens if trace.prompt_tokens is None else trace.prompt_tokens
    cached = min(prompt, trace.cached_tokens or 0)
    return Served(cached, prompt - cached, trace.generated_tokens)


def devices_of(parallelism: str) -> int:
    """How many devices one replica spans: "pp2tp4" is 8; experts are spread over the same ones (`ep` multiplies nothing)."""
    sizes = [int(size) for kind, size in re.findall(r"([a-z]*)(\d+)", parallelism) if kind != "ep"]
    product = 1
    for size in sizes:
        product *= size
    return max(1, product)


def peak_of(device_class: str) -> tuple[Peak | None, str]:
    """The device's peaks, or why none are known."""
    kind, _, name = device_class.partition(":")
    if kind != "gpu":
        return None, "peaks of CPUs are not known (they depend on clock, vector units and memory channels): no share is told"
    if name not in PEAKS:
        return None, f"the peaks of {name} are not listed (perfd/bench/kernels/peaks.py): no share is told"
    return PEAKS[name], ""


def _model(weights: Path | None) -> tuple[Shape | None, Weights | None, str]:
    if weights is None:
        return None, None, "the job names no weights, so the model's shape is not known"
    try:
        shape, sizes = shape_of(weights)
    except BadInputError as error:
        return None, None, f"the model's shape is not known: {error.message}"
    return shape, sizes, ""


def _model_json(shape: Shape | None, weights: Weights | None) -> Json:
    if shape is None or weights is None:
        return None
    return {
        "layers": shape.layers,
        "total_params": shape.total_params,
        "active_params": shape.active_params + shape.head_params,
        "weight_bytes": weights.total_bytes,
    }


def _serial(traces: Sequence[RequestTrace]) -> tuple[float, float] | None:
    """Seconds of prefill and of decode of the measured requests; absent where any two requests overlapped."""
    sent = sorted((t.sent_ns, t.end_ns) for t in traces if t.sent_ns is not None)
    if any(start < before_end for (_, before_end), (start, _) in itertools.pairwise(sent)):
        return None
    good = [trace for trace in metrics.done(traces) if trace.sent_ns is not None]
    prefill_ns = sum(trace.chunks[0][0] - (trace.sent_ns or 0) for trace in good)
    return prefill_ns * _NS, sum(trace.chunks[-1][0] - trace.chunks[0][0] for trace in good) * _NS


def _price(job: Job, day: date) -> Price | None:
    return price_for(job.data / FILE, job.device.device_class, day) if job.data is not None else None
