"""Server-sent events from body bytes that come in any pieces, each with the time of the piece that completed it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """One event: the time at which its last data line was complete, and its data."""

    ns: int
    data: str


class EventDecoder:
    """Lines to events as the WHATWG standard says: LF, CRLF or CR, comments dropped, several data lines joined.

    Text is decoded a line at a time, so that a character cut in two by a read is whole again. Bytes that are no UTF-8 become
    U+FFFD.
    """

    def __init__(self) -> None:
        self.comments = 0
        self.other_lines: list[str] = []
        """Lines that belong to no event field: what a server that answers no event stream has said."""
        self._pending = bytearray()
        self._skip_lf = False
        self._data: list[str] = []
        self._ns = 0
        self._first = True

    def feed(self, ns: int, data: bytes) -> list[Event]:
        """The events that `data` completes."""
        if self._skip_lf and data:
            data = data.removeprefix(b"\n")
            self._skip_lf = False
        self._pending += data
        if b"\n" not in data and b"\r" not in data:
            return []  # an endless line is only looked through once
        found = (self._line(ns, line) for line in self._take_lines())
        return [event for event in found if event is not None]

    def close(self, ns: int) -> list[Event]:
        """What the end of the stream completes: an unfinished line or event is still an event, as some servers end so."""
        events = self.feed(ns, b"\n\n") if self._pending or self._data else []
        self._skip_lf = False
        return events

    def _take_lines(self) -> list[bytes]:
        raw = self._pending
        if b"\r" in raw:
            self._skip_lf = raw.endswith(b"\r")
            raw = raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = raw.split(b"\n")
        self._pending = bytearray(rest)
        return [bytes(line) for line in lines]

    def _line(self, ns: int, line: bytes) -> Event | None:
        if self._first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        if not line:
            return self._dispatch()
        if line.startswith(b":"):
            self.comments += 1
            return None
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
            self._ns = ns
        elif name not in {b"event", b"id", b"retry"} and len(self.other_lines) < 20:
            self.other_lines.append(line[:500].decode("utf-8", "replace"))
        return None

    def _dispatch(self) -> Event | None:
        if not self._data:
            return None
        event = Event(self._ns, "\n".join(self._data))
        self._data = []
        return event
