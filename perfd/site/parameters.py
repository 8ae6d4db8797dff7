"""What an address may ask for, read as hostile text: bounded, without control characters, and refused in clear words."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request

from perfd.errors import BadInputError
from perfd.store.pages import Window

MOST_CHARACTERS = 400
MOST_PER_PAGE = 500
MOST_CHARTS = 50
MOST_POINTS = 2500
"""Of one Series, unless more are asked for: twice as many as a wide screen has columns."""
_HEX = re.compile(r"[0-9a-f]{64}")

SeriesId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The number in the Series' address.")]
RunKey = Annotated[str, Path(max_length=MOST_CHARACTERS, description="The 64 hexadecimal digits of a Run, or its number.")]
BuildName = Annotated[str, Path(max_length=MOST_CHARACTERS, description="The 64 hexadecimal digits of a Build.")]
RegressionId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The number in the Regression's address.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="How many to leave out from the start.")]
Limit = Annotated[int, Query(ge=1, le=MOST_PER_PAGE, description="How many to give at most.")]
Rows = Annotated[int, Query(ge=1, le=2000, description="How many of the newest Points the table holds.")]
Start = Annotated[int, Query(ge=0, le=10_000_000, description="The place of the first Point.")]
Stop = Annotated[int | None, Query(ge=0, le=10_000_000, description="The place before which to stop; absent: the end.")]
Most = Annotated[int, Query(ge=2, le=20_000, description="How many Points to give, about; of more, the extremes.")]


def window_of(start: Start = 0, stop: Stop = None, most: Most = MOST_POINTS) -> Window:
    """Which Points of a Series the address asks for."""
    return Window(start, stop, most)


AskedWindow = Annotated[Window, Depends(window_of)]


def ids_of(value: str) -> list[int]:
    """Numbers of Series with commas between them, each once; raises BadInputError."""
    parts = value.split(",")
    if not all(re.fullmatch(r"[1-9][0-9]{0,17}", part) for part in parts) or len(parts) > MOST_CHARTS:
        raise BadInputError(f"series is up to {MOST_CHARTS} numbers of Series with commas between them: 1,2,3")
    return list(dict.fromkeys(map(int, parts)))


def text(request: Request, name: str) -> str:
    """The query parameter, "" where it is absent; raises BadInputError for what no stored name can be."""
    return _checked(name, request.query_params.get(name, ""))


def texts(request: Request, name: str) -> list[str]:
    """Every query parameter of that name, likewise."""
    return [_checked(name, value) for value in request.query_params.getlist(name)]


def _checked(name: str, value: str) -> str:
    if len(value) > MOST_CHARACTERS:
        raise BadInputError(f"{name} has {len(value):,} characters, and at most {MOST_CHARACTERS} are read")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        raise BadInputError(f"{name} holds a control character, which no name has")
    return value.strip()


def asked(name: str, sentence: str, *, required: bool = False, words: Sequence[str] = ()) -> dict[str, Any]:
    """A query parameter that `text` reads, as OpenAPI is told of it."""
    schema: dict[str, Any] = {"type": "string", "maxLength": MOST_CHARACTERS} | ({"enum": ["", *words]} if words else {})
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": sentence}


def asking(sentences: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Such parameters by their names, as `openapi_extra` of a route takes them."""
    return {"parameters": [asked(name, sentence) for name, sentence in sentences.items()]}


def digest(value: str, what: str) -> str:
    """A hexadecimal name of 64 digits; raises BadInputError otherwise."""
    if not _HEX.fullmatch(value):
        raise BadInputError(f"a {what} is named by its 64 hexadecimal digits")
    return value


def linker(request: Request) -> Callable[[int], str]:
    """Makes the address of this page from another offset on, everything else as it is."""
    kept = [(key, value) for key, value in request.query_params.multi_items() if key != "offset"]

    def link(offset: int) -> str:
        return f"{request.url.path}?{urlencode([*kept, ('offset', offset)])}"

    return link
