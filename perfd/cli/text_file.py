"""The text of a file that somebody named: a regular one, a pipe, or something that is no text at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import IO

from perfd.errors import BadInputError

MOST_BYTES = 1 << 30
_PART = 1 << 20


def read_text(file: Path) -> str:
    """The file's text, lines ended by line feeds; raises BadInputError where it cannot be read, is too large, or is no UTF-8."""
    try:
        with file.open("rb") as source:
            content = b"".join(_parts(source, file))
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{file}: is not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise BadInputError(f"{file}: cannot be read ({error.strerror})") from None


def _parts(source: IO[bytes], file: Path) -> Iterator[bytes]:
    """The file piece by piece, as a device or a pipe has no size and may never end."""
    read = 0
    while part := source.read(_PART):
        zero = part.find(0)
        if zero >= 0:
            raise BadInputError(f"{file}: holds a zero byte at {read + zero}, so it is UTF-16 or no text; save it as UTF-8")
        read += len(part)
        if read > MOST_BYTES:
            raise BadInputError(f"{file}: more than {MOST_BYTES:,} bytes, which is all that is read; split the file")
        yield part
