"""The source recipe on a project of one file that has llama.cpp's shape; compiling llama.cpp itself takes minutes.

test_default_engines.py does that.
"""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from git_repository import Repository

from perfd.builders import build, describe
from perfd.builders.llamacpp_source import LlamaCppSource
from perfd.domain.build import BuildOutcome
from perfd.domain.subject import Source, SourceKind
from perfd.errors import BadInputError

TOOLS = ("cc", "c++", "cmake", "ninja")
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason=f"compiles: install {', '.join(TOOLS)} to run it"
)
CMAKE = """
cmake_minimum_required(VERSION 3.14)
project(tiny C CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(llama-server main.c)
target_compile_definitions(llama-server PRIVATE COMMIT="${LLAMA_BUILD_COMMIT}" NATIVE="${GGML_NATIVE}" MORE="${MORE}")
"""
MAIN = '#include <stdio.h>\nint main(void) { puts("commit " COMMIT " native " NATIVE " more " MORE); return 0; }\n'


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "ccache").symlink_to(Path(__file__).with_name("ccache_stand_in.sh"))
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")


def write_project(folder: Path, main: str = MAIN) -> None:
    (folder / "tools" / "server").mkdir(parents=True, exist_ok=True)
    (folder / "tools" / "server" / "CMakeLists.txt").touch()
    (folder / "CMakeLists.txt").write_text(CMAKE)
    (folder / "LICENSE").write_text("MIT")
    (folder / "main.c").write_text(main)


def built(source: Source, revision: str, state: Path, **options: str) -> BuildOutcome:
    return build(describe("tiny", source, revision, "llamacpp-source", options, state), source, options, state)


def said(outcome: BuildOutcome) -> str:
    return subprocess.run([outcome.artifact / "bin" / "llama-server"], check=True, capture_output=True, text=True).stdout.strip()


def test_a_commit_is_compiled_with_its_own_name_and_the_options(repository: Repository, state: Path) -> None:
    write_project(repository.path)
    commit = repository.commit("First")
    source = Source(SourceKind.GIT, str(repository.path))

    outcome = built(source, commit, state, cmake_flags="-DMORE=fast", jobs="1")

    assert outcome.artifact is not None, outcome.log_tail
    assert f"commit {commit[:12]} native OFF more fast" == said(outcome)
    assert {"bin", "LICENSE"} == {path.name for path in outcome.artifact.iterdir()}
    assert outcome.spec.digest != describe("tiny", source, commit, "llamacpp-source", {}, state).digest


def test_code_that_does_not_compile_is_a_failed_build_with_the_compilers_words(repository: Repository, state: Path) -> None:
    write_project(repository.path, MAIN.replace("puts", "putz"))
    commit = repository.commit("Broken")

    outcome = built(Source(SourceKind.GIT, str(repository.path)), commit, state)

    assert outcome.artifact is None
    assert "putz" in outcome.log_tail
    assert outcome.log_tail.endswith("perfd: cmake ended with 1")


def test_a_repository_of_something_else_is_told(repository: Repository, state: Path) -> None:
    commit = repository.commit("First", a__txt="1")

    assert (
        "holds no llama.cpp with a tools/server folder"
        in built(Source(SourceKind.GIT, str(repository.path)), commit, state).log_tail
    )


def packed(tmp_path: Path, state: Path) -> Path:
    """The sdist, where the recipe keeps what it fetched."""
    write_project(tmp_path / "tiny-1.0" / "vendor" / "llama.cpp")
    archive = state / "sources" / "tiny-1.0.tar.gz"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "tiny-1.0", "tiny-1.0")
    return archive


def test_an_sdist_is_compiled_from_what_is_kept(tmp_path: Path, state: Path) -> None:
    packed(tmp_path, state)

    outcome = built(Source(SourceKind.INDEX, "tiny", version="1.0"), "1.0", state)

    assert outcome.artifact is not None, outcome.log_tail
    assert "commit tiny-1.0 native OFF more" == said(outcome)


def test_a_damaged_sdist_is_told_and_fetched_again_the_next_time(tmp_path: Path, state: Path) -> None:
    archive = packed(tmp_path, state)
    archive.write_bytes(archive.read_bytes()[:-200])

    outcome = built(Source(SourceKind.INDEX, "tiny", version="1.0"), "1.0", state)

    assert "is damaged" in outcome.log_tail
    assert not archive.exists()


def test_an_archive_cannot_write_outside_its_folder(tmp_path: Path, state: Path) -> None:
    archive = state / "sources" / "tiny-1.0.tar.gz"
    archive.parent.mkdir(parents=True)
    (tmp_path / "evil").write_text("x")
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "evil", "tiny-1.0/../../../../../escaped")

    outcome = built(Source(SourceKind.INDEX, "tiny", version="1.0"), "1.0", state)

    assert outcome.artifact is None
    assert [] == list(tmp_path.rglob("escaped"))


def test_what_is_no_define_is_refused_as_a_flag(repository: Repository, state: Path) -> None:
    write_project(repository.path)
    commit = repository.commit("First")

    outcome = built(Source(SourceKind.GIT, str(repository.path)), commit, state, cmake_flags="-DA=1 --graphviz=x")

    assert 'cmake_flags holds "--graphviz=x"; each must look like -DGGML_CUDA=ON' in outcome.log_tail


def test_a_folder_is_no_source_of_llamacpp(tmp_path: Path, state: Path) -> None:
    outcome = built(Source(SourceKind.FOLDER, str(tmp_path)), "x", state)

    assert 'needs a source of kind "git" or "index"' in outcome.log_tail


def test_the_compilers_name_the_build(state: Path) -> None:
    spec = describe("tiny", Source(SourceKind.INDEX, "tiny"), "1.0", "llamacpp-source", {}, state)

    assert {"cc", "c++", "cmake", "platform"} == set(spec.toolchain)
    assert {"tiny": "1.0"} == spec.dependencies
    with pytest.raises(BadInputError, match='has no option "job"'):
        describe("tiny", Source(SourceKind.INDEX, "tiny"), "1.0", LlamaCppSource.name, {"job": "1"}, state)
