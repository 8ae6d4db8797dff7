"""How strict the judge is."""

from dataclasses import dataclass

DETECTOR = "evidence/6"
"""Name and version of the rule that decides."""


@dataclass(frozen=True)
class Policy:
    """How strict the judge is; the defaults are what docs/detection.md is measured with."""

    reference: int = 5
    """Points that a level needs before anything is judged against it."""
    lasting: int = 4
    """Newest Points that are judged together, and that a step must have held to be `detected`."""
    dismissed: frozenset[str] = frozenset()
    """Builds whose Change a person has called noise: it is remembered, and never told again."""
