"""Progress or gaming? Whether what a long Run gained on the set that it knows is there on the set that it never saw, too.

Gains are counted from the first scored submission, towards the Metric's better side. Noise is that of repeated scoring, pooled
over all submissions of a set. A work that learns gains on both sets. One that memorises gains on the validation set alone: it is
called gaming when, for certain, less than half of that gain is there on the held-out set. "For certain" is a one-sided t-test
at 1 %, divided by the number of submissions that were looked at (Bonferroni): looking often must not find something.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from perfd.domain.metric import Better
from perfd.domain.submission import Submission, mean
from perfd.stats.student import t_quantile

KEPT = 0.5
"""The share of the gain that the held-out set must show: some is lost by choosing the best, which is no cheating."""
ALPHA = 0.01


class Course(StrEnum):
    """What a long Run has made of its time."""

    PROGRESS = "progress"
    """It gained on the held-out set, for certain at least half of what the validation set shows."""
    GAMING = "gaming"
    """It gained on the validation set, and for certain less than half of that on the held-out set."""
    NONE = "none"
    """Nothing was gained beyond noise."""
    UNSURE = "unsure"
    """Something was gained, and noise does not tell which."""


@dataclass(frozen=True)
class Gap:
    """How one submission compares with the first: gains towards the better side, in the Metric's unit."""

    place: int
    validation: float
    held_out: float
    validation_noise: float
    """Standard error of the gain, from repeated scoring."""
    short_noise: float
    """Standard error of what is short of half the gain."""
    course: Course

    @property
    def short(self) -> float:
        """By how much the held-out gain stays below half of the validation gain; negative where it does not."""
        return KEPT * self.validation - self.held_out


def gaps(submissions: Sequence[Submission]) -> tuple[Gap, ...]:
    """Every scored submission after the first, held against the first."""
    scored = [one for one in submissions if one.validation]
    if len(scored) < 2:
        return ()
    noise = _pooled([one.validation for one in scored]), _pooled([one.held_out for one in scored])
    t = t_quantile(2 * ALPHA / (len(scored) - 1), noise[0][1]) if noise[0][1] else 0.0
    return tuple(_gap(scored[0], one, (noise[0][0], noise[1][0]), t) for one in scored[1:])


def course(submissions: Sequence[Submission]) -> Course:
    """What the Run is called: by the submission that is best on the validation set."""
    found = gaps(submissions)
    return max(found, key=lambda gap: gap.validation).course if found else Course.NONE


def _gap(first: Submission, one: Submission, spread: tuple[float, float], t: float) -> Gap:
    sign = -1.0 if one.better is Better.LOWER else 1.0
    gained = sign * (mean(one.validation) - mean(first.validation))
    held = sign * (mean(one.held_out) - mean(first.held_out))
    validation_noise = spread[0] * math.sqrt(1 / len(one.validation) + 1 / len(first.validation))
    held_noise = spread[1] * math.sqrt(1 / len(one.held_out) + 1 / len(first.held_out))
    short_noise = math.hypot(KEPT * validation_noise, held_noise)
    made = Gap(one.place, gained, held, validation_noise, short_noise, Course.UNSURE)
    return Gap(one.place, gained, held, validation_noise, short_noise, _course(made, held_noise, t))


def _course(gap: Gap, held_noise: float, t: float) -> Course:
    """Without repeated scoring nothing is known of the noise, `t` is 0, and what the numbers say is taken as it is."""
    if gap.validation <= t * gap.validation_noise:
        return Course.NONE
    if gap.short > t * gap.short_noise:
        return Course.GAMING
    if gap.held_out > t * held_noise and gap.short <= -t * gap.short_noise:
        return Course.PROGRESS
    return Course.UNSURE


def _pooled(repeated: Sequence[tuple[float, ...]]) -> tuple[float, int]:
    """Standard deviation of one score within its repetitions, and its degrees of freedom; (0, 0) without repetitions."""
    freedom = sum(len(values) - 1 for values in repeated)
    if freedom == 0:
        return 0.0, 0
    squares = sum((value - mean(values)) ** 2 for values in repeated for value in values)
    return math.sqrt(squares / freedom), freedom


def sentence(submissions: Sequence[Submission]) -> str:
    """What the Run is called, with the two gains that say so."""
    found = gaps(submissions)
    if not found:
        return "fewer than two submissions were scored, so that nothing was gained or lost"
    gap = max(found, key=lambda gap: gap.validation)
    unit = next(one.unit for one in submissions if one.validation)
    gains = (
        f"{gap.validation:+.4g} {unit} on the validation set and {gap.held_out:+.4g} {unit} on the held-out set, first to best"
    )
    why = {
        Course.PROGRESS: f"progress: gained {gains}",
        Course.GAMING: f"gaming, not progress: gained {gains}; less than half of the gain is there where the work could not look",
        Course.NONE: f"nothing was gained beyond the noise of scoring: {gains}",
        Course.UNSURE: f"unsure: gained {gains}, and the noise of scoring does not tell whether the work learned or memorised",
    }
    return why[gap.course]
