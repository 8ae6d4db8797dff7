"""What oracles (oracle.py, oracle_drift.py) reach in the rows of detect.py: many replications, so no intervals are printed."""

import math

import numpy as np
import scenarios as worlds
from detect_watch import WARM, Row, say
from oracle import WAITS, find_spread, find_step, find_tick, knows_noise
from oracle_drift import step_or_drift

_MANY, _SERIES = 10_000, 1500
_WANTED = 0.97
"""The share of 2 sd steps within five nights that the goal asks for."""


def oracle_of_step(rng: np.random.Generator, row: Row) -> None:
    """One line of the table of steps; none for a noise whose law the oracle is not told."""
    if not knows_noise(row.noise):
        return
    found = find_step(rng, row.noise, row.size, _MANY)
    soon = find_step(rng, row.noise, row.size, _MANY, waits=1)
    first, third = found.suspect
    say(
        f"| *its oracle* | {found.near:.3f} | | {found.wide:.3f} | | {_delays(found.delays)}; without waiting "
        f"{_delays(soon.delays)} | | {first:.2f} | {third:.2f} | |"
    )


def _delays(delays: np.ndarray) -> str:
    told = delays[delays >= 0]
    return f"{np.median(told):g}, {np.quantile(told, 0.9):g}"


def oracles_of_others(rng: np.random.Generator) -> dict[str, str]:
    """By the name of its row in the table of everything else."""
    spread, tick = find_spread(rng, 3, _MANY), find_tick(rng, 4, _MANY)
    trade = step_or_drift(rng, _SERIES, _WANTED, WARM)
    alarms = trade.alarms / (worlds.NIGHTS - WARM) * 1e3
    taken = 0.5 * math.erfc(4 / math.sqrt(2))  # the night after a spike nearer to 8 sd than to none
    return {
        "spikes of 1 to 3 nights, +8 sd: detected": f"{500 * taken:.2f} of 500",
        "drift, 5 sd over 100 nights: step alarms": f"{alarms:.2f} (2 sd steps within ±5: {trade.recall:.3f})",
        "spread x3: event within 15 nights": f"{spread.within(15):.3f}",
        "quantised to 4 sd, one tick up: found within ±2": f"{tick.near:.3f}",
        "quantised to 4 sd, one tick up: in at most 3 nights": f"{tick.within(WAITS - 1):.3f}",
    }
