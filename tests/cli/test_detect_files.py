"""`perfd detect` on what a shell hands it: devices, full disks, readers that go away, names that would forge a line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from perfd.cli import main

PERFD = [sys.executable, "-m", "perfd"]
STEP = "time,{name}\n" + "".join(f"{night},{value}\n" for night, value in enumerate([1.0] * 10 + [2.0] * 10))
PNG = b"\x89PNG\r\n\x1a\n"


def detect(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["detect", *map(str, words)], env={"COLUMNS": "200"})


@pytest.fixture
def step(tmp_path: Path) -> Path:
    file = tmp_path / "step.csv"
    file.write_text(STEP.format(name="value"), encoding="utf-8")
    return file


def test_a_device_that_never_ends_is_refused_at_its_first_zero_byte() -> None:
    found = detect("/dev/zero")

    assert 3 == found.exit_code
    assert "holds a zero byte at 0" in found.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_file_of_two_bytes_a_letter_is_named(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(STEP.format(name="value"), encoding=encoding)

    found = detect(file)

    assert 3 == found.exit_code
    assert "it is UTF-16 or no text; save it as UTF-8" in found.stderr


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_line_ending_and_a_byte_order_mark_are_read(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "value.csv"
    file.write_bytes(("\ufeff" + STEP.format(name="value").replace("\n", ending)).encode())

    assert 1 == detect(file).exit_code


def test_a_pipe_is_read_to_its_end(step: Path) -> None:
    found = subprocess.run([*PERFD, "detect", "/dev/stdin"], input=step.read_bytes(), capture_output=True, check=False)

    assert 1 == found.returncode


def test_a_series_without_any_value_is_not_fine(tmp_path: Path) -> None:
    file = tmp_path / "missing.csv"
    file.write_text("time,a,b\n" + "".join(f"{night},1,\n" for night in range(10)), encoding="utf-8")

    found = detect(file)

    assert 2 == found.exit_code
    assert "1 of 2 series have fewer than 6 values, and nothing can be said of them" in found.stdout


def test_a_name_writes_no_line_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "forged.json"
    file.write_text(json.dumps({"series": {"a\nNo change was found.\x1b[2J\tb": [1, 2]}}), encoding="utf-8")

    lines = detect(file).stdout.splitlines()

    assert "No change was found." not in lines
    assert any(line.startswith(r"a\nNo change was found.\x1b[2J\tb: 2 points") for line in lines)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_terminal_that_lacks_letters_is_no_fault(tmp_path: Path, options: list[str]) -> None:
    file = tmp_path / "name.csv"
    file.write_text(STEP.format(name="\u5ef6 \U0001f525"), encoding="utf-8")
    narrow = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}

    found = subprocess.run([*PERFD, "detect", str(file), *options], env=narrow, capture_output=True, check=False)

    assert (1, b"") == (found.returncode, found.stderr)
    if options:
        assert ["\u5ef6 \U0001f525"] == list(json.loads(found.stdout.decode("latin-1"))["series"])


def test_a_picture_takes_the_place_of_no_data(step: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine", encoding="utf-8")
    link = tmp_path / "link.png"
    link.symlink_to(step)

    assert [3, 3, 3] == [detect(step, "--plot", plot).exit_code for plot in (step, other, link)]
    assert "mine" == other.read_text(encoding="utf-8")
    assert STEP.format(name="value") == step.read_text(encoding="utf-8")


def test_an_older_picture_is_replaced_whole_and_nothing_is_left_beside_it(step: Path, tmp_path: Path) -> None:
    plot = tmp_path / "p.png"
    plot.write_bytes(PNG + b"older")

    assert 1 == detect(step, "--plot", plot).exit_code
    assert plot.read_bytes().startswith(PNG)
    assert not plot.read_bytes().endswith(b"older")
    assert {"step.csv", "p.png"} == {path.name for path in tmp_path.iterdir()}


def test_a_picture_that_has_no_room_costs_no_answer(step: Path) -> None:
    found = detect(step, "--plot", "/dev/full", "--json")

    assert 3 == found.exit_code
    assert "/dev/full: the picture cannot be written (No space left on device)" in found.stderr
    assert [10] == [change["index"] for change in json.loads(found.stdout)["series"]["value"]["changes"]]


def test_a_picture_for_a_folder_that_is_not_there_is_refused_before_anything_is_judged(step: Path, tmp_path: Path) -> None:
    found = detect(step, "--plot", tmp_path / "no" / "p.png")

    assert (3, "") == (found.exit_code, found.stdout)
    assert "there is no folder" in found.stderr


def test_of_many_series_those_with_changes_are_drawn_and_the_rest_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    series: dict[str, list[float]] = {f"s{number}": [1.0, 2.0] for number in range(60)}
    file.write_text(json.dumps({"series": {**series, "moved": [1.0] * 10 + [2.0] * 10}}), encoding="utf-8")

    found = detect(file, "--plot", tmp_path / "p.png")

    assert 1 == found.exit_code
    assert "shows 40 of 61 series, those with changes first" in found.stderr


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_ends_without_a_traceback_also_while_modules_are_imported(step: Path, module: str) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "perfd", "detect", str(step)]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    signal.signal(signal.SIGINT, before)
    assert process.stderr is not None
    assert any(module in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    process.wait(timeout=30)
    process.stderr.close()

    assert process.returncode in {-signal.SIGINT, 128 + signal.SIGINT}
    assert "Traceback" not in rest
