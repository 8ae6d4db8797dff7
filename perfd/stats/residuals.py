"""Residuals of many windows at once: level, scale, what noise remembers, and what evidence is worth that rests on them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Singles = NDArray[np.floating[Any]]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_PHI_PRIOR, _PHI_WEIGHT, _PHI_REMEMBERED = 0.3, 15.0, 60.0
_NOISE_COST = 2.0
_LEAST_WORTH = 0.5
"""The density's tails have bounded the evidence already: what is huge is not bounded twice."""


def _middle(ordered: Floats, n: Ints) -> Floats:
    """The median of the first n entries of each sorted row."""
    rows = np.arange(len(ordered))
    top = np.maximum(n, 1)
    middle: Floats = (ordered[rows, (top - 1) // 2] + ordered[rows, top // 2]) / 2
    return middle


def residuals_of(window: Floats, current: Bools, reference: Bools) -> tuple[Floats, Floats, Floats]:
    """Residuals of all columns, the level of the current segment, and the scale of the noise."""
    own = current & reference
    own_n = own.sum(axis=1)
    ordered = np.sort(np.where(own, window, np.inf), axis=1)
    level = np.where(own_n > 0, _middle(ordered, own_n), 0.0)
    residual = np.where(current, window - level[:, None], window)
    n = reference.sum(axis=1)
    distance = np.where(reference, np.abs(residual), np.inf)
    spread = 1.4826 * _middle(np.sort(distance, axis=1), n)
    mean = np.where(reference, distance, 0).sum(axis=1) / np.maximum(n, 1)
    scale = np.maximum.reduce([spread, 0.6 * mean, _tick(ordered, own_n) / 2, _least(level)])
    shift = np.where(own, np.clip(residual, -1.5 * scale[:, None], 1.5 * scale[:, None]), 0).sum(axis=1) / np.maximum(own_n, 1)
    return residual - np.where(current, shift[:, None], 0), level + shift, scale


def _least(level: Floats) -> Floats:
    """A scale below which differences are the floating point's, not the Series'."""
    return np.maximum(1e-6 * np.abs(level), 1e-12)


def _tick(ordered: Floats, n: Ints) -> Floats:
    """The smallest step of a Series whose values mostly repeat; 0 where they do not, or where they never differ."""
    with np.errstate(invalid="ignore"):
        gaps = np.diff(ordered, axis=1)
    inside = np.arange(gaps.shape[1])[None, :] < (n - 1)[:, None]
    repeats = (inside & (gaps == 0)).sum(axis=1)
    smallest = np.min(np.where(inside & (gaps > 0), gaps, np.inf), axis=1)
    return np.where((2 * repeats >= n) & np.isfinite(smallest), smallest, 0.0)


def autocorrelation(residual: Singles, reference: Bools, memory: Floats | None) -> Singles:
    """Lag-1 autocorrelation of the clipped reference residuals, (rows,); never negative, at most 0.9.

    The estimate is corrected for its bias and drawn towards 0.3 by the weight of 15 nights (175 real benchmark Series have a
    median of 0.2), or towards what is remembered of earlier segments by that of 60.
    """
    clipped = np.where(reference, np.clip(residual, -3, 3), 0)
    pairs = np.maximum((reference[:, 1:] & reference[:, :-1]).sum(axis=1), 1).astype(np.float32)
    power = (clipped**2).sum(axis=1) / np.maximum(reference.sum(axis=1), 1)
    raw = (clipped[:, 1:] * clipped[:, :-1]).sum(axis=1) / pairs / np.maximum(power, 1e-12)
    unbiased = np.clip(raw + (1 + 3 * raw) / pairs, -0.9, 0.9)
    remembered = np.full(len(raw), np.nan) if memory is None else memory
    known = np.isfinite(remembered)
    prior = np.where(power > 1e-9, np.where(known, remembered, _PHI_PRIOR), 0)
    weight = np.where(known, _PHI_REMEMBERED, _PHI_WEIGHT)
    told: Singles = np.clip((pairs * unbiased + weight * prior) / (pairs + weight), 0, 0.9).astype(np.float32)
    return told


def autocorrelation_of(residual: Floats, memory: float) -> float:
    """The same estimate for one row of standardised residuals."""
    row = residual[None, :].astype(np.float32)
    return float(autocorrelation(row, np.ones_like(row, dtype=np.bool_), np.array([memory]))[0])


def marginal(evidence: Floats, n: Ints) -> Floats:
    """What a log-likelihood ratio is worth when the scale is known from n nights only.

    Integrating an unknown scale out of a Gaussian likelihood turns L into nu/2 log(1 + 2 L / nu), as Student's t has it; the
    robust scale wastes half of the nights.
    """
    sure = np.maximum(n, 1) / _NOISE_COST
    some = np.maximum(evidence, 0)
    worth: Floats = np.where(evidence > 0, np.maximum(sure / 2 * np.log1p(2 * some / sure), _LEAST_WORTH * some), evidence)
    return worth
