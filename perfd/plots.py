"""Pictures: a Series with its changes, what `perfd detect` found, and the course of a comparison. Plain data in, PNG bytes out.

Colours are Okabe and Ito's, which people with any colour vision can tell apart, and no colour stands alone: a change also has its
mark and its word. Only matplotlib's object interface is used, so that threads of the site do not share a picture; the same data
give the same bytes.
"""

import io
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from perfd.domain.metric import Better, Metric
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Outcome, Verdict

Floats = npt.NDArray[np.float64]

BLUE, ORANGE, GREEN, VERMILLION, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9"
INK, GREY, PALE = "#222222", "#767676", "#E8EDF2"

_DPI = 100
_WIDTH_IN = 8.0
_WORDS = {
    ChangeKind.DRIFT: "drift",
    ChangeKind.VARIANCE: "noise",
    ChangeKind.MODE: "machine state",
    ChangeKind.TRANSIENT: "spike",
}
_LEAST_FOR_NOISE = 5
"""A stretch with fewer Points has no noise of its own to draw."""
_LABEL_ROWS = 3
_MOST_LABELS = 9
"""More words than this would lie on each other; the marks stay."""


_ANSWERS = {
    Outcome.WORSE: (VERMILLION, "v"),
    Outcome.BETTER: (GREEN, "^"),
    Outcome.SAME: (BLUE, "o"),
    Outcome.UNSURE: (GREY, "d"),
    Outcome.NOT_COMPARABLE: (GREY, "x"),
}
"""Colour and mark of an answer: better points up and worse down, whichever way the number went."""


@dataclass(frozen=True)
class Segment:
    """A stretch of a Series at one level."""

    start: int
    stop: int
    """One past its last Point."""
    level: float
    low: float
    high: float
    """Interval of the level."""


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


def series_png(view: SeriesView) -> bytes:
    """The Series over time, 800 pixels wide: values with intervals, noise band, levels, and every change with mark and word."""
    figure = Figure(figsize=(_WIDTH_IN, 3.6), dpi=_DPI, facecolor="white", layout="constrained")
    _draw_series(figure.subplots(), view)
    return to_png(figure)


def detect_png(views: Sequence[SeriesView]) -> bytes:
    """All Series below one another, each as in `series_png`; one sentence of its own where there is none."""
    figure = Figure(figsize=(_WIDTH_IN, 3.4 * max(1, len(views))), dpi=_DPI, facecolor="white", layout="constrained")
    if not views:
        figure.text(0.5, 0.5, "No series to draw.", ha="center", va="center", color=GREY)
    for axes, view in zip(figure.subplots(max(1, len(views)), squeeze=False)[:, 0] if views else (), views, strict=True):
        _draw_series(axes, view)
    return to_png(figure)


def comparison_png(pairs: Sequence[tuple[float, float]], metric: Metric, course: Sequence[Verdict], title: str = "") -> bytes:
    """Each pair's ratio by block, the estimate with its interval as the pairs came in, the relevant effect, and the answer.

    `course` holds the Verdict after each pair (`perfd.rules.compare.course`).
    """
    figure = Figure(figsize=(_WIDTH_IN, 3.8), dpi=_DPI, facecolor="white", layout="constrained")
    axes = figure.subplots()
    _draw_blocks(axes, len(pairs))
    _draw_ratios(axes, pairs, metric)
    _draw_course(axes, course)
    _limit(axes, pairs, metric, course)
    axes.set_xlabel("pair, in the order of measuring (a stripe is a block of two)")
    axes.set_ylabel(f"{metric.name}: head against base (%)")
    axes.set_xlim(0.4, max(len(pairs), 1) + 0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _title(axes, title or _comparison_title(metric, course))
    _plain(axes)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.36), ncols=4, fontsize=8, frameon=False)
    return to_png(figure)


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
    figure = Figure(figsize=(_WIDTH_IN, 1.3 + 0.3 * max(1, len(effects))), dpi=_DPI, facecolor="white", layout="constrained")
    axes = figure.subplots()
    reach = _reach(effects)
    for place, one in enumerate(effects):
        _draw_effect(axes, one, place, reach)
    axes.axvline(0.0, color=INK, linewidth=0.8, zorder=1)
    axes.set_yticks(range(len(effects)), [_short(one.name) for one in effects])
    axes.set_ylim(max(1, len(effects)) - 0.4, -0.6)
    axes.set_xlim(-reach, reach)
    axes.set_xlabel("head against base (%), with its interval; the pale bar is what would not matter")
    _title(axes, title or f"{len(effects)} metric{'' if len(effects) == 1 else 's'}, head against base")
    _plain(axes)
    axes.grid(visible=True, axis="x", color="#DDDDDD", linewidth=0.6)
    axes.grid(visible=False, axis="y")
    if not effects:
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", color=GREY)
    return to_png(figure)


def _draw_effect(axes: Axes, one: Effect, place: int, reach: float) -> None:
    """What leaves the picture ends at its edge in a small arrow."""
    color, marker = _ANSWERS[one.outcome]
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


def _short(name: str) -> str:
    return name if len(name) <= 44 else f"{name[:43]}…"


def to_png(figure: Figure) -> bytes:
    """The figure as PNG, without the dates and versions that would make equal pictures differ."""
    FigureCanvasAgg(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def segments_of(values: Sequence[float | None], changes: Sequence[Change]) -> tuple[Segment, ...]:
    """The stretches between detected steps, each at its median, with the interval that its own scatter leaves (95 %)."""
    known = _floats(values)
    lasting = {change.index for change in changes if change.kind is ChangeKind.STEP and change.status is ChangeStatus.DETECTED}
    edges = [0, *sorted(index for index in lasting if 0 < index < len(known)), len(known)]
    made = []
    for start, stop in itertools.pairwise(edges):
        part = known[start:stop][np.isfinite(known[start:stop])]
        if len(part):
            level = float(np.median(part))
            reach = 1.96 * 1.2533 * _scatter(part) / math.sqrt(len(part))
            made.append(Segment(start, stop, level, level - reach, level + reach))
    return tuple(made)


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def _scatter(values: Floats) -> float:
    """The standard deviation that the median absolute deviation stands for."""
    return float(1.4826 * np.median(np.abs(values - np.median(values)))) if len(values) else 0.0


def scale_of(unit: str, size: float) -> tuple[float, str]:
    """A factor and a unit in which `size` reads well: seconds as ms, µs or ns, bytes as KiB to GiB; other units as they are."""
    if unit == "s":
        steps = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (1e-6, 1e6, "µs"), (0.0, 1e9, "ns"))
    elif unit == "bytes":
        steps = ((2.0**30, 2.0**-30, "GiB"), (2.0**20, 2.0**-20, "MiB"), (2.0**10, 2.0**-10, "KiB"), (0.0, 1.0, "bytes"))
    else:
        return 1.0, unit
    return next((factor, word) for least, factor, word in steps if size >= least)


def _draw_series(axes: Axes, view: SeriesView) -> None:
    values = _floats(view.values)
    finite = values[np.isfinite(values)]
    _title(axes, view.title or _series_title(view))
    _plain(axes)
    if not len(finite):
        axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", color=GREY)
        axes.set(xticks=[], yticks=[])
        return
    factor, unit = scale_of(view.unit, float(np.median(np.abs(finite))))
    for segment in view.segments or segments_of(view.values, view.changes):
        _draw_segment(axes, view, segment, values, factor)
    _draw_intervals(axes, view, factor)
    _draw_values(axes, values * factor, len(view.changes))
    _draw_changes(axes, view)
    axes.set_ylabel(f"{view.name} ({unit})" if unit else view.name)
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
    sigma = view.noise * abs(segment.level) if view.noise is not None else _scatter(part[np.isfinite(part)])
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
    axes.set_xticks(places, [view.labels[place] for place in places])


def _series_title(view: SeriesView) -> str:
    steps = [c for c in view.changes if c.kind is ChangeKind.STEP and c.status is ChangeStatus.DETECTED]
    known = int(np.isfinite(_floats(view.values)).sum())
    if not steps:
        others = len(view.changes)
        return f"{view.name}: no lasting change in {known} points" + (f", {others} of other kinds" if others else "")
    last = max(steps, key=lambda change: change.index)
    place = view.labels[last.index] if last.index < len(view.labels) else f"point {last.index}"
    more = "" if len(steps) == 1 else f"; {len(steps)} changes in {known} points"
    effect = f"{100 * abs(last.effect):.2g} %"
    return f"{view.name}: {_meaning(last, view.better)} by {effect} since {place}{more}"


def _draw_blocks(axes: Axes, pairs: int) -> None:
    for start in range(0, pairs, 4):
        axes.axvspan(start + 0.5, min(start + 2, pairs) + 0.5, color=PALE, alpha=0.6, linewidth=0, zorder=0)


def _draw_ratios(axes: Axes, pairs: Sequence[tuple[float, float]], metric: Metric) -> None:
    ratios = _ratios(pairs)
    first = np.array([index % 4 in {0, 3} for index in range(len(pairs))], dtype=bool)
    at = np.arange(1, len(pairs) + 1)
    axes.plot(at[first], ratios[first], "o", color=BLUE, markersize=6.0, zorder=4, label="pair, base first")
    axes.plot(at[~first], ratios[~first], "s", color=BLUE, markersize=6.0, zorder=4, mfc="white", label="pair, head first")
    axes.axhline(0.0, color=INK, linewidth=0.9, zorder=2)
    bar = 100 * metric.relevant
    if bar > 0:
        axes.axhline(bar, color=GREY, linestyle="--", linewidth=0.9, zorder=1, label=f"±{bar:g} %, relevant")
        axes.axhline(-bar, color=GREY, linestyle="--", linewidth=0.9, zorder=1)


def _ratios(pairs: Sequence[tuple[float, float]]) -> Floats:
    """Head against base in per cent; NaN where the base is zero."""
    return np.array([100 * (head / base - 1.0) if base else math.nan for base, head in pairs], dtype=np.float64)


def _draw_course(axes: Axes, course: Sequence[Verdict]) -> None:
    known = [(n, v.effect, *v.interval) for n, v in enumerate(course, 1) if v.effect is not None and v.interval is not None]
    if not known:
        return
    at, effect, low, high = (np.array(column, dtype=np.float64) for column in zip(*known, strict=True))
    axes.fill_between(at, 100 * low, 100 * high, color=ORANGE, alpha=0.25, linewidth=0, zorder=1, label="estimate and interval")
    axes.plot(at, 100 * effect, color=VERMILLION, linewidth=1.6, zorder=3)
    axes.vlines(at[-1], 100 * low[-1], 100 * high[-1], color=VERMILLION, linewidth=2.5, zorder=3)


def _limit(axes: Axes, pairs: Sequence[tuple[float, float]], metric: Metric, course: Sequence[Verdict]) -> None:
    """Room for the pairs, the relevant effect and the last interval; the first intervals may run off the picture."""
    last = [100 * end for verdict in course[-1:] if verdict.interval for end in verdict.interval]
    shown = [*_ratios(pairs)[np.isfinite(_ratios(pairs))], *last, 130 * metric.relevant, -130 * metric.relevant]
    low, high = min(shown, default=-1.0), max(shown, default=1.0)
    room = (high - low) * 0.1 or 1.0
    axes.set_ylim(low - room, high + room)


def _comparison_title(metric: Metric, course: Sequence[Verdict]) -> str:
    if not course:
        return f"{metric.name}: nothing was measured"
    last = course[-1]
    head = {Outcome.BETTER: "head is better", Outcome.WORSE: "head is worse", Outcome.SAME: "no relevant difference"}
    sentence = head.get(last.outcome, str(last.outcome))
    return f"{metric.name}: {sentence}, {last.reason}".replace("-", "\N{MINUS SIGN}")


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text if len(text) <= 108 else text[:107] + "…", loc="left", fontsize=10.5, color=INK)


def _plain(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8.5, colors=INK)
