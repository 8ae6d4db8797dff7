"""perfd's own site with its webhook, and somebody who sends webhooks to it as GitHub does."""

import hashlib
import hmac
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import uvicorn
from forge_world import NOON

from perfd.forge import GitHub
from perfd.forge.credentials import App, Key
from perfd.forge.http import Http, new_client
from perfd.site import create_app, listen
from perfd.store import Store

SECRET = "It's a Secret to Everybody"  # noqa: S105  # of tests


@dataclass(frozen=True)
class Hook:
    """Sends webhooks to a perfd site as GitHub does."""

    client: httpx.Client
    secret: str = SECRET

    def send(self, event: str, payload: Any, delivery: str = "", **headers: str) -> httpx.Response:
        return self.raw(event, json.dumps(payload).encode(), delivery, **headers)

    def raw(self, event: str, body: bytes, delivery: str = "", **headers: str) -> httpx.Response:
        given = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": delivery or str(uuid.uuid4()),
            "X-Hub-Signature-256": "sha256=" + hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest(),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return self.client.post("/hooks/github", content=body, headers={k: v for k, v in given.items() if v})


@contextmanager
def served(store: Store, secret: str | None, port: int = 0) -> Iterator[str]:
    """The site over a store, on a free port or on that one; its address."""
    with listen(port=port) as listening:
        app = create_app(store, clock=lambda: NOON, webhook_secret=secret)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=2))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def app_at(url: str, pem: str, app: str, login: str = "") -> GitHub:
    """perfd as an App at that GitHub."""
    http = Http(url, lambda: datetime.now(UTC), new_client())
    return GitHub(http, App(Key(app, pem), http, login))
