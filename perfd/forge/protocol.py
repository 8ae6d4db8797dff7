"""What a forge must be able to do: four calls, in perfd's own words. A stage knows this and nothing else of a forge."""

from dataclasses import dataclass
from typing import Protocol

from perfd.domain.forge import Check, Comment, MergeBase, Permission


@dataclass(frozen=True)
class Posted:
    """Where something stands now."""

    number: int
    """The forge's own number of it."""
    url: str
    """Where people see it."""


class Forge(Protocol):
    """A forge. Every call raises ForgeError, which says whether and when asking again may help."""

    def put_comment(self, comment: Comment, marker: str, known: int | None = None) -> Posted:
        """The comment stands there, once: the one of that number, or perfd's oldest with that hidden marker, is edited.

        A crash between this call and the remembering of its answer makes no second one. Raises ForgeError with Trouble.GONE
        where `known` was deleted.
        """

    def put_check(self, check: Check, marker: str, known: int | None = None) -> Posted:
        """The check stands at its commit, once, found by its number or by the marker."""

    def permission(self, repository: str, login: str) -> Permission:
        """What that account may do there at this moment; NONE for one that is not known there."""

    def merge_base(self, repository: str, base: str, head: str) -> MergeBase:
        """Where the two commits (or branches) last were one, and which files head changes since."""
