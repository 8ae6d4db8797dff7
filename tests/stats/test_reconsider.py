"""Steps that looked like a wider spread at first."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from perfd.stats.replay import replay, tonight
from perfd.stats.track import Event

Floats = NDArray[np.float64]

NIGHTS, STEP = 150, 90


def events(values: Floats) -> list[list[Event]]:
    return [track.events for track in replay(values, np.full(len(values), values.shape[1])).tracks]


@cache
def stepped() -> Floats:
    """Gaussian nights, 2 sd higher from one night on, that were told as a wider spread first."""
    noise = np.random.default_rng(1).normal(size=(1500, NIGHTS))
    values = 100 + noise + 2 * (np.arange(NIGHTS) >= STEP)
    return np.asarray(values[[spread_first(told) for told in events(values)]])


def spread_first(told: list[Event]) -> bool:
    """Whether a wider spread was told about when the step came, and no step before it."""
    spreads = [event.flagged_at for event in told if event.kind == "variance" and STEP - 15 <= event.flagged_at <= STEP + 10]
    return bool(spreads) and not any(event.kind == "step" and event.flagged_at <= spreads[0] for event in told)


def test_a_step_that_was_told_as_a_wider_spread_is_told_as_a_step_later() -> None:
    told = events(stepped())

    as_step = [one for one in told if any(event.kind == "step" and abs(event.index - STEP) <= 5 for event in one)]

    assert len(told) >= 6
    assert len(as_step) >= 0.8 * len(told)


def test_a_wider_spread_is_not_told_as_a_step_later() -> None:
    noise = np.random.default_rng(2).normal(size=(250, NIGHTS))
    wider = 100 + noise * np.where(np.arange(NIGHTS) >= STEP, 3, 1)
    told = [one for one in events(wider) if spread_first(one)]

    later = [one for one in told if any(event.kind == "step" and event.index >= STEP for event in one)]

    assert len(told) >= 120
    assert len(later) <= 0.06 * len(told)


def test_quantised_nights_that_lie_further_apart_are_no_steps() -> None:
    noise = np.random.default_rng(21).normal(size=(120, 130))
    told = events(np.round(100 + noise * np.where(np.arange(130) < 70, 0.5, 3)))

    assert sum(any(event.kind == "variance" for event in one) for one in told) >= 60
    assert sum(any(event.kind == "step" for event in one) for one in told) <= 14


def test_a_spread_that_fell_is_not_reconsidered() -> None:
    noise = np.random.default_rng(5).normal(size=(300, NIGHTS))
    told = events(100 + noise * np.where(np.arange(NIGHTS) >= STEP, 0.25, 1))

    fell = [one for one in told if any(event.kind == "variance" and event.after < event.before for event in one)]

    assert len(fell) >= 150
    assert not [one for one in fell if any(event.kind == "step" and event.index > STEP for event in one)]


def test_no_two_events_share_a_night() -> None:
    for told in events(stepped()):
        places = [event.index for event in told if event.kind in {"step", "variance"}]
        assert len(set(places)) == len(places)


def test_what_is_told_night_by_night_is_what_a_replay_tells() -> None:
    values, first = stepped(), STEP - 20
    tracks = replay(values[:, :first], np.full(len(values), first), settle=False).tracks

    for length in range(first + 1, NIGHTS + 1):
        tracks = tonight(values[:, :length], np.full(len(values), length), tracks).tracks

    whole = replay(values, np.full(len(values), NIGHTS), settle=False).tracks
    assert [track.events for track in tracks] == [track.events for track in whole]
