import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perfd.builders.process import BuildError, Workshop, ask, os_sentence, tail
from perfd.errors import PerfdError


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "build.log", time.monotonic() + 60)


def ends(process: int) -> bool:
    """Whether the process, whose end was asked for, is gone within ten seconds."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    with os.fdopen(handle):
        return bool(select.select([handle], [], [], 10)[0])


def test_what_a_step_prints_stands_in_the_log_below_its_command(workshop: Workshop, tmp_path: Path) -> None:
    workshop.run(["sh", "-c", "echo out; echo err >&2"], tmp_path)

    assert "$ sh -c 'echo out; echo err >&2'\nout\nerr" == tail(workshop.log)


def test_a_step_that_fails_is_told_with_its_status(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="sh ended with 7"):
        workshop.run(["sh", "-c", "exit 7"], tmp_path)


def test_a_step_that_is_killed_is_told_by_the_signal(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="sh was ended by SIGKILL; out of memory, perhaps"):
        workshop.run(["sh", "-c", "kill -9 $$"], tmp_path)


def test_a_full_disk_is_told_whoever_meets_it(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="the disk is full"):
        workshop.run(["sh", "-c", "cat /etc/passwd > /dev/full"], tmp_path)

    # The log itself lies on a full disk.
    with pytest.raises(OSError, match="No space left") as raised:
        Workshop(Path("/dev/full"), time.monotonic() + 60).run(["true"], tmp_path)
    assert "the disk is full" in os_sentence(raised.value)


def test_a_missing_tool_is_told_with_its_remedy(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(BuildError, match="cmake is not on this machine's PATH: install CMake"):
        workshop.run(["cmake", "--version"], tmp_path)


def test_a_step_without_end_is_stopped_with_all_its_children(tmp_path: Path) -> None:
    workshop = Workshop(tmp_path / "build.log", time.monotonic() + 2)

    with pytest.raises(BuildError, match="did not end within the Build's time limit"):
        workshop.run(["sh", "-c", "sleep 600 & echo $!; wait"], tmp_path)

    child = int(tail(workshop.log).splitlines()[-1])
    assert ends(child)


def test_a_step_ends_with_the_process_that_wanted_it_even_by_kill_9(tmp_path: Path) -> None:
    script = """
import time
from pathlib import Path
from perfd.builders.process import Workshop
Workshop(Path("build.log"), time.monotonic() + 600).run(["sh", "-c", "sleep 600 & echo $! > started; mkfifo ready; wait"], Path())
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path) as builder:
        until = time.monotonic() + 30
        while not (tmp_path / "ready").exists() and time.monotonic() < until:
            time.sleep(0.02)
        builder.kill()

    assert ends(int((tmp_path / "started").read_text()))


def test_an_answer_that_never_comes_may_be_tried_again() -> None:
    with pytest.raises(PerfdError, match=r"sleep did not answer within 0.2 s") as raised:
        ask(["sleep", "600"], time_limit_s=0.2)

    assert not raised.value.permanent


def test_a_build_sees_no_secret(workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PERFD_DATABASE_URL", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "PGPASSWORD"):
        monkeypatch.setenv(name, "hidden")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "seen")

    workshop.run(["env"], tmp_path)

    assert "hidden" not in workshop.log.read_text()
    assert "seen" in workshop.log.read_text()


def test_a_tool_that_gives_its_cause_first_is_quoted_with_it(tmp_path: Path) -> None:
    said = "fatal: detected dubious ownership in repository\nfatal: Could not read from remote repository."
    with pytest.raises(PerfdError, match="ended with 128: fatal: detected dubious ownership"):
        ask([sys.executable, "-c", f"import sys; sys.stderr.write({said!r}); sys.exit(128)"], tmp_path)


def test_the_tail_of_a_huge_log_stays_small(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    log.write_text("x" * 200 * 1024 + "\n" + "line\n" * 1000 + "the end\n")

    assert 60 == len(tail(log).splitlines())
    assert tail(log).endswith("the end")


def test_a_folder_without_permission_is_told(tmp_path: Path) -> None:
    error = PermissionError(13, os.strerror(13), str(tmp_path))

    assert f"no permission to write ({tmp_path})" in os_sentence(error)
