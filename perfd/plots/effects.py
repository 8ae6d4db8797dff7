"""The Metrics of a comparison below one another: each one's change with its interval, beside what would matter."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from perfd.domain.verdict import Outcome
from perfd.plots.canvas import ANSWERS, GREY, INK, PALE, a_figure, clear, drawn, to_png, write_title


@dataclass(frozen=True)
class Effect:
    """One Metric of a comparison, as a line of a picture."""

    name: str
    """The Workload and the Metric."""
    effect: float
    low: float
    high: float
    relevant: float
    """The smallest effect that matters."""
    outcome: Outcome


def effects_png(effects: Sequence[Effect], title: str = "") -> bytes:
    """Each Metric's change with its interval, beside the effect that would matter; marks and words tell the answers apart."""
    figure = a_figure(1.3 + 0.3 * max(1, len(effects)))
    axes = figure.subplots()
    reach = _reach(effects)
    for place, one in enumerate(effects):
        _draw_effect(axes, one, place, reach)
    axes.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(effects)), [drawn(one.name, 44) for one in effects])
    axes.set_ylim(max(1, len(effects)) - 0.4, -0.6)
    axes.set_xlim(-reach, reach)
    axes.set_xlabel("head against base (%), with its interval; the pale bar is what would not matter")
    write_title(axes, title or f"{len(effects)} metric{'' if len(effects) == 1 else 's'}, head against base")
    clear(axes)
    axes.grid(visible=True, axis="x", color="#DDDDDD", linewidth=0.6)
    axes.grid(visible=False, axis="y")
    if not effects:
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", color=GREY)
    return to_png(figure)


def _draw_effect(axes: Axes, one: Effect, place: int, reach: float) -> None:
    """What leaves the picture ends at its edge in a small arrow."""
    color, marker = ANSWERS[one.outcome]
    low, middle, high = (100.0 * max(-1.0, value) for value in (one.low, one.effect, one.high))
    inside = sorted(min(max(end, -reach), reach) for end in (low, high))
    axes.barh(
        place, 2 * min(100.0 * one.relevant, reach), left=-min(100.0 * one.relevant, reach), height=0.7, color=PALE, zorder=0
    )
    axes.hlines(place, inside[0], inside[1], color=color, linewidth=1.6, zorder=2)
    axes.plot(min(max(middle, -reach), reach), place, marker=marker, color=color, markersize=6, linestyle="none", zorder=3)
    told = f"{middle:+.2g} % {one.outcome}"
    axes.annotate(
        told,
        (1.0, place),
        xycoords=("axes fraction", "data"),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=8.5,
        color=color,
        annotation_clip=False,
    )


def _reach(effects: Sequence[Effect]) -> float:
    """Half of the width in per cent: every effect, and the intervals of what was told apart."""
    ends = [abs(one.effect) for one in effects] + [2 * one.relevant for one in effects]
    sure = [one for one in effects if one.outcome is not Outcome.UNSURE]
    ends += [max(abs(one.low), abs(one.high)) for one in sure]
    finite = [end for end in ends if math.isfinite(end)]
    return 110.0 * min(max(finite, default=0.05) or 0.05, 10.0)
