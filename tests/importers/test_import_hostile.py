"""What cannot be read is refused in one sentence with the file, the place and the reason."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from import_words import AT, data_js, folder, taken

from perfd.errors import BadInputError
from perfd.importers import FORMATS, Given, Source, read

DEEP = "[" * 100_000 + "]" * 100_000
CASES = [
    ("github-action-benchmark", "window.BENCHMARK_DATA = alert(1)", r"results.file: line 1: not JSON"),
    ("github-action-benchmark", "fetch('x')", r"line 1: expected window.BENCHMARK_DATA"),
    ("github-action-benchmark", data_js().replace("100.0", "NaN", 1), r"NaN is not a number in JSON"),
    ("github-action-benchmark", data_js().replace("100.0", "1e999", 1), r"benches\[0\].value: expected a finite number"),
    ("github-action-benchmark", data_js().replace("100.0", '"fast"', 1), r"benches\[0\].value: expected a number, saw 'fast'"),
    ("github-action-benchmark", data_js().replace("1767225600000", "-9", 1), r"date: expected a time from 2000 on"),
    ("pytest-benchmark", '{"machine_info": {}, "benchmarks": [{"name": "a", "stats": {"median": true, "rounds": 1}}]}',
     "median: expected a number"),
    ("hyperfine", DEEP, "nested"),
    ("hyperfine", '{"results": []}', "there is no benchmark in it"),
    ("hyperfine", '{"results": [{"command": "a", "times": [1]}, {"command": "a", "times": [1]}]}',
     "'a' of abc123 stands there twice"),
    ("hyperfine", json.dumps({"results": [{"command": "x" * 500, "times": [1]}]}), "a name of 500 characters"),
    ("hyperfine", '{"results": [{"command": "a", "times": [' + "9" * 5000 + "]}]}", "too long"),
    ("bencher", '{"a": {"speed": {"value": 1}}}',
     r"\$.a.speed: which way is better is not known of 'speed'; say --better speed=lower"),
    ("go", "BenchmarkX-8 100 325 ns/op 7\n", "line 1: expected pairs of VALUE UNIT"),
    ("go", "BenchmarkX-8 100 nan ns/op\n", "line 1: expected a finite number"),
    ("llama-bench", "| model | test | t/s |\n| - | - | - |\n| m | pp | fast |\n", "line 3: expected a row"),
    ("vllm", '{"model_id": "m", "date": "yesterday", "median_ttft_ms": 1}', r"\$.date: expected a time such as"),
    ("sglang", '{"median_ttft_ms": 1}\n{"median_ttft_ms": {}}', r"line 2: \$.median_ttft_ms: expected a number"),
    ("guidellm", '{"benchmarks": [{"metrics": {}}]}', r"benchmarks\[0\].metrics: none of"),
    ("auto", "hello", "none of the formats"),
    ("aiperf", "Metric,avg\n" + "x" * 200_000, "line 2: not CSV"),
    ("go", "BenchmarkX 1 " + " " * 10_000_000, "line 1: 10,000,013 characters"),
    ("go", "BenchmarkX 1 " + " ".join(f"1 unit{place}" for place in range(501)), "a benchmark with 501 Metrics|characters"),
    ("github-action-benchmark", data_js(unit="-" * 900_000), "a unit of 900,000 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "reason"), CASES, ids=range(len(CASES)))
def test_a_bad_file_is_refused_with_its_place(name: str, text: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        taken(name, text)


def test_a_file_that_is_no_text_is_refused_with_its_byte() -> None:
    with pytest.raises(BadInputError, match=r"results\.file: is not UTF-8 at byte 2"):
        read("auto", Source("results.file", b"{}\xff"), Given(AT))


def test_what_was_measured_must_be_named() -> None:
    with pytest.raises(BadInputError, match="--revision REVISION"):
        taken("go", "BenchmarkX 1 2 ns/op\n", revision="")
    with pytest.raises(BadInputError, match="--subject NAME"):
        taken("go", "BenchmarkX 1 2 ns/op\n", subject="")


def test_a_bad_file_in_a_folder_is_named() -> None:
    with pytest.raises(BadInputError, match=r"results: box/c.json: \$.results.b.result: expected a list|box/c.json"):
        folder({"benchmarks.json": {}, "box/c.json": {"commit_hash": "c", "date": 1389469815000, "results": {"b": "fast"}}})


NAMES = st.sampled_from(["results", "benchmarks", "stats", "metrics", "value", "entries", "a"]) | st.text(max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def said_of(name: str, text: str) -> str:
    """Why the text is refused; "" where it is taken."""
    try:
        taken(name, text)
    except BadInputError as error:
        return error.message
    return ""


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_no_document_is_answered_by_a_traceback(document: object) -> None:
    text = json.dumps(document)
    said = [said_of(name, shown) for name in FORMATS for shown in (text, f"window.BENCHMARK_DATA = {text}")]

    assert [] == [one for one in said if one and not one.startswith("results.file: ")]


TEXTS = (
    "",
    "Metric,avg\n",
    "build_commit,avg_ts\n",
    "BenchmarkX 1 ",
    "Benchmark Time CPU Iterations\n",
    "| model | test | t/s |\n",
    "[",
    "{",
)
STARTS = st.sampled_from(TEXTS)


@settings(max_examples=60, deadline=None)
@given(STARTS, st.text(max_size=60))
def test_no_text_is_answered_by_a_traceback(start: str, rest: str) -> None:
    said = [said_of(name, start + rest.encode("utf-8", "replace").decode()) for name in (*FORMATS, "auto")]

    assert [] == [one for one in said if one and not one.startswith("results.file: ")]
