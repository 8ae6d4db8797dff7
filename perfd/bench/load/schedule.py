"""When requests are due: absolute times drawn before the window opens, so that lateness never moves the rest."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perfd.bench.load.plan import Arrival, LoadPlan
from perfd.bench.load.replay import Due, read_trace
from perfd.bench.load.sizes import sessions_for
from perfd.errors import BadInputError

MOST_REQUESTS = 5_000_000


@dataclass(frozen=True)
class Schedule:
    """The times of an open load, in seconds from its start, ascending; the first is 0."""

    dues: tuple[Due, ...] = field(default_factory=tuple)

    @property
    def times_s(self) -> list[float]:
        """When each request is due."""
        return [due.at_s for due in self.dues]


def draw(plan: LoadPlan) -> Schedule:
    """The schedule of an open plan's sessions. Equal seeds draw equal times, so that two Builds get the same load."""
    if plan.arrival is Arrival.TRACE:
        return Schedule(tuple(_clip(read_trace(plan.trace or Path(), plan.trace_speed), plan)))
    rate = plan.rate_rps or 0.0
    wanted = plan.requests or max(1, round(rate * (plan.duration_s or 0.0) - rate * plan.ramp_s / 2))
    if wanted > MOST_REQUESTS:
        raise BadInputError(f"{wanted:,} requests are asked, and at most {MOST_REQUESTS:,} are drawn; give a shorter --duration")
    count, held = sessions_for(plan.prompts, wanted)
    rate *= count / held
    places = arrivals(count, plan.arrival, plan.burstiness, np.random.default_rng([plan.prompts.seed, 0]))
    times = warp(places, rate, plan.ramp_s)
    if plan.duration_s is not None:
        times = times[times < plan.duration_s]
    return Schedule(tuple(Due(float(at)) for at in times))


def arrivals(count: int, law: Arrival, burstiness: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """`count` ascending places from 0 to count - 1, with a mean gap of exactly 1.

    Poisson arrivals are conditioned on their count (gaps scaled to their sum): their order is as random as before, while the
    rate over the window is exactly the asked one, so that two windows differ by the server and not by the draw.
    """
    if law is Arrival.CONSTANT or count < 2:
        return np.arange(count, dtype=np.float64)
    shape = burstiness if law is Arrival.GAMMA else 1.0
    gaps = rng.gamma(shape, 1.0 / shape, count - 1)
    total = float(gaps.sum())
    scaled = gaps * ((count - 1) / total) if total > 0 else np.ones(count - 1)
    return np.concatenate([[0.0], np.cumsum(scaled)])


def warp(places: NDArray[np.float64], rate_rps: float, ramp_s: float) -> NDArray[np.float64]:
    """Times in seconds for places of a unit-rate process, when the rate grows linearly from 0 to `rate_rps` over `ramp_s`."""
    if ramp_s <= 0:
        return places / rate_rps
    in_ramp = rate_rps * ramp_s / 2
    rising = np.sqrt(2 * ramp_s * np.minimum(places, in_ramp) / rate_rps)
    return np.where(places < in_ramp, rising, ramp_s + (places - in_ramp) / rate_rps)


def _clip(dues: list[Due], plan: LoadPlan) -> list[Due]:
    kept = dues[: plan.requests] if plan.requests else dues
    return [due for due in kept if plan.duration_s is None or due.at_s < plan.duration_s]
