"""One request to GitHub, and its answer read to the end: a dictionary or a list, or a ForgeError with its meaning."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from perfd import HARNESS_VERSION
from perfd.domain.forge import ForgeError, Trouble
from perfd.forge.refusals import SOON, Answer, refusal

LONGEST_S = 30.0
"""An answer that has not ended by then is cut off, even where a byte comes now and then."""
LARGEST_BYTES = 32_000_000
HOPS = 3
REDIRECTS = frozenset({301, 302, 307, 308})
HEADERS = {
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "User-Agent": f"perfd/{HARNESS_VERSION}",
}


@dataclass(frozen=True)
class Call:
    """A request, and what it is in words."""

    method: str
    path: str
    doing: str
    """"edit a comment on owner/name#12": what a sentence says was tried."""
    needs: str
    """The App's permission for it, as GitHub names it: "checks: write"."""
    body: dict[str, Any] | None = None
    query: dict[str, str | int] = field(default_factory=dict)


@dataclass
class Http:
    """An HTTP client of a forge's API."""

    url: str
    now: Callable[[], datetime]
    client: httpx.Client
    limited: ForgeError | None = None
    """The limit that was met last: while it lasts nothing is asked, since every further request makes it longer."""

    def send(self, call: Call, authorization: str) -> Any:
        """The answer's JSON; raises Refused for one outside 2xx, any other ForgeError for none.

        A renamed repository answers with another address: it is followed on the same host only, since the header is a secret.
        """
        if self.limited is not None and self.limited.again_at is not None and self.now() < self.limited.again_at:
            raise ForgeError(Trouble.LIMITED, self.limited.message, self.limited.again_at)
        url, query = f"{self.url}{call.path}", {**call.query}
        for _ in range(HOPS):
            response, body = self._once(call, url, query, authorization)
            onward = response.headers.get("location", "")
            if response.status_code not in REDIRECTS or not onward:
                return self._read(call, response, body)
            url, query = _joined(url, onward), {}
            if urlsplit(url)[:2] != urlsplit(self.url)[:2]:
                break
        raise ForgeError(Trouble.NOT_FOUND, f"GitHub sent perfd elsewhere to {call.doing}: was the repository moved?")

    @contextmanager
    def understanding(self, doing: str) -> Iterator[None]:
        """What an answer lacks, or has in another form than is documented, is the forge's fault, and tried again."""
        try:
            yield
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            told = f"GitHub's answer to {doing} has another form than it documents ({error!r}); perfd tries again"
            raise ForgeError(Trouble.BROKEN, told, self.now() + SOON) from None

    def _once(self, call: Call, url: str, query: dict[str, Any], authorization: str) -> tuple[httpx.Response, bytes]:
        began, parts, size = time.monotonic(), [], 0
        # A lone surrogate (logs have them) becomes a question mark instead of an error of ours.
        content = None if call.body is None else json.dumps(call.body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {**HEADERS, "Authorization": authorization, **({"Content-Type": "application/json"} if content else {})}
        try:
            with self.client.stream(call.method, url, params=query or None, content=content, headers=headers) as response:
                for part in response.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > LARGEST_BYTES or time.monotonic() - began > LONGEST_S:
                        raise self._silent(call, f"its answer did not end ({size} bytes)")
                return response, b"".join(parts)
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self._silent(call, str(error) or type(error).__name__) from None

    def _read(self, call: Call, response: httpx.Response, body: bytes) -> Any:
        content = _json(body)
        answer = Answer(response.status_code, {k.lower(): v for k, v in response.headers.items()}, _message(content, body))
        if not response.is_success:
            refused = refusal(answer, call.doing, call.needs, self.now())
            self.limited = refused if refused.trouble is Trouble.LIMITED else self.limited
            raise refused
        if not isinstance(content, dict | list):
            raise ForgeError(Trouble.BROKEN, f"GitHub answered no JSON to {call.doing}", self.now() + SOON)
        return content

    def _silent(self, call: Call, what: str) -> ForgeError:
        return ForgeError(
            Trouble.SILENT, f"no whole answer from {self.url} to {call.doing} ({what}); perfd tries again", self.now() + SOON
        )


def new_client() -> httpx.Client:
    """A client with time-outs that keeps no connection: requests are few, and the other side would close them meanwhile."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(timeout=httpx.Timeout(LONGEST_S / 2, connect=5.0), limits=limits)


def _joined(url: str, onward: str) -> str:
    """The address of a redirect; empty for one that is none."""
    try:
        return str(httpx.URL(url).join(onward))
    except httpx.InvalidURL:
        return ""


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _message(content: Any, body: bytes) -> str:
    """GitHub's sentence and its list of errors, in one line of at most 300 characters."""
    told = body.decode("utf-8", "replace")
    if isinstance(content, dict):
        errors = content.get("errors")
        told = str(content.get("message", "")) + (f" {errors}" if errors else "")
    return " ".join(told.split())[:300]
