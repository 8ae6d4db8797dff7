"""Why somebody does something: a sentence, which stands wherever the thing is told."""

from typing import Any

import click


class Reason(click.types.StringParamType):
    """Text that says something."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text without the space around it; fails where nothing is left."""
        said = str(super().convert(value, param, ctx)).strip()
        if not said:
            self.fail("it is empty; say why in a sentence", param, ctx)
        return said


REASON = Reason()
