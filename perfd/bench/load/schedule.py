"""When requests are due: absolute times drawn before the window opens, so that lateness never moves the rest."""

import gzip
import json
import math
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perfd.bench.load.plan import Arrival, LoadPlan
from perfd.domain.identity import Json
from perfd.errors import BadInputError

MOST_REQUESTS = 5_000_000
MOST_TRACE_CHARACTERS = 1_000_000_000


@dataclass(frozen=True)
class Due:
    """One line of a trace: when, and how long prompt and answer are."""

    at_s: float
    prompt_tokens: int | None = None
    max_tokens: int | None = None
    blocks: tuple[int, ...] = ()
    """Names of the prompt's blocks, where the trace tells them: equal names are equal text."""


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
    turns = plan.prompts.requests_per_session
    rate = (plan.rate_rps or 0.0) / turns
    wanted = -(-plan.requests // turns) if plan.requests else round(rate * (plan.duration_s or 0.0) - rate * plan.ramp_s / 2)
    count = max(1, wanted)
    if count > MOST_REQUESTS:
        raise BadInputError(f"{count:,} requests are asked, and at most {MOST_REQUESTS:,} are drawn; give a shorter --duration")
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


def read_trace(path: Path, speed: float = 1.0) -> list[Due]:
    """The requests of a JSONL trace (gzipped or not), `speed` times as fast; raises BadInputError with the line.

    A line is an object with `timestamp` in ms (Mooncake) or `at_s` in s, and if known `input_length` or `prompt_tokens`,
    `output_length` or `max_tokens`, and `hash_ids`.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            lines = file.read(MOST_TRACE_CHARACTERS).splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: the trace cannot be read ({error})") from None
    dues = sorted(
        (_due(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()), key=lambda due: due.at_s
    )
    if not dues:
        raise BadInputError(f"{path}: the trace holds no request")
    first = dues[0].at_s
    return [Due((due.at_s - first) / speed, due.prompt_tokens, due.max_tokens, due.blocks) for due in dues]


def _due(path: Path, number: int, line: str) -> Due:
    place = f"{path}, line {number}"
    try:
        body = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{place}: not JSON ({error.msg})") from None
    if not isinstance(body, dict):
        raise BadInputError(f"{place}: expected an object with timestamp (ms) or at_s (s)")
    at_s = _number(place, body, "at_s", 1.0)
    if at_s is None:
        at_s = _number(place, body, "timestamp", 0.001)
    if at_s is None:
        raise BadInputError(f"{place}: expected timestamp (ms) or at_s (s), saw neither")
    blocks = body.get("hash_ids", [])
    if not isinstance(blocks, list) or not all(isinstance(block, int) for block in blocks):
        raise BadInputError(f"{place}: hash_ids is no list of whole numbers")
    return Due(
        at_s,
        _tokens(place, body, "input_length", "prompt_tokens"),
        _tokens(place, body, "output_length", "max_tokens"),
        tuple(blocks),
    )


def _number(place: str, body: dict[str, Json], name: str, scale: float) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInputError(f"{place}: {name} is {value!r}, not a number")
    return float(value) * scale


def _tokens(place: str, body: dict[str, Json], *names: str) -> int | None:
    for name in names:
        value = _number(place, body, name, 1.0)
        if value is not None:
            return max(1, int(value))
    return None
