"""The words that every builder uses."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Progress: TypeAlias = Callable[[str], None]
"""Told one sentence whenever something begins that takes a while."""

Enclose: TypeAlias = Callable[[Sequence[str], Path, Mapping[str, str]], list[str]]
"""From a step (words, its folder, which it may write, and the recipe's variables) to the words that do it in a cage."""


def quiet(sentence: str) -> None:
    """Progress that nobody watches."""
    del sentence
