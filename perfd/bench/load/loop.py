"""The loop: one epoll, raw non-blocking sockets, an absolute schedule. It stamps and stores; it parses nothing that can wait.

Between any two reads it looks whether a request is due, so that sending waits for one read at most.
"""

import os
import select
import ssl
import time
from collections import deque

from perfd.bench.load.agenda import Act
from perfd.bench.load.clock import Clocks, Timer
from perfd.bench.load.connection import Connection, State
from perfd.bench.load.course import Course
from perfd.bench.load.exchange import Ending, Exchange
from perfd.bench.load.http import MalformedHttpError
from perfd.bench.load.work import Endpoint, Limits, Window, Work

SWEEP_NS = 100_000_000
# The loop wakes this much early and then watches the clock: a sleeping core takes tens of microseconds to get up.
EARLY_NS = 60_000
DONE_GRACE_NS = 1_000_000_000
IDLE_MOST_NS = 2_000_000_000
MOST_RESPONSE_BYTES = 256 * 1024 * 1024
# Every read is kept until the window is over; this is what a machine with 8 GiB can bear.
MOST_LOG_BYTES = 2 * 1024 * 1024 * 1024
_IN, _OUT = select.EPOLLIN, select.EPOLLOUT


class Loop:
    """Drives one window. `run` is called once."""

    def __init__(self, endpoint: Endpoint, limits: Limits, work: Work) -> None:
        self._endpoint, self._limits = endpoint, limits
        self._epoll = select.epoll()
        self._timer = Timer()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._timer.fd, _IN | select.EPOLLET)
        self._epoll.register(self._wake, _IN)
        self._clocks = Clocks()
        self._connections: dict[int, Connection] = {}
        self._idle: list[Connection] = []
        self._connecting = 0
        self._reserved = 0
        self._wanting: deque[Exchange] = deque()
        self._fresh: deque[Exchange] = deque()
        """Sent again: only a new connection takes these, as a kept one may be closed just as the first was."""
        self._window = Window(0)
        self._course = Course(work, limits, self._window)
        self._agenda = self._course.agenda
        self._sweep_ns = 0
        self._kept_bytes = 0

    def interrupt(self) -> None:
        """The window ends now; safe to call from a signal handler."""
        self._window.interrupted = True
        os.eventfd_write(self._wake, 1)

    def run(self) -> Window:
        """Everything was sent and answered, failed or given up."""
        self._begin()
        while not self._over():
            self._arm()
            ready = self._epoll.poll()
            self._clocks.look()
            for fd, mask in ready:
                if time.monotonic_ns() >= self._agenda.next_ns:
                    self._act()
                connection = self._connections.get(fd)
                if connection is not None:
                    self._serve(connection, mask)
            self._wait_closely()
            self._act()
            self._sweep()
        return self._end()

    def _begin(self) -> None:
        start = time.monotonic_ns() + max(self._limits.ahead_ns, 1_000_000)
        self._window.started_ns = start
        self._course.begin(start)

    def _over(self) -> bool:
        return self._window.interrupted or self._clocks.now_ns >= self._course.give_up_ns or self._course.over

    def _arm(self) -> None:
        self._timer.arm(min(self._agenda.next_ns - EARLY_NS, self._sweep_ns))

    def _wait_closely(self) -> None:
        """For the last moments before a request is due, reads go on without sleeping."""
        while 0 < self._agenda.next_ns - time.monotonic_ns() <= EARLY_NS:
            for fd, mask in self._epoll.poll(0):
                connection = self._connections.get(fd)
                if connection is not None:
                    self._serve(connection, mask)
                    if time.monotonic_ns() >= self._agenda.next_ns:
                        return

    def _act(self) -> None:
        """Everything that is due has been begun."""
        while (item := self._agenda.take(time.monotonic_ns())) is not None:
            if item.act is Act.OPEN:
                self._reserve()
                continue
            self._reserved = max(0, self._reserved - 1)
            exchange = self._course.begins(item)
            if exchange is not None:
                self._assign(exchange)

    def _reserve(self) -> None:
        """A connection is open, or on its way, for each request due soon."""
        self._reserved += 1
        if len(self._idle) + self._connecting < self._reserved:
            self._connect()

    def _assign(self, exchange: Exchange) -> None:
        while self._idle:
            connection = self._idle.pop()
            if connection.state is State.IDLE:
                self._send(connection, exchange)
                return
        self._wanting.append(exchange)
        if self._connecting < len(self._wanting) + len(self._fresh):
            self._connect()

    def _connect(self) -> None:
        end = self._endpoint
        try:
            connection = Connection(end.address, end.family, end.tls, end.host, stamps=end.stamps)
        except OSError as error:
            self._refused(Ending.CONNECT, f"cannot connect: {error.strerror or error}")
            return
        self._connections[connection.fd] = connection
        self._connecting += 1
        self._window.connections += 1
        self._window.stamped = connection.stamped
        connection.writes = True
        self._epoll.register(connection.fd, _IN | _OUT)

    def _refused(self, ending: Ending, why: str) -> None:
        """A connection could not be made: a request that no other one is coming for has failed."""
        waiting = self._fresh if len(self._fresh) > self._connecting else self._wanting
        if waiting and len(self._wanting) + len(self._fresh) > self._connecting:
            self._finish(waiting.popleft(), ending, why, time.monotonic_ns())

    def _send(self, connection: Connection, exchange: Exchange) -> None:
        try:
            connection.begin(exchange)
        except OSError as error:
            self._broken(connection, Ending.RESET, f"sending failed: {error.strerror}")
            return
        self._watch_writes(connection)

    def _watch_writes(self, connection: Connection) -> None:
        wants = connection.wants_write
        if wants != connection.writes:
            connection.writes = wants
            self._epoll.modify(connection.fd, _IN | _OUT if wants else _IN)

    def _serve(self, connection: Connection, mask: int) -> None:
        """What epoll said about a connection has been done."""
        if connection.state is State.CONNECTING:
            if mask & ~_IN:  # a file descriptor closed and opened again in one batch may get its forerunner's news
                self._connected(connection)
        elif connection.state is State.HANDSHAKE:
            self._shake(connection, mask)
        else:
            self._transfer(connection, mask)

    def _transfer(self, connection: Connection, mask: int) -> None:
        try:
            if mask & ~_OUT:
                self._read(connection)
            if mask & _OUT and connection.state is State.BUSY:
                connection.flush()
                self._watch_writes(connection)
        except BlockingIOError:
            return
        except ssl.SSLError as error:
            self._broken(connection, Ending.TLS, f"TLS failed: {error.reason or error}")
        except MalformedHttpError as error:
            self._broken(connection, Ending.MALFORMED, str(error))
        except OSError as error:
            self._broken(connection, Ending.RESET, f"the connection was reset ({error.strerror})")

    def _connected(self, connection: Connection) -> None:
        error = connection.connected()
        if error:
            self._lost(connection, Ending.CONNECT, f"cannot connect: {error}")
            return
        connection.state = State.HANDSHAKE
        self._shake(connection, 0)

    def _shake(self, connection: Connection, mask: int) -> None:
        try:
            data = connection.sock.recv(65536) if mask & ~_OUT else None
            ready = connection.shake(data)
            connection.flush()
        except BlockingIOError:
            return
        except ssl.SSLCertVerificationError as error:
            self._lost(connection, Ending.TLS, f"the certificate was refused: {error.verify_message}")
            return
        except ssl.SSLError as error:
            self._lost(connection, Ending.TLS, f"TLS failed: {error.reason or error}")
            return
        except OSError as error:
            self._lost(connection, Ending.CONNECT, f"the connection was reset while it was opened ({error.strerror})")
            return
        self._watch_writes(connection)
        if ready:
            self._ready(connection)

    def _ready(self, connection: Connection) -> None:
        self._connecting -= 1
        if self._fresh:
            self._send(connection, self._fresh.popleft())
        else:
            self._free(connection)

    def _free(self, connection: Connection) -> None:
        """The connection carries the next request that waits for one, or is idle."""
        connection.state = State.IDLE
        connection.last_ns = time.monotonic_ns()
        if self._wanting:
            self._send(connection, self._wanting.popleft())
        else:
            self._idle.append(connection)

    def _lost(self, connection: Connection, ending: Ending, why: str) -> None:
        """A connection that never became ready is gone."""
        self._connecting -= 1
        self._close(connection)
        self._refused(ending, why)

    def _read(self, connection: Connection) -> None:
        ns, data, lag = connection.receive(self._clocks)
        exchange = connection.exchange
        if exchange is None:
            self._close(connection)  # an idle connection has nothing to say but that it is closed
            return
        if not data:
            self._broken(connection, Ending.CLOSED, "")
            return
        exchange.reads.append((ns, data))
        self._window.read_lag_ns.append(lag)
        connection.last_ns = ns
        connection.read_bytes += len(data)
        self._kept_bytes += len(data)
        connection.events += data.count(b"data:")
        if b"[DONE]" in data:
            connection.done_ns = ns
        if connection.watch.see(data):
            self._complete(connection, exchange, ns)
        elif connection.events > 2 * exchange.request.max_tokens + 64 or connection.read_bytes > MOST_RESPONSE_BYTES:
            self._broken(connection, Ending.ENDLESS, f"cut after {connection.events} events and {connection.read_bytes:,} bytes")

    def _complete(self, connection: Connection, exchange: Exchange, ns: int) -> None:
        head = connection.watch.head
        connection.exchange = None
        if self._endpoint.keep_alive and head is not None and head.keeps_alive and not connection.wants_write:
            self._finish(exchange, Ending.COMPLETE, "", ns)
            self._free(connection)
        else:
            self._close(connection)
            self._finish(exchange, Ending.COMPLETE, "", ns)

    def _broken(self, connection: Connection, ending: Ending, why: str) -> None:
        """The exchange on this connection is over without its framing's end; the connection is closed."""
        exchange = connection.exchange
        reused = connection.used > 1
        self._close(connection)
        if exchange is None:
            return
        if reused and not exchange.reads and not exchange.retried and ending in {Ending.CLOSED, Ending.RESET}:
            exchange.retried = True  # the server closed a kept connection just as the request left
            exchange.body_sent_ns = None
            self._fresh.append(exchange)
            self._connect()
            return
        ns = exchange.reads[-1][0] if exchange.reads and ending is Ending.CLOSED else time.monotonic_ns()
        self._finish(exchange, ending, why, ns)

    def _close(self, connection: Connection) -> None:
        if connection.state is State.CLOSED:
            return
        if connection.state is State.IDLE and connection in self._idle:
            self._idle.remove(connection)
        del self._connections[connection.fd]
        connection.close()

    def _finish(self, exchange: Exchange, ending: Ending, why: str, ns: int) -> None:
        """The exchange is over; what follows it is due."""
        exchange.ending, exchange.detail, exchange.end_ns = ending, why, ns
        following = self._course.ended(exchange, ns)
        if following is not None:
            self._assign(following)

    def _sweep(self) -> None:
        """Ten times a second: whatever took too long is given up."""
        now = time.monotonic_ns()
        if now < self._sweep_ns:
            return
        self._sweep_ns = now + SWEEP_NS
        self._clocks.now_ns = now
        if self._kept_bytes > MOST_LOG_BYTES and not self._window.full:
            self._window.full = True
            self._course.stop()
        for connection in list(self._connections.values()):
            self._look_at(connection, now)

    def _look_at(self, connection: Connection, now: int) -> None:
        exchange, limits = connection.exchange, self._limits
        if exchange is None:
            if connection.state is State.IDLE and self._reserved < len(self._idle) and now - connection.last_ns > IDLE_MOST_NS:
                self._close(connection)
            elif connection.state in {State.CONNECTING, State.HANDSHAKE} and now - connection.born_ns > limits.connect_ns:
                self._lost(connection, Ending.CONNECT, "no connection within the time to connect")
        elif connection.done_ns and now - connection.done_ns > DONE_GRACE_NS:
            self._broken(connection, Ending.CLOSED, "")
        elif now - connection.last_ns > limits.stall_ns:
            self._broken(connection, Ending.STALL, f"no byte for {limits.stall_ns / 1e9:g} s")
        elif now - exchange.ready_ns > limits.request_ns:
            self._broken(connection, Ending.TIMEOUT, f"not over after {limits.request_ns / 1e9:g} s")

    def _end(self) -> Window:
        self._course.stopping = True
        ending = Ending.INTERRUPTED if self._window.interrupted else Ending.WINDOW_END
        for connection in list(self._connections.values()):
            exchange = connection.exchange
            self._close(connection)
            if exchange is not None:
                self._finish(exchange, ending, "", time.monotonic_ns())
        for exchange in (*self._fresh, *self._wanting):
            self._finish(exchange, ending, "no connection had taken it", time.monotonic_ns())
        self._timer.close()
        os.close(self._wake)
        self._epoll.close()
        self._window.stopped_ns = time.monotonic_ns()
        return self._window
