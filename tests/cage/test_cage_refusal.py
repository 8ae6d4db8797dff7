"""Where a host keeps nothing apart, untrusted code is refused in one sentence; an ordinary user has the same cage as root."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cage_world import Cage

from perfd.bench.cage.plan import ROOT
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind
from perfd.rules.trust import VOUCHED, is_untrusted, is_untrusted_build

ASK = "import sys\nsys.path.append({place!r})\nfrom perfd.bench.cage.refuse import refusal\nprint(refusal())\n"
SYSTEM_PYTHON = Path("/usr/bin/python3")
SENTENCE = (
    "untrusted code cannot be kept apart on this host (Operation not permitted: a user namespace); run perfd as root on Linux "
    "5.12 or newer, or allow user namespaces to its user; until then perfd refuses to build or run it"
)


@pytest.fixture
def needed() -> Iterator[Path]:
    """A copy of what the cage needs of perfd, where everybody may read it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Path(folder)
        place.chmod(0o755)
        for name in ("__init__.py", "errors.py", "bench/__init__.py", "bench/processes.py"):
            (place / "perfd" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / "perfd" / name, place / "perfd" / name)
        shutil.copytree(ROOT / "perfd" / "bench" / "cage", place / "perfd" / "bench" / "cage")
        yield place


def test_a_host_without_namespaces_refuses_in_one_sentence(cage: Cage) -> None:
    """Inside a cage nobody may build another one: the same code says so there."""
    ran = cage(ASK.format(place="/copy"), shown={"/copy/perfd": ROOT / "perfd"})

    assert SENTENCE == ran.output.decode().strip(), ran.errors


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("how", ["an ordinary user", "root without the right to make namespaces"])
def test_others_have_the_same_cage_or_the_same_sentence(needed: Path, how: str) -> None:
    """Without a right of its own each makes the cage in a user namespace; a host may forbid those, and then nothing runs."""
    become = ["runuser", "-u", "nobody", "--"] if how == "an ordinary user" else ["setpriv", "--bounding-set", "-sys_admin"]
    if not SYSTEM_PYTHON.exists() or shutil.which(become[0]) is None:
        pytest.skip(f"needs /usr/bin/python3, which everybody may start, and {become[0]}")
    program = (
        ASK.format(place=str(needed))
        + "from perfd.bench.cage.run import run, PLACES\nfrom perfd.bench.cage.plan import Plan, PROGRAM\n"
        "seen = run(Plan(('/bin/sh', '-c', 'ls -A / /cage; cat /etc/shadow /proc/1/environ; id -u'), PROGRAM, PLACES))\n"
        "print(seen.output.decode(), seen.errors)\n"
    )
    done = subprocess.run(
        [str(shutil.which(become[0])), *become[1:], str(SYSTEM_PYTHON), "-I", "-S", "-B", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={},
    )
    if "cannot be kept apart" in done.stdout:
        pytest.skip(done.stdout.partition("\n")[0])

    assert 0 == done.returncode, done.stderr
    assert "64873" in done.stdout.split()
    assert "No such file or directory" in done.stdout
    assert "/proc/1/environ: Permission denied" in done.stdout


def pull(words: str) -> Occasion:
    return Occasion(OccasionKind.COMPARE, datetime(2026, 1, 1, tzinfo=UTC), words)


def test_a_pull_request_is_untrusted_until_somebody_vouches_for_it() -> None:
    assert is_untrusted(pull("pull octo/engine#12 1f2e3d..c0ffee attempt 1"))
    assert not is_untrusted(pull(f"pull octo/engine#12 1f2e3d..c0ffee attempt 1 {VOUCHED}"))
    assert is_untrusted(pull(f"pull octo/{VOUCHED}#12 1f2e3d..c0ffee"))
    assert not is_untrusted(pull("llamacpp@1..2"))


def test_a_build_that_a_night_wants_too_stands_on_a_tracked_branch() -> None:
    night, asked = Occasion(OccasionKind.NIGHT, datetime(2026, 1, 1, tzinfo=UTC)), pull("pull octo/engine#12 1..2")

    assert is_untrusted_build([asked])
    assert not is_untrusted_build([asked, night])
    assert not is_untrusted_build([])


def test_this_interpreter_is_the_one_that_builds_cages() -> None:
    from perfd.bench.cage.plan import PROGRAM, Plan, command

    words = command(Plan(("/bin/true",), PROGRAM))

    assert [sys.executable, "-I", "-S", "-B", "-c"] == words[:5]
