import io
import json
import logging

import pytest
from rich.console import Console
from small_night import SmallNight

from perfd.cli.log import LogStyle, style
from perfd.cli.tell import Teller
from perfd.errors import BadInputError
from perfd.stages.about import about


def told(log: LogStyle) -> tuple[Teller, io.StringIO]:
    written = io.StringIO()
    return Teller(Console(file=written, highlight=False, soft_wrap=True), log), written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", LogStyle()),
        ("json", LogStyle(json=True)),
        ("Warning", LogStyle(level="warning")),
        ("json, error", LogStyle(json=True, level="error")),
        ("debug,text", LogStyle(level="debug")),
    ],
)
def test_perfd_log_names_a_form_and_a_level(text: str, expected: LogStyle) -> None:
    assert expected == style({"PERFD_LOG": text})


def test_an_unknown_word_is_told_with_the_known_ones() -> None:
    with pytest.raises(BadInputError, match=r'PERFD_LOG: "loud" is unknown; write text, json, and one of debug, info'):
        style({"PERFD_LOG": "loud"})


def test_a_line_of_json_says_when_who_and_about_what() -> None:
    teller, written = told(LogStyle(json=True))

    with teller, about(run="abc", occasion="night:x"):
        teller.say("measure", 'a "quoted" [red]line[/red]\nof two')

    (line,) = written.getvalue().splitlines()
    one = json.loads(line)
    assert ["time", "level", "stage", "worker", "run", "occasion", "message"] == list(one)
    assert ("info", "measure", "abc", "night:x") == (one["level"], one["stage"], one["run"], one["occasion"])
    assert 'a "quoted" [red]line[/red]\nof two' == one["message"]


def test_a_step_that_repeats_is_told_once_and_then_counted() -> None:
    teller, written = told(LogStyle())

    for _ in range(14):
        teller.steps("measure", 0, 3, "another perfd process measures; waiting for it")
    waiting = written.getvalue().splitlines()
    teller.say("measure", "chat-short is measured")

    assert ["measure  0/3 another perfd process measures; waiting for it"] == waiting
    assert [
        *waiting,
        "measure  0/3 another perfd process measures; waiting for it (14 times)",
        "measure  chat-short is measured",
    ] == written.getvalue().splitlines()


def test_what_a_thread_speaks_about_ends_with_its_block() -> None:
    teller, written = told(LogStyle(json=True))

    with about(run="abc"):
        pass
    teller.say("measure", "nothing in hand")

    assert "run" not in json.loads(written.getvalue())


def test_a_level_leaves_out_what_is_below_it() -> None:
    teller, written = told(LogStyle(level="warning"))

    teller.say("build", "fine")
    with about(level="warning"):
        teller.say("build", "not fine")

    assert "build    not fine\n" == written.getvalue()


def test_what_libraries_log_is_a_line_like_any_other() -> None:
    teller, written = told(LogStyle(json=True))

    with teller:
        fault = ZeroDivisionError("once")
        logging.getLogger("apscheduler.executors").error("a job raised", exc_info=fault)

    (line,) = written.getvalue().splitlines()
    one = json.loads(line)
    assert ("error", "apscheduler.executors") == (one["level"], one["stage"])
    assert "ZeroDivisionError: once" in one["message"]


def test_a_whole_night_and_its_last_word_are_json_without_a_secret(small_night: SmallNight) -> None:
    small_night.environment |= {
        "PERFD_LOG": "json,debug",
        "PERFD_NOTIFY_WEBHOOK_URL": "http://127.0.0.1:1/very-secret",
        "PERFD_SMTP_PASSWORD": "very-secret",
    }
    file = small_night.folder / "perfd.toml"
    file.write_text("notify = { webhook = true }\n" + file.read_text(encoding="utf-8"), encoding="utf-8")

    ended = small_night.run("nightly")
    lines = [json.loads(line) for line in ended.stderr.splitlines()]
    assert 0 == ended.returncode
    assert {"build", "measure"} <= {one["stage"] for one in lines}
    measured = [one for one in lines if one["stage"] == "measure"]
    assert all(one["occasion"].startswith("night:") and len(one["run"]) == 64 for one in measured)
    assert "very-secret" not in ended.stdout + ended.stderr

    refused = small_night.run("nightly", "--engine", "nothing")
    (last,) = [json.loads(line) for line in refused.stderr.splitlines()]
    assert ("error", "perfd") == (last["level"], last["stage"])
