"""The few answers of GitHub that a pipeline needs: who the token is, the head of a pull request, its comments."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class PipelineGitHub:
    head: str = ""
    """Of pull request 7."""
    login: str = "grace"
    read_only: bool = False
    url: str = ""
    comments: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/user":
            return 200, {"login": self.login}
        if path == "/repos/octo/engine/pulls/7":
            return 200, {"number": 7, "head": {"sha": self.head}}
        if method != "GET" and self.read_only:
            return 403, {"message": "Resource not accessible by integration"}
        if path == "/repos/octo/engine/issues/7/comments":
            if method == "GET":
                return 200, self.comments
            self.comments.append({"id": len(self.comments), "user": {"login": self.login}, "html_url": f"{self.url}/c", **body})
            return 201, self.comments[-1]
        edited = re.fullmatch(r"/repos/octo/engine/issues/comments/(\d+)", path)
        if edited and int(edited[1]) < len(self.comments):
            self.comments[int(edited[1])].update(body)
            return 200, self.comments[int(edited[1])]
        return 404, {"message": "Not Found"}


@contextmanager
def pipeline_github() -> Iterator[PipelineGitHub]:
    known = PipelineGitHub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            status, answer = known.answer(self.command, self.path.partition("?")[0], body)
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_PATCH = do_GET  # noqa: N815  # the names are http.server's

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        known.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield known
        server.shutdown()
        thread.join()
