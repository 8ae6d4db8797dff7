"""Series over time with their levels, noise and changes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from perfd.domain.metric import Better
from perfd.domain.numbers import scale_of
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus
from perfd.plots.canvas import BLUE, GREEN, GREY, INK, PALE, SKY, VERMILLION, a_figure, clear, drawn, to_png, write_title
from perfd.plots.levels import Floats, Segment, floats, scatter, segments_of

_WORDS = {
    ChangeKind.DRIFT: "drift",
    ChangeKind.VARIANCE: "noise",
    ChangeKind.MODE: "machine state",
    ChangeKind.TRANSIENT: "spike",
}
_LEAST_FOR_NOISE = 5
"""A stretch with fewer Points has no noise of its own to draw."""
_LABEL_ROWS = 3
_LONGEST_NAME = 40
"""Characters; the axis is no longer than that, and the title tells more."""
_MOST_LABELS = 9
"""More words than this would lie on each other; the marks stay."""


@dataclass(frozen=True)
class SeriesView:
    """What a picture of one Series shows; values that are missing are NaN or None."""

    name: str
    unit: str
    values: Sequence[float | None]
    better: Better | None = None
    """Absent where nobody said which way is better; then changes go up and down instead of better and worse."""
    intervals: Sequence[tuple[float, float] | None] = ()
    labels: Sequence[str] = ()
    """One a Point: dates or short Revisions. Absent means the Points' numbers."""
    changes: Sequence[Change] = ()
    segments: Sequence[Segment] = ()
    """Absent means the stretches between steps, each at its median."""
    noise: float | None = None
    """Relative standard deviation from night to night; absent means each stretch's own."""
    title: str = ""
    """A sentence; absent means one made from the changes."""


def series_png(views: Sequence[SeriesView]) -> bytes:
    """Series below one another, 800 pixels wide: values with intervals, noise band, levels, and every change with mark and word.

    One sentence of its own where there is no Series.
    """
    figure = a_figure(3.4 * max(1, len(views)))
    if not views:
        figure.text(0.5, 0.5, "No series to draw.", ha="center", va="center", color=GREY)
    for axes, view in zip(figure.subplots(max(1, len(views)), squeeze=False)[:, 0] if views else (), views, strict=True):
        _draw_series(axes, view)
    return to_png(figure)


def _draw_series(axes: Axes, view: SeriesView) -> None:
    values = floats(view.values)
    finite = values[np.isfinite(values)]
    write_title(axes, view.title or _series_title(view))
    clear(axes)
    if not len(finite):
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", color=GREY)
        axes.set(xticks=[], yticks=[])
        return
    scale = scale_of(view.unit, [float(np.median(np.abs(finite)))])
    factor, unit = 1.0 / scale.size, scale.unit
    for segment in view.segments or segments_of(view.values, view.changes):
        _draw_segment(axes, view, segment, values, factor)
    _draw_intervals(axes, view, factor)
    _draw_values(axes, values * factor, len(view.changes))
    _draw_changes(axes, view)
    name = drawn(view.name, _LONGEST_NAME)
    axes.set_ylabel(f"{name} ({unit})" if unit else name)
    _label_points(axes, view)


def _draw_values(axes: Axes, shown: Floats, changes: int) -> None:
    """The values as points; a few far ones stand at the edge with their number, so that they do not flatten all others."""
    low, high = _range(shown[np.isfinite(shown)])
    room = (high - low) or abs(high) * 0.05 or 1.0
    axes.set_ylim(low - 0.12 * room, high + room * (0.16 + 0.11 * min(_LABEL_ROWS, changes)))
    _draw_points(axes, shown)
    for index in np.flatnonzero((shown < low) | (shown > high))[:_MOST_LABELS]:
        above = shown[index] > high
        edge = high + 0.06 * room if above else low - 0.06 * room
        axes.plot(index, edge, marker="^" if above else "v", color=BLUE, markersize=6, zorder=4)
        axes.annotate(
            f"{shown[index]:.4g}", (index, edge), (6, 0), textcoords="offset points", fontsize=8, va="center", color=BLUE
        )


def _range(finite: Floats) -> tuple[float, float]:
    """Lowest and highest value that is drawn in its place: within three times the range of the middle nine tenths."""
    low, high = (float(q) for q in np.quantile(finite, [0.05, 0.95]))
    reach = 3.0 * (high - low) or math.inf
    near = finite[(finite >= low - reach) & (finite <= high + reach)]
    return float(near.min()), float(near.max())


def _draw_points(axes: Axes, shown: Floats) -> None:
    """Every value up to 4,000 as a point; of more, the range of each of 800 stretches, which is what 800 pixels can show."""
    at = np.flatnonzero(np.isfinite(shown))
    if len(at) <= 4000:
        size = 3.5 if len(at) <= 500 else 1.8
        axes.plot(at, shown[at], linestyle="none", marker="o", markersize=size, color=BLUE, markeredgewidth=0, zorder=3)
        return
    parts = np.array_split(at, 800)
    ends = np.array([(part.mean(), *np.quantile(shown[part], [0.0, 0.25, 0.75, 1.0])) for part in parts])
    axes.vlines(ends[:, 0], ends[:, 1], ends[:, 4], color=SKY, linewidth=0.7, zorder=1)
    axes.vlines(ends[:, 0], ends[:, 2], ends[:, 3], color=BLUE, linewidth=0.9, zorder=1)


def _draw_segment(axes: Axes, view: SeriesView, segment: Segment, values: Floats, factor: float) -> None:
    """The noise band (two standard deviations), the level, and the level's interval."""
    part = values[segment.start : segment.stop]
    sigma = view.noise * abs(segment.level) if view.noise is not None else scatter(part[np.isfinite(part)])
    ends = (segment.start - 0.5, segment.stop - 0.5)
    low, high = (factor * (segment.level + side * 2.0 * sigma) for side in (-1, 1))
    if view.noise is not None or len(part) >= _LEAST_FOR_NOISE:
        axes.fill_between(ends, low, high, color=PALE, linewidth=0, zorder=0)
        axes.fill_between(ends, factor * segment.low, factor * segment.high, color=SKY, alpha=0.45, linewidth=0, zorder=1)
    axes.plot(ends, (factor * segment.level,) * 2, color=INK, linewidth=1.2, zorder=2)


def _draw_intervals(axes: Axes, view: SeriesView, factor: float) -> None:
    known = [(index, *interval) for index, interval in enumerate(view.intervals) if interval is not None]
    if 0 < len(known) <= 2000:
        at, low, high = (np.array(column, dtype=np.float64) for column in zip(*known, strict=True))
        axes.vlines(at, factor * low, factor * high, color=BLUE, alpha=0.45, linewidth=1.0, zorder=2)


def _draw_changes(axes: Axes, view: SeriesView) -> None:
    """A line where it happened and a word with its mark; what is only suspected is dotted."""
    for order, change in enumerate(sorted(view.changes, key=lambda change: change.index)):
        sure = change.status is ChangeStatus.DETECTED
        color = _colour(change, view.better)
        axes.axvline(change.index - 0.5, color=color, linewidth=1.0, linestyle="-" if sure else ":", alpha=0.7, zorder=1)
        if order < _MOST_LABELS:
            late = change.index > 0.62 * len(view.values)
            axes.annotate(
                change_words(change, view.better),
                (change.index - 0.5, 0.95 - 0.085 * (order % _LABEL_ROWS)),
                xycoords=("data", "axes fraction"),
                xytext=(-4 if late else 4, 0),
                textcoords="offset points",
                ha="right" if late else "left",
                va="center",
                fontsize=8.5,
                color=color,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
            )


def change_words(change: Change, better: Better | None) -> str:
    """The change as "▲ worse +5.1 %": the mark follows the values, the word says what it means; a suspect ends in "?"."""
    mark = "▲" if change.effect > 0 else "▼" if change.effect < 0 else "◆"
    word = _WORDS.get(change.kind) or _meaning(change, better)
    effect = "" if change.kind is ChangeKind.VARIANCE else f" {100 * change.effect:+.3g} %".replace("-", "\N{MINUS SIGN}")
    return f"{mark} {word}{effect}{'' if change.status is ChangeStatus.DETECTED else ' ?'}"


def _meaning(change: Change, better: Better | None) -> str:
    if better is None:
        return "up" if change.effect > 0 else "down"
    return "better" if (change.effect > 0) == (better is Better.HIGHER) else "worse"


def _colour(change: Change, better: Better | None) -> str:
    if change.kind is not ChangeKind.STEP:
        return GREY
    return {"better": GREEN, "worse": VERMILLION}.get(_meaning(change, better), INK)


def _label_points(axes: Axes, view: SeriesView) -> None:
    axes.set_xlim(-0.8, max(len(view.values), 1) - 0.2)
    if not view.labels:
        axes.set_xlabel("point")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        return
    step = max(1, math.ceil(len(view.labels) / 8))
    places = list(range(0, len(view.labels), step))
    axes.set_xticks(places, [drawn(view.labels[place], _LONGEST_NAME) for place in places])


def _series_title(view: SeriesView) -> str:
    steps = [c for c in view.changes if c.kind is ChangeKind.STEP and c.status is ChangeStatus.DETECTED]
    known = int(np.isfinite(floats(view.values)).sum())
    if not steps:
        others = len(view.changes)
        return f"{view.name}: no lasting change in {known} points" + (f", {others} of other kinds" if others else "")
    last = max(steps, key=lambda change: change.index)
    place = view.labels[last.index] if last.index < len(view.labels) else f"point {last.index}"
    more = "" if len(steps) == 1 else f"; {len(steps)} changes in {known} points"
    effect = f"{100 * abs(last.effect):.2g} %"
    return f"{view.name}: {_meaning(last, view.better)} by {effect} since {place}{more}"
