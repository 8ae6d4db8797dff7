import asyncio
import io
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from answered_world import Answered, answered_world
from matplotlib.image import imread
from pull_world import engine_text, pull_world
from test_pull_story import NOON, SLOWER

from perfd.domain.verdict import Outcome
from perfd.plots import Effect, effects_png
from perfd.site.app import create_app
from perfd.store import Store


def effect(name: str, value: float, outcome: Outcome, half: float = 0.01) -> Effect:
    return Effect(name, value, value - half, value + half, 0.02, outcome)


def shows(png: bytes, colour: str) -> bool:
    """Whether some pixels have that colour."""
    wanted = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return bool((np.abs(imread(io.BytesIO(png))[:, :, :3] - wanted).max(axis=2) < 0.02).sum() > 20)


@pytest.mark.parametrize(
    ("outcome", "colour"), [(Outcome.WORSE, "#D55E00"), (Outcome.BETTER, "#009E73"), (Outcome.SAME, "#0072B2")]
)
def test_an_answer_has_its_colour(outcome: Outcome, colour: str) -> None:
    assert shows(effects_png([effect("steady itl_s", 0.05, outcome)]), colour)
    assert not shows(effects_png([effect("steady itl_s", 0.05, Outcome.UNSURE)]), colour)


@pytest.mark.parametrize(
    "effects",
    [
        [],
        [effect("x" * 300 + " $\\frac$ 性能", float("inf"), Outcome.WORSE)],
        [effect("zero", 0.0, Outcome.SAME, 0.0)],
        [effect(f"w{n}", 5.0 * n, Outcome.WORSE, 100.0) for n in range(24)],
    ],
)
def test_whatever_was_measured_can_be_drawn(effects: list[Effect]) -> None:
    assert effects_png(effects).startswith(b"\x89PNG")


def test_the_address_in_the_comment_shows_the_picture(store: Store, tmp_path: Path) -> None:
    world = pull_world(tmp_path, "")
    world.commit("Begin", {"engine.py": engine_text("begin")})
    one: Answered = answered_world(world, store, NOON)
    one.slowdown = SLOWER
    one.pull(world.pull("Slow down", {"engine.py": engine_text("slow")}))
    one.finish()
    address = one.comments["1"].body.split("![How the comparison came to its answer](https://perf.example.org")[1].split(")")[0]

    transport = httpx.ASGITransport(app=create_app(store))

    async def get(path: str) -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://site") as client:
            return await client.get(path)

    found, missing = asyncio.run(get(address)), asyncio.run(get(f"/plots/compare/{quote('compare:x', safe='')}.png"))
    first, past = asyncio.run(get(f"{address}?row=0")), asyncio.run(get(f"{address}?row=999"))

    assert (200, "image/png", 404) == (found.status_code, found.headers["content-type"], missing.status_code)
    assert shows(found.content, "#D55E00")
    assert (200, 404) == (first.status_code, past.status_code)
    assert first.content != found.content
    assert shows(first.content, "#0072B2")
