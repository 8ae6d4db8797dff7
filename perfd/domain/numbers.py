"""Numbers as people read them: one unit for a whole Series, four significant digits, and the same decimals beside each other."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

SIGNIFICANT = 4
LEAST = 0.00005
"""Effects below half of the last digit that is shown are shown as none."""
TINY = 1e-5
"""Below it, a number of a unit without prefixes is shown in millionths: its zeros would widen every table."""
NOTHING = "\u2013"
"""What stands where there is no number: a dash."""
MINUS = "\u2212"
"""As wide as a plus, so that signs stand in a column."""
_STEPS: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B")),
}


@dataclass(frozen=True)
class Scale:
    """How numbers of one Series are shown: divided by `size`, with `decimals` digits, in `unit`."""

    size: float
    unit: str
    decimals: int

    def text(self, value: float | None) -> str:
        """The number without its unit; a dash where there is none."""
        if value is None or not math.isfinite(value):
            return NOTHING
        return f"{value / self.size:,.{self.decimals}f}"

    def interval(self, interval: tuple[float, float] | None) -> str:
        """Both ends in brackets; "" where there is no interval."""
        return f"[{self.text(interval[0])}, {self.text(interval[1])}]" if interval else ""


def scale_of(unit: str, values: Iterable[float | None]) -> Scale:
    """The scale that fits the largest of `values`; base units where there are none."""
    known = [abs(value) for value in values if value is not None and math.isfinite(value)]
    largest = max(known, default=0.0)
    size, shown = _step(unit, largest)
    if all(float(value).is_integer() for value in known) and size == 1.0:
        return Scale(size, shown, 0)
    return Scale(size, shown, _decimals(largest / size))


def _step(unit: str, largest: float) -> tuple[float, str]:
    steps = _STEPS.get(unit, ((1.0, unit),))
    if unit not in _STEPS and 0.0 < largest < TINY:
        return 1e-6, f"10\u207b\u2076 {unit}".rstrip()
    if largest == 0.0:
        return next(step for step in steps if step[0] == 1.0)
    return next((step for step in steps if largest >= step[0]), steps[-1])


def _decimals(largest: float) -> int:
    if largest == 0.0:
        return 0
    return min(9, max(0, SIGNIFICANT - 1 - math.floor(math.log10(largest))))


def percent(effect: float | None) -> str:
    """A ratio minus one with its sign: "+5.1 %"; a dash where there is none."""
    if effect is None or not math.isfinite(effect):
        return NOTHING
    if effect == 0.0:
        return "0 %"
    if abs(effect) < LEAST:
        return "0.00 %"
    share = effect * 100
    decimals = 0 if abs(share) >= 100 else 1 if abs(share) >= 1 else 2
    return f"{share:+,.{decimals}f} %".replace("-", MINUS)


def moved(effect: float, before: float, after: float) -> str:
    """A Change's effect as a title tells it: a share, or both levels where the first is zero and there is nothing to share."""
    return percent(effect) if before else f"from 0 to {after:.3g}"


def signed(number: float, form: str = "+.2f") -> str:
    """A number with its sign, in a format of Python's, with a minus as wide as a plus and none before zero."""
    text = format(number, form)
    return text.replace("-", MINUS) if any(digit in "123456789" for digit in text.partition("e")[0]) else text.lstrip("+-")


def share(part: float | None) -> str:
    """A part of a whole, or a bar, which has no sign: "5.1 %"; a dash where there is none."""
    return percent(part).lstrip("+")


def percents(interval: tuple[float, float] | None) -> str:
    """Both ends of an interval of effects; "" where there is none."""
    return f"[{percent(interval[0])}, {percent(interval[1])}]" if interval else ""


def effect_between(before: float | None, after: float | None) -> float | None:
    """The ratio minus one (after / before - 1), or None where there is nothing to divide by."""
    if before is None or after is None:
        return None
    if before == after:
        return 0.0
    if before == 0.0:
        return None
    return after / before - 1.0


def arrow(effect: float | None) -> str:
    """Which way the number moved (not whether that is good): ▲, ▼, or "" when it did not."""
    if effect is None or not math.isfinite(effect) or abs(effect) < LEAST:
        return ""
    return "▲" if effect > 0 else "▼"


def duration(seconds: float | None) -> str:
    """A time span in the two largest units that matter: "3 h 04 min", "12.3 s"."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours} h {minutes:02d} min" if minutes else f"{hours} h"
