"""The pages of devices: state, evidence, what became void, and the links that lead there."""

from collections.abc import Callable
from datetime import timedelta
from html import unescape

import httpx
import pytest
from site_history import FIRST_NIGHT, History
from test_pages import words

from perfd.domain.device import Cause, Spoilt
from perfd.store import Store

HOSTILE = "<script>alert(1)</script> fan & co"


@pytest.fixture(scope="module")
def sick(new_store: Callable[[], Store]) -> Store:
    """Four nights; the device was quarantined after the third, and what it measured since then is void."""
    store = new_store()
    History(store).nights([1.0, 1.0, 1.3, 1.3])
    row = next(row for row in store.devices.rows() if store.devices.page(row.device).states)
    store.devices.spoilt(row.device, Spoilt("a" * 64, FIRST_NIGHT, "it was throttled"))
    cause = Cause(HOSTILE, FIRST_NIGHT + timedelta(days=2), {"after the Run": {"gpu_xids": [79]}})
    store.devices.quarantine(row.device, cause, "ann", FIRST_NIGHT + timedelta(days=4))
    return store


@pytest.fixture(scope="module")
def pages(sick: Store, browse: Callable[[Store], httpx.Client]) -> httpx.Client:
    return browse(sick)


def quarantined(store: Store) -> int:
    return next(row.id for row in store.devices.rows() if row.quarantine)


def test_a_device_in_quarantine_stands_first_in_the_list_and_on_the_status_page(sick: Store, pages: httpx.Client) -> None:
    address = f'href="/devices/{quarantined(sick)}"'
    listed, status = pages.get("/devices").text, pages.get("/status").text

    assert address in listed
    assert address in status
    assert "✗ quarantined" in status
    assert "<script>alert" not in listed + status
    assert HOSTILE in unescape(listed)


def test_the_page_of_a_device_tells_evidence_looks_and_the_runs_that_became_void(sick: Store, pages: httpx.Client) -> None:
    text = pages.get(f"/devices/{quarantined(sick)}").text

    for part in ("is quarantined", "after the Run.gpu_xids", "[79]", "ann", "it was throttled", "What was seen in its last Run"):
        assert part in text, part
    (opened,) = [row.quarantine for row in sick.devices.rows() if row.quarantine][:1]
    void = sick.devices.voided(opened.id)
    assert len(void) > 0
    assert all(f'href="/runs/{key}"' in text for key in void[:50])
    assert "<script>alert" not in text


def test_a_void_run_says_why_and_leads_to_its_device(sick: Store, pages: httpx.Client) -> None:
    (opened,) = [row.quarantine for row in sick.devices.rows() if row.quarantine][:1]
    text = pages.get(f"/runs/{sick.devices.voided(opened.id)[0]}").text

    assert "its device was quarantined later" in text
    assert f'href="/devices/{sick.devices.id_of(opened.device)}"' in text


def test_a_device_that_is_not_there_is_404_and_none_at_all_is_said(empty: httpx.Client) -> None:
    assert 404 == empty.get("/devices/7").status_code
    assert "No device has measured anything yet." in empty.get("/devices").text


def test_devices_are_narrowed_to_a_state_and_paged(filled: httpx.Client) -> None:
    total = filled.get("/api/v1/devices?limit=1").json()["total"]
    first = filled.get("/devices?limit=1").text

    assert f"1 to 1 of {total}" in words(first)
    assert "No device is quarantined." in words(filled.get("/devices?state=quarantined").text)
    assert 400 == filled.get("/devices?state=lost").status_code
    assert [total + 1, 1] == [
        len(filled.get(f"/devices.csv?state={state}").text.splitlines()) for state in ("ready", "quarantined")
    ]
    assert "/devices.csv?state=ready" in filled.get("/devices?state=ready").text
