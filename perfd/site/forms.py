"""What a form of a page sends: a few short words, read as hostile text, without a package for uploads that no form has."""

import unicodedata
from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from perfd.errors import BadInputError

MOST_BYTES = 64 * 1024
MOST_CHARACTERS = 4000
KIND = "application/x-www-form-urlencoded"


async def form_of(request: Request) -> dict[str, str]:
    """The fields of the form by name, the last of each; raises BadInputError for what no form of the site sends.

    A request is read once: the door (perfd/site/writing.py) looks at the form before the route does.
    """
    if not hasattr(request.state, "form"):
        request.state.form = await _read(request)
    found: dict[str, str] = request.state.form
    return found


async def _read(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != KIND:
        raise BadInputError(f"a form is sent as {KIND}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise BadInputError(f"a form has at most {MOST_BYTES:,} bytes")
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError as error:  # no UTF-8, or too many fields
        raise BadInputError("the form cannot be read: it has at most 50 fields in UTF-8") from error
    return {name: _line(name, value) for name, value in fields}


def _line(name: str, value: str) -> str:
    if len(value) > MOST_CHARACTERS:
        raise BadInputError(f"{name[:40]} has {len(value):,} characters, and at most {MOST_CHARACTERS:,} are kept")
    folded = " ".join(value.split())
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in folded):
        raise BadInputError(f"{name[:40]} holds a control character")
    return folded


Form = Annotated[dict[str, str], Depends(form_of)]
