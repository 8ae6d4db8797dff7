"""The calibration server: an OpenAI-like stream on an exact schedule, by a process of its own that logs when it sent what.

`python -m perfd.bench.calibrate.server '{"shape": "plain"}'` prints its port and serves until its standard input ends.
Latency truth is its own log (GET /truth): arrival by the kernel's stamp, each send just before the call. It never reports a plan.
"""

import gc
import heapq
import json
import select
import socket
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from perfd.bench.calibrate.shapes import Step, StreamPlan, steps_of
from perfd.bench.load.clock import ANCILLARY_BYTES, Clocks, Timer, arrival_ns, wants_stamps
from perfd.domain.codec import from_json

READ_BYTES = 256 * 1024
VARIANTS = 64
"""Streams differ by where their slow gaps are; so many are made beforehand."""
_IN, _OUT = select.EPOLLIN, select.EPOLLOUT


@dataclass
class Sent:
    """The truth of one answer."""

    request: str
    """The value of X-Request-Id."""
    arrival_ns: int
    sends: list[tuple[int, int]] = field(default_factory=list)
    """(ns, tokens) of every write that held tokens."""
    lateness_ns: list[int] = field(default_factory=list)


@dataclass
class Peer:
    """One client connection."""

    sock: socket.socket
    inbox: bytearray = field(default_factory=bytearray)
    body_left: int = 0
    answer: Sent | None = None
    keep: bool = True
    out: bytes = b""


class CalibrationServer:
    """One epoll loop over all connections and all due writes."""

    def __init__(self, plan: StreamPlan, host: str = "127.0.0.1") -> None:
        self._variants = [steps_of(plan, seed) for seed in range(VARIANTS)]
        self._listener = socket.create_server((host, 0), backlog=4096)
        self._listener.settimeout(0)
        self.port: int = self._listener.getsockname()[1]
        self._epoll = select.epoll()
        self._timer, self._clocks = Timer(), Clocks()
        self._peers: dict[int, Peer] = {}
        self._heap: list[tuple[int, int, Peer, list[Step], int]] = []
        self._order = 0
        self._log: list[Sent] = []
        self._open = True
        for fd in (self._listener.fileno(), self._timer.fd, sys.stdin.fileno()):
            self._epoll.register(fd, _IN)

    def serve(self) -> None:
        """Answers until standard input ends."""
        while self._open:
            self._timer.arm(self._heap[0][0] if self._heap else 1 << 62)
            ready = self._epoll.poll()
            self._clocks.look()
            for fd, mask in ready:
                self._write_due()
                self._serve(fd, mask)
            self._write_due()

    def _serve(self, fd: int, mask: int) -> None:
        peer = self._peers.get(fd)
        if peer is not None:
            self._transfer(peer, mask)
        elif fd == self._listener.fileno():
            self._accept()
        elif fd == sys.stdin.fileno():
            self._open = False

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except BlockingIOError:
            return
        sock.settimeout(0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wants_stamps(sock)
        self._peers[sock.fileno()] = Peer(sock)
        self._epoll.register(sock.fileno(), _IN)

    def _transfer(self, peer: Peer, mask: int) -> None:
        try:
            if mask & _OUT:
                self._send(peer, b"")
            if mask & ~_OUT:
                self._read(peer)
        except BlockingIOError:
            return
        except OSError:
            self._drop(peer)

    def _read(self, peer: Peer) -> None:
        data, ancillary, _, _ = peer.sock.recvmsg(READ_BYTES, ANCILLARY_BYTES)
        ns = arrival_ns(ancillary, self._clocks, time.monotonic_ns())
        if not data:
            self._drop(peer)
            return
        if peer.body_left:
            taken = min(peer.body_left, len(data))
            peer.body_left -= taken
            data = data[taken:]
            if not peer.body_left and peer.answer is not None:
                self._begin(peer, peer.answer, ns)
        peer.inbox += data
        cut = peer.inbox.find(b"\r\n\r\n")
        if cut >= 0:
            self._request(peer, cut, ns)

    def _request(self, peer: Peer, cut: int, ns: int) -> None:
        head, rest = bytes(peer.inbox[:cut]).decode("latin-1"), bytes(peer.inbox[cut + 4 :])
        peer.inbox.clear()
        first, *lines = head.split("\r\n")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        peer.keep = fields.get("connection", "").lower() != "close"
        if first.startswith("GET "):
            self._tell(peer, first.split()[1])
            return
        peer.answer = Sent(fields.get("x-request-id", ""), ns)
        peer.body_left = max(0, int(fields.get("content-length", "0")) - len(rest))
        if not peer.body_left:
            self._begin(peer, peer.answer, ns)

    def _begin(self, peer: Peer, answer: Sent, ns: int) -> None:
        """The whole request has arrived, and its answer is on the schedule."""
        answer.arrival_ns = ns
        answer.request = answer.request or f"unnamed-{len(self._log)}"
        self._log.append(answer)
        self._push(peer, self._variants[len(self._log) % VARIANTS], 0)

    def _push(self, peer: Peer, steps: list[Step], place: int) -> None:
        if peer.answer is not None:
            self._order += 1
            heapq.heappush(self._heap, (peer.answer.arrival_ns + steps[place].after_ns, self._order, peer, steps, place))

    def _write_due(self) -> None:
        while self._heap and self._heap[0][0] <= time.monotonic_ns():
            due_ns, _, peer, steps, place = heapq.heappop(self._heap)
            if peer.answer is None:
                continue
            try:
                self._step(peer, peer.answer, steps[place], due_ns)
            except OSError:
                self._drop(peer)
                continue
            if place + 1 < len(steps):
                self._push(peer, steps, place + 1)
            else:
                self._over(peer)

    def _step(self, peer: Peer, answer: Sent, step: Step, due_ns: int) -> None:
        now = time.monotonic_ns()
        if step.tokens:
            answer.sends.append((now, step.tokens))
            answer.lateness_ns.append(now - due_ns)
        self._send(peer, step.data)

    def _send(self, peer: Peer, data: bytes) -> None:
        waiting = bool(peer.out)
        data = peer.out + data if waiting else data
        try:
            peer.out = data[peer.sock.send(data) :]
        except BlockingIOError:
            peer.out = data
        if waiting != bool(peer.out):
            self._epoll.modify(peer.sock.fileno(), _IN | _OUT if peer.out else _IN)

    def _over(self, peer: Peer) -> None:
        peer.answer = None
        if not peer.keep:
            self._drop(peer)

    def _drop(self, peer: Peer) -> None:
        peer.answer = None
        if self._peers.pop(peer.sock.fileno(), None) is not None:
            peer.sock.close()

    def _tell(self, peer: Peer, path: str) -> None:
        """The log since it was last read, or the one model's name for clients that ask for it."""
        if path == "/truth":
            told: object = [asdict(sent) for sent in self._log]
            self._log.clear()
        else:
            told = {"object": "list", "data": [{"id": "truth", "object": "model"}]}
        body = json.dumps(told).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._send(peer, head.encode() + body)


def main(arguments: list[str]) -> int:
    """Serves the stream that the first argument (JSON of a StreamPlan) describes."""
    given: dict[str, Any] = json.loads(arguments[0]) if arguments else {}
    server = CalibrationServer(from_json(StreamPlan, given))
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    gc.freeze()
    gc.disable()
    server.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
