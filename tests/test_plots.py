"""Pictures: the same bytes for the same data, 800 pixels wide, every change with its word, and nothing breaks on odd data."""

import io
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from matplotlib.image import imread

from perfd.domain.metric import METRICS, Better, Metric
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus
from perfd.plots import (
    Pair,
    Segment,
    SeriesView,
    change_words,
    pairs_png,
    segments_of,
    series_png,
)
from perfd.rules.compare import course

STEP = Change(20, ChangeKind.STEP, ChangeStatus.DETECTED, 0.0120, 0.0126, 0.05)


def a_view(**changed: object) -> SeriesView:
    values = 0.012 * (1.0 + 0.01 * np.random.default_rng(1).normal(size=40))
    values[20:] *= 1.05
    known: dict[str, object] = {
        "name": "itl_s",
        "unit": "s",
        "values": [float(value) for value in values],
        "better": Better.LOWER,
        "changes": (STEP,),
    }
    return SeriesView(**{**known, **changed})  # type: ignore[arg-type]


def size(png: bytes) -> tuple[int, int]:
    height, width = imread(io.BytesIO(png), format="png").shape[:2]
    return width, height


def test_a_series_is_800_pixels_wide_on_white() -> None:
    png = series_png([a_view()])

    assert size(png) == (800, 340)
    assert imread(io.BytesIO(png), format="png")[0, 0, :3] == pytest.approx([1.0, 1.0, 1.0])


def test_the_same_data_give_the_same_bytes() -> None:
    assert series_png([a_view()]) == series_png([a_view()])
    assert series_png([a_view()]) != series_png([a_view(changes=())])


def test_threads_do_not_share_a_picture() -> None:
    alone = series_png([a_view()])
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(series_png, [[a_view()]] * 8))

    assert {alone} == set(together)


def test_pyplot_is_never_loaded() -> None:
    draw = "import sys, perfd.plots as plots; plots.series_png([plots.SeriesView('x', 's', [1.0, 2.0])])"
    code = f"{draw}; sys.exit('matplotlib.pyplot' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("change", "better", "words"),
    [
        (STEP, Better.LOWER, "▲ worse +5 %"),
        (STEP, Better.HIGHER, "▲ better +5 %"),
        (STEP, None, "▲ up +5 %"),
        (Change(3, ChangeKind.STEP, ChangeStatus.SUSPECT, 1.0, 0.9, -0.1), Better.LOWER, "▼ better \N{MINUS SIGN}10 % ?"),
        (Change(3, ChangeKind.TRANSIENT, ChangeStatus.DETECTED, 1.0, 1.5, 0.5), Better.LOWER, "▲ spike +50 %"),
        (Change(3, ChangeKind.VARIANCE, ChangeStatus.DETECTED, 1.0, 1.0, 0.0), Better.LOWER, "◆ noise"),
    ],
)
def test_a_change_says_what_it_means_without_colour(change: Change, better: Better | None, words: str) -> None:
    assert words == change_words(change, better)


def test_stretches_lie_between_detected_steps_only() -> None:
    suspect = Change(3, ChangeKind.STEP, ChangeStatus.SUSPECT, 1.0, 9.0, 8.0)
    values = [1.0, 1.0, 1.0, 1.0, 2.0, None, 2.0]

    found = segments_of(values, [Change(4, ChangeKind.STEP, ChangeStatus.DETECTED, 1.0, 2.0, 1.0), suspect])

    assert [Segment(0, 4, 1.0, 1.0, 1.0), Segment(4, 7, 2.0, 2.0, 2.0)] == list(found)


@pytest.mark.parametrize(
    "values",
    [[], [1.0], [None, None], [math.nan, 1.0, math.inf], [0.0] * 9, [-1.0, 1.0, -2.0], [1.0] * 30 + [1e9]],
    ids=["none", "one", "missing", "not finite", "zeros", "negative", "one far off"],
)
def test_odd_series_are_drawn_all_the_same(values: list[float | None]) -> None:
    assert size(series_png([SeriesView("odd", "s", values)])) == (800, 340)


def test_a_hundred_thousand_points_are_drawn() -> None:
    values = np.random.default_rng(2).normal(100.0, 1.0, 100_000)

    assert size(series_png([SeriesView("long", "tokens/s", values.tolist())])) == (800, 340)


def test_many_changes_labels_intervals_and_segments_fit() -> None:
    view = a_view(
        changes=tuple(Change(i, ChangeKind.STEP, ChangeStatus.SUSPECT, 1.0, 1.1, 0.1) for i in range(2, 38, 2)),
        labels=[f"2026-11-{day % 28 + 1:02d}" for day in range(40)],
        intervals=[None if day % 3 else (0.0119, 0.0121) for day in range(40)],
        segments=(Segment(0, 40, 0.012, 0.0119, 0.0121),),
        noise=0.01,
        title="A sentence that is so long that it would run out of the picture " * 3,
    )

    assert size(series_png([view])) == (800, 340)


def test_every_series_has_a_panel() -> None:
    assert size(series_png([a_view()] * 3)) == (800, 1020)
    assert size(series_png([])) == (800, 340)


def pairs_of(values: list[tuple[float, float]], metric: Metric) -> list[Pair]:
    told = course(values, metric)
    return [Pair(base, head, one.effect, one.interval) for (base, head), one in zip(values, told, strict=True)]


def test_a_comparison_shows_its_course() -> None:
    noise = np.random.default_rng(3).normal(0.0, 0.01, (9, 2))
    metric = METRICS["itl_s"]
    values = [(0.012 * math.exp(a), 0.0126 * math.exp(b)) for a, b in noise]
    pairs, answer = pairs_of(values, metric), course(values, metric)[-1]

    png = pairs_png(pairs, metric, answer)

    assert size(png) == (800, 380)
    assert png == pairs_png(pairs, metric, answer)
    assert png != pairs_png(pairs[:-1], metric, answer)


@pytest.mark.parametrize("values", [[], [(1.0, 1.1)], [(0.0, 2.0), (0.0, 1.0)]], ids=["none", "one", "zero base"])
def test_short_comparisons_are_drawn_all_the_same(values: list[tuple[float, float]]) -> None:
    metric = METRICS["failed_requests"]

    assert size(pairs_png(pairs_of(values, metric), metric)) == (800, 380)


@pytest.mark.parametrize(
    "name", ["$\\frac{a$", "\u5ef6\u8fdf \U0001f525", "\x1b[31m\x00red\nforged", "\u202eevil", "\ud800", "x" * 1000]
)
def test_a_name_from_outside_is_drawn_whatever_it_holds(name: str) -> None:
    view = SeriesView(name, "ms", [1.0] * 10 + [2.0] * 10, labels=[name] * 20)

    assert size(series_png([view])) == (800, 340)
