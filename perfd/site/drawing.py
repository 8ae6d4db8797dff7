"""Small pictures as SVG, drawn on the server: sparklines for tables, and strips that show how Samples are spread.

They need no script, scale with the text, and take their colours from the stylesheet.
"""

import statistics
from collections.abc import Sequence
from functools import cache

from markupsafe import Markup, escape

WIDTH, HEIGHT = 120, 20
_LEAST_SPAN = 0.04
"""A Series within four per cent is drawn calm: scaled to its own noise it would look like mountains."""
_BINS = 32


def sparkline(values: Sequence[float], title: str, changes: Sequence[int] = ()) -> Markup:
    """The last Points as a line, newest on the right with a dot, Changes as dashed rules; "" without Points."""
    if not values:
        return Markup()
    lowest, span = _range(values)
    across = _across(len(values))
    tall, foot = (HEIGHT - 4) / span, HEIGHT - 2.0
    spots = [f"{x} {foot - (value - lowest) * tall:.1f}" for x, value in zip(across, values, strict=True)]
    rules = [across[at] for at in changes if at >= 0]
    marks = "".join(f'<line x1="{x}" x2="{x}" y1="0" y2="{HEIGHT}"/>' for x in rules)
    x, y = spots[-1].split(" ")
    told = escape(title)
    # Put together as text: a home page draws a hundred of them, and Markup.format takes as long as all the rest.
    return Markup(  # noqa: S704  # numbers, and a title that was escaped just here
        f'<svg class="spark" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{told}">'
        f'<title>{told}</title>{marks}<path d="M{"L".join(spots)}"/><circle cx="{x}" cy="{y}" r="1.8"/></svg>'
    )


@cache
def _across(many: int) -> tuple[str, ...]:
    """Where so many Points stand from left to right; a single one at the right."""
    step = WIDTH / max(1, many - 1)
    return tuple(f"{index * step:.1f}" for index in range(many)) if many > 1 else (f"{WIDTH:.1f}",)


def _range(values: Sequence[float]) -> tuple[float, float]:
    lowest, highest = min(values), max(values)
    least = abs(statistics.median(values)) * _LEAST_SPAN or 1.0
    missing = max(0.0, least - (highest - lowest))
    return lowest - missing / 2, max(highest - lowest, least)


def strip(
    values: Sequence[float], title: str, width: int = 220, height: int = 24, span: tuple[float, float] | None = None
) -> Markup:
    """A histogram of Samples from the smallest to the largest (over `span` where given), a rule at the median; "" without any."""
    if not values:
        return Markup()
    lowest, highest = span or (min(values), max(values))
    if lowest == highest:  # one bar in the middle: all Samples are equal
        lowest, highest = lowest - 1.0, highest + 1.0
    wide = highest - lowest
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - lowest) / wide * _BINS))] += 1
    bar = width / _BINS
    bars = "".join(_bar(index * bar, bar, count / max(counts) * height, height) for index, count in enumerate(counts) if count)
    middle = (statistics.median(values) - lowest) / wide * width
    return Markup(
        '<svg class="strip" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" aria-label="{title}"><title>{title}</title>'
        '{bars}<line x1="{m}" x2="{m}" y1="0" y2="{h}"/></svg>'
    ).format(w=width, h=height, title=title, bars=Markup(bars), m=f"{middle:.1f}")  # noqa: S704 (numbers only)


def _bar(left: float, width: float, tall: float, height: int) -> str:
    tall = max(1.0, tall)
    return f'<rect x="{left:.1f}" y="{height - tall:.1f}" width="{max(1.0, width - 1):.1f}" height="{tall:.1f}"/>'
