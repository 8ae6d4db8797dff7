"""When a device is not to be trusted any more although no single fact says so: it spoils Run after Run, or fails its own A/A."""

from collections.abc import Sequence

from perfd.domain.codec import to_json
from perfd.domain.device import AaAnswer, Cause, Spoilt

MOST_SPOILT = 3
"""Runs in a row; one may be a hot afternoon."""
MOST_DIFFERENT = 3
"""A/A comparisons in a row; at a false-alarm rate of 5 % a sound device does this once in 8,000 nights."""


def by_spoilt(spoilt: Sequence[Spoilt]) -> Cause | None:
    """The cause where a device has spoilt too many Runs in a row. None of these counts, and nothing before them is void."""
    if len(spoilt) < MOST_SPOILT:
        return None
    last = spoilt[-MOST_SPOILT:]
    reason = f"it has spoilt {len(spoilt)} Runs in a row, the last since {last[-1].reason}"
    return Cause(reason, last[0].at, {"spoilt": to_json(last)})


def by_aa(answers: Sequence[AaAnswer]) -> Cause | None:
    """The cause where the last comparisons of a Build with itself were all called different; void since the last that was not."""
    if len(answers) < MOST_DIFFERENT or not all(one.different for one in answers[-MOST_DIFFERENT:]):
        return None
    good = [one for one in answers if not one.different]
    first_bad = next(one for one in answers if one.different and (not good or one.at > good[-1].at))
    reason = (
        f"its last {MOST_DIFFERENT} comparisons of a Build with itself were called different; "
        "look for a neighbour, heat or a clock that jumps, and run `perfd doctor`"
    )
    since = good[-1].at if good else first_bad.at
    return Cause(reason, since, {"aa": to_json([one for one in answers if one.at >= since])})
