"""Real processes that die: what they leave undone is told by whoever is left."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from small_night import NEVER_READY, SmallNight

from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.site import create_app
from perfd.stages.alarms import late
from perfd.stages.context import Context, worker_name
from perfd.stages.night import STAGES, open_night
from perfd.store import Store, make_engine

sys.path.append(str(Path(__file__).parents[1] / "notify"))
from receivers import hooked  # the webhook of tests/notify serves here too

LATER = timedelta(minutes=15)


@pytest.fixture
def context(small_night: SmallNight) -> Iterator[Context]:
    engine = make_engine(small_night.environment["PERFD_DATABASE_URL"])
    small_night.write(NEVER_READY)
    config = load_config(small_night.folder / "perfd.toml", {"PERFD_STATE": str(small_night.state)})
    yield Context(config, Store(engine), Silent(), worker_name())
    engine.dispose()


def wait_until(asked: Callable[[], bool], most_s: float = 30.0) -> None:
    ends = time.monotonic() + most_s
    while not asked():
        assert time.monotonic() < ends
        time.sleep(0.05)


def keys(context: Context) -> list[str]:
    return [one.key for one in late(context.store, context.config.schedule, context.now() + LATER)]


def test_a_worker_that_is_killed_in_a_run_is_told(small_night: SmallNight, context: Context) -> None:
    open_night(context)
    for name in ("watch", "plan", "build"):
        assert STAGES[name](context)
    worker = small_night.start("work")
    wait_until(lambda: any(row.claimed for row in context.store.pages.status().queue))
    device_class = context.store.pages.status().queue[0].device_class

    now_alive = [one.key for one in late(context.store, context.config.schedule, context.now())]
    worker.send_signal(signal.SIGKILL)
    worker.communicate(timeout=30)

    assert [] == now_alive
    assert [f"worker:{device_class}"] == keys(context)


def test_a_clock_that_is_killed_is_told_by_a_site_of_its_own(small_night: SmallNight, context: Context) -> None:
    clock = small_night.start("serve", "--no-worker", "--port", "0")
    now = context.now
    wait_until(lambda: context.store.standing(now()).clock_at is not None)

    clock.send_signal(signal.SIGKILL)
    clock.communicate(timeout=30)

    assert "clock" in keys(context)
    app = create_app(context.store, clock=lambda: now() + LATER, schedule=context.config.schedule)
    answer = ask(app, "/healthz")
    assert 503 == answer.status_code
    assert ["clock"] == [one["kind"] for one in answer.json()["alarms"]]
    assert 200 == ask(app, "/livez").status_code
    assert 'perfd_alarms{kind="clock"} 1.0' in ask(app, "/metrics").text
    assert "The clock last looked at" in ask(app, "/status").text


def test_a_site_alone_tells_people_of_a_dead_clock(small_night: SmallNight, context: Context) -> None:
    context.store.alarms.looked(context.now() - timedelta(hours=1))
    file = small_night.folder / "perfd.toml"
    file.write_text("notify = { webhook = true }\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    with hooked() as receiver:
        small_night.environment["PERFD_NOTIFY_WEBHOOK_URL"] = receiver.url
        site = small_night.start("serve", "--no-clock", "--no-worker", "--port", "0")
        wait_until(lambda: bool(receiver.taken))
        site.send_signal(signal.SIGTERM)
        _, told = site.communicate(timeout=30)

    assert "The clock last looked at" in receiver.taken[0]["text"]
    assert ("clock",) == context.store.alarms.lasting()
    assert "very-secret" not in told


def ask(app: object, address: str) -> httpx.Response:
    import asyncio

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(address)

    return asyncio.run(answer())
