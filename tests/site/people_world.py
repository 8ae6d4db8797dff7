"""Sites that know people, and visitors who come from this machine, from another one, or through a proxy."""

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any

import httpx

from perfd.config import SiteConfig
from perfd.domain.account import NewToken, Role, Scope
from perfd.site import create_app, listen
from perfd.site.limits import Limits
from perfd.site.serve import serve_site
from perfd.store import Store
from perfd.store.access_tokens import new_secret

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
ELSEWHERE = "127.0.0.2"
"""An address of this machine that perfd takes for another machine's: not everything on 127/8 is the person who sits here."""
PROXY = "127.0.0.3"


@dataclass
class People:
    """A site that is served, and its visitors."""

    store: Store
    address: str = ""
    now: datetime = START
    limits: Limits = field(default_factory=Limits)
    """Of the site; time passes for them as for it."""
    stack: ExitStack = field(default_factory=ExitStack)

    def visitor(self, source: str = "127.0.0.1", **headers: str) -> httpx.Client:
        """Somebody with a cookie jar of their own, who connects from that address."""
        transport = httpx.HTTPTransport(local_address=source)
        return self.stack.enter_context(
            httpx.Client(base_url=self.address, transport=transport, headers=headers, timeout=30, follow_redirects=False)
        )

    def program(self, secret: str, source: str = ELSEWHERE) -> httpx.Client:
        """A program that shows a token."""
        return self.visitor(source, Authorization=f"Bearer {secret}")

    def token(self, role: Role, *, days: float = 30, **scope: tuple[str, ...]) -> str:
        """The secret of a new token."""
        secret = new_secret()
        new = NewToken(f"a {role}", role, Scope(**scope), "a test", timedelta(days=days))
        self.store.access_tokens.add(secret, new, self.now)
        return secret

    def deeds(self) -> list[tuple[str, str, bool]]:
        """Who did what, and whether they were let, oldest first."""
        _, events = self.store.audit.latest(0, 1000)
        return [(one.actor, one.deed, one.allowed) for one in reversed(events)]


@contextmanager
def known(store: Store, **extra: Any) -> Iterator[People]:
    """The site over a store, as `perfd serve` serves it; `access`, `address` and `github_login` say what it knows."""
    people, over = People(store), threading.Event()
    app = create_app(store, clock=lambda: people.now, **extra)

    def passed_s() -> float:
        return (people.now - START).total_seconds()

    people.limits = Limits(clock=passed_s)
    app.state.site = replace(app.state.site, limits=people.limits)
    listening = listen(port=0)
    people.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    thread = threading.Thread(target=serve_site, args=(app, listening, over))
    thread.start()
    try:
        with people.stack:
            yield people
    finally:
        over.set()
        thread.join()


def closed(**extra: Any) -> SiteConfig:
    """A site that only readers with a role read."""
    return SiteConfig(public=False, loopback=False, **extra)


def seal_of(page: httpx.Response) -> str:
    """The seal of the forms of a page."""
    return unescape(re.findall(r'name="csrf" value="([^"]+)"', page.text)[0])


def results(subject: str = "vllm", device: str = "gpu0", value: float = 0.2) -> dict[str, Any]:
    """Results that were measured elsewhere."""
    at = datetime(2026, 3, 20, tzinfo=UTC).isoformat()
    placed = {"host": "elsewhere", "name": device, "device_class": "gpu:H200"}
    return {
        "format": "perfd.results/1",
        "state": "done",
        "samples": [{"name": "ttft_s", "unit": "s", "better": "lower", "values": [value, 0.3, 0.25]}],
        "started_at": at,
        "finished_at": at,
        "environment": {"device": placed, "hardware": {"gpu": "H200"}, "clock_policy": "locked", "software": {"driver": "580"}},
        "run": {"subject": subject, "revision": "abc123", "workload": "chat", "model": "m"},
    }
