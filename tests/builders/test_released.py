import subprocess
from pathlib import Path

import pytest
from wheelhouse import add_wheel

from perfd.builders import build, describe, revisions
from perfd.domain.build import BuildOutcome
from perfd.domain.subject import Source, SourceKind
from perfd.errors import BadInputError, PerfdError

SERVER = "import helper\ndef main():\n    print('serving with', helper.VERSION)\n"


def ordinals(version: str, state: Path) -> list[tuple[str, int]]:
    found = revisions(Source(SourceKind.INDEX, "tiny_engine", version=version), state)
    return [(revision.name, revision.ordinal) for revision in found]


@pytest.fixture
def tiny(house: Path) -> Source:
    """A package with one dependency and a command."""
    for version in ("1.0", "1.10", "1.9"):
        add_wheel(
            house, "tiny_engine", version, {"tiny_engine.py": SERVER}, needs=("helper>=2",), command="tiny = tiny_engine:main"
        )
    add_wheel(house, "helper", "1.0", {"helper.py": "VERSION = 1"})
    add_wheel(house, "helper", "2.5", {"helper.py": "VERSION = 2.5"})
    return Source(SourceKind.INDEX, "tiny_engine", version="1.9")


def built(source: Source, version: str, state: Path) -> BuildOutcome:
    return build(describe("tiny", source, version, "released", {}, state), source, {}, state)


def test_versions_are_ordered_as_versions_and_end_at_the_newest(tiny: Source, state: Path) -> None:
    found = revisions(Source(SourceKind.INDEX, tiny.location), state)

    assert ["1.0", "1.9", "1.10"] == [revision.name for revision in found]
    assert [None, "1.0", "1.9"] == [revision.parent for revision in found]


def test_a_pinned_version_is_the_newest_revision_and_asks_no_index(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert ["1.9"] == [revision.name for revision in revisions(Source(SourceKind.INDEX, "tiny_engine", version="1.9"), state)]


def test_the_pinned_version_stands_last_whether_the_pin_was_raised_or_set_back(state: Path) -> None:
    assert [("1.9", 0)] == ordinals("1.9", state)
    assert [("1.9", 0), ("1.10", 1)] == ordinals("1.10", state)
    assert [("1.10", 0), ("1.9", 1)] == ordinals("1.9", state)


def test_the_dependency_set_is_known_before_anything_is_built(tiny: Source, state: Path) -> None:
    spec = describe("tiny", tiny, "1.9", "released", {}, state)

    assert {"tiny-engine": "1.9", "helper": "2.5"} == {
        name.replace("_", "-"): version for name, version in spec.dependencies.items()
    }
    assert not (state / "builds").exists()


def test_a_version_means_the_same_set_on_every_night(tiny: Source, house: Path, state: Path) -> None:
    before = describe("tiny", tiny, "1.9", "released", {}, state)
    add_wheel(house, "helper", "2.6", {"helper.py": "VERSION = 2.6"})

    assert before == describe("tiny", tiny, "1.9", "released", {}, state)


def test_the_build_runs_in_its_own_environment_wherever_it_was_made(tiny: Source, state: Path) -> None:
    outcome = built(tiny, "1.9", state)
    said = subprocess.run([outcome.artifact / "venv" / "bin" / "tiny"], check=True, capture_output=True, text=True).stdout
    inside = subprocess.run(
        [outcome.artifact / "venv" / "bin" / "python", "-c", "import helper, sys; print(sys.prefix, helper.__file__)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    assert "serving with 2.5\n" == said
    assert 2 == inside.count(str(outcome.artifact))


def test_two_versions_lie_beside_each_other(tiny: Source, state: Path) -> None:
    one, other = built(tiny, "1.9", state), built(tiny, "1.10", state)

    assert one.artifact != other.artifact
    assert built(tiny, "1.9", state).cached


def test_a_wheel_that_changed_since_it_was_resolved_is_refused(tiny: Source, house: Path, state: Path) -> None:
    spec = describe("tiny", tiny, "1.9", "released", {}, state)
    add_wheel(house, "helper", "2.5", {"helper.py": "VERSION = 'another'"})

    outcome = build(spec, tiny, {}, state)

    assert outcome.artifact is None
    assert "DO NOT MATCH THE HASHES" in outcome.log_tail


def test_a_version_that_the_index_does_not_have_is_told(tiny: Source, state: Path) -> None:
    with pytest.raises(BadInputError, match="the package index has no tiny_engine==7"):
        describe("tiny", tiny, "7", "released", {}, state)


@pytest.mark.usefixtures("house")
def test_a_package_that_the_index_does_not_have_is_told(state: Path) -> None:
    with pytest.raises(BadInputError, match="the package index has no nothing-here"):
        revisions(Source(SourceKind.INDEX, "nothing-here"), state)


@pytest.mark.usefixtures("house")
def test_an_index_that_does_not_answer_may_be_tried_again(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    # Port 1 of this machine: nothing listens there.
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")

    with pytest.raises(PerfdError, match="the package index did not answer") as raised:
        revisions(Source(SourceKind.INDEX, "tiny_engine"), state)

    assert not raised.value.permanent


def test_a_word_is_no_version(state: Path) -> None:
    with pytest.raises(BadInputError, match='"newest" is no version of tiny_engine'):
        revisions(Source(SourceKind.INDEX, "tiny_engine", version="newest"), state)


def test_a_launcher_is_copied_into_the_build_and_an_unknown_one_is_told(tiny: Source, state: Path) -> None:
    options = {"launcher": "xllamacpp_server.py"}
    outcome = build(describe("tiny", tiny, "1.9", "released", options, state), tiny, options, state)

    assert (outcome.artifact / "xllamacpp_server.py").is_file()
    with pytest.raises(BadInputError, match='there is no launcher "nothing"'):
        describe("tiny", tiny, "1.9", "released", {"launcher": "nothing"}, state)


def test_a_source_of_another_kind_is_refused(state: Path) -> None:
    with pytest.raises(BadInputError, match='recipe "released" needs a source of kind "index"'):
        describe("tiny", Source(SourceKind.GIT, "x"), "1", "released", {}, state)
