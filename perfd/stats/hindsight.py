"""The events of a finished history: what each night has shown, unless the whole shows that its noise is nearly a random walk.

Night by night, a Series whose values drift about by themselves looks like a chain of steps: nothing can tell them apart at the
time. In hindsight the autocorrelation around the best levels tells it, and then only the best cuts (segments.py) are steps.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perfd.stats.nights import LASTING
from perfd.stats.segments import MOST_VALUES, Cuts, best_cuts
from perfd.stats.shape import relative_interval, robust_level, spread_of_difference
from perfd.stats.track import Event

Floats = NDArray[np.float64]

WANDERS = 0.7
"""Autocorrelation around the best levels from which on a Series moves by itself."""
_NEAR = 5
"""Values between a cut and the step that it is."""


def in_hindsight(values: Floats, events: Sequence[Event]) -> list[Event]:
    """The events as they are, or, in a Series that wanders, with the best cuts in place of its steps."""
    if len(values) > MOST_VALUES or not any(event.kind in {"step", "mode"} for event in events):
        return list(events)
    cuts = best_cuts(values, LASTING)
    if cuts.phi < WANDERS:
        return list(events)
    others = [event for event in events if event.kind not in {"step", "mode"}]
    steps = [_event(values, cuts, place, events) for place in cuts.places]
    return sorted([*others, *steps], key=lambda event: event.index)


def _event(values: Floats, cuts: Cuts, place: int, events: Sequence[Event]) -> Event:
    """The step that was found there by night, at the cut's place; a new one where there was none."""
    near = [event for event in events if event.kind in {"step", "mode"} and abs(event.index - place) <= _NEAR]
    if near:
        return replace(min(near, key=lambda event: abs(event.index - place)), index=place)
    bounds = [0, *cuts.places, len(values)]
    at = bounds.index(place)
    old, new = values[bounds[at - 1] : place], values[place : bounds[at + 1]]
    scale = float(np.concatenate([old - old.mean(), new - new.mean()]).std()) or 1e-12
    before, after = robust_level(old, scale), robust_level(new, scale)
    spread = spread_of_difference(scale, cuts.phi, len(old), len(new))
    interval = relative_interval(before, after, spread)
    return Event("step", place, len(values) - 1, before, after, interval, ((after - before) / spread) ** 2 / 2)
