import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from git_repository import Repository

from perfd.builders import build, describe, kernel_source, revisions
from perfd.builders.build import RECIPES
from perfd.config import sections
from perfd.domain.build import BuildSpec, BuildState
from perfd.domain.codec import to_json
from perfd.domain.subject import Kernel, Source, SourceKind
from perfd.errors import BadInputError, PerfdError


def planned(repository: Repository, state: Path, commit: str) -> tuple[BuildSpec, Source]:
    source = Source(SourceKind.GIT, str(repository.path))
    return describe("tiny", source, commit, "script", {}, state), source


def test_every_recipe_of_an_engine_may_stand_in_the_configuration() -> None:
    assert {"kernel", *sections.RECIPES} == set(RECIPES)


def test_a_script_build_is_the_commit_and_is_made_once(repository: Repository, state: Path, told: list[str]) -> None:
    commit = repository.commit("First", engine__py="print(1)")
    spec, source = planned(repository, state, commit)

    first = build(spec, source, {}, state, told.append)
    second = build(spec, source, {}, state, told.append)

    assert BuildState.BUILT == first.state
    assert "print(1)" == (first.artifact / "engine.py").read_text()
    assert (False, True) == (first.cached, second.cached)
    assert first.artifact == second.artifact
    assert [f"checking out tiny {commit[:12]}"] == told


def test_equal_ingredients_have_one_digest_and_other_commits_another(repository: Repository, state: Path) -> None:
    one, other = repository.commit("First", a__py="1"), repository.commit("Second", a__py="2")

    assert planned(repository, state, one)[0].digest == planned(repository, state, one)[0].digest
    assert planned(repository, state, one)[0].digest != planned(repository, state, other)[0].digest


def test_a_damaged_build_is_made_again(repository: Repository, state: Path) -> None:
    spec, source = planned(repository, state, repository.commit("First", engine__py="print(1)"))
    whole = build(spec, source, {}, state)
    (whole.artifact / "engine.py").write_text("")

    again = build(spec, source, {}, state)

    assert not again.cached
    assert "print(1)" == (again.artifact / "engine.py").read_text()


def test_bytecode_beside_a_build_does_not_damage_it(repository: Repository, state: Path) -> None:
    spec, source = planned(repository, state, repository.commit("First", engine__py="print(1)"))
    artifact = build(spec, source, {}, state).artifact
    (artifact / "__pycache__").mkdir()
    (artifact / "__pycache__" / "engine.pyc").write_bytes(b"new")

    assert build(spec, source, {}, state).cached


def test_a_failed_build_is_an_outcome_with_the_tail_of_its_log(repository: Repository, state: Path) -> None:
    repository.commit("First", a__py="1")
    spec, source = planned(repository, state, "1" * 40)

    outcome = build(spec, source, {}, state)

    assert BuildState.FAILED == outcome.state
    assert "has no commit 111111111111" in outcome.log_tail
    assert outcome.log.read_text().rstrip().endswith(outcome.log_tail.splitlines()[-1])
    assert [] == list((state / "builds" / ".making").iterdir())


def test_a_build_that_failed_once_is_tried_again_and_its_failure_forgotten(repository: Repository, state: Path) -> None:
    commit = repository.commit("First", a__py="1")
    spec, source = planned(repository, state, commit)
    repository.path.rename(repository.path.with_name("away"))
    failed = build(spec, source, {}, state)
    repository.path.with_name("away").rename(repository.path)

    built = build(spec, source, {}, state)

    assert (BuildState.FAILED, BuildState.BUILT) == (failed.state, built.state)
    assert not failed.log.exists()


def test_a_kill_in_the_middle_of_a_build_leaves_no_half_build(repository: Repository, state: Path) -> None:
    commit = repository.commit("First", engine__py="print(1)")
    spec, source = planned(repository, state, commit)
    half = """
import sys
from pathlib import Path
from perfd.builders import artifact
from perfd.builders.words import quiet
from perfd.builders.build import RECIPES
from perfd.config import sections
from perfd.domain.build import BuildSpec
from perfd.domain.codec import from_json
import json
with artifact.making(from_json(BuildSpec, json.loads(sys.argv[1])), Path(sys.argv[2]), quiet) as folder:
    (folder / "artifact" / "engine.py").write_text("prin")
    print("half", flush=True)
    sys.stdin.read()
"""
    command = [sys.executable, "-c", half, json.dumps(to_json(spec)), str(state)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert b"half\n" == child.stdout.readline()
        os.kill(child.pid, signal.SIGKILL)
    left = list((state / "builds" / ".making").iterdir())

    outcome = build(spec, source, {}, state)

    assert 1 == len(left)
    assert not outcome.cached
    assert "print(1)" == (outcome.artifact / "engine.py").read_text()
    assert [] == list((state / "builds" / ".making").iterdir())


def test_two_processes_that_want_one_build_make_it_once(repository: Repository, state: Path) -> None:
    commit = repository.commit("First", engine__py="print(1)")
    script = f"""
from pathlib import Path
from perfd.builders import build, describe
from perfd.domain.subject import Source, SourceKind
source = Source(SourceKind.GIT, {str(repository.path)!r})
spec = describe("tiny", source, {commit!r}, "script", {{}}, Path({str(state)!r}))
print(build(spec, source, {{}}, Path({str(state)!r})).cached)
"""
    children = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) for _ in range(3)]

    answers = sorted(child.communicate()[0].decode().strip() for child in children)

    assert ["False", "True", "True"] == answers


def test_a_kernel_build_holds_its_file_and_the_helpers_that_it_imports(tmp_path: Path, state: Path) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "softmax.py").write_text("import torch\nfrom shapes import odd\n")
    (kernels / "shapes.py").write_text("import numbers_of\nodd = (1823, 781)\n")
    (kernels / "numbers_of.py").write_text("")
    (kernels / "unrelated.py").write_text("")
    source = kernel_source(Kernel("softmax", "softmax.py"), kernels)
    (revision,) = revisions(source, state)

    spec = describe("softmax", source, revision, "kernel", {}, state)
    outcome = build(spec, source, {}, state)

    assert {"softmax.py", "shapes.py", "numbers_of.py"} == {path.name for path in outcome.artifact.iterdir()}
    assert {"torch", "triton", "python"} <= set(spec.toolchain)


def test_a_changed_helper_is_a_new_kernel_revision_and_so_is_going_back(tmp_path: Path, state: Path) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "softmax.py").write_text("import shapes\n")
    source = kernel_source(Kernel("softmax", "softmax.py"), kernels)
    found = []
    for text in ("a = 1", "a = 2", "a = 1", "a = 1", "a = 2"):
        (kernels / "shapes.py").write_text(text)
        found += revisions(source, state)

    one, two = found[0].name, found[1].name
    outcome = build(describe("softmax", source, found[-1], "kernel", {}, state), source, {}, state)

    assert [(one, 0), (two, 1), (f"{one}~2", 2), (f"{one}~2", 2), (f"{two}~2", 3)] == [
        (revision.name, revision.ordinal) for revision in found
    ]
    assert one == found[1].parent
    assert "a = 2" == (outcome.artifact / "shapes.py").read_text()


def test_a_kernel_that_changed_after_it_was_planned_fails_to_build(tmp_path: Path, state: Path) -> None:
    (tmp_path / "softmax.py").write_text("a = 1")
    source = kernel_source(Kernel("softmax", "softmax.py"), tmp_path)
    (revision,) = revisions(source, state)
    spec = describe("softmax", source, revision, "kernel", {}, state)
    (tmp_path / "softmax.py").write_text("a = 2")

    outcome = build(spec, source, {}, state)

    assert outcome.artifact is None
    assert "has changed since Revision" in outcome.log_tail


def test_an_unknown_recipe_and_an_unknown_option_are_told(repository: Repository, state: Path) -> None:
    source = Source(SourceKind.GIT, str(repository.path))

    with pytest.raises(BadInputError, match='there is no recipe "scrip"; there is'):
        describe("tiny", source, "1" * 40, "scrip", {}, state)
    with pytest.raises(BadInputError, match='recipe "script" has no option "jobs"'):
        describe("tiny", source, "1" * 40, "script", {"jobs": "2"}, state)


def test_a_recipe_that_changed_since_planning_is_refused(repository: Repository, state: Path) -> None:
    spec, source = planned(repository, state, repository.commit("First", a__py="1"))

    with pytest.raises(BadInputError, match="plan it again"):
        build(replace(spec, recipe_hash="0" * 64), source, {}, state)


def test_a_state_folder_that_cannot_be_written_is_one_sentence(repository: Repository, tmp_path: Path, state: Path) -> None:
    spec, source = planned(repository, state, repository.commit("First", a__py="1"))
    (tmp_path / "a file").touch()

    with pytest.raises(PerfdError, match="tiny cannot be built: Not a directory"):
        build(spec, source, {}, tmp_path / "a file" / "state")
