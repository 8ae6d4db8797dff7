"""Why somebody does something: a sentence, which stands wherever the thing is told."""

import click


class Reason(click.ParamType[str]):
    """Text that says something."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text without the space around it; fails where nothing is left."""
        if not value.strip():
            self.fail("it is empty; say why in a sentence", param, ctx)
        return value.strip()


REASON = Reason()
