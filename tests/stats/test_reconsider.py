"""Steps that looked like a wider spread at first."""

import numpy as np
from numpy.typing import NDArray

from perfd.stats.replay import replay, tonight
from perfd.stats.track import Event

Floats = NDArray[np.float64]

NIGHTS, STEP = 150, 90


def events(values: Floats) -> list[list[Event]]:
    return [track.events for track in replay(values, np.full(len(values), values.shape[1])).tracks]


def stepped(series: int, seed: int) -> Floats:
    """Gaussian nights, 2 sd higher from one night on."""
    noise = np.random.default_rng(seed).normal(size=(series, NIGHTS))
    return 100 + noise + 2 * (np.arange(NIGHTS) >= STEP)


def spread_first(told: list[Event]) -> bool:
    """Whether a wider spread was told about when the step came, and no step before it."""
    spreads = [event.flagged_at for event in told if event.kind == "variance" and STEP - 15 <= event.flagged_at <= STEP + 10]
    return bool(spreads) and not any(event.kind == "step" and event.flagged_at <= spreads[0] for event in told)


def test_a_step_that_was_told_as_a_wider_spread_is_told_as_a_step_later() -> None:
    told = [one for one in events(stepped(2000, 1)) if spread_first(one)]

    as_step = [one for one in told if any(event.kind == "step" and abs(event.index - STEP) <= 5 for event in one)]

    assert len(told) >= 8
    assert len(as_step) >= 0.9 * len(told)


def test_a_wider_spread_is_not_told_as_a_step_later() -> None:
    noise = np.random.default_rng(2).normal(size=(500, NIGHTS))
    wider = 100 + noise * np.where(np.arange(NIGHTS) >= STEP, 3, 1)
    told = [one for one in events(wider) if spread_first(one)]

    later = [one for one in told if any(event.kind == "step" and event.index >= STEP for event in one)]

    assert len(told) >= 250
    assert len(later) <= 0.06 * len(told)


def test_what_is_told_night_by_night_is_what_a_replay_tells() -> None:
    values = stepped(2000, 1)
    rows = [row for row, told in enumerate(events(values)) if spread_first(told)]
    chosen = values[rows]
    first = STEP - 20
    tracks = replay(chosen[:, :first], np.full(len(rows), first), settle=False).tracks

    for length in range(first + 1, NIGHTS + 1):
        tracks = tonight(chosen[:, :length], np.full(len(rows), length), tracks).tracks

    whole = replay(chosen, np.full(len(rows), NIGHTS), settle=False).tracks
    assert [track.events for track in tracks] == [track.events for track in whole]
