"""What a Build can be blamed for."""

from collections.abc import Sequence
from dataclasses import replace

from perfd.domain.past import Past
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus
from perfd.rules.policy import Policy

_WEIGHT = (ChangeKind.STEP, ChangeKind.DRIFT, ChangeKind.VARIANCE, ChangeKind.MODE, ChangeKind.TRANSIENT)


def blamed(changes: Sequence[Change], points: Past, policy: Policy) -> list[Change]:
    """What a person is told of: no dismissed Build, the machine's own doing as a mode, and at most one Change a Build."""
    kept = [_blamed(change, points) for change in changes if points.builds[change.index] not in policy.dismissed]
    return _one_a_build(kept, points)


def _blamed(change: Change, points: Past) -> Change:
    """A step between two nights of one Build, in one epoch, is the machine's: nothing that it was made of had changed."""
    if change.kind is not ChangeKind.STEP or change.index == 0:
        return change
    old, new = change.index - 1, change.index
    same = points.builds[old] == points.builds[new] and points.epochs[old] == points.epochs[new]
    return replace(change, kind=ChangeKind.MODE) if same else change


def _one_a_build(changes: Sequence[Change], points: Past) -> list[Change]:
    """At most one Change for each Build, the one that says most; a person is told of a Build once."""
    kept: dict[str, Change] = {}
    for change in sorted(changes, key=lambda change: (_WEIGHT.index(change.kind), change.status is ChangeStatus.SUSPECT)):
        kept.setdefault(points.builds[change.index], change)
    return sorted(kept.values(), key=lambda change: change.index)
