"""Whose code runs in a cage (docs/cage.md)."""

from collections.abc import Sequence

from perfd.domain.occasion import Occasion
from perfd.domain.purpose import Purpose, purpose_of

VOUCHED = "vouched"
"""A word of a pull request's label: somebody who may run code on these devices vouches for this head, or the machine is a
pipeline's own and thrown away. Without it the code is untrusted."""


def is_untrusted(occasion: Occasion) -> bool:
    """Whether what the occasion measures runs in a cage, base and head alike, or not at all."""
    return purpose_of(occasion) is Purpose.PULL_REQUEST and VOUCHED not in occasion.label.split()


def is_untrusted_build(wanted_by: Sequence[Occasion]) -> bool:
    """Whether the Build is made in a cage: only pull requests want it, so that it stands on no tracked branch."""
    return bool(wanted_by) and all(is_untrusted(occasion) for occasion in wanted_by)
