"""The FastAPI app: one router a page, one way to fail, and the same headers on everything."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from anyio.to_thread import current_default_thread_limiter
from fastapi import Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from perfd import HARNESS_VERSION
from perfd.config import Schedule, SiteConfig
from perfd.forge.login import GitHubLogin
from perfd.site import (
    account,
    api,
    asking,
    badges,
    builds,
    charts,
    compare,
    devices,
    explore,
    exports,
    feed,
    files,
    files_of_one,
    health,
    home,
    hooks,
    how,
    kernels,
    launches,
    lists,
    login,
    manual,
    metrics,
    news,
    plots,
    regressions,
    results,
    runs,
    series,
    standing,
    status,
    things,
    triage,
    views,
    weekly,
)
from perfd.site.bodies import SmallBodies
from perfd.site.headers import HeadAsGet, SecurityHeaders
from perfd.site.openapi import described
from perfd.site.seen import WritesAreSeen
from perfd.site.site import Site
from perfd.site.static import KeptFiles, web_folder
from perfd.site.templates import Pages
from perfd.site.troubles import add_troubles
from perfd.site.writing import door
from perfd.store import Store

PAGES = (
    feed,  # before the exports, and these before the pages, whose addresses they end
    badges,
    files,
    files_of_one,
    exports,
    home,
    series,
    how,
    charts,
    explore,
    views,
    runs,
    builds,
    regressions,
    triage,
    compare,
    kernels,
    launches,
    status,
    weekly,
    devices,
    manual,
    health,
    metrics,
    hooks,
    plots,
    login,
    account,
)


AT_ONCE = 2 * (os.cpu_count() or 1) + 2
"""Requests that are answered at the same time; the others wait. More would be no quicker, and take the machine from others."""


@asynccontextmanager
async def few_at_once(_: FastAPI) -> AsyncIterator[None]:
    """While the site is served, so many requests hold a thread and a connection to the database, and no more."""
    current_default_thread_limiter().total_tokens = AT_ONCE
    yield


def utc_now() -> datetime:
    """The moment, in UTC."""
    return datetime.now(UTC)


def create_app(
    store: Store,
    *,
    clock: Callable[[], datetime] = utc_now,
    schedule: Schedule | None = None,
    webhook_secret: str | None = None,
    access: SiteConfig | None = None,
    address: str = "",
    github_login: GitHubLogin | None = None,
    recent_s: float = 0.0,
) -> FastAPI:
    """The site over `store`; `clock` tells the moment and `schedule` when the next night is.

    Without `webhook_secret`, which GitHub signs with, no webhook is taken. `access` says who may do what, `address` where people
    reach the site, and without `github_login` nobody logs in through GitHub. Of what others write than this site,
    pages about everything may tell `recent_s` seconds late.
    """
    app = FastAPI(
        title="perfd",
        version=HARNESS_VERSION,
        summary="Everything that the pages show, as JSON.",
        openapi_url=None,  # manual.py serves it with a tag
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere; /api lists the routes instead
        redoc_url=None,
        lifespan=few_at_once,
        dependencies=[Depends(door)],
    )
    app.state.site = Site(
        store, clock, schedule or Schedule(), Pages(clock), access=access or SiteConfig(), address=address, recent_s=recent_s
    )
    app.state.github_login = github_login
    app.state.webhook_secret = webhook_secret
    for page in PAGES:
        app.include_router(page.router, include_in_schema=False)
    app.include_router(api.router)
    app.include_router(asking.router)
    app.include_router(things.router)
    app.include_router(how.api)
    app.include_router(views.api)
    app.include_router(results.router)
    app.include_router(lists.router)
    app.include_router(standing.router)
    app.include_router(news.router)
    app.mount("/static", KeptFiles(web_folder() / "static"))
    app.openapi = described(app, ordinary=app.openapi)  # type: ignore[method-assign]  # FastAPI's own way to amend it
    add_troubles(app)
    # Level 9, the default, takes forty times as long as level 1 for a chart's numbers, and saves a fifth of the bytes.
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=1)
    app.add_middleware(WritesAreSeen, memory=app.state.site.memory)
    app.add_middleware(SmallBodies)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(HeadAsGet)
    return app
