"""The two words that every builder uses."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str], None]
"""Told one sentence whenever something begins that takes a while."""


def quiet(sentence: str) -> None:
    """Progress that nobody watches."""
    del sentence
