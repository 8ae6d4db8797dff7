"""Real residuals: what is left of public benchmark histories when their slow movements are taken away. For testing only.

No parameter of the detector was chosen with these; docs/detection.md reports them apart. Each row is a stretch of one history,
less its running median of 31 nights, in units of its own robust standard deviation; so steps of the history are gone (and a
little of its slow noise too), tails, ticks, modes and dependence are as they were.
"""

import json
from pathlib import Path

import numpy as np
import scenarios as worlds
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_WIDE = 31


def own_noise(rng: np.random.Generator, data: Path, rows: int) -> Floats | None:
    """Rows of real noise, (rows, nights), drawn from all histories alike; None where there are none."""
    pool = [calm for series in _histories(data) if (calm := _calm(series)) is not None]
    if not pool:
        return None
    out = np.empty((rows, worlds.NIGHTS))
    for row in range(rows):
        series = pool[int(rng.integers(len(pool)))]
        begin = int(rng.integers(len(series) - worlds.NIGHTS + 1))
        out[row] = series[begin : begin + worlds.NIGHTS]
    return out


def _histories(data: Path) -> list[Floats]:
    return [*_rune(data / "history/github-action-benchmark/rune.data.js"), *_mongodb(data / "detection/mongodb_spa"),
            *_tigerbeetle(data / "detection/otava/tigerbeetle.json")]  # fmt: skip


def _rune(path: Path) -> list[Floats]:
    if not path.exists():
        return []
    document = json.loads(path.read_text(encoding="utf-8").split("=", 1)[1])
    series: dict[str, list[float]] = {}
    for entries in document["entries"].values():
        for entry in entries:
            for bench in entry["benches"]:
                series.setdefault(bench["name"], []).append(float(bench["value"]))
    return [np.array(values) for values in series.values()]


def _mongodb(folder: Path) -> list[Floats]:
    out = []
    for name in ("long_series.json", "very_large.json", "huge.json", "real_series.json"):
        path = folder / name
        if path.exists():
            document = json.loads(path.read_text(encoding="utf-8"))
            out.append(np.array(document["series"] if isinstance(document, dict) else document, dtype=np.float64))
    return out


def _tigerbeetle(path: Path) -> list[Floats]:
    if not path.exists():
        return []
    return [np.array(json.loads(path.read_text(encoding="utf-8"))["series"], dtype=np.float64)]


def _calm(series: Floats) -> Floats | None:
    """Residuals in robust standard deviations; None for a history that is too short or never moves."""
    if len(series) < worlds.NIGHTS:
        return None
    padded = np.pad(series, _WIDE // 2, mode="reflect")
    residual = series - np.median(np.lib.stride_tricks.sliding_window_view(padded, _WIDE), axis=1)
    scale = 1.4826 * float(np.median(np.abs(residual)))
    return residual / scale if scale > 0 else None
