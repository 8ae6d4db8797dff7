"""A Build of code that nobody vouches for: its steps run in a cage, and what they leave is looked at before it is used."""

import os
import shutil
import socket
from pathlib import Path

import pytest
from git_repository import Repository, new_repository

from perfd.bench.cage.build import enclosure
from perfd.builders import build, describe
from perfd.builders.process import Workshop
from perfd.builders.theirs import check_tree
from perfd.domain.build import BuildOutcome
from perfd.domain.subject import Source, SourceKind
from perfd.errors import BadInputError

TOOLS = ("cc", "c++", "cmake", "ninja", "git")
pytestmark = [
    pytest.mark.usefixtures("cages_are_here"),
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in TOOLS), reason=f"compiles: install {', '.join(TOOLS)} to run it"
    ),
]
PROJECT = """
cmake_minimum_required(VERSION 3.14)
project(tiny C CXX)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
add_executable(llama-server main.c)
"""
MAIN = '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n'


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ccache that only compiles, where perfd keeps its tools."""
    tools = tmp_path / "state" / "tools"
    tools.mkdir(parents=True)
    shutil.copy2(Path(__file__).parents[1] / "builders" / "ccache_stand_in.sh", tools / "ccache")
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = new_repository(tmp_path / "an engine")
    (made.path / "tools" / "server").mkdir(parents=True)
    (made.path / "tools" / "server" / "CMakeLists.txt").touch()
    for name, text in (("CMakeLists.txt", PROJECT), ("LICENSE", "MIT"), ("main.c", MAIN)):
        (made.path / name).write_text(text)
    return made


def built(repository: Repository, state: Path, recipe: str = "llamacpp-source") -> BuildOutcome:
    source, commit = Source(SourceKind.GIT, str(repository.path)), repository.commit("A pull request")
    spec = describe("tiny", source, commit, recipe, {}, state)
    return build(spec, source, {}, state, enclose=enclosure(state))


def with_cmake(repository: Repository, lines: str) -> Repository:
    """CMakeLists.txt of the pull request runs this program while it configures."""
    (repository.path / "attack.sh").write_text(lines)
    (repository.path / "CMakeLists.txt").write_text(
        PROJECT + "execute_process(COMMAND sh ${CMAKE_SOURCE_DIR}/attack.sh WORKING_DIRECTORY ${CMAKE_BINARY_DIR})\n"
    )
    return repository


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def test_a_caged_build_is_compiled_and_belongs_to_perfd(repository: Repository, state: Path) -> None:
    outcome = built(repository, state)

    assert outcome.artifact is not None, outcome.log_tail
    assert os.access(outcome.artifact / "bin" / "llama-server", os.X_OK)
    assert {os.geteuid()} == {path.stat().st_uid for path in outcome.artifact.rglob("*")}


def test_the_steps_see_no_secret_no_state_and_no_network(
    repository: Repository, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INNOCENT_NAME", "hush")
    (state / "github.pem").write_text("hush")
    with socket.create_server(("127.0.0.1", 0)) as server:
        attack = with_cmake(
            repository,
            f"echo seen: $INNOCENT_NAME; cat '{state}/github.pem'; ls '{state}' | tr '\\n' ' '\n"
            f"touch '{state}/tools/mine' && echo wrote\n"
            f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}' && echo reached\n"
            "cat /etc/shadow && echo read; ls /proc | grep -c '^[0-9]'\n",
        )
        outcome = built(attack, state)
    log = outcome.log.read_text()

    assert outcome.artifact is not None, log
    assert "hush" not in log
    assert "seen:\n" in log
    assert "tools work " in log
    assert not any(word in log for word in ("wrote", "reached", "read\n"))
    assert not (state / "tools" / "mine").exists()


def test_a_link_that_a_build_leaves_is_not_followed(repository: Repository, state: Path) -> None:
    """Copied as it is, the program would be perfd's own secret, and the next caged engine could read it."""
    (state / "github.pem").write_text("hush")
    attack = with_cmake(repository, f"mkdir -p bin; ln -s '{state}/github.pem' bin/llama-server\n")
    outcome = built(attack, state)

    assert outcome.artifact is None
    assert f"build/bin/llama-server is a link to {state}/github.pem, which leads out of its folder" in outcome.log_tail


def test_a_link_that_the_commit_holds_is_not_followed(repository: Repository, state: Path) -> None:
    (repository.path / "LICENSE").unlink()
    (repository.path / "LICENSE").symlink_to("/etc/passwd")
    outcome = built(repository, state)

    assert outcome.artifact is None
    assert "source/LICENSE is a link to /etc/passwd, which leads out of its folder" in outcome.log_tail


@pytest.mark.parametrize(
    ("kind", "said"), [("mkfifo pipe", "build/pipe is neither a file nor a folder"), ("chmod 6755 attack", "")]
)
def test_pipes_are_refused_and_special_bits_go(repository: Repository, state: Path, kind: str, said: str) -> None:
    outcome = built(with_cmake(repository, f"touch attack; {kind}\n"), state)

    assert said in outcome.log_tail
    assert (outcome.artifact is None) == bool(said)


def test_special_bits_are_taken_off_and_the_rest_stays(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "program").touch()
    (folder / "program").chmod(0o6755)
    (folder / "inside").symlink_to("program")
    check_tree(folder)

    assert 0o755 == (folder / "program").stat().st_mode & 0o7777
    assert (folder / "inside").is_symlink()


def test_a_build_that_never_ends_is_ended_with_all_it_started(repository: Repository, state: Path) -> None:
    attack = with_cmake(repository, "trap '' TERM; (setsid sleep 86399 &); sleep 86399\n")
    source, commit = Source(SourceKind.GIT, str(attack.path)), attack.commit("Sleeps")
    spec = describe("tiny", source, commit, "llamacpp-source", {}, state)
    outcome = build(spec, source, {}, state, time_limit_s=4.0, enclose=enclosure(state))

    assert "did not end within the Build's time limit" in outcome.log_tail
    assert [] == [path for path in Path("/proc").glob("[0-9]*/cmdline") if b"86399" in bytes_of(path)]


def bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_a_build_from_an_index_is_refused_in_one_sentence(state: Path) -> None:
    source = Source(SourceKind.INDEX, "tiny")
    spec = describe("tiny", Source(SourceKind.GIT, "/nowhere"), "1.0", "script", {}, state)
    with pytest.raises(BadInputError, match="untrusted code is built without network: tiny from a package index is refused"):
        build(spec, source, {}, state, enclose=enclosure(state))


def test_a_checkout_that_needs_no_compiling_runs_nothing(repository: Repository, state: Path) -> None:
    outcome = built(with_cmake(repository, "touch /tmp/never\n"), state, "script")

    assert outcome.artifact is not None, outcome.log_tail
    assert (outcome.artifact / "attack.sh").exists()


def test_steps_that_are_ours_run_outside(tmp_path: Path) -> None:
    """Installing a tool needs the network, and runs no code of the source."""

    def never(*_: object) -> list[str]:
        raise AssertionError

    workshop = Workshop(tmp_path / "log", 1e9, never)
    workshop.ours().run(["sh", "-c", "echo outside"], tmp_path)

    assert "outside" in (tmp_path / "log").read_text()
