"""A server that streams on a script: for each request the next script of bytes, pauses and endings is played to the letter."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Wait:
    """Nothing is sent until the client hangs up (or the server is closed)."""


@dataclass(frozen=True)
class Reset:
    """The connection ends with a reset instead of an end."""


@dataclass(frozen=True)
class Close:
    """The connection is closed."""


@dataclass(frozen=True)
class Forever:
    """These bytes again and again, until the client hangs up."""

    data: bytes


Step = bytes | Wait | Reset | Close | Forever
Script = Sequence[Step]


@dataclass
class ScriptedServer:
    """Plays `script_for(n, body)` for the n-th request."""

    port: int
    requests: list[dict[str, Any]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def scripted(script_for: Callable[[int], Script], tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    server = ScriptedServer(listener.getsockname()[1])
    open_now: set[socket.socket] = set()
    lock = threading.Lock()
    threads: list[threading.Thread] = []

    def answer(sock: socket.socket) -> None:
        try:
            wrapped = tls.wrap_socket(sock, server_side=True) if tls else sock
            with wrapped, wrapped.makefile("rb") as reader:
                while play(server, wrapped, reader, script_for, lock):
                    pass
        except OSError:
            pass  # the client hung up, which many scripts are about
        finally:
            open_now.discard(sock)
            sock.close()

    def accept() -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            open_now.add(sock)
            threads.append(threading.Thread(target=answer, args=(sock,)))
            threads[-1].start()

    acceptor = threading.Thread(target=accept)
    acceptor.start()
    try:
        yield server
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join()
        for sock in list(open_now):
            shut(sock)
        for thread in threads:
            thread.join()


def shut(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def play(server: ScriptedServer, sock: socket.socket, reader: Any, script_for: Callable[[int], Script], lock: Any) -> bool:
    """One request read, one script played; whether another may follow."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = reader.readline()
        if not line:
            return False
        head += line
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
    body = reader.read(length)
    with lock:
        number = len(server.requests)
        server.requests.append(json.loads(body))
        server.raw.append(head)
    for step in script_for(number):
        if isinstance(step, bytes):
            sock.sendall(step)
        elif isinstance(step, Forever):
            while True:
                sock.sendall(step.data)
        elif isinstance(step, Wait):
            reader.read(1)
            return False
        elif isinstance(step, Reset):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        else:
            return False
    return b"connection: close" not in head.lower()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(body: Any, end: bytes = b"\n\n") -> bytes:
    text = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return b"data: " + text + end


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def finish(reason: str = "length") -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(completion: int, prompt: int = 5, **more: Any) -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, **more}}


DONE = b"[DONE]"


def stream(*bodies: Any, end: bytes = b"\n\n") -> list[Step]:
    """A whole chunked answer, each event in a write of its own."""
    return [HEAD, *(chunk(event(body, end)) for body in bodies), LAST]


def plain(tokens: int = 4) -> list[Step]:
    return stream(*(delta(content="w ") for _ in range(tokens)), finish(), usage(tokens), DONE)


def response(status: str, body: bytes = b"", *fields: str) -> list[Step]:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    return [("\r\n".join(lines) + "\r\n\r\n").encode() + body]
