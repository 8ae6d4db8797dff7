"""A results file that an attacker wrote: refused with a sentence, soon, and without taking the reader's memory."""

import json
import os
import resource
import time
from pathlib import Path

import pytest

from perfd.domain import results as results_file
from perfd.domain.results import MOST_BYTES
from perfd.errors import BadInputError

HONEST = {
    "format": "perfd.results/1",
    "state": "done",
    "samples": [{"name": "ttft_s", "unit": "s", "better": "lower", "values": [0.1, 0.2]}],
    "started_at": "2026-01-01T00:00:00+00:00",
    "finished_at": "2026-01-01T00:01:00+00:00",
    "environment": None,
}


def with_values(values: str) -> str:
    return json.dumps(HONEST).replace("[0.1, 0.2]", values)


def with_extra(extra: str) -> str:
    return json.dumps({**HONEST, "extra": {"x": "HERE"}}).replace('"HERE"', extra)


def test_an_honest_file_is_read() -> None:
    assert (0.1, 0.2) == results_file.parse(json.dumps(HONEST)).samples[0].values


def test_a_file_of_a_gigabyte_is_refused_unread(tmp_path: Path) -> None:
    """Sparse: it takes no disk, and would take the memory of whoever reads it."""
    path = tmp_path / "results.json"
    path.touch()
    os.truncate(path, 1 << 30)
    before_kb, start_s = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(BadInputError, match=f"has 1,073,741,824 bytes, and at most {MOST_BYTES:,} are read"):
        results_file.read(path)

    assert time.monotonic() - start_s < 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 64_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (with_values("[NaN]"), "NaN is not a number in JSON"),
        (with_values("[Infinity]"), "Infinity is not a number in JSON"),
        (with_values("[-Infinity]"), "-Infinity is not a number in JSON"),
        (with_values("[1e999]"), "every value is a finite number"),
        (with_values("[1.0, -1e300]"), r"-1e\+300 is beyond 1e\+100"),
        (with_values("[" + "9" * 400 + "]"), "larger than any floating-point number"),
        (with_values("[" + "9" * 5000 + "]"), "a number in the document is too long"),
        (with_values("[true]"), "expected a number"),
        (with_values('["0.1"]'), "expected a number"),
        (with_values("[[0.1]]"), "expected a number"),
        (with_extra("1e999"), "larger than any floating-point number"),
        (with_extra("9" * 30), "a whole number is beyond"),
        (with_extra("-" + "9" * 30), "a whole number is beyond"),
        (with_extra("[" * 40 + "]" * 40), "nested more than 32 levels deep"),
        (with_extra("[" * 200_000 + "]" * 200_000), "nested too deeply"),
        (with_extra('{"a":' * 40 + "1" + "}" * 40), "nested more than 32 levels deep"),
        (with_extra("[" + "[]," * 1_000_001 + "[]]"), "lists and objects, and at most 1,000,000 are read"),
        (with_extra('"' + "x" * 1_000_001 + '"'), "a text has 1,000,001 characters"),
        (with_extra('{"' + "x" * 1_000_001 + '": 1}'), "a text has 1,000,001 characters"),
        (
            json.dumps({**HONEST, "samples": [{"name": "x" * 201, "unit": "s", "better": "lower", "values": []}]}),
            "201 characters",
        ),
        (json.dumps({**HONEST, "samples": HONEST["samples"] * 2}), "stands there twice"),  # type: ignore[operator]
        (json.dumps({**HONEST, "admin": True}), "expected only the fields"),
        (json.dumps({**HONEST, "state": "queued"}), "are done, failed or void"),
        (json.dumps([HONEST]), "expected an object"),
        ("", "not JSON"),
        ("\ufeff{}", "not JSON"),
    ],
    ids=lambda value: value[:0] if len(value) > 60 else value,
)
def test_what_nobody_measures_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        results_file.parse(text)


def test_a_million_metrics_are_refused_soon() -> None:
    one = '{"name":"m%d","unit":"s","better":"lower","values":[1]}'
    text = json.dumps({**HONEST, "samples": "HERE"}).replace('"HERE"', f"[{','.join(one % n for n in range(1_000_000))}]")
    start_s = time.monotonic()
    with pytest.raises(BadInputError, match="lists and objects, and at most"):
        results_file.parse(text)

    assert time.monotonic() - start_s < 2


def test_six_hundred_metrics_are_too_many_too() -> None:
    samples = [{"name": f"m{n}", "unit": "s", "better": "lower", "values": [1]} for n in range(600)]
    with pytest.raises(BadInputError, match="600 Metrics, and at most 500 are read"):
        results_file.parse(json.dumps({**HONEST, "samples": samples}))


def test_six_million_values_are_too_many() -> None:
    with pytest.raises(BadInputError, match="commas, and at most 6,000,000 are read"):
        results_file.parse(with_values("[" + "1," * 6_100_000 + "1]"))


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_bytes(b'{"format": "\xff"}')
    with pytest.raises(BadInputError, match="is not UTF-8 at byte 12"):
        results_file.read(path)
