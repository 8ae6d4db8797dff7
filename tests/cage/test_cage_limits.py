"""What a caged program may take, and that nothing of it is left."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cage_world import LIMITS, Cage

from perfd.bench.cage.groups import PREFIX, Group
from perfd.bench.cage.plan import MEGABYTE, Plan, command
from perfd.bench.cage.run import PLACES, Ended
from perfd.bench.cage.watch import weight_bytes

KEY = "77777777"
"""Of System V shared memory."""


def living(mark: str) -> list[int]:
    """Processes anywhere on this machine whose command line holds the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "cmdline").read_bytes() and int(folder.name) != os.getpid():
                found.append(int(folder.name))
    return found


@pytest.fixture
def mark() -> str:
    return f"perfd-test-{os.getpid()}-{time.monotonic_ns()}"


def held() -> frozenset[str]:
    """What control groups hold on this host."""
    group = Group(LIMITS)
    group.remove()
    return group.held


def test_a_fork_bomb_stops_at_the_number_of_processes(cage: Cage) -> None:
    program = (
        "import os, time\nmade = 0\nwhile True:\n    try:\n"
        "        if os.fork() == 0:\n            time.sleep(30)\n            os._exit(0)\n"
        "        made += 1\n    except OSError:\n        break\nprint(made)"
    )
    ran = cage(program, processes=40)

    assert ran.ended is Ended.WELL, ran.errors
    assert 1 <= int(ran.output) <= 40


def test_a_fork_bomb_that_goes_on_is_ended_by_the_clock(cage: Cage, mark: str) -> None:
    start_s = time.monotonic()
    bomb = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    program = f"import os, sys\nos.execv(sys.executable, [sys.executable, '-I', '-S', '-c', {bomb!r}, {mark!r}])"
    ran = cage(program, wall_s=1.0, processes=40)

    assert ran.ended is Ended.SLOWLY
    assert "1 s of time" == ran.over
    assert time.monotonic() - start_s < 10
    assert [] == living(mark)


def test_a_program_that_outlives_its_time_in_every_way_is_gone(cage: Cage, mark: str) -> None:
    """It forks twice, leads a session of its own, ignores what can be ignored, and holds its output open."""
    program = (
        "import os, signal, sys, time\n"
        "for number in (1, 2, 3, 13, 15):\n    signal.signal(number, signal.SIG_IGN)\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            break\n        os._exit(0)\n"
        f"os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', {mark!r}])\n"
    )
    ran = cage(program, wall_s=1.0)

    assert ran.ended is Ended.SLOWLY
    assert [] == living(mark)


def test_what_a_program_leaves_running_ends_with_it(cage: Cage, mark: str) -> None:
    program = (
        "import os, sys\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(60)', {mark!r}])\n"
        "    os._exit(0)\nimport time\ntime.sleep(0.3)\nprint('ended')"
    )

    assert ["ended"] == cage.says(program)
    assert [] == living(mark)


def test_the_cage_ends_with_whoever_started_it(cage: Cage, mark: str) -> None:
    """kill -9 of the watching process, which can do nothing any more: the kernel does it."""
    plan = Plan(("/bin/sh", "-c", f": {mark}; echo ready; sleep 60; sleep 60"), LIMITS, PLACES)
    with subprocess.Popen(command(plan), stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert b"ready\n" == process.stdout.readline()
        assert len(living(mark)) >= 2
        process.kill()
    end_s = time.monotonic() + 5
    while living(mark) and time.monotonic() < end_s:
        time.sleep(0.02)

    assert cage.folder.exists()
    assert [] == living(mark)


def test_a_program_that_is_asked_to_end_may_say_goodbye(cage: Cage) -> None:
    """SIGTERM to the cage is SIGTERM to the program, whose exit code is the cage's."""
    script = "trap 'echo bye; exit 7' TERM; echo ready; while true; do sleep 0.05; done"
    with subprocess.Popen(command(Plan(("/bin/sh", "-c", script), LIMITS, PLACES)), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert b"ready\n" == process.stdout.readline()
        process.terminate()
        said = process.stdout.read()

    assert cage.folder.exists()
    assert (b"bye\n", 7) == (said, process.returncode)


def test_a_crash_is_told_by_its_signal(cage: Cage) -> None:
    ran = cage("import ctypes\nctypes.string_at(0)")

    assert (Ended.BADLY, -signal.SIGSEGV) == (ran.ended, ran.code)


@pytest.mark.parametrize("how", ["held.append(bytearray(1 << 24))", "os.write(file, piece)"], ids=["its own", "in a memory file"])
def test_memory_is_limited_for_all_processes_together(cage: Cage, how: str) -> None:
    if "memory" not in held() and "write" in how:
        pytest.skip("this user may make no control group with a memory controller: memory files are not weighed then")
    program = (
        "import os\nheld, piece = [], bytes(1 << 24)\nfile = os.memfd_create('big')\n"
        f"for _ in range(2):\n    os.fork()\nfor _ in range(40):\n    {how}\nimport time\ntime.sleep(3)\nprint('had it')"
    )
    ran = cage(program, memory_bytes=256 * MEGABYTE, disk_bytes=1024 * MEGABYTE)

    assert ran.ended is not Ended.WELL
    assert b"had it" not in ran.output


def test_the_watch_weighs_a_process_and_all_below_it() -> None:
    """What limits memory where this user may make no control group."""
    holds = "held = bytearray(b'x' * (32 << 20))\nprint('ready', flush=True)\nimport time\ntime.sleep(30)"
    words = ["/bin/sh", "-c", '"$0" -I -S -c "$1"; exit', sys.executable, holds]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        assert b"ready\n" == shell.stdout.readline()
        heavy = weight_bytes(shell.pid)
        os.killpg(shell.pid, signal.SIGKILL)

    assert 32 * MEGABYTE <= heavy < 64 * MEGABYTE
    assert 0 == weight_bytes(shell.pid)


def test_a_full_disk_is_the_cages_own(cage: Cage) -> None:
    program = (
        "import os\nsize, places = 0, ('/cage', '/tmp', '/dev/shm')\nfor n in range(100):\n    try:\n"
        "        with open(f'{places[n % 3]}/{n}', 'wb') as file:\n            size += file.write(bytes(1 << 20))\n"
        "    except OSError as error:\n        print(error.errno)\n        break\nprint(size >> 20)"
    )
    said = cage.says(program)

    assert "28" == said[0]
    assert 0 < int(said[1]) <= 64


def test_a_million_files_are_not_made(cage: Cage) -> None:
    ran = cage("for n in range(1_000_000):\n    open(f'/tmp/{n}', 'w')", files=500)

    assert ran.ended is Ended.BADLY
    assert "No space left on device" in ran.errors


def test_a_folder_of_the_host_is_filled_only_so_far(cage: Cage, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    program = (
        "import time\nn = 0\nwhile True:\n    n += 1\n"
        f"    open(f'{work}/{{n}}', 'wb').write(bytes(1 << 20))\n    time.sleep(0.01)"
    )
    ran = cage(program, writes=(work,), disk_bytes=16 * MEGABYTE)

    assert ran.ended is Ended.GREEDILY
    assert "16 MiB and 2,000 files" in ran.over


def test_no_single_file_is_larger_than_the_disk(cage: Cage, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    ran = cage(f"import os\nos.truncate(os.open('{work}/sparse', os.O_CREAT | os.O_RDWR), 1 << 30)", writes=(work,))

    assert (Ended.BADLY, 1) == (ran.ended, ran.code)
    assert "File too large" in ran.errors


@pytest.mark.parametrize("to", ["1", "2"])
def test_a_flood_of_output_ends_the_program(cage: Cage, to: str) -> None:
    ran = cage(f"import os\nwhile True:\n    os.write({to}, b'y' * 65536)")

    assert ran.ended is Ended.GREEDILY
    assert f"{LIMITS.output_bytes:,} bytes of output" == ran.over
    assert len(ran.output) + len(ran.errors) <= LIMITS.output_bytes + 200


def test_nothing_is_left_in_shared_memory_or_in_temporary_folders(cage: Cage, mark: str) -> None:
    before = set(os.listdir("/dev/shm"))  # noqa: PTH208, S108 - the host's
    said = cage.says(
        "import ctypes\n"
        f"for place in ('/dev/shm', '/tmp', '/cage'):\n    open(f'{{place}}/{mark}', 'w').write('x')\n"
        f"print(ctypes.CDLL(None).shmget({KEY}, 4096, 0o1666) >= 0)"
    )

    assert ["True"] == said
    assert before >= {name for name in os.listdir("/dev/shm") if mark in name}  # noqa: PTH208, S108 - the host's
    assert not Path("/tmp", mark).exists()  # noqa: S108 - the host's
    assert KEY not in [line.split()[0] for line in Path("/proc/sysvipc/shm").read_text().splitlines()]


def test_a_program_cannot_pass_for_a_host_without_cages_or_for_a_limit(cage: Cage) -> None:
    for code in (97, 98, 127):
        ran = cage(f"import sys\nsys.stderr.write('perfd: no cage can be built here')\nraise SystemExit({code})")
        assert (Ended.BADLY, code) == (ran.ended, ran.code)


def test_a_command_that_is_not_there_is_told(cage: Cage) -> None:
    with subprocess.Popen(command(Plan(("/no/such",), LIMITS, PLACES)), stderr=subprocess.PIPE) as process:
        _, errors = process.communicate()

    assert cage.folder.exists()
    assert (127, b"/no/such cannot be started (No such file or directory)\n") == (process.returncode, errors)


def test_control_groups_hold_what_they_say_and_are_gone_afterwards(cage: Cage) -> None:
    if not held():
        pytest.skip("this user may make no control group with a memory or pids controller")
    said = cage.says("print(open('/proc/self/cgroup').read().count('/'))\nimport os\nprint(os.getpid())")
    left = [path for path in Path("/sys/fs/cgroup").rglob(f"{PREFIX}*") if path.is_dir()]

    assert "2" == said[1]
    assert [] == [path for path in left if not Path("/proc", path.name.removeprefix(PREFIX)).exists()]
