"""A small GitHub that keeps what it is told and fails on demand: for what no package gives.

It knows the paths that perfd calls. A Fault says which request goes wrong and how: an answer that GitHub documents, a slow one, a
line that is cut before or after the request was done. Its clock can be wrong against ours, as far as signatures are concerned.
"""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

APP, LOGIN = "4711", "perfd-test[bot]"
PAGE = 100
_PRIVATE = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = _PRIVATE.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
).decode()
Answer = tuple[int, Any]


@dataclass
class Fault:
    """How one request goes wrong."""

    method: str
    path: str
    """A pattern that the path holds."""
    status: int = 500
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Instead of a message."""
    done: bool = False
    """Whether the request is carried out all the same."""
    cut: bool = False
    """Whether the line is cut in the middle of the answer instead."""
    slow_s: float = 0.0
    times: int = 1


@dataclass
class FaultServer:
    """Everything that the server holds; tests read and change it."""

    url: str = ""
    ahead: timedelta = timedelta()
    """How far its clock is ahead of ours."""
    lives: timedelta = timedelta(hours=1)
    faults: list[Fault] = field(default_factory=list)
    comments: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    permissions: dict[str, dict[str, str]] = field(default_factory=dict)
    compare: dict[str, Any] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    """Old names of repositories."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def fault(self, method: str, path: str) -> Fault | None:
        for one in self.faults:
            if one.times > 0 and one.method == method and re.search(one.path, path):
                one.times -= 1
                return one
        return None

    def may(self, path: str, authorization: str) -> bool:
        """Whether the header lets somebody in: the App's signature on its own paths, a token that was given out elsewhere."""
        value = authorization.removeprefix("Bearer ")
        if not re.search(r"^/app\b|/installation$", path):
            return value in self.tokens
        try:
            claims = jwt.decode(
                value, _PRIVATE.public_key(), ["RS256"], options={"verify_exp": False, "verify_iat": False, "require": ["iss"]}
            )
        except jwt.PyJWTError:
            return False
        there = self.now().timestamp()
        return claims["iss"] == APP and claims["iat"] <= there < claims["exp"] <= there + 600

    def act(self, method: str, path: str, query: dict[str, str], body: dict[str, Any]) -> Answer:  # noqa: C901  # a table of paths
        """The request is done; its answer."""
        if method == "GET" and path == "/app":
            return 200, {"slug": LOGIN.removesuffix("[bot]")}
        if path.endswith("/installation"):
            return 200, {"id": 99}
        if path == "/app/installations/99/access_tokens":
            self.tokens.append(f"ghs_{len(self.tokens)}")
            return 201, {"token": self.tokens[-1], "expires_at": (self.now() + self.lives).strftime("%Y-%m-%dT%H:%M:%SZ")}
        if match := re.fullmatch(r"/repos/(.+)/issues/(\d+)/comments", path):
            place = f"{match[1]}#{match[2]}"
            found = [one for one in self.comments if one["place"] == place]
            return (200, page(found, query)) if method == "GET" else (201, self.add_comment(place, body["body"]))
        if match := re.fullmatch(r"/repos/.+/issues/comments/(\d+)", path):
            return edited(self.comments, int(match[1]), body)
        if match := re.fullmatch(r"/repos/(.+)/commits/(.+)/check-runs", path):
            found = [one for one in self.checks if one["head_sha"] == match[2] and one["name"] == query["check_name"]]
            return 200, {"total_count": len(found), "check_runs": page(found, query)}
        if re.fullmatch(r"/repos/.+/check-runs", path):
            self.checks.append({**body, "id": len(self.checks) + 1, "html_url": f"{self.url}/check/{len(self.checks) + 1}"})
            return 201, self.checks[-1]
        if match := re.fullmatch(r"/repos/.+/check-runs/(\d+)", path):
            return edited(self.checks, int(match[1]), body)
        if match := re.fullmatch(r"/repos/.+/collaborators/(.+)/permission", path):
            found = self.permissions.get(unquote(match[1]))
            return (404, {"message": "Not Found"}) if found is None else (200, found)
        if re.fullmatch(r"/repos/.+/compare/.+", path):
            return 200, self.compare
        return 404, {"message": "Not Found"}

    def add_comment(self, place: str, body: str, login: str = LOGIN) -> dict[str, Any]:
        number = len(self.comments) + 1
        made = {"id": number, "place": place, "body": body, "user": {"login": login}, "html_url": f"{self.url}/comment/{number}"}
        self.comments.append(made)
        return made


def page(found: list[dict[str, Any]], query: dict[str, str]) -> list[dict[str, Any]]:
    size, number = int(query.get("per_page", 30)), int(query.get("page", 1))
    return found[(number - 1) * size : number * size]


def edited(found: list[dict[str, Any]], number: int, body: dict[str, Any]) -> Answer:
    one = next((one for one in found if one["id"] == number), None)
    if one is None:
        return 404, {"message": "Not Found"}
    one.update(body)
    return 200, one


class Handler(BaseHTTPRequestHandler):
    state: FaultServer
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        path, query = unquoted(self.path)
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        with self.state.lock:
            self.state.requests.append(f"{self.command} {path}")
            fault = self.state.fault(self.command, path)
        old = next((name for name in self.state.moved if f"/repos/{name}/" in path), None)
        if old is not None:
            self.send(307, {"message": "Moved"}, {"Location": self.path.replace(old, self.state.moved[old])})
        elif fault is not None and not fault.done:
            self.go_wrong(fault)
        elif not self.state.may(path, self.headers.get("Authorization", "")):
            self.send(401, {"message": "Bad credentials"})
        else:
            with self.state.lock:
                status, content = self.state.act(self.command, path, query, body)
            if fault is None:
                self.send(status, content)
            else:
                self.go_wrong(fault)

    do_GET = do_POST = do_PATCH = answer  # noqa: N815  # the names that http.server looks for

    def go_wrong(self, fault: Fault) -> None:
        time.sleep(fault.slow_s)
        if fault.cut:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
            self.wfile.flush()
            self.close_connection = True
            return
        self.send(fault.status, {"message": fault.message}, fault.headers, fault.body)

    def send(self, status: int, content: Any, headers: dict[str, str] | None = None, body: bytes | None = None) -> None:
        data = json.dumps(content).encode() if body is None else body
        self.send_response_only(status)
        self.send_header("Date", format_datetime(self.state.now(), usegmt=True))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        pass


@contextmanager
def fault_server() -> Iterator[FaultServer]:
    """A server on a free port of loopback."""
    state = FaultServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"state": state}))
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def unquoted(path: str) -> tuple[str, dict[str, str]]:
    parts = urlsplit(path)
    return parts.path, {key: values[0] for key, values in parse_qs(parts.query).items()}
