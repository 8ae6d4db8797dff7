"""What has not changed is not sent again: every address that is read has a tag, or a reason why it can have none."""

import re
from collections.abc import Iterator

import httpx
import pytest
from starlette.routing import BaseRoute, Route

from perfd.site import create_app
from perfd.store import Store
from perfd.store.pages import SeriesFilter

NO_TAG = {
    "/account": "holds the forms of one person",
    "/regressions/{regression_id}": "holds the forms of one person",
    "/views": "holds the forms of one person",
    "/login": "holds a form, and what went wrong just now",
    "/login/github": "a step on the way",
    "/login/github/back": "a step on the way",
    "/series/{series_id}/how": "a step on the way to the Run that the number comes from",
    "/audit": "is read by admins alone, and never kept by anybody between",
    "/healthz": "tells how it is at this moment, or tells nothing",
    "/livez": "tells how it is at this moment, or tells nothing",
    "/metrics": "holds the moment's ages of things; Prometheus asks without a tag",
    "/plots/compare/{name:path}.png": "a report never changes: it may be kept for a day without asking",
    "/api/v1/views": "is short, and its forget links are checked anew",
}
SAMPLES = {
    "series_id": "1", "series_id:int": "1", "number": "1", "number:int": "1", "regression_id": "1", "regression_id:int": "1",
    "device_id": "1", "device_id:int": "1", "ending:form": "csv",
}  # fmt: skip
TABLES = {
    "/series/{series_id:int}/{name}": "changes", "/launches/{number:int}/{name}": "days",
    "/devices/{device_id:int}/{name}": "runs",
    "/runs/{key}/{name}": "seen", "/builds/{digest}/{name}": "ingredients", "/regressions/{regression_id:int}/{name}": "life",
    "/report/{name}": "nights", "/status/{name}": "workers",
}  # fmt: skip
SIDES = "?base={build}&head={build}"
ASKED = {
    "/points": "?series=1", "/charts": "?series=1", "/charts.png": "?series=1", "/api/v1/points": "?series=1",
    "/compare": SIDES, "/compare/means": SIDES, "/api/v1/compare": SIDES,
    "/compare/samples": "?base=2026-03-01&head=2026-03-16&samples=1",
    "/api/v1/news": "?since=2026-03-10T00:00:00Z", "/formulas": "?f=s1", "/formulas.png": "?f=s1", "/api/v1/formulas": "?f=s1",
}  # fmt: skip


def routes() -> Iterator[str]:
    app = create_app(Store.__new__(Store))
    return (one.path for one in walked(app.routes) if isinstance(one, Route) and "GET" in (one.methods or ()))


def walked(found: list[BaseRoute]) -> Iterator[BaseRoute]:
    for one in found:
        inner = getattr(one, "original_router", None)
        yield from walked(inner.routes) if inner is not None else (one,)


ROUTES = sorted(set(routes()))


@pytest.fixture(scope="session")
def words(filled_store: Store) -> dict[str, str]:
    """What stands for the names in addresses."""
    row = filled_store.pages.series_rows(SeriesFilter())[0]
    names = [
        one.occasion.name for one in filled_store.pages.occasions() if one.report and one.occasion.name.startswith("compare:")
    ]
    point = row.latest.point
    return {
        "key": point.run,
        "digest": point.build,
        "build": point.build,
        "comparison": names[0],
        "subject": row.info.key.subject,
    }


def address_of(route: str, words: dict[str, str]) -> str:
    """An address that the route answers."""
    path = re.sub(r"\.\{ending:form\}$", "", route)
    query = ASKED.get(path, "")
    table = TABLES.get(path, words["comparison"])
    by_hand = {"key": words["key"], "digest": words["digest"], "name:path": words["comparison"], "name": table}
    if path.startswith(("/builds/{name}", "/api/v1/builds/")):
        by_hand["name"] = words["build"]
    if path.startswith("/badges/subjects/"):
        by_hand["name:path"] = words["subject"]
    return re.sub(r"\{([^}]+)\}", lambda found: (SAMPLES | by_hand)[found[1]], route) + query.format(**words)


def test_every_route_that_has_no_tag_is_one_of_the_site() -> None:
    assert [] == sorted(set(NO_TAG) - set(ROUTES))


@pytest.mark.parametrize("route", sorted(set(ROUTES) - set(NO_TAG)))
def test_what_stands_so_is_not_sent_again(
    filled: httpx.Client, launched: httpx.Client, words: dict[str, str], route: str
) -> None:
    site = launched if "{number" in route else filled
    address = address_of(route, words)
    first = site.get(address)
    assert 200 == first.status_code, (address, first.text[:300])

    again = site.get(address, headers={"If-None-Match": first.headers["etag"]})

    # Another database of this server may be written meanwhile, and then the tag is another one.
    assert again.status_code == 304 or again.headers["etag"] != first.headers["etag"]


@pytest.mark.parametrize(
    "address",
    ["/series/1.csv", "/series/1.png", "/badges/series/1.svg", "/api/v1/series/1", "/charts?series=1", "/api/openapi.json"],
)
def test_what_is_made_of_one_series_stands_whatever_else_is_written(filled: httpx.Client, address: str) -> None:
    tag = filled.get(address).headers["etag"]

    assert 304 == filled.get(address, headers={"If-None-Match": tag}).status_code


@pytest.mark.parametrize("address", ["/", "/api/v1/series", "/series.csv", "/kernels", "/status", "/api/openapi.json"])
def test_who_can_read_gzip_is_sent_it(filled: httpx.Client, address: str) -> None:
    packed, plain = (filled.get(address, headers={"Accept-Encoding": coding}) for coding in ("gzip", "identity"))

    assert ("gzip", None) == (packed.headers.get("content-encoding"), plain.headers.get("content-encoding"))
    assert packed.num_bytes_downloaded < len(packed.content)
