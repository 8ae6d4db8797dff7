"""What an address may ask for, read as hostile text: bounded, without control characters, and refused in clear words."""

import re
import unicodedata
from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Path, Query, Request

from perfd.errors import BadInputError

MOST_CHARACTERS = 400
MOST_PER_PAGE = 500
_HEX = re.compile(r"[0-9a-f]{64}")

SeriesId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The number in the Series' address.")]
RegressionId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The number in the Regression's address.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="How many to leave out from the start.")]
Limit = Annotated[int, Query(ge=1, le=MOST_PER_PAGE, description="How many to give at most.")]


def text(request: Request, name: str) -> str:
    """The query parameter, "" where it is absent; raises BadInputError for what no stored name can be."""
    value = request.query_params.get(name, "")
    if len(value) > MOST_CHARACTERS:
        raise BadInputError(f"{name} has {len(value):,} characters, and at most {MOST_CHARACTERS} are read")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        raise BadInputError(f"{name} holds a control character, which no name has")
    return value.strip()


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
