"""One Metric of a comparison, pair by pair: how the estimate came about."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from perfd.domain.metric import Metric
from perfd.domain.verdict import Outcome, Verdict
from perfd.plots.canvas import BLUE, GREY, INK, ORANGE, PALE, VERMILLION, a_figure, clear, drawn, to_png, write_title
from perfd.plots.levels import Floats


@dataclass(frozen=True)
class Pair:
    """Two neighbouring Runs, and what all pairs up to this one say."""

    base: float
    head: float
    effect: float | None = None
    """Head against base by all pairs so far; absent while they are too few."""
    interval: tuple[float, float] | None = None
    is_base_first: bool = True

    @property
    def ratio(self) -> float:
        """Head against base in per cent; NaN where base is zero."""
        return 100.0 * (self.head / self.base - 1.0) if self.base else math.nan


def pairs_png(pairs: Sequence[Pair], metric: Metric, answer: Verdict | None = None) -> bytes:
    """Each pair's ratio by block, the estimate with its interval as the pairs came in, the relevant effect, and the answer."""
    figure = a_figure(3.8)
    axes = figure.subplots()
    _draw_blocks(axes, len(pairs))
    _draw_ratios(axes, pairs, metric)
    _draw_course(axes, pairs)
    _limit(axes, pairs, metric)
    axes.set_xlabel("pair, in the order of measuring (a stripe is a block of two)")
    axes.set_ylabel(f"{drawn(metric.name, 40)}: head against base (%)")
    axes.set_xlim(0.4, max(len(pairs), 1) + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    write_title(axes, _title(metric, answer))
    clear(axes)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.36), ncols=4, fontsize=8, frameon=False)
    return to_png(figure)


def _draw_blocks(axes: Axes, pairs: int) -> None:
    for start in range(0, pairs, 4):
        axes.axvspan(start + 0.5, min(start + 2, pairs) + 0.5, color=PALE, alpha=0.6, linewidth=0, zorder=0)


def _draw_ratios(axes: Axes, pairs: Sequence[Pair], metric: Metric) -> None:
    ratios = _ratios(pairs)
    first = np.array([one.is_base_first for one in pairs], dtype=bool)
    at = np.arange(1, len(pairs) + 1)
    axes.plot(at[first], ratios[first], "o", color=BLUE, markersize=6.0, zorder=4, label="pair, base first")
    axes.plot(at[~first], ratios[~first], "s", color=BLUE, markersize=6.0, zorder=4, mfc="white", label="pair, head first")
    axes.axhline(0.0, color=INK, linewidth=0.9, zorder=2)
    bar = 100 * metric.relevant
    if bar > 0:
        axes.axhline(bar, color=GREY, linestyle="--", linewidth=0.9, zorder=1, label=f"±{bar:g} %, relevant")
        axes.axhline(-bar, color=GREY, linestyle="--", linewidth=0.9, zorder=1)


def _ratios(pairs: Sequence[Pair]) -> Floats:
    return np.array([one.ratio for one in pairs], dtype=np.float64)


def _draw_course(axes: Axes, pairs: Sequence[Pair]) -> None:
    known = [(n, one.effect, *one.interval) for n, one in enumerate(pairs, 1) if one.effect is not None and one.interval]
    if not known:
        return
    at, effect, low, high = (np.array(column, dtype=np.float64) for column in zip(*known, strict=True))
    axes.fill_between(at, 100 * low, 100 * high, color=ORANGE, alpha=0.25, linewidth=0, zorder=1, label="estimate and interval")
    axes.plot(at, 100 * effect, color=VERMILLION, linewidth=1.6, zorder=3)
    axes.vlines(at[-1], 100 * low[-1], 100 * high[-1], color=VERMILLION, linewidth=2.5, zorder=3)


def _limit(axes: Axes, pairs: Sequence[Pair], metric: Metric) -> None:
    """Room for the pairs, the relevant effect and the last interval; the first intervals may run off the picture."""
    last = [100 * end for one in pairs[-1:] if one.interval for end in one.interval]
    ratios = _ratios(pairs)
    shown = [*ratios[np.isfinite(ratios)], *last, 130 * metric.relevant, -130 * metric.relevant]
    low, high = min(shown, default=-1.0), max(shown, default=1.0)
    room = (high - low) * 0.1 or 1.0
    axes.set_ylim(low - room, high + room)


def _title(metric: Metric, answer: Verdict | None) -> str:
    if answer is None:
        return f"{metric.name}: nothing was measured"
    head = {Outcome.BETTER: "head is better", Outcome.WORSE: "head is worse", Outcome.SAME: "no relevant difference"}
    return f"{metric.name}: {head.get(answer.outcome, str(answer.outcome))}, {answer.reason}"
