"""An oracle: it knows the noise's law and both levels, and only has to say when. Nobody can be much faster at its alarm rate.

CUSUM of the exact log-likelihood ratio; its bar is the lowest at which at most one in 10,000 nights of noise alone alarms. It
may speak on the first night: it is not asked to tell a step from a spike.
"""

import numpy as np
import scenarios as worlds
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def _gauss(x: Floats, mean: float = 0.0, sd: float | Floats = 1.0) -> Floats:
    return np.exp(-0.5 * ((x - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))


def _student(x: Floats) -> Floats:
    scaled = x * np.sqrt(3)
    return np.sqrt(3) * 2 / (np.pi * np.sqrt(3) * (1 + scaled**2 / 3) ** 2)


def _outliers(x: Floats) -> Floats:
    flat = ((np.abs(x) > 5) & (np.abs(x) < 15)) / 20
    return 0.95 * _gauss(x) + 0.05 * np.maximum(flat, 1e-4)


def _bimodal(x: Floats) -> Floats:
    return 0.7 * _gauss(x) + 0.3 * _gauss(x, 4.0)


_LAWS = {"Gaussian": _gauss, "Student t3": _student, "5 % outliers": _outliers, "bimodal": _bimodal}
_NOISE = {
    "Gaussian": worlds.gauss,
    "Student t3": worlds.student,
    "5 % outliers": worlds.outliers,
    "bimodal": worlds.bimodal,
    "AR(0.6)": worlds.autoregressive,
}


def _ratio(name: str, noise: Floats, size: float) -> Floats:
    """The log-likelihood ratio of every night, for a step that was there the night before (AR: by its innovations)."""
    if name == "AR(0.6)":
        white = noise.copy()
        white[:, 1:] -= 0.6 * noise[:, :-1]
        return (white * 0.4 * size - (0.4 * size) ** 2 / 2) / 0.64
    law = _LAWS[name]
    ratio: Floats = np.log(law(noise - size) / law(noise))
    return ratio


def _cusum(ratio: Floats) -> Floats:
    out = np.zeros_like(ratio)
    running = np.zeros(len(ratio))
    for night in range(ratio.shape[1]):
        running = np.maximum(running, 0) + ratio[:, night]
        out[:, night] = running
    return out


def oracle_delays(rng: np.random.Generator, name: str, size: float, rows: int) -> list[int]:
    """Nights from the step to the oracle's alarm; empty for a law that it is not told."""
    if name not in _NOISE:
        return []
    alone = _cusum(_ratio(name, _NOISE[name](rng, 1000), size))
    bar = _bar(alone)
    noise = _NOISE[name](rng, rows, 60)
    noise[:, 20:] += size
    above = _cusum(_ratio(name, noise, size))[:, 20:] >= bar
    return [int(np.argmax(row)) for row in above if row.any()]


def _bar(alone: Floats) -> float:
    """The lowest bar that at most one upcrossing in 10,000 nights passes."""
    before, now = alone[:, :-1], alone[:, 1:]
    for bar in np.arange(1.0, 15.0, 0.1):
        if np.count_nonzero((now >= bar) & (before < bar)) <= now.size * 1e-4:
            return float(bar)
    return 15.0
