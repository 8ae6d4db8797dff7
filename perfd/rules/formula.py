"""Formulas over Series: numbers, names such as s12, + - * / and brackets; nothing else is understood, and nothing is run.

Python's own parser reads the text; what it makes is walked here, and every node that is not named below is refused.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from perfd.errors import BadInputError

Column: TypeAlias = NDArray[np.float64]
LONGEST = 200
MOST_SERIES = 10
LARGEST = 1e300
"""A value beyond it is none: the distance of two such, which a chart needs, may be no number any more."""
_NAME = re.compile(r"s([1-9][0-9]{0,17})")
_LETTERS = re.compile(r"[s0-9.+\-*/() ]+")
_TWO: Mapping[type[ast.operator], Callable[[Column, Column], Column]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Formula:
    """A text that was understood."""

    text: str
    series: tuple[int, ...]
    """The Series that it names, each once."""
    tree: ast.expr

    def over(self, columns: Mapping[int, Column]) -> Column:
        """Its value at every place of the columns, all of one length.

        NaN where one is missing, a divisor is zero, or the value is beyond LARGEST.
        """
        length = len(next(iter(columns.values()), np.empty(0)))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.broadcast_to(_value(self.tree, columns), (length,))
            return np.where(np.abs(found) <= LARGEST, found, math.nan)


def parse(text: str) -> Formula:
    """The formula; raises BadInputError that says what is wrong and what could stand there."""
    if len(text) > LONGEST:
        raise BadInputError(f"a formula has at most {LONGEST} characters, and this one has {len(text):,}")
    if not _LETTERS.fullmatch(text):
        raise _refused(text)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _refused(text) from error
    names = dict.fromkeys(number for node in ast.walk(tree) if (number := _checked(node, text)) is not None)
    if not names or len(names) > MOST_SERIES:
        raise BadInputError(f"a formula names 1 to {MOST_SERIES} Series, as in s12 / s7; {text.strip()} names {len(names)}")
    return Formula(text.strip(), tuple(names), tree)


def _checked(node: ast.AST, text: str) -> int | None:
    """The Series that a name means, and nothing for the other nodes that may stand there; raises BadInputError for the rest."""
    match node:
        case ast.Name(id=name) if found := _NAME.fullmatch(name):
            return int(found[1])
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool) and math.isfinite(value):
            return None
        case ast.BinOp(op=op) if type(op) in _TWO:
            return None
        case ast.UnaryOp(op=ast.USub()) | ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.USub() | ast.Load():
            return None
    raise _refused(text)


def _refused(text: str) -> BadInputError:
    return BadInputError(
        f"{text.strip()[:60]!r} is no formula: it has names of Series (s12), numbers, + - * / and brackets, as in (s12 - s7) / s7"
    )


def _value(node: ast.expr, columns: Mapping[int, Column]) -> Column:
    match node:
        case ast.Name(id=name):
            return columns[int(name[1:])]
        case ast.BinOp(left=left, op=op, right=right):
            return _TWO[type(op)](_value(left, columns), _value(right, columns))
        case ast.UnaryOp(operand=operand):
            return -_value(operand, columns)
        case ast.Constant(value=int() | float() as value):
            return np.float64(value) * np.ones(1)
    raise AssertionError(ast.dump(node))  # `parse` lets no other node through
