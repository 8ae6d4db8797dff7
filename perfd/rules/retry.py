"""Whether a Run that gave no result is tried again, and when: by the kind of its failure, and capped.

A failure of the Build's own making is a finding, and trying until it works would hide it. What the device, perfd or a dying
worker did says nothing of the Build, so that it is tried again, a little later each time. docs/workers.md shows the table.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from perfd.domain.run import Arm, FailureKind


class Nature(StrEnum):
    """Whose doing a failure is."""

    DETERMINISTIC = "deterministic"
    """The Build's: it would fail again, and if it did not, that would be worth knowing."""
    TRANSIENT = "transient"
    """Nobody's: a worker that died, a download that broke off."""
    DEVICE = "device"
    """The device's: busy, hot, throttled or gone; it may have recovered in a while."""
    HARNESS = "harness"
    """perfd's own, or a client that lagged on a busy machine."""
    FINAL = "final"
    """A decision: it is not to be measured."""


NATURE: dict[FailureKind, Nature] = {
    FailureKind.BUILD: Nature.DETERMINISTIC,
    FailureKind.NOT_READY: Nature.DETERMINISTIC,
    FailureKind.DIED: Nature.DETERMINISTIC,
    FailureKind.TIMEOUT: Nature.DETERMINISTIC,
    FailureKind.NONSENSE: Nature.DETERMINISTIC,
    FailureKind.DEVICE: Nature.DEVICE,
    FailureKind.HARNESS: Nature.HARNESS,
    FailureKind.LOST: Nature.TRANSIENT,
    FailureKind.MISSING: Nature.FINAL,
    FailureKind.SUPERSEDED: Nature.FINAL,
    FailureKind.BUDGET: Nature.FINAL,
}


BUILD_WAITS = (timedelta(seconds=30), timedelta(minutes=2))
"""Before the second and the third try of a Build that failed for what may pass; its worker waits."""


@dataclass(frozen=True)
class Again:
    """What is done about failures of one nature."""

    waits: tuple[timedelta, ...]
    """Before the second try, the third …: as many as there are further tries."""
    why: str


AGAIN: dict[Nature, Again] = {
    Nature.DETERMINISTIC: Again((), "it is a finding about the Build; the next night tries again"),
    Nature.TRANSIENT: Again(
        (timedelta(0), timedelta(0)), "nothing is wrong with it; three in a row hint that it kills its worker"
    ),
    Nature.DEVICE: Again((timedelta(minutes=1), timedelta(minutes=5)), "a device cools down, and a neighbour goes away"),
    Nature.HARNESS: Again((timedelta(seconds=30),), "a busy moment passes; a fault of perfd does not"),
    Nature.FINAL: Again((), "it was decided so"),
}


def try_again_in(failure: FailureKind, attempts: int, arm: Arm = Arm.ONLY) -> timedelta | None:
    """How long after its `attempts`-th try the Run is tried again; absent where that was the last.

    A Run of a comparison has one try: its place in the block is past, and the comparison plans another block instead. Only a
    worker that died is no reason to lose the block.
    """
    nature = NATURE[failure]
    if arm is not Arm.ONLY and nature is not Nature.TRANSIENT:
        return None
    waits = AGAIN[nature].waits
    return waits[attempts - 1] if attempts <= len(waits) else None
