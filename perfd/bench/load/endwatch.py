"""Sees that a response is over, at the price of a look at its last bytes; everything else is parsed after the window."""

from perfd.bench.load.http import Framing, Head, ResponseDecoder

_LAST = b"0\r\n\r\n"
_TAIL = b"\r\n" + _LAST


class EndWatch:
    """Fed every read of one response."""

    __slots__ = ("_decoder", "_pending")

    def __init__(self) -> None:
        self._decoder = ResponseDecoder()
        self._pending: list[bytes] = []

    @property
    def head(self) -> Head | None:
        """The response's head, once it is whole."""
        return self._decoder.head

    def see(self, data: bytes) -> bool:
        """True when the response is whole; raises MalformedHttpError for what is no HTTP.

        A chunked stream is over when a read ends in its last chunk. Only where the cut of the reads leaves a doubt are the chunks
        counted; a body that has the last chunk's bytes as text at the end of a read is none that an event stream can hold.
        """
        head = self._decoder.head
        if head is None or head.framing is Framing.LENGTH:
            return self._feed(data)
        if head.framing is Framing.CLOSE:
            return False
        if data.endswith(_TAIL) or (data == _LAST and self._pending and self._pending[-1].endswith(b"\r\n")):
            return True
        self._pending.append(data)
        if len(data) < len(_TAIL) or data.endswith(b"\r\n\r\n"):
            return self._feed(b"")
        return False

    def _feed(self, data: bytes) -> bool:
        if self._pending:
            data = b"".join(self._pending) + data
            self._pending.clear()
        self._decoder.feed(data)
        return self._decoder.finished
