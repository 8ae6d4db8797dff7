"""What Runs are for, and how much sooner that lets them be measured.

Every purpose has a head start. Work is taken in the order of `queued_at - head start`: a Checkpoint goes before a night that was
queued up to a day earlier, and after one that has waited longer. The difference of two head starts is the longest that one
purpose can be kept waiting by another, so that nothing starves. Nobody has to raise anything as time passes: the order of two
Runs never changes while they wait. It is a word of the domain, since the database orders by it.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind


class Purpose(StrEnum):
    """What an occasion is for, most urgent first."""

    CHECKPOINT = "checkpoint"
    """A Launch's day is due, and people read its report."""
    BISECT = "bisect"
    """A confirmed Regression stands in the product until its commit is known."""
    CONFIRM = "confirm"
    """A suspect: nobody is told before it was measured again, and its night's report waits for it."""
    PULL_REQUEST = "pull request"
    """An author waits for the answer."""
    ASKED = "asked comparison"
    """A person waits at a terminal: `perfd compare`."""
    NIGHT = "night"
    AA = "a/a"
    """How often perfd errs; a night late is early enough."""
    BACKFILL = "backfill"
    """A Baseline that was missing; it is judged from the next night on."""


HEAD_START: dict[Purpose, timedelta] = {
    Purpose.CHECKPOINT: timedelta(hours=36),
    Purpose.BISECT: timedelta(hours=30),
    Purpose.CONFIRM: timedelta(hours=27),
    Purpose.PULL_REQUEST: timedelta(hours=24),
    Purpose.ASKED: timedelta(hours=24),
    Purpose.NIGHT: timedelta(hours=12),
    Purpose.AA: timedelta(hours=6),
    Purpose.BACKFILL: timedelta(0),
}
_KINDS = {
    OccasionKind.NIGHT: Purpose.NIGHT,
    OccasionKind.CHECKPOINT: Purpose.CHECKPOINT,
    OccasionKind.AA: Purpose.AA,
    OccasionKind.BACKFILL: Purpose.BACKFILL,
    OccasionKind.IMPORT: Purpose.BACKFILL,
}
_LABELS = {"bisect": Purpose.BISECT, "confirm": Purpose.CONFIRM, "pull": Purpose.PULL_REQUEST}
"""The first word of a comparison's label where perfd itself opened it; a person's begins with `subject@`."""
_BESIDE = " beside day "
"""Part of the label of a comparison of two Checkpoints."""


def purpose_of(occasion: Occasion) -> Purpose:
    """What the occasion is for."""
    if _BESIDE in occasion.label:
        return Purpose.CHECKPOINT
    return _KINDS.get(occasion.kind) or _LABELS.get(occasion.label.split(" ", 1)[0], Purpose.ASKED)


def ranks_at(occasion: Occasion, queued_at: datetime) -> datetime:
    """The place in the queue of what the occasion owes: the earliest is taken first."""
    return queued_at - HEAD_START[purpose_of(occasion)]


def why_first(first: Occasion, first_queued_at: datetime, other: Occasion, other_queued_at: datetime) -> str:
    """Why `first` is taken before `other`, in a sentence; raises ValueError where it is the other way round."""
    ahead = ranks_at(other, other_queued_at) - ranks_at(first, first_queued_at)
    if ahead < timedelta(0):
        raise ValueError(f"{other.name} is taken before {first.name}")
    mine, theirs = purpose_of(first), purpose_of(other)
    waited = other_queued_at - first_queued_at
    if mine is theirs:
        return f"both are for {_named(mine)}, and {first.name} has waited {_hours(waited)} longer"
    start = HEAD_START[mine] - HEAD_START[theirs]
    if start < timedelta(0):
        return f"{_named(mine)} waits for {_named(theirs)} up to {_hours(-start)}, and has waited {_hours(waited)} longer"
    if waited >= timedelta(0):
        return f"{_named(mine)} goes before {_named(theirs)}"
    return f"{_named(mine)} goes before {_named(theirs)} that waits {_hours(-waited)} longer (up to {_hours(start)})"


def _named(purpose: Purpose) -> str:
    return f"an {purpose}" if purpose in {Purpose.ASKED, Purpose.AA} else f"a {purpose}"


def _hours(span: timedelta) -> str:
    return f"{span / timedelta(hours=1):.3g} h"
