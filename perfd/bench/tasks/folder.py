"""Evaluation data outside the project: read from a folder, never part of perfd, and pinned by a hash where the suite has one."""

import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perfd.domain.identity import Json
from perfd.errors import BadInputError

VARIABLE = "PERFD_EVALS"
MOST_BYTES = 256 * 1024 * 1024


def evals_folder(parameters: Mapping[str, Json]) -> Path | None:
    """The folder that the Workload names (`path`), or else PERFD_EVALS; absent where neither does."""
    named = str(parameters.get("path") or os.environ.get(VARIABLE, ""))
    return Path(named) if named else None


def read_rows(folder: Path | None, name: str, what: str) -> tuple[list[dict[str, Any]], str]:
    """The objects of a file with one JSON object a line, packed by gzip or not, and the file's sha256; raises BadInputError."""
    path = _find(folder, name, what)
    try:
        data = path.read_bytes()
        text = (_unpacked(data, path) if path.suffix == ".gz" else data).decode("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BadInputError(f"{path}: no file of JSON lines ({error})") from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BadInputError(f"{path}: expected one JSON object a line")
    return rows, hashlib.sha256(data).hexdigest()


def _unpacked(data: bytes, path: Path) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    text = unpacker.decompress(data, MOST_BYTES)
    if unpacker.unconsumed_tail:
        raise BadInputError(f"{path}: more than {MOST_BYTES:,} bytes when unpacked")
    return text


def _find(folder: Path | None, name: str, what: str) -> Path:
    if folder is None:
        raise BadInputError(f"the items of {what} are not part of perfd: set {VARIABLE} to a folder that holds {name}")
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise BadInputError(f"{folder / name}: there is no such file, packed (.gz) or not; {VARIABLE} names the folder that holds it")


def check_pinned(wanted: str, hashes: Sequence[str], what: str) -> str:
    """One hash over the files' hashes; raises BadInputError where the suite pins another."""
    seen = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    if wanted and wanted != seen:
        raise BadInputError(
            f"the items of {what} are others than the suite pins: data_sha256 is {seen}, expected {wanted}; "
            "get that version, or change data_sha256, which begins a new Series"
        )
    return seen


def text_of(row: Mapping[str, Any], key: str, what: str) -> str:
    """A text field of a row; raises BadInputError."""
    value = row.get(key)
    if not isinstance(value, str):
        raise BadInputError(f'an item of {what} has no text "{key}": {str(row)[:120]}')
    return value


def taken(rows: Sequence[dict[str, Any]], count: int) -> Sequence[dict[str, Any]]:
    """The first `count` rows; all for 0."""
    return rows[:count] if count else rows
