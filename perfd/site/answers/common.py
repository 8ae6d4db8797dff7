"""What all answers share: errors, pages of lists, and maps whose keys depend on what was measured."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Interval = Annotated[tuple[float, float] | None, Field(description="95 %, or as the rule that gave it has it.")]
Words = Annotated[dict[str, str], Field(description="Names and their values, as the machine or the recipe has them.")]
Counts = Annotated[dict[str, int], Field(description="How many of each.")]


def free(description: str) -> Any:
    """A field with JSON of a form that perfd does not choose; the description says who does."""
    return Field(description=description, json_schema_extra={"additionalProperties": True})


class Answer(BaseModel):
    """An answer whose fields are told by the lines below them."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Trouble(BaseModel):
    """An answer that is none."""

    error: str = Field(description="What was seen and what was expected.")
    remedy: str = Field(description="What to do.")


class Page(Answer):
    """A page of a list."""

    total: int
    """How many match, before paging."""
    offset: int
    limit: int


def told(model: type[BaseModel], *others: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: its answer, and the errors that it can give besides those that every route can."""
    return {200: {"model": model}, **{status: {"model": Trouble} for status in others}}
