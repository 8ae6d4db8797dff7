"""Submissions of a long Run: what the work handed in on its way, each scored on two sets."""

from dataclasses import dataclass

from perfd.domain.metric import Better


@dataclass(frozen=True)
class Submission:
    """One file that the running work handed in. The work knows the validation set; the held-out set it has never seen."""

    place: int
    """Counted from 0, in the order in which they came."""
    name: str
    elapsed_s: float
    """Seconds from the start of the work until it was seen."""
    digest: str
    """sha256 of the file."""
    size_bytes: int
    metric: str
    unit: str
    better: Better
    validation: tuple[float, ...] = ()
    """Its scores on the validation set, one a repetition; empty where it could not be scored."""
    held_out: tuple[float, ...] = ()
    """The same on the held-out set."""
    reason: str = ""
    """Why it has no score, in a sentence; "" where it has."""

    def __post_init__(self) -> None:
        if bool(self.validation) != bool(self.held_out):
            raise ValueError("a submission is scored on both sets or on none")
        if bool(self.validation) == bool(self.reason):
            raise ValueError("a submission has scores, or a reason why it has none")


def mean(values: tuple[float, ...]) -> float:
    """The score on one set: the mean of its repetitions."""
    return sum(values) / len(values)


def best(submissions: tuple[Submission, ...]) -> Submission | None:
    """The scored submission that is best on the validation set, the first of equals: the one that an honest work would name."""
    scored = [one for one in submissions if one.validation]
    if not scored:
        return None
    sign = 1.0 if scored[0].better is Better.LOWER else -1.0
    return min(scored, key=lambda one: sign * mean(one.validation))
