"""HTTP/1.1 responses from bytes that come in any pieces: pure decoders, no sockets.

Whatever way the bytes are cut, the same body comes out. What is no HTTP raises MalformedHttpError.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

MOST_HEAD_BYTES = 64 * 1024
MOST_CHUNK_LINE_BYTES = 4096


class MalformedHttpError(Exception):
    """The bytes are no HTTP response; the message says what was seen."""


class Framing(StrEnum):
    """How the end of a body is known."""

    CHUNKED = "chunked"
    LENGTH = "length"
    CLOSE = "close"


@dataclass(frozen=True)
class Head:
    """Status line and header fields (names in lower case)."""

    status: int
    phrase: str
    fields: Mapping[str, str]
    framing: Framing
    length: int
    """Bytes of the body where the framing is `length`, else 0."""

    @property
    def content_type(self) -> str:
        """The media type in lower case, without parameters; "" where there is none."""
        return self.fields.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def keeps_alive(self) -> bool:
        """True when another request may follow on this connection."""
        return self.framing is not Framing.CLOSE and "close" not in self.fields.get("connection", "").lower()


def parse_head(raw: bytes) -> Head:
    """The head in `raw` (without its empty line); raises MalformedHttpError."""
    lines = raw.decode("latin-1").split("\r\n") if b"\r\n" in raw else raw.decode("latin-1").split("\n")
    version, _, rest = lines[0].partition(" ")
    code, _, phrase = rest.partition(" ")
    if not version.startswith("HTTP/1.") or not code.isascii() or not code.isdigit() or len(code) != 3:
        raise MalformedHttpError(f"the answer begins with {lines[0][:60]!r}, not with an HTTP/1.1 status line")
    fields: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon:
            raise MalformedHttpError(f"header line {line[:60]!r} has no colon")
        fields[name.strip().lower()] = value.strip()
    framing, length = _framing(int(code), fields)
    return Head(int(code), phrase, fields, framing, length)


def _framing(status: int, fields: Mapping[str, str]) -> tuple[Framing, int]:
    if status in {204, 304} or status < 200:
        return Framing.LENGTH, 0
    if "chunked" in fields.get("transfer-encoding", "").lower():
        return Framing.CHUNKED, 0
    length = fields.get("content-length")
    if length is None:
        return Framing.CLOSE, 0
    if not (length.isascii() and length.isdigit()):
        raise MalformedHttpError(f"Content-Length is {length[:40]!r}, not a number")
    return Framing.LENGTH, int(length)


class ChunkDecoder:
    """Takes chunked transfer coding apart, across any cuts."""

    def __init__(self) -> None:
        self.finished = False
        self._line = bytearray()
        self._left = 0
        self._step: Callable[[bytes, int, list[bytes]], int] = self._size

    def feed(self, data: bytes) -> bytes:
        """The body bytes in `data`; what follows the last chunk is dropped."""
        body: list[bytes] = []
        at = 0
        while at < len(data) and not self.finished:
            at = self._step(data, at, body)
        return b"".join(body)

    def _take_line(self, data: bytes, at: int) -> tuple[bytes | None, int]:
        end = data.find(b"\n", at)
        if end < 0:
            self._line += data[at:]
            if len(self._line) > MOST_CHUNK_LINE_BYTES:
                raise MalformedHttpError("a chunk's size line has no end")
            return None, len(data)
        line = bytes(self._line) + data[at:end]
        self._line.clear()
        return line.rstrip(b"\r"), end + 1

    def _size(self, data: bytes, at: int, _body: list[bytes]) -> int:
        line, at = self._take_line(data, at)
        if line is None:
            return at
        digits = line.partition(b";")[0].strip()
        if not digits or len(digits) > 16 or not all(byte in b"0123456789abcdefABCDEF" for byte in digits):
            raise MalformedHttpError(f"a chunk's size is {line[:40]!r}, not a hexadecimal number")
        self._left = int(digits, 16)
        self._step = self._data if self._left else self._trailer
        return at

    def _data(self, data: bytes, at: int, body: list[bytes]) -> int:
        piece = data[at : at + self._left]
        body.append(piece)
        self._left -= len(piece)
        if not self._left:
            self._step = self._after
        return at + len(piece)

    def _after(self, data: bytes, at: int, _body: list[bytes]) -> int:
        line, at = self._take_line(data, at)
        if line is None:
            return at
        if line:
            raise MalformedHttpError(f"a chunk is followed by {line[:40]!r} instead of a line end")
        self._step = self._size
        return at

    def _trailer(self, data: bytes, at: int, _body: list[bytes]) -> int:
        line, at = self._take_line(data, at)
        self.finished = line == b""
        return at


class ResponseDecoder:
    """Head and body of one response; interim 1xx answers are skipped."""

    def __init__(self) -> None:
        self.head: Head | None = None
        self.finished = False
        self.body_bytes = 0
        self._raw = bytearray()
        self._chunks = ChunkDecoder()

    def feed(self, data: bytes) -> bytes:
        """The body bytes in `data`; raises MalformedHttpError."""
        if self.head is None:
            self._raw += data
            data = self._read_head()
            if self.head is None:
                return b""
        return self._read_body(self.head, data)

    def _read_head(self) -> bytes:
        cut, width = _head_end(self._raw)
        if cut < 0:
            if len(self._raw) > MOST_HEAD_BYTES:
                raise MalformedHttpError(f"no end of the header within {MOST_HEAD_BYTES} bytes")
            return b""
        head = parse_head(bytes(self._raw[:cut]))
        rest = bytes(self._raw[cut + width :])
        if head.status < 200:
            self._raw = bytearray(rest)
            return self._read_head()
        self.head = head
        self._raw.clear()
        self.finished = head.framing is Framing.LENGTH and head.length == 0
        return rest

    def _read_body(self, head: Head, data: bytes) -> bytes:
        if head.framing is Framing.CHUNKED:
            body = self._chunks.feed(data)
            self.finished = self._chunks.finished
        elif head.framing is Framing.LENGTH:
            body = data[: head.length - self.body_bytes]
            self.finished = self.body_bytes + len(body) >= head.length
        else:
            body = data
        self.body_bytes += len(body)
        return body


def _head_end(raw: bytearray) -> tuple[int, int]:
    """(position, width) of the empty line that ends the header; position -1 while there is none."""
    strict, lax = raw.find(b"\r\n\r\n"), raw.find(b"\n\n")
    if strict >= 0 and (lax < 0 or strict < lax):
        return strict, 4
    return lax, 2
