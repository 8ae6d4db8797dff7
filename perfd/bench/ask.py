"""One HTTP question to a local engine, its answer read as hostile data; timing is the load client's business."""

import http.client
import json
from collections.abc import Mapping
from typing import Any

from perfd.bench.engine import HOST, EngineError
from perfd.domain.identity import Json
from perfd.domain.run import FailureKind

MOST_BYTES = 64 * 1024 * 1024


class Asker:
    """A kept connection to an engine."""

    def __init__(self, port: int, timeout_s: float = 60.0) -> None:
        self._connection = http.client.HTTPConnection(HOST, port, timeout=timeout_s)
        self._timeout_s = timeout_s

    def post(self, path: str, body: Mapping[str, Json]) -> dict[str, Any]:
        """The answer's JSON object; raises EngineError when there is none."""
        text = self._ask("POST", path, json.dumps(body).encode())
        try:
            answer = json.loads(text)
        except ValueError:
            raise EngineError(FailureKind.NONSENSE, f"{path} answered no JSON: {text[:80]!r}") from None
        if not isinstance(answer, dict):
            raise EngineError(FailureKind.NONSENSE, f"{path} answered JSON that is no object: {text[:80]!r}")
        return answer

    def text(self, path: str) -> str:
        """The answer's text; raises EngineError when there is none."""
        return self._ask("GET", path, None).decode("utf-8", errors="replace")

    def close(self) -> None:
        """The connection is closed."""
        self._connection.close()

    def _ask(self, verb: str, path: str, body: bytes | None) -> bytes:
        try:
            response = self._send(verb, path, body)
            data = response.read(MOST_BYTES + 1)
        except TimeoutError:
            self.close()
            raise EngineError(FailureKind.TIMEOUT, f"{path} gave no answer within {self._timeout_s:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            sentence = f"{path} broke off ({type(error).__name__}: {error})"
            raise EngineError(FailureKind.DIED, sentence) from None
        if len(data) > MOST_BYTES:
            self.close()
            raise EngineError(FailureKind.NONSENSE, f"{path} answered more than {MOST_BYTES:,} bytes")
        if response.status != 200:
            raise EngineError(FailureKind.NONSENSE, f"{path} answered HTTP {response.status}: {data[:200]!r}")
        return data

    def _send(self, verb: str, path: str, body: bytes | None) -> http.client.HTTPResponse:
        """The answer's head. A kept connection that the engine has closed meanwhile is opened again, once."""
        headers = {"Content-Type": "application/json"} if body else {}
        kept = self._connection.sock is not None
        try:
            self._connection.request(verb, path, body, headers)
            return self._connection.getresponse()
        except (ConnectionError, http.client.RemoteDisconnected):
            self._connection.close()
            if not kept:
                raise
        self._connection.request(verb, path, body, headers)
        return self._connection.getresponse()
