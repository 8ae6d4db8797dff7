"""The client: one method a question of the API, answers that have not changed are not sent again."""

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import httpx

from perfd.client.words import Page, Points, Sent, Series, points_of, series_of
from perfd.domain import results as files
from perfd.domain.results import Results
from perfd.errors import BadInputError, PerfdError

PAGE = 500
MOST_KEPT = 200
"""Answers that are remembered with their tags."""


class Client:
    """Asks the perfd at `address`; a token is needed where that one is not open.

    Raises BadInputError for what the site refuses (with its sentence), and PerfdError where it does not answer.
    """

    def __init__(self, address: str, token: str = "", timeout_s: float = 30.0) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=address.rstrip("/"), headers=headers, timeout=timeout_s)
        self._kept: dict[str, tuple[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Its connections are closed."""
        self._http.close()

    def series(self, **parts: str) -> Iterator[Series]:
        """Every Series that matches these parts of its key (subject, metric, workload, model, device, verdict …)."""
        named = {name.rstrip("_"): value for name, value in parts.items()}  # class_ for class
        return (series_of(row) for row in self._every("/api/v1/series", "series", named))

    def points(self, series: int, start: int = 0, stop: int | None = None, most: int = 20_000) -> Points:
        """Points of one Series, from place `start` up to `stop`; of more than `most`, the extremes of every stretch."""
        window = {"start": start, "most": most} | ({} if stop is None else {"stop": stop})
        return points_of(self.get(f"/api/v1/series/{series}", window))

    def latest(self, **parts: str) -> Mapping[str, list[Any]]:
        """The last value of every Series that matches, in columns."""
        found: dict[str, list[Any]] = self.get("/api/v1/latest", {name.rstrip("_"): value for name, value in parts.items()})
        return found

    def compare(self, base: str, head: str, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Two days, nights or Builds Series by Series."""
        return self._every("/api/v1/compare", "series", {"base": base, "head": head, **parts})

    def runs(self, offset: int = 0, limit: int = 100, **parts: str) -> Page:
        """Runs, the one that was planned last first."""
        found = self.get("/api/v1/runs", {"offset": offset, "limit": limit, **parts})
        return Page(found["total"], found["runs"])

    def run(self, key: str | int) -> Mapping[str, Any]:
        """One Run, by its key or its number, with its raw Samples, and how it is measured again."""
        return self._one(f"/api/v1/runs/{key}")

    def reproduce(self, key: str | int) -> Mapping[str, Any]:
        """The one command that measures the Run again, and all that its numbers depend on."""
        return self._one(f"/api/v1/runs/{key}/reproduce")

    def build(self, digest: str) -> Mapping[str, Any]:
        """One Build with its ingredients and its Runs."""
        return self._one(f"/api/v1/builds/{digest}")

    def regressions(self, *, only_open: bool = False, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Regressions (of that `subject`, `owner`, `state`) with their members and events, oldest first."""
        return self._every("/api/v1/regressions", "regressions", {"only_open": str(only_open).lower(), **parts})

    def regression(self, number: int) -> Mapping[str, Any]:
        """One Regression with its due day, the commits of its range and its bisections."""
        return self._one(f"/api/v1/regressions/{number}")

    def kernels(self, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Numbers of Kernels (of that `kernel`, `section`, `column`, `metric`)."""
        return self._every("/api/v1/kernels", "kernels", parts)

    def launches(self, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Launches (of that `model`, `engine`) with their whole reports, the newest first."""
        return self._every("/api/v1/launches", "launches", parts)

    def launch(self, number: int) -> Mapping[str, Any]:
        """One Launch with its whole report."""
        return self._one(f"/api/v1/launches/{number}")

    def devices(self, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Devices (of that `host`, `device_class`, `state`) and how they stand."""
        return self._every("/api/v1/devices", "devices", parts)

    def device(self, number: int) -> Mapping[str, Any]:
        """One device with its quarantines and its last Runs."""
        return self._one(f"/api/v1/devices/{number}")

    def nights(self, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Nights (in that `state`) with their Runs by state, the newest first."""
        return self._every("/api/v1/nights", "nights", parts)

    def comparisons(self, **parts: str) -> Iterator[Mapping[str, Any]]:
        """Comparisons in interleaved blocks (in that `state`, with that `outcome`), the newest first."""
        return self._every("/api/v1/comparisons", "comparisons", parts)

    def comparison(self, name: str) -> Mapping[str, Any]:
        """How far one comparison is, and its report once there is one."""
        return self._one(f"/api/v1/comparisons/{quote(name, safe='')}")

    def formula(self, *formulas: str) -> Sequence[Mapping[str, Any]]:
        """Formulas over Series, such as `s12 / s7`, day by day."""
        found: list[Mapping[str, Any]] = self.get("/api/v1/formulas", {"f": list(formulas)})["formulas"]
        return found

    def spans(self) -> Sequence[Mapping[str, Any]]:
        """What came of last night, of seven and of thirty days."""
        found: list[Mapping[str, Any]] = self.get("/api/v1/spans")["spans"]
        return found

    def report(self, week: str = "") -> Mapping[str, Any]:
        """The report of a week (2026-W11), of the last complete one where none is named."""
        return self._one("/api/v1/report", {"week": week})

    def status(self) -> Mapping[str, Any]:
        """What is late, last night, next night, queue, outbox, workers."""
        return self._one("/api/v1/status")

    def false_alarms(self) -> Mapping[str, Any]:
        """How often perfd was wrong in the last thirty days."""
        return self._one("/api/v1/false-alarms")

    def send(self, results: Results, key: str = "") -> Sent:
        """The Run stands there, or stood there. Its `run` names subject, revision and workload; the same key twice is once."""
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
        answer = self._ask("POST", "/api/v1/results", content=files.dump(results).encode(), headers=headers).json()
        return Sent(answer["run"], answer["written"] == "stored")

    def table(self, address: str, form: str = "csv") -> bytes:
        """A page's table as a file: `table("/series/7")`, `table("/status/workers")`, `table("/kernels", "parquet")`."""
        path, mark, query = address.partition("?")
        return self._ask("GET", f"{path}.{form}{mark}{query}").content

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON at that address; one that has not changed since it was last asked for is not sent again."""
        address = str(self._http.build_request("GET", path, params=query).url)
        tag, before = self._kept.get(address, ("", None))
        answer = self._ask("GET", path, params=query, headers={"If-None-Match": tag} if tag else {})
        if answer.status_code == httpx.codes.NOT_MODIFIED:
            return before
        told = answer.json()
        if "etag" in answer.headers:
            self._kept[address] = (answer.headers["etag"], told)
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return told

    def _one(self, path: str, query: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        found: dict[str, Any] = self.get(path, query)
        return found

    def _every(self, path: str, name: str, query: Mapping[str, Any]) -> Iterator[Any]:
        offset = 0
        while True:
            rows = self.get(path, {**query, "offset": offset, "limit": PAGE})[name]
            yield from rows
            offset += len(rows)
            if len(rows) < PAGE:
                return

    def _ask(self, method: str, path: str, **words: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **words)
        except httpx.HTTPError as error:
            raise PerfdError(f"{self._http.base_url} does not answer: {error or type(error).__name__}", permanent=False) from None
        if answer.status_code >= 500 or answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
            raise PerfdError(f"{self._http.base_url}: {_said(answer)}", permanent=False)
        if answer.status_code >= 400:
            raise BadInputError(f"{self._http.base_url}: {_said(answer)}")
        return answer


def _said(answer: httpx.Response) -> str:
    """The site's sentence, or its status where something else stands between."""
    try:
        told = answer.json()
        return f"{told['error']} ({told['remedy']})"
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code}"
