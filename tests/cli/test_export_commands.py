"""`perfd export` writes what was imported, in every form."""

import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from perfd.cli import main

HYPERFINE = {"results": [{"command": "=cmd", "mean": 1.5, "times": [1.0, 2.0]}]}


def perfd(database_url: str, *words: str) -> Result:
    done = CliRunner(env={"PERFD_DATABASE_URL": database_url}).invoke(main, list(words), catch_exceptions=False)
    assert done.exit_code in {0, 3}, done.output
    return done


@pytest.fixture
def imported(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "h.json"
    file.write_text(json.dumps(HYPERFINE))
    perfd(database_url, "import", "hyperfine", str(file), "--engine", "tool", "--revision", "abc")
    return database_url


def test_what_was_imported_is_exported_in_every_form(imported: str, tmp_path: Path) -> None:
    told = list(csv.DictReader(io.StringIO(perfd(imported, "export", "series").stdout)))
    document = json.loads(perfd(imported, "export", "points", "--json").stdout)
    perfd(imported, "export", "points", "--output", str(tmp_path / "p.parquet"))

    assert [("tool", "'=cmd", "1.5")] == [(row["subject"], row["workload"], row["value"]) for row in told]
    assert document["rows"][0]["revision"] == "abc" == pq.read_table(tmp_path / "p.parquet").to_pylist()[0]["revision"]
    samples = json.loads(perfd(imported, "export", "samples", "--run", document["rows"][0]["run"], "--json").stdout)
    assert [1.0, 2.0] == [row["value"] for row in samples["rows"]]
    runs = json.loads(perfd(imported, "export", "runs", "--build", document["rows"][0]["build"], "--json").stdout)
    assert ["done"] == [row["state"] for row in runs["rows"]]
    for name, many in (("regressions", 0), ("comparisons", 0), ("devices", 1), ("kernels", 0), ("nights", 0)):
        assert (name, many) == (name, len(json.loads(perfd(imported, "export", name, "--json").stdout)["rows"]))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("points", "--form", "parquet"), "--output FILE.parquet"),
        (("samples",), "name them with --run KEY"),
        (("runs", "--build", "x"), "--build DIGEST"),
        (("compare", "--base", "2026-01-01"), "needs --base and --head"),
        (("compare", "--base", "nothing", "--head", "nothing"), "nothing was measured under the name 'nothing'"),
    ],
)
def test_what_cannot_be_exported_is_told(imported: str, words: tuple[str, ...], sentence: str) -> None:
    done = perfd(imported, "export", *words)

    assert (3, True) == (done.exit_code, sentence in done.stderr)
