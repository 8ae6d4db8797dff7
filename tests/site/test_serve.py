import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from site_history import FIRST_NIGHT, History

from perfd.errors import BadInputError, PerfdError
from perfd.site import create_app, listen
from perfd.site.headers import HEADERS
from perfd.site.sentences import overdue
from perfd.site.site import Site
from perfd.site.static import static_url
from perfd.store import Store, make_engine


def test_the_site_listens_on_loopback_unless_told_otherwise() -> None:
    with listen(port=0) as listening:
        assert "127.0.0.1" == listening.getsockname()[0]


def test_a_taken_port_is_told_with_its_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInputError, match=rf"cannot listen on 127.0.0.1:{port} .*--port"):
            listen(port=port)


def test_an_address_of_another_machine_is_told_with_its_remedy() -> None:
    with pytest.raises(BadInputError, match=r"192\.0\.2\.1:0 .*--host"):
        listen("192.0.2.1", 0)


def test_a_static_file_that_is_missing_is_named() -> None:
    with pytest.raises(PerfdError, match="no-such"):
        static_url("no-such.css")


@pytest.mark.parametrize(("late", "alarm"), [(10, False), (20, True), (60 * 49, True)])
def test_a_night_that_did_not_come_is_an_alarm(store: Store, late: int, alarm: bool) -> None:  # noqa: FBT001  # a parameter
    History(store).night(0, kernels=False)
    now = FIRST_NIGHT + timedelta(days=1, minutes=late)
    site: Site = create_app(store).state.site
    told = overdue(store.pages.status().last_night, site.due_by(now))

    assert alarm == bool(told)
    assert not alarm or f"{1 + late // (60 * 24)} night" in told


def test_before_the_first_night_nothing_is_overdue(store: Store) -> None:
    site: Site = create_app(store).state.site

    assert "" == overdue(None, site.due_by(FIRST_NIGHT))


async def answer_of(store: Store, address: str, clock: Callable[[], datetime]) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(store, clock=clock), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.get(address)


def test_perfds_own_mistake_has_a_page_without_a_traceback(tmp_path: Path) -> None:
    import asyncio

    moments = iter([FIRST_NIGHT])
    store = Store(make_engine(f"postgresql+psycopg:///perfd?host={tmp_path}"))

    def breaks_once() -> datetime:
        if next(moments, None):
            raise ZeroDivisionError("secret detail")
        return FIRST_NIGHT

    answer = asyncio.run(answer_of(store, "/launches", breaks_once))

    assert 500 == answer.status_code
    assert "ZeroDivisionError" in answer.text
    assert "secret detail" not in answer.text
    assert HEADERS["Content-Security-Policy"] == answer.headers["content-security-policy"]
