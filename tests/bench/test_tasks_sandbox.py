"""The sandbox: whatever a model's program tries, it is ended, it reaches nothing of the host, and it is not right."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from perfd.bench.cage.plan import PROGRAM
from perfd.bench.cage.run import Ended, Ran
from perfd.bench.tasks.humaneval import passes
from perfd.bench.tasks.items import Answer, Place
from perfd.bench.tasks.sandbox import check_sandbox, run_program
from perfd.errors import BadInputError

TESTS = "def check(candidate):\n    assert candidate() == 1\n"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    try:
        check_sandbox(folder)
    except BadInputError as error:
        pytest.skip(error.message)
    return folder


@pytest.fixture
def run(work: Path) -> Iterator["Run"]:
    before = set(work.iterdir())
    yield Run(work)
    assert set(work.iterdir()) == before


class Run:
    """Runs programs in the test's folder."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def __call__(self, program: str, wall_s: float = 10.0) -> Ran:
        return run_program(program, self.work, wall_s)


def is_right(work: Path, body: str) -> bool:
    return passes("def one():\n", Answer(body), TESTS, "one", Place(None, work))


def test_a_right_program_is_right_and_a_wrong_one_wrong(work: Path) -> None:
    assert is_right(work, "    return 1\n")
    assert not is_right(work, "    return 2\n")


@pytest.mark.parametrize(
    "body",
    [
        "    import os\n    os._exit(0)\n",
        "    raise SystemExit(0)\n",
        "    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)\n",
        "    import atexit, os\n    atexit.register(os._exit, 0)\n    return 2\n",
        "    return (\n",
        "    return 1\n\x00",
        "    return '\ud800'\n",
        "",
    ],
    ids=[
        "exits",
        "raises SystemExit",
        "kills itself",
        "exits at exit",
        "no syntax",
        "a zero byte",
        "half a character",
        "nothing",
    ],
)
def test_a_program_that_ends_before_its_tests_pass_is_wrong(work: Path, body: str) -> None:
    assert not is_right(work, body)


def test_a_program_sees_no_environment_no_arguments_and_an_empty_folder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFD_DATABASE_URL", "postgresql://secret")
    ran = run("import os, sys\nprint(sorted(os.environ), sys.argv[1:], os.listdir('.'), os.getcwd())")

    assert b"secret" not in ran.output
    assert ran.output.strip() in {b"[] [] ['program.py'] /cage", b"['LC_CTYPE'] [] ['program.py'] /cage"}


def test_a_program_reads_nothing_of_the_host_and_sees_no_process(run: Run, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hush")
    ran = run(
        "import os\n"
        f"for path in ({str(tmp_path / 'secret')!r}, '/etc/passwd', '/proc/1/environ', '/proc/self/environ', '/dev/sda'):\n"
        "    try:\n        print(os.listdir(path) if os.path.isdir(path) else open(path).read())\n"
        "    except OSError as error:\n        print(type(error).__name__)\n"
        "print(os.getpid() < 10, os.getuid() != 0, os.path.exists('/proc'))"
    )

    assert ran.output.split() == [b"FileNotFoundError"] * 5 + [b"True", b"True", b"False"]


def test_a_program_writes_nothing_outside_its_folder(run: Run) -> None:
    ran = run(
        "import os, sys\n"
        "for place in ('/', '/usr', '/usr/bin', sys.prefix, '/cage/..', '/lib'):\n"
        "    try:\n        open(os.path.join(place, 'mine'), 'w')\n        print('wrote', place)\n"
        "    except OSError as error:\n        print('refused')\n"
        "open('mine', 'w').write('x')\nprint('own')\n"
    )

    assert ran.output.split() == [b"refused"] * 6 + [b"own"]


def test_a_program_has_no_network_not_even_loopback(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ran = run(
            "import socket\n"
            f"for address in (('127.0.0.1', {port}), ('192.0.2.1', 80)):\n"
            "    try:\n        socket.create_connection(address, 2)\n        print('connected')\n"
            "    except OSError:\n        print('refused')\n"
        )

    assert ran.output.split() == [b"refused", b"refused"]


@pytest.mark.parametrize(
    "program",
    [
        "import os\nwhile True:\n    os.fork()",
        "kept = []\nwhile True:\n    kept.append(bytearray(1 << 24))",
        "open('big', 'wb').write(b'x' * (30 << 20))",
        "print('y' * (8 << 20))",
        "import ctypes\nctypes.string_at(0)",
        "def deeper():\n    deeper()\ndeeper()",
        "import os\nos.mkdir('a')\nfor n in range(5000):\n    open(f'a/{n}', 'w')",
        "import os\nos.kill(-1, 9)\nos.kill(1, 9)\nraise SystemExit(1)",
        "import os\nos.setuid(0)",
        "import ctypes, os\nraise SystemExit(ctypes.CDLL(None).unshare(0x10000000 | 0x20000) or 1)",
        "import os\nos.chroot('/')",
    ],
    ids=[
        "forks",
        "allocates",
        "a big file",
        "much output",
        "crash",
        "recursion",
        "many files",
        "kills",
        "root",
        "unshare",
        "chroot",
    ],
)
def test_a_program_that_takes_too_much_ends_badly(run: Run, program: str) -> None:
    ran = run(program)

    assert ran.ended is not Ended.WELL
    assert len(ran.output) <= PROGRAM.output_bytes


def test_a_program_that_sleeps_is_ended_by_the_clock(run: Run) -> None:
    assert run("import time\ntime.sleep(100)", wall_s=0.5).ended is Ended.SLOWLY


def test_a_program_that_loops_ends_too(run: Run) -> None:
    assert run("while True:\n    pass", wall_s=1.0).ended is not Ended.WELL


def test_nothing_that_a_program_started_outlives_it(run: Run) -> None:
    mark = f"perfd-{os.getpid()}-{time.monotonic_ns()}"
    program = (
        "import os, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        f"        if os.fork() == 0:\n            os.execv({os.path.realpath(sys.executable)!r}, "
        f"['python', '-I', '-S', '-c', 'import time; time.sleep(60)', {mark!r}])\n"
        "        os._exit(0)\n"
        "time.sleep(0.3)\nprint('ended')"
    )

    assert run(program).output.strip() == b"ended"
    assert [folder for folder in Path("/proc").glob("[0-9]*") if mark.encode() in command_of(folder)] == []


def command_of(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""


def test_a_program_cannot_pass_for_a_host_without_cages(run: Run) -> None:
    assert run("raise SystemExit(97)").ended is Ended.BADLY
