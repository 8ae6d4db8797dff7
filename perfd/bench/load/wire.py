"""Requests as bytes: the JSON of the OpenAI API, and the HTTP around it."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from perfd.bench.load.exchange import PlannedRequest
from perfd.bench.load.messages import Prompt
from perfd.bench.load.plan import Api, LoadPlan
from perfd.errors import BadInputError

_PATHS = {Api.CHAT: "/chat/completions", Api.COMPLETIONS: "/completions"}


@dataclass(frozen=True)
class Target:
    """Where requests go."""

    host: str
    port: int
    tls: bool
    path: str

    @property
    def authority(self) -> str:
        """The value of the Host field."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.tls else 80) else f"{name}:{self.port}"


def target_of(url: str, api: Api) -> Target:
    """The endpoint under a base URL; raises BadInputError for what is no http or https URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BadInputError(f"{url!r} is no URL ({error}); give one such as http://127.0.0.1:8000") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadInputError(f"{url!r} is no http or https URL; give one such as http://127.0.0.1:8000")
    base = parts.path.rstrip("/")
    for known in _PATHS.values():
        base = base.removesuffix(known) if base.endswith(f"/v1{known}") else base
    base = base if base.endswith("/v1") else f"{base}/v1"
    tls = parts.scheme == "https"
    return Target(parts.hostname, port or (443 if tls else 80), tls, base + _PATHS[api])


def body_of(plan: LoadPlan, prompt: Prompt) -> bytes:
    """The request's JSON: streaming, with usage at the end."""
    asked: dict[str, object] = {
        "model": plan.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": prompt.max_tokens,
        "temperature": 0.0,
        **plan.extra_body,
    }
    if plan.api is Api.CHAT:
        asked["messages"] = [part.json() for part in prompt.parts]
        if prompt.tools:
            asked["tools"] = list(prompt.tools)
    else:
        asked["prompt"] = prompt.text
    return json.dumps(asked, ensure_ascii=False).encode()


def wire_of(plan: LoadPlan, target: Target, prompt: Prompt, index: int) -> bytes:
    """The whole request; X-Request-Id carries its index, by which a server's log finds it again."""
    body = body_of(plan, prompt)
    fields = {
        "Host": target.authority,
        "Content-Type": "application/json",
        "Accept": "text/event-stream",
        "Content-Length": str(len(body)),
        "Connection": "keep-alive" if plan.keep_alive else "close",
        "X-Request-Id": f"perfd-{index}",
        **plan.headers,
    }
    if any(mark in name + value for name, value in fields.items() for mark in "\r\n"):
        raise BadInputError("a header holds a line break; give it as one line, 'Name: value'")
    head = f"POST {target.path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    try:
        return head.encode("latin-1") + b"\r\n" + body
    except UnicodeEncodeError:
        raise BadInputError("a header holds a character outside Latin-1; HTTP cannot carry it") from None


def request_of(
    plan: LoadPlan, target: Target, prompt: Prompt, place: tuple[int, int, int], parent: int | None = None
) -> PlannedRequest:
    """A request at its place (index, session, turn); `parent` is the session that starts it as its sub-agent."""
    index, session, turn = place
    wire = wire_of(plan, target, prompt, index)
    return PlannedRequest(index, session, turn, wire, prompt.max_tokens, prompt.prompt_tokens, prompt.wanted, parent)
