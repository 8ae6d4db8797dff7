"""Bodies that are larger than any form or question."""

import httpx
import pytest

from perfd.site.bodies import MOST_BYTES


@pytest.mark.parametrize("address", ["/api/v1/comparisons", "/logout", "/regressions/1"])
def test_a_large_body_is_refused_by_what_it_says_of_its_length(empty: httpx.Client, address: str) -> None:
    answer = empty.post(address, content=b"x" * (MOST_BYTES + 1))

    assert 413 == answer.status_code
    assert "1,000,000 bytes" in answer.json()["error"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_body_without_a_length_is_refused_too(empty: httpx.Client) -> None:
    parts = (b"x" * 100_000 for _ in range(200))

    try:
        said = empty.post("/api/v1/comparisons", content=parts, headers={"content-type": "application/json"}).status_code
    except httpx.WriteError:  # the server had answered and closed while we were still sending
        said = 413

    assert 413 == said
    assert empty.get("/livez").status_code == 200


def test_a_small_body_is_answered_as_before(empty: httpx.Client) -> None:
    assert 400 == empty.post("/api/v1/comparisons", json={"engine": "tiny"}).status_code
