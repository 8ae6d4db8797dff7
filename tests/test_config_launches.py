"""`[[launches]]` and announced shapes in perfd.toml: read with every default, and every mistake told with its line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from perfd.config import Config, load_config
from perfd.domain.launch import ModelLaunch
from perfd.errors import BadInputError

MODEL = """
[[models]]
name = "m3"
shape = "m3.config.json"
quantisation = "Q8_0"
licence = "ours"
"""
ENGINE = """
[[engines]]
name = "tiny"
recipe = "script"
source = { kind = "git", location = "tiny" }
models = ["m3"]
suites = ["latency"]
launch = { command = ["{python}", "{artifact}/tiny.py", "--port", "{port}"] }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(launches: str, model: str = MODEL) -> Config:
    Path("perfd.toml").write_text(model + ENGINE + launches, encoding="utf-8")
    return load_config(None, {})


def mistakes(launches: str, model: str = MODEL) -> list[str]:
    with pytest.raises(BadInputError) as raised:
        load(launches, model)
    return raised.value.message.split("\n")


def test_a_launch_is_read_with_its_defaults() -> None:
    config = load('[[launches]]\nmodel = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\n')

    at = datetime(2026, 12, 1, 9, tzinfo=UTC)
    assert (ModelLaunch("m3", "tiny", at, (0, 7, 14), (), 120.0),) == config.launches


def test_a_time_may_be_text_and_days_come_in_order() -> None:
    config = load(
        '[[launches]]\nmodel = "m3"\nengine = "tiny"\nat = "2026-12-01T09:00+01:00"\ndays = [14, -7, 0]\nsuites = ["latency"]\n'
    )

    (launch,) = config.launches
    assert (datetime(2026, 12, 1, 8, tzinfo=UTC), (-7, 0, 14), ("latency",)) == (launch.at, launch.days, launch.suites)


def test_a_model_of_which_only_shapes_are_announced_needs_no_weights(folder: Path) -> None:
    model = load("").models[0]

    assert (True, str(folder / "m3.config.json"), "") == (model.is_announced, model.shape, model.sha256)
    assert any('needs "sha256"' in told for told in mistakes("", MODEL + 'file = "m3.gguf"\n'))
    assert any('needs "file"' in told for told in mistakes("", MODEL.replace('shape = "m3.config.json"\n', "")))


@pytest.mark.parametrize(
    ("launch", "told"),
    [
        ('model = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00', "has no zone; write it as"),
        ('model = "m3"\nengine = "tiny"\nat = "soon"', 'launches.at must be a time such as 2026-12-01T09:00:00Z, not "soon"'),
        ('model = "m3"\nengine = "tiny"\nat = 7', "launches.at must be a time, not 7"),
        ('model = "m3"\nengine = "tiny"', '[launches] needs "at" (a time)'),
        ('model = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\ndays = [0, 7, 7]', "launches: day 7 is there twice"),
        ('model = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\ndays = []', "launches: a launch needs at least one day"),
        ('model = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\ndays = ["0"]', "launches.days must hold whole numbers"),
        (
            'model = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\nsuites = ["no"]',
            'a launch runs the suite "no", which is not there',
        ),
        (
            'model = "m4"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z',
            'a launch is of the model "m4", which is not there; there is m3',
        ),
        (
            'model = "m3"\nengine = "tin"\nat = 2026-12-01T09:00:00Z',
            'a launch is on the engine "tin", which is not there; did you mean "tiny"?',
        ),
        ('model = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\nday = [0]', 'unknown key "day" in [launches]'),
    ],
)
def test_a_mistake_in_a_launch_is_told_with_its_line(launch: str, told: str) -> None:
    (mistake,) = mistakes(f"[[launches]]\n{launch}\n")

    assert told in mistake
    assert int(mistake.split(":")[1]) > MODEL.count("\n") + ENGINE.count("\n")


def test_a_launch_that_is_there_twice_is_told() -> None:
    one = '[[launches]]\nmodel = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\n'

    (mistake,) = mistakes(one + one)
    assert "the launch of m3 on tiny is there twice, first on line" in mistake


def test_a_rehearsal_needs_announced_shapes() -> None:
    weights = f'[[models]]\nname = "m3"\nfile = "m3.gguf"\nsha256 = "{"ab" * 32}"\nquantisation = "Q8_0"\nlicence = "ours"\n'

    (mistake,) = mistakes('[[launches]]\nmodel = "m3"\nengine = "tiny"\nat = 2026-12-01T09:00:00Z\ndays = [-7, 0]\n', weights)
    assert (
        'day -7 rehearses on random weights of the announced shapes, and the model "m3" has none: give it models.shape' in mistake
    )
