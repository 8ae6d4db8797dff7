"""One small HTTP question to the server, as cheap as it can be: the bytes are taken as they come and read when the load is over.

A connection of its own for each question: llama-server keeps a thread for every connection that stays open.
"""

import json
import socket
import time
from dataclasses import dataclass
from typing import Any

from perfd.bench.engine import HOST

MOST_BYTES = 8 * 1024 * 1024
PIECE = 64 * 1024


@dataclass(frozen=True)
class Answer:
    """The raw bytes of an answer and when it came; no bytes where there was none."""

    asked_ns: int
    at_ns: int
    raw: bytes
    wall_s: float = 0.0
    """Time of day at `at_ns`, to lay it beside logs."""

    @property
    def answer_s(self) -> float:
        """From the question to the answer."""
        return (self.at_ns - self.asked_ns) / 1e9


def peek(port: int, path: str, timeout_s: float = 5.0) -> Answer:
    """The server's answer to GET `path`, unread; never raises for a server that does not answer."""
    asked_ns = time.monotonic_ns()
    question = f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\nAccept: */*\r\n\r\n".encode("ascii")
    pieces: list[bytes] = []
    try:
        with socket.create_connection((HOST, port), timeout=timeout_s) as connection:
            connection.sendall(question)
            size = 0
            while size < MOST_BYTES and (piece := connection.recv(PIECE)):
                pieces.append(piece)
                size += len(piece)
    except OSError:
        pieces = []
    return Answer(asked_ns, time.monotonic_ns(), b"".join(pieces), time.time())


def body_of(raw: bytes) -> str | None:
    """The text of a 200 answer; absent for any other, and for bytes that are no whole HTTP answer."""
    head, gap, body = raw.partition(b"\r\n\r\n")
    first = head.split(b"\r\n", 1)[0].split(b" ")
    if not gap or len(first) < 2 or first[1] != b"200":
        return None
    fields = head.lower()
    if b"\r\ntransfer-encoding: chunked" in fields:
        whole = dechunk(body)
        return None if whole is None else whole.decode("utf-8", errors="replace")
    return body.decode("utf-8", errors="replace")


def dechunk(body: bytes) -> bytes | None:
    """The content of a chunked body; absent where it is cut off."""
    pieces: list[bytes] = []
    rest = body
    while True:
        line, gap, rest = rest.partition(b"\r\n")
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:
            return None
        if not gap or size < 0 or len(rest) < size:
            return None
        if size == 0:
            return b"".join(pieces)
        pieces.append(rest[:size])
        rest = rest[size + 2 :]


def ask_text(port: int, path: str) -> str | None:
    """The text at `path` now; absent where there is none."""
    return body_of(peek(port, path).raw)


def ask_json(port: int, path: str) -> Any:
    """The JSON at `path` now; None where there is none."""
    text = ask_text(port, path)
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
