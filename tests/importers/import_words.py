"""Short ways to read a text as an imported file, and small files of formats."""

import json
from datetime import UTC, datetime
from typing import Any

from perfd.domain.arrival import Arrival
from perfd.importers import Given, Source, read

AT = datetime(2026, 11, 29, 6, tzinfo=UTC)


def taken(format_name: str, text: str | dict[str, Any] | list[Any], **words: Any) -> tuple[Arrival, ...]:
    """The Arrivals of a file that holds this."""
    told = text if isinstance(text, str) else json.dumps(text)
    given = {"subject": "engine", "revision": "abc123"} | words
    return read(format_name, Source("results.file", told.encode()), Given(AT, **given))


def folder(files: dict[str, Any], **words: Any) -> tuple[Arrival, ...]:
    """The Arrivals of asv's folder with these files."""
    inside = {path: (one if isinstance(one, str) else json.dumps(one)).encode() for path, one in files.items()}
    return read("asv", Source("results", b"", inside), Given(AT, **({"subject": "engine"} | words)))


def values(arrival: Arrival) -> dict[str, tuple[float, ...]]:
    """By Metric, the Samples."""
    return {one.name: one.values for one in arrival.results.samples}


def data_js(commits: int = 3, *, first: int = 0, value: float = 100.0, unit: str = "ns/iter", tool: str = "cargo") -> str:
    """A history in data.js, a commit an hour."""
    entries = [
        {
            "commit": {
                "id": f"{place:040x}",
                "message": f"Commit {place}\n\nbody",
                "timestamp": f"2026-01-{1 + place // 24:02d}T{place % 24:02d}:00:00Z",
            },
            "date": 1767225600000 + place * 3600_000,
            "tool": tool,
            "benches": [{"name": "decode", "value": value + place % 3, "range": "± 5", "unit": unit}],
        }
        for place in range(first, first + commits)
    ]
    document = {"lastUpdate": 1, "repoUrl": "https://forge.example/owner/engine", "entries": {"Benchmark": entries}}
    return f"window.BENCHMARK_DATA = {json.dumps(document, indent=1)}\n"
