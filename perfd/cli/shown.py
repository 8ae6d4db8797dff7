"""Text from outside on a terminal: what would move its cursor, colour it or turn its direction is written out."""

import re

from perfd.domain.direction import MARKS

UNSEEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{MARKS}]")
"""Control characters but tab and line feed, and the marks that reorder text."""


def shown(text: str) -> str:
    """The same text with each such character as Python writes it in a literal: a commit's title must not forge a line."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def on_one_line(text: str) -> str:
    """`shown`, and line feeds and tabs written out too: a name must not write a line of its own."""
    return shown(text).replace("\n", "\\n").replace("\t", "\\t")
