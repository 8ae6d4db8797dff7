"""Files become Runs, Points and Verdicts: whole or not at all, once, in the order of their commits."""

import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from import_words import AT, data_js, taken

from perfd.cli import main
from perfd.domain.arrival import Arrival
from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind
from perfd.errors import BadInputError
from perfd.importers import Given, Source, read
from perfd.rules.arrivals import points_of
from perfd.store import Store, make_engine
from perfd.store.records import Written

HISTORY = Path(__file__).parents[3] / "shared/data/history"
"""Real files of other projects, which are no part of this one."""
needs_history = pytest.mark.skipif(not HISTORY.exists(), reason="the real histories are not beside this checkout")


def put(store: Store, arrivals: tuple[Arrival, ...]) -> list[Written]:
    return [one.written for one in store.arrivals.take_all(arrivals, [points_of(one) for one in arrivals], AT)]


def imported(text: str) -> tuple[Arrival, ...]:
    return taken("github-action-benchmark", text, revision="")


def revisions(store: Store) -> list[str]:
    (row,) = store.pages.series_rows()
    return [one.revision[-2:] for one in store.judgements.history(row.info.id)]


def test_a_file_is_taken_once(store: Store) -> None:
    assert [Written.STORED] * 3 == put(store, imported(data_js()))
    assert [Written.ALREADY] * 3 == put(store, imported(data_js()))

    (row,) = store.pages.series_rows()
    (first, *_), last = store.judgements.history(row.info.id), row.latest.point
    assert (95e-9, 105e-9) == pytest.approx(first.interval)
    assert (102e-9, f"{2:040x}") == (pytest.approx(last.value), last.revision)


def test_what_another_tool_measured_makes_no_device_busy(store: Store) -> None:
    put(store, imported(data_js()))

    assert () == store.usage.devices(datetime(2026, 1, 1, tzinfo=UTC), AT + timedelta(hours=1))


def test_a_history_that_has_grown_adds_only_what_is_new(store: Store) -> None:
    put(store, imported(data_js(3)))

    assert [Written.ALREADY] * 3 + [Written.STORED] * 2 == put(store, imported(data_js(5)))
    assert ["00", "01", "02", "03", "04"] == revisions(store)


def test_older_commits_that_come_later_stand_before_the_others(store: Store) -> None:
    put(store, imported(data_js(2, first=2)))
    put(store, imported(data_js(2, first=0)))

    assert 2 == len(store.occasions.every_in_state(OccasionState.PLANNED))  # both ends wait for the judge
    assert ["00", "01", "02", "03"] == revisions(store)


def test_another_value_under_the_same_key_is_refused_and_changes_nothing(store: Store) -> None:
    put(store, imported(data_js(2)))

    assert [Written.REFUSED] * 2 == put(store, imported(data_js(2, value=500.0)))
    (row,) = store.pages.series_rows()
    assert 101e-9 == pytest.approx(row.latest.point.value)


def test_results_without_a_date_are_known_by_their_content(store: Store) -> None:
    text = json.dumps({"results": [{"command": "a", "mean": 1.0, "times": [1.0, 2.0, 3.0]}]})
    source = Source("h.json", text.encode())
    given = Given(AT, subject="engine", revision="abc")

    assert [Written.STORED] == put(store, read("hyperfine", source, given))
    later = replace(given, at=AT.replace(hour=9))
    assert [Written.ALREADY] == put(store, read("hyperfine", source, later))


def test_nothing_of_a_file_is_written_where_one_of_its_runs_cannot_be(store: Store) -> None:
    good, bad = imported(data_js(2))
    samples = (replace(bad.results.samples[0], unit="parsecs"),)

    with pytest.raises(BadInputError, match="parsecs"):
        put(store, (good, replace(bad, results=replace(bad.results, samples=samples))))
    assert () == store.pages.series_rows()
    assert store.occasions.last(OccasionKind.IMPORT) is None


def test_only_the_end_of_a_history_waits_for_the_judge(store: Store) -> None:
    put(store, imported(data_js(30)))

    assert 1 == len(store.occasions.every_in_state(OccasionState.PLANNED))


def perfd_import(folder: Path, database_url: str, *words: str) -> dict[str, object]:
    environment = {"PERFD_DATABASE_URL": database_url, "PERFD_STATE": str(folder / "state")}
    done = CliRunner(env=environment).invoke(main, ["import", *words, "--json"], catch_exceptions=False)
    assert 0 == done.exit_code, done.output
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_an_imported_history_is_judged(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    history = json.loads(data_js(40).removeprefix("window.BENCHMARK_DATA = "))
    for place, entry in enumerate(history["entries"]["Benchmark"]):
        entry["benches"][0]["value"] *= 1.2 if place >= 25 else 1.0
    file = tmp_path / "data.js"
    file.write_text(f"window.BENCHMARK_DATA = {json.dumps(history)}")
    told = perfd_import(tmp_path, database_url, "auto", str(file))

    assert 1 == told["occasions_judged"]
    store = Store(make_engine(database_url))
    (row,) = store.pages.series_rows()
    changes = store.judgements.changes(row.info.id)
    store.engine.dispose()
    assert row.verdict is not None
    assert [f"{25:040x}"] == [one.revision for one in changes if one.worse]


@needs_history
def test_real_files_are_read_whole(store: Store) -> None:
    folder = HISTORY / "asv/pandera-asv-logs/results"
    inside = {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*.json")}
    given = Given(AT, subject="engine", revision="abc")
    counts = {
        "github-action-benchmark/mountpoint-s3-latency.data.js": 240,
        "pytest-benchmark/pytest_output.json": 2,
        "google-benchmark/googlecpp_output.json": 2,
        "bencher/json_report_bmf_mixed.json": 3,
        "bencher/shell_hyperfine_two.json": 2,
        "go-benchfmt/3b5eec9370-opt.20220116T213213.txt": 365,
        "github-action-benchmark/extract-go_fiber_output.txt": 6,
    }
    found = {name: len(read("auto", Source(name, (HISTORY / name).read_bytes()), given)) for name in counts}

    assert counts == found
    assert [Written.STORED] * 720 == put(store, read("asv", Source("asv", b"", inside), Given(AT, subject="pandera")))


@needs_history
def test_a_real_history_of_four_thousand_points_is_taken_in_seconds(store: Store) -> None:
    path = HISTORY / "github-action-benchmark/rune.data.js"
    arrivals = read("auto", Source(path.name, path.read_bytes()), Given(AT))
    began = time.monotonic()
    written = put(store, arrivals)

    assert [Written.STORED] * 4284 == written
    assert time.monotonic() - began < 60
    assert 4284 == sum(len(store.judgements.history(row.info.id)) for row in store.pages.series_rows())
    assert 410 == len({one.identity.revision for one in arrivals})  # 411 entries: one commit was measured twice
