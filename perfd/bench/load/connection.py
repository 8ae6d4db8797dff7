"""One connection: non-blocking, plain or TLS, with the exchange that it carries."""

import errno
import socket
import ssl
import time
from enum import Enum, auto
from typing import Any

from perfd.bench.load.clock import ANCILLARY_BYTES, Clocks, arrival_ns, wants_stamps
from perfd.bench.load.endwatch import EndWatch
from perfd.bench.load.exchange import Exchange

READ_BYTES = 256 * 1024
# A large body leaves in slices, so that a prompt of a million tokens never holds up the other streams' reads.
SLICE_BYTES = 64 * 1024


class State(Enum):
    """Where a connection stands."""

    CONNECTING = auto()
    HANDSHAKE = auto()
    IDLE = auto()
    BUSY = auto()
    CLOSED = auto()


class Connection:
    """A socket of the load; the loop alone moves its state."""

    __slots__ = (
        "_bio_in",
        "_bio_out",
        "_out",
        "_plain",
        "_tls",
        "born_ns",
        "done_ns",
        "events",
        "exchange",
        "fd",
        "last_ns",
        "read_bytes",
        "sock",
        "stamped",
        "state",
        "used",
        "watch",
        "writes",
    )

    def __init__(self, address: tuple[Any, ...], family: int, tls: ssl.SSLContext | None, host: str, *, stamps: bool) -> None:
        self.sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stamped = stamps and wants_stamps(self.sock)
        self.fd = self.sock.fileno()
        self.state = State.CONNECTING
        self.born_ns = time.monotonic_ns()
        self.exchange: Exchange | None = None
        self.used = 0
        self.writes = False
        """Whether epoll watches it for writing."""
        self._out = self._plain = memoryview(b"")
        self._bio_in, self._bio_out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._bio_in, self._bio_out, server_hostname=host) if tls else None
        self._reset()
        code = self.sock.connect_ex(address)
        if code not in {0, errno.EINPROGRESS}:
            self.sock.close()
            raise OSError(code, errno.errorcode.get(code, str(code)))

    def _reset(self) -> None:
        self.watch = EndWatch()
        self.events = 0
        self.read_bytes = 0
        self.done_ns = 0
        self.last_ns = 0

    @property
    def wants_write(self) -> bool:
        """True while bytes wait to leave."""
        return len(self._out) > 0 or self._bio_out.pending > 0 or len(self._plain) > 0

    def begin(self, exchange: Exchange) -> None:
        """The exchange is on its way: as much as one slice has left."""
        self._reset()
        self.exchange = exchange
        self.state = State.BUSY
        self.used += 1
        wire = memoryview(exchange.request.wire)
        if self._tls is None:
            self._out = wire
        else:
            self._plain = wire
        now = time.monotonic_ns()
        if exchange.sent_ns is None:
            exchange.sent_ns = now
        self.last_ns = now
        self.flush()

    def flush(self) -> None:
        """One slice more has left; raises OSError where the peer is gone."""
        if not len(self._out):
            self._refill()
        if len(self._out):
            try:
                sent = self.sock.send(self._out[:SLICE_BYTES])
            except BlockingIOError:
                return
            self._out = self._out[sent:]
            self.last_ns = time.monotonic_ns()
        if self.exchange is not None and self.exchange.body_sent_ns is None and not self.wants_write:
            self.exchange.body_sent_ns = time.monotonic_ns()

    def _refill(self) -> None:
        """Bytes are ready to leave; of a long body one slice is encrypted, as all of it would hold up the other streams."""
        if self._tls is not None and len(self._plain) and not self._bio_out.pending:
            self._tls.write(self._plain[:SLICE_BYTES])
            self._plain = self._plain[SLICE_BYTES:]
        if self._bio_out.pending:
            self._out = memoryview(self._bio_out.read())

    def receive(self, clocks: Clocks) -> tuple[int, bytes, int]:
        """(arrival in ns, bytes, lateness of the read in ns); b"" at the peer's end.

        Raises BlockingIOError where there is nothing to read yet, OSError and ssl.SSLError.
        """
        if self.stamped:
            data, ancillary, _, _ = self.sock.recvmsg(READ_BYTES, ANCILLARY_BYTES)
            now = time.monotonic_ns()
            ns = arrival_ns(ancillary, clocks, now)
        else:
            data = self.sock.recv(READ_BYTES)
            ns = now = time.monotonic_ns()
        if self._tls is not None:
            data = self._decrypt(data)
        return ns, data, now - ns

    def _decrypt(self, data: bytes) -> bytes:
        """The plain text of these records; raises BlockingIOError while no record is whole."""
        if data:
            self._bio_in.write(data)
        else:
            self._bio_in.write_eof()
        plain = bytearray()
        try:
            while piece := self._tls.read(READ_BYTES):  # type: ignore[union-attr]
                plain += piece
        except ssl.SSLWantReadError:
            if data and not plain:
                raise BlockingIOError from None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            pass
        return bytes(plain)

    def connected(self) -> str:
        """The error that the connect ended with, or ""."""
        code = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return "" if code == 0 else errno.errorcode.get(code, str(code))

    def shake(self, data: bytes | None = None) -> bool:
        """True once the TLS handshake is over (at once for plain HTTP); raises ssl.SSLError."""
        if self._tls is None:
            return True
        if data is not None:
            self._bio_in.write(data) if data else self._bio_in.write_eof()
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    def close(self) -> None:
        """The socket is given back."""
        self.state = State.CLOSED
        self.exchange = None
        self.sock.close()
