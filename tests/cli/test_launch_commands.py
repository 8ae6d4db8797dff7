"""`perfd launch` as people and programs use it: answers, sentences, exit codes."""

import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from perfd.cli import main
from perfd.cli.group import Commands
from perfd.config import load_config
from perfd.domain.launch import ModelLaunch
from perfd.errors import BadInputError
from perfd.stages.context import Context
from perfd.stages.launching import declare
from perfd.store import Store, make_engine

sys.path += [str(Path(__file__).parents[1] / folder) for folder in ("stages", "store")]
from launch_world import SPEED, Heard, git

CONFIG = """
[kernels]
enabled = false

[[models]]
name = "m3"
file = "weights"
sha256 = "{sha256}"
quantisation = "none"
licence = "ours"

[[engines]]
name = "tiny"
recipe = "script"
source = {{ kind = "git", location = "engine" }}
models = ["m3"]
suites = ["speed"]
launch = {{ command = ["{{python}}", "{{artifact}}/engine.py", "--port", "{{port}}"], dialect = "llamacpp" }}
"""
SOON = (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%dT%H:%MZ")


@dataclass
class Shell:
    """Commands in a folder with a configuration and a database."""

    folder: Path
    database_url: str
    captured: pytest.CaptureFixture[str]

    def run(self, *words: str) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        with pytest.raises(SystemExit) as left:
            main.main(list(words))
        out, err = self.captured.readouterr()
        return int(left.value.code or 0), out, err

    def asked(self, *words: str) -> tuple[int, Any]:
        """Exit code and JSON answer."""
        code, out, err = self.run(*words, "--json")
        return code, json.loads(out or "null") if code < 3 else err


@pytest.fixture
def shell(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    (tmp_path / "engine").mkdir()
    git(tmp_path / "engine", "init", "--quiet", "--initial-branch", "main")
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "speed.toml").write_text(SPEED.format(nightly="true", name="chat", kind="chat"), encoding="utf-8")
    (tmp_path / "weights").write_bytes(b"weights")
    (tmp_path / "perfd.toml").write_text(CONFIG.format(sha256=sha256(b"weights").hexdigest()), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERFD_DATABASE_URL", database_url)
    monkeypatch.setenv("PERFD_STATE", str(tmp_path / "state"))
    return Shell(tmp_path, database_url, capsys)


def test_a_launch_is_declared_listed_and_declared_again_without_effect(shell: Shell) -> None:
    code, answered = shell.asked("launch", "add", "m3", "--engine", "tiny", "--at", SOON, "--days", "7,0")
    assert (0, "new", [0, 7]) == (code, answered["done"], [day["day"] for day in answered["days"]])
    code, answered = shell.asked("launch", "add", "m3", "--engine", "tiny", "--at", SOON, "--days", "0,7")
    assert (0, "as it was") == (code, answered["done"])
    code, listed = shell.asked("launch", "list")
    assert (0, ["to come", "to come"]) == (code, [day["state"] for day in listed["launches"][0]["days"]])
    code, out, _ = shell.run("launch", "list")
    assert "m3 on tiny" in out


def test_a_launch_of_the_file_is_listed_before_any_clock_has_seen_it(shell: Shell) -> None:
    file = shell.folder / "perfd.toml"
    declared = f'[[launches]]\nmodel = "m3"\nengine = "tiny"\nat = "{SOON}"\ndays = [0, 30]\n'
    file.write_text(file.read_text(encoding="utf-8") + declared, encoding="utf-8")

    code, listed = shell.asked("launch", "list")
    assert (0, [0, 30]) == (code, [day["day"] for day in listed["launches"][0]["days"]])
    assert (0, {"dropped": 2}) == shell.asked("launch", "drop", "m3", "--engine", "tiny")
    assert ["not owed"] * 2 == [day["state"] for day in shell.asked("launch", "list")[1]["launches"][0]["days"]]


def test_a_launch_that_was_called_off_is_owed_no_more_and_may_come_back(shell: Shell) -> None:
    words = ("launch", "add", "m3", "--engine", "tiny", "--at", SOON)
    shell.run(*words)
    assert (0, {"dropped": 3}) == shell.asked("launch", "drop", "m3", "--engine", "tiny")
    assert ["not owed"] * 3 == [day["state"] for day in shell.asked("launch", "list")[1]["launches"][0]["days"]]
    assert (0, {"dropped": 0}) == shell.asked("launch", "drop", "m3", "--engine", "tiny")
    assert "changed" == shell.asked(*words)[1]["done"]
    assert ["to come"] * 3 == [day["state"] for day in shell.asked("launch", "list")[1]["launches"][0]["days"]]
    assert "there is no launch of 'm4' on 'tiny'" in shell.run("launch", "drop", "m4", "--engine", "tiny")[2]


def test_without_launches_the_commands_say_how_to_declare_one(shell: Shell) -> None:
    assert (0, {"launches": []}) == shell.asked("launch", "list")
    assert "perfd launch add MODEL --engine E --at TIME" in shell.run("launch", "list")[1]
    assert "perfd launch add MODEL --engine E --at TIME" in shell.run("launch", "report")[1]
    assert (0, {"checkpoints": []}) == shell.asked("launch", "run")
    assert (0, {"todo": []}) == shell.asked("launch", "todo", "list")


REFUSED = {
    ("m3", "--engine", "tiny", "--at", "2026-12-01T09:00"): "has no zone",
    ("m3", "--engine", "tiny", "--at", "tomorrow"): "is no time",
    ("m3", "--engine", "tiny", "--at", "2020-01-01T09:00Z"): "was due before now",
    ("m3", "--engine", "tiny", "--at", SOON, "--days", "0,7,7"): "day 7 is there twice",
    ("m3", "--engine", "tiny", "--at", SOON, "--days", "0,x"): "no list of whole numbers",
    ("m3", "--engine", "tiny", "--at", SOON, "--days", ",".join(map(str, range(60)))): "at most 50 days",
    ("m3", "--engine", "tiny", "--at", SOON, "--days", "99999"): "none farther away than 3650",
    ("m3", "--engine", "tiny", "--at", SOON, "--days", "-1,0"): 'the model "m3" has none',
    ("m3", "--engine", "tiny", "--at", "9999-12-30T00:00Z"): "outside the calendar",
    ("m3", "--engine", "tiny", "--at", "0001-01-01T00:00Z", "--days", "-1"): "outside the calendar",
    ("m4", "--engine", "tiny", "--at", SOON): "there is no model 'm4'",
    ("m3", "--engine", "huge", "--at", SOON): "there is no engine 'huge'",
    ("m3", "--engine", "tiny", "--at", SOON, "--suite", "none"): "there is no suite 'none'",
}


def test_bad_input_gets_one_sentence_and_exit_code_3(shell: Shell) -> None:
    for words, told in REFUSED.items():
        code, out, err = shell.run("launch", "add", *words)

        assert (3, "", 1) == (code, out, len(err.strip().splitlines())), words
        assert told in err
    assert (0, {"launches": []}) == shell.asked("launch", "list")


def test_a_missed_checkpoint_ends_list_and_report_with_exit_code_2(shell: Shell) -> None:
    engine = make_engine(shell.database_url)
    context = Context(load_config(Path("perfd.toml"), os.environ), Store(engine), Heard(), "w", now=_last_week)
    declare(context, ModelLaunch("m3", "tiny", _last_week() + timedelta(days=1), (0,)))
    engine.dispose()

    code, out, _ = shell.run("launch", "list")
    assert (2, True) == (code, "has not begun: is the clock of `perfd serve` running?" in out)
    code, answered = shell.asked("launch", "report", "m3")
    assert (2, "missed") == (code, answered["launches"][0]["days"][0]["state"])


def _last_week() -> datetime:
    return datetime.now(UTC) - timedelta(days=7)


def test_the_list_of_what_is_left_is_worked_by_number(shell: Shell) -> None:
    shell.run("launch", "add", "m3", "--engine", "tiny", "--at", SOON)
    code, added = shell.asked("launch", "todo", "add", "m3", "Page the KV cache", "--area", "kv cache")
    assert (code, added) == shell.asked("launch", "todo", "add", "m3", "Page  the KV cache")
    number = str(added["number"])

    assert "say who with --owner" in shell.run("launch", "todo", "move", number, "doing")[2]
    code, moved = shell.asked("launch", "todo", "move", number, "doing", "--owner", "ada")
    assert (0, "doing", "ada") == (code, moved["state"], moved["owner"])
    assert "there is no Change 4" in shell.run("launch", "todo", "move", number, "--change", "4")[2]
    assert "there is no comparison 'x'" in shell.run("launch", "todo", "move", number, "--comparison", "x")[2]
    assert "nothing is to be moved" in shell.run("launch", "todo", "move", number)[2]
    assert "there is no optimisation 99" in shell.run("launch", "todo", "move", "99", "done")[2]
    shell.run("launch", "todo", "move", number, "dropped", "--note", "no longer needed")
    assert {"todo": []} == shell.asked("launch", "todo", "list", "--open")[1]
    assert "no longer needed" == shell.asked("launch", "todo", "list", "m3")[1]["todo"][0]["note"]
    assert "there is no launch of 'm9'" in shell.run("launch", "todo", "add", "m9", "Anything")[2]


def test_a_hostile_title_is_shown_as_it_is_and_does_nothing_to_the_terminal(shell: Shell) -> None:
    shell.run("launch", "add", "m3", "--engine", "tiny", "--at", SOON)
    shell.run("launch", "todo", "add", "m3", "[/x] \x1b[31m \u202eevil", "--area", ":smile:", "--owner", "[/]")

    for words in (("launch", "todo", "list"), ("launch", "report")):
        code, out, err = shell.run(*words)

        assert code < 3, err
        assert r"[/x] \x1b[31m \u202eevil" in out
        assert ":smile:" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("launch", "todo", "add", "m3", "x" * 100_000), "an optimisation has a name of 100000 characters"),
        (("launch", "todo", "add", "m3", "x", "--area", "x" * 100_000), "its area has a name of 100000 characters"),
        (("launch", "todo", "move", "99999999999999999999", "done"), "is not in the range"),
        (("launch", "add", "m3", "--engine", "tiny", "--at", SOON, "--compare-minutes", "nan"), "nan is no number of minutes"),
        (("bisect", "1", "2", "--budget-minutes", "inf"), "inf is no number of minutes"),
        (("bisect", "1", "2", "--budget-builds", "9999999999"), "is not in the range"),
        (("bisect", "1", "2", "--once"), "--once works on what is open already"),
        (("bisect", "--regression", "99999999999999999999"), "is not in the range"),
    ],
)
def test_what_the_database_cannot_hold_is_one_sentence(shell: Shell, words: tuple[str, ...], sentence: str) -> None:
    shell.run("launch", "add", "m3", "--engine", "tiny", "--at", SOON)

    code, _, err = shell.run(*words)

    assert code == 3
    assert sentence in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "words", [("device", "quarantine", "cpu"), ("device", "release", "cpu"), ("regression", "move", "1", "noise")]
)
def test_a_reason_says_something(shell: Shell, words: tuple[str, ...]) -> None:
    code, _, err = shell.run(*words, "--reason", "  ")

    assert (3, True) == (code, "it is empty; say why in a sentence" in err)


@pytest.mark.parametrize(
    ("since", "sentence"),
    [
        ("0001-01-01T00:00+14:00", "must be a time such as"),
        ("9999-12-31T23:59-12:00", "must be a time such as"),
        ("9999-01-01", "is to come"),
    ],
)
def test_a_device_is_distrusted_since_a_time_that_was(shell: Shell, since: str, sentence: str) -> None:
    code, _, err = shell.run("device", "quarantine", "cpu", "--reason", "hot", "--since", since)

    assert (3, True) == (code, sentence in err), err


def test_a_sentence_about_a_hostile_name_does_nothing_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    group = Commands("hostile")

    @group.command("fails")
    def fails() -> None:
        raise BadInputError("\x1b]0;owned\x07 and \u202e back")

    with pytest.raises(SystemExit):
        group.main(["fails"])

    assert "perfd: \\x1b]0;owned\\x07 and \\u202e back\n" == capsys.readouterr().err
