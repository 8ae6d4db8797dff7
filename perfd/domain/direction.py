"""Marks that turn the direction of text: a name that holds one reorders what stands beside it, and so forges a line."""

import re

MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_MARK = re.compile(f"[{MARKS}]")


def written_out(text: str) -> str:
    """The same text with each mark as Python writes it in a literal, so that it is seen and turns nothing."""
    return _MARK.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text) if turns(text) else text


def turns(text: str) -> bool:
    """Whether it holds such a mark; twelve quick looks, since nearly no text does."""
    return any(mark in text for mark in MARKS)
