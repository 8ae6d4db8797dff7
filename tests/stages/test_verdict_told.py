"""What a judged night says of a Series stands in the API, on its page, and in what `perfd export series` writes."""

from pathlib import Path

import httpx
import pytest
from served_site import served
from told_world import Told, told_world

from perfd.domain.numbers import percent, percents, share
from perfd.domain.verdict import Verdict
from perfd.site import tables
from perfd.store import SeriesFilter, Store


@pytest.fixture
def told(store: Store, tmp_path: Path) -> Told:
    made = told_world(store, tmp_path, minutes=0.0)
    made.quiet_nights()
    return made


def judged(told: Told) -> tuple[int, Verdict]:
    (row,) = [one for one in told.store.pages.series_rows() if one.info.metric.name == "ttft_s"]
    assert row.verdict is not None
    return row.info.id, row.verdict


def assert_is_told(told: Told) -> None:
    series, verdict = judged(told)
    everything = (verdict.effect, verdict.interval, verdict.bar, verdict.q, verdict.noise)
    assert all(part is not None for part in everything)
    assert [4, 7, 14] == sorted(verdict.mde)

    with served(told.store) as address, httpx.Client(base_url=address, timeout=60) as client:
        answered = client.get(f"/api/v1/series/{series}").json()["verdict"]
        page = client.get(f"/series/{series}").text

    assert answered == {
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "detector": verdict.detector,
        "n": verdict.n,
        "effect": verdict.effect,
        "interval": list(verdict.interval or ()),
        "bar": verdict.bar,
        "q": verdict.q,
        "noise": verdict.noise,
        "mde": {str(nights): effect for nights, effect in verdict.mde.items()},
    }
    shown = [percent(verdict.effect), percents(verdict.interval), share(verdict.bar), share(verdict.noise), f"{verdict.q:.2g}"]
    shown += [f"{share(effect)} after {nights} nights" for nights, effect in verdict.mde.items()]
    assert [] == [one for one in shown if one not in page]

    written = tables.series(told.store, SeriesFilter(metric="ttft_s"))
    (line,) = written.rows
    row = dict(zip(written.columns, line, strict=True))
    low, high = verdict.interval or (None, None)
    expected = (verdict.effect, low, high, verdict.bar, verdict.q, verdict.noise, verdict.n)
    names = ("effect", "effect_low", "effect_high", "bar", "q", "noise", "judged_on")
    assert expected == tuple(row[name] for name in names)
    assert dict(verdict.mde) == {nights: row[f"mde_{nights}"] for nights in (4, 7, 14)}


def test_a_quiet_night_tells_all_that_it_was_held_to(told: Told) -> None:
    assert_is_told(told)


def test_a_suspect_tells_all_that_it_was_held_to(told: Told) -> None:
    told.night(1.1)
    told.finish()

    assert "of the 4 nights that tell a step from a spike" in judged(told)[1].reason
    assert_is_told(told)
