"""Numbers that options take, refused with a sentence where the database or a budget could not hold them."""

import math
from typing import Any

import click

NUMBER = click.IntRange(1, 2**63 - 1)
"""The number of a row: what a bigint holds."""


class Minutes(click.FloatRange):
    """Minutes from 0 on; neither `nan` nor `inf` is a budget."""

    def __init__(self) -> None:
        super().__init__(min=0.0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails with a sentence otherwise."""
        minutes = float(super().convert(value, param, ctx))
        if not math.isfinite(minutes):
            self.fail(f"{minutes} is no number of minutes; give one from 0 on", param, ctx)
        return minutes
