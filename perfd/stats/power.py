"""What the detector can see: the bar as an effect, and the smallest effects that it finds with 90 % power.

Both are multiples, measured on planted steps in Gaussian noise (docs/detection.md says how well they hold), of the standard
deviation of a difference of two levels under AR(1) noise. Cost: O(1).
"""

from perfd.stats.shape import spread_of_difference

_HALF = 5.2
"""In those standard deviations: the step that is detected at once, when four nights show it, half the time."""
_NINE_IN_TEN = {4: 8.9, 7: 7.6, 14: 8.6}


def bar_of(noise: float, phi: float, n: int, nights: int = 4) -> float:
    """The effect, relative like `noise`, that `nights` new nights against `n` must show to be called a change."""
    return _HALF * spread_of_difference(noise, phi, n, nights)


def smallest_effects(noise: float, phi: float, n: int) -> dict[int, float]:
    """Nights after a change to the smallest relative effect that is found by then with 90 % power."""
    return {nights: factor * spread_of_difference(noise, phi, n, nights) for nights, factor in _NINE_IN_TEN.items()}
