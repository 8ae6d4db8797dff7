"""Serving the site: uvicorn, on loopback unless told otherwise."""

import errno
import socket
import threading
from contextlib import closing

import uvicorn
from fastapi import FastAPI

from perfd.errors import BadInputError

LOOPBACK = "127.0.0.1"
PORT = 8642
KEEP_ALIVE_S = 75
"""A connection stays open for the next request. Who reads a page asks again within a minute, and would find it closing just then;
a reverse proxy keeps its own for 60 seconds, and answers 502 where ours ends first."""
_REMEDIES = {
    errno.EADDRINUSE: "another program listens there; give another port with --port",
    errno.EACCES: "this user may not listen there; give a port above 1023 with --port",
    errno.EADDRNOTAVAIL: "this machine has no such address; give one of its own with --host",
}


def listen(host: str = LOOPBACK, port: int = PORT) -> socket.socket:
    """A listening socket; raises BadInputError that says what to do when the address cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol named, asyncio leaves Nagle's algorithm on: every answer on a kept connection came 40 ms late.
    one = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((host, port))
        one.listen(128)
    except OSError as error:
        one.close()
        remedy = _REMEDIES.get(error.errno or 0, "give another address with --host and --port")
        raise BadInputError(f"cannot listen on {host}:{port} ({error.strerror}): {remedy}") from None
    return one


def serve_site(app: FastAPI, listening: socket.socket, over: threading.Event | None = None) -> None:
    """Serves until a signal ends it (SIGINT, SIGTERM), or `over` is set; the socket is closed on return."""
    with closing(listening):
        # With proxy_headers a header would stand for the connection's address; visitors.py believes configured proxies only.
        config = uvicorn.Config(
            app,
            log_level="warning",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        if over is not None:
            threading.Thread(target=_end_when, args=(over, server), name="end", daemon=True).start()
        server.run(sockets=[listening])


def _end_when(over: threading.Event, server: uvicorn.Server) -> None:
    over.wait()
    server.should_exit = True
