"""What a caged program reaches of the host: nothing that it was not shown."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cage_world import Cage

from perfd.bench.cage.plan import OWN_LOOPBACK

TRIED = """
def tried(what, *words):
    try:
        print(what(*words))
    except OSError as error:
        print(error.strerror.replace(' ', '_'))
"""
DENIED = {"Operation_not_permitted", "Permission_denied", "Read-only_file_system", "No_such_file_or_directory"}
CALLS = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\ndef call(n, *words):\n    return libc.syscall(n, *words)\n"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file as the state folder of perfd holds it, which everybody might read."""
    path = tmp_path / "state" / "github.pem"
    path.parent.mkdir()
    path.write_text("hush")
    return path


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    """A process of the same user as the test."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env={"PERFD_TOKEN": "hush"})
    yield process
    process.kill()
    process.wait()


def test_secrets_and_the_state_folder_are_not_there(cage: Cage, secret: Path) -> None:
    said = cage.says(
        f"import os\nprint(os.path.exists({str(secret)!r}), os.path.exists({str(secret.parent)!r}))\n"
        "print(os.path.exists('/etc/shadow'), os.path.exists('/root/.ssh'), os.path.exists('/home'), os.path.exists('/var'))"
    )

    assert ["False"] * 6 == said


def test_the_environment_holds_no_variable_of_ours(cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFD_GITHUB_WEBHOOK_SECRET", "hush")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")

    assert ["HOME", "LC_ALL", "PATH", "TMPDIR"] == cage.says("import os\nprint(*sorted(os.environ))")


def test_no_process_outside_is_seen_read_or_signalled(cage: Cage, sleeper: "subprocess.Popen[bytes]") -> None:
    said = cage.says(
        TRIED + "import os\nprint(*sorted(int(name) for name in os.listdir('/proc') if name.isdigit()))\n"
        f"tried(open, '/proc/{sleeper.pid}/environ')\ntried(os.kill, {sleeper.pid}, 9)\ntried(os.kill, {os.getpid()}, 9)\n"
        "tried(os.kill, -1, 9)\n"
    )

    assert ["1", "2", "No_such_file_or_directory", "No_such_process", "No_such_process", "No_such_process"] == said
    assert sleeper.poll() is None


def test_the_cages_own_first_process_cannot_be_looked_into(cage: Cage) -> None:
    said = cage.says(
        TRIED + "import os\nfor name in ('environ', 'mem', 'maps'):\n    tried(lambda: open('/proc/1/' + name).read(1))\n"
        "tried(os.listdir, '/proc/1/fd')\ntried(os.readlink, '/proc/1/root')\ntried(os.listdir, '/proc/1/cwd')\n"
    )

    assert 6 == len(said)
    assert {"Permission_denied"} == set(said)


def test_nobody_is_traced_nor_read_from(cage: Cage) -> None:
    attach, read_memory = 16, 310 if os.uname().machine == "x86_64" else 270
    trace = 101 if os.uname().machine == "x86_64" else 117
    said = cage.says(CALLS + f"print(call({trace}, {attach}, 1, 0, 0), call({read_memory}, 1, None, 0, None, 0, 0))")

    assert ["-1", "-1"] == said


def test_nothing_outside_the_work_folder_is_written(cage: Cage) -> None:
    places = ["/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/sys", f"{sys.prefix}/lib", "/cage/..", "/home"]
    said = cage.says(
        TRIED + f"import os\nfor place in {places!r}:\n    tried(open, os.path.join(place, 'mine'), 'w')\n"
        "for place in ('/usr/bin/env', '/etc/passwd', '/program.py'):\n    tried(open, place, 'a')\n    tried(os.remove, place)\n"
        "open('/cage/own', 'w')\nopen('/tmp/own', 'w')\nopen('/dev/shm/own', 'w')\nprint('own')\n"
    )

    assert "own" == said.pop()
    assert 16 == len(said)
    assert {"Device_or_resource_busy"} >= set(said) - DENIED


def test_a_link_out_of_the_work_folder_leads_nowhere(cage: Cage, secret: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "planted").symlink_to(secret)
    said = cage.says(
        TRIED + f"import os\nos.chdir({str(work)!r})\nos.symlink({str(secret)!r}, 'mine')\nos.symlink('/proc/1/root', 'root')\n"
        f"for name in ('planted', 'mine', 'root/etc/shadow', '../state/github.pem', {str(secret)!r}):\n    tried(open, name)\n",
        writes=(work,),
    )

    assert 5 == len(said)
    assert {"No_such_file_or_directory", "Permission_denied"} >= set(said)


def test_no_hard_link_pulls_a_file_of_the_host_into_the_work_folder(cage: Cage, tmp_path: Path) -> None:
    work, shown = tmp_path / "work", tmp_path / "shown"
    work.mkdir()
    shown.write_text("read only")
    said = cage.says(
        TRIED + f"import os\ntried(os.link, '/shown', {str(work / 'mine')!r})", shown={"/shown": shown}, writes=(work,)
    )

    assert ["Invalid_cross-device_link"] == said


def test_another_workers_folder_is_not_there(cage: Cage, tmp_path: Path) -> None:
    mine, others = tmp_path / "runs" / "mine", tmp_path / "runs" / "another"
    for folder in (mine, others):
        folder.mkdir(parents=True)
        (folder / "prompts").write_text("hush")
    said = cage.says(f"import os\nprint(os.listdir({str(mine.parent)!r}), os.path.exists({str(others)!r}))", writes=(mine,))

    assert ["['mine']", "False"] == said


def test_no_database_is_reached_by_socket_file_or_tcp(cage: Cage, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as by_file, socket.create_server(("127.0.0.1", 0)) as by_tcp:
        place = tmp_path / ".s.PGSQL.5432"
        by_file.bind(str(place))
        by_file.listen()
        for network in (OWN_LOOPBACK, "none"):
            said = cage.says(
                TRIED + f"import socket\ntried(socket.socket(socket.AF_UNIX).connect, {str(place)!r})\n"
                f"tried(socket.socket().connect, ('127.0.0.1', {by_tcp.getsockname()[1]}))",
                network=network,
            )
            assert "No_such_file_or_directory" == said[0]
            assert said[1] in {"Connection_refused", "Network_is_unreachable"}


def test_an_abstract_socket_of_the_host_is_not_there(cage: Cage) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0perfd-test-{os.getpid()}")
        server.listen()
        said = cage.says(TRIED + f"import socket\ntried(socket.socket(socket.AF_UNIX).connect, '\\0perfd-test-{os.getpid()}')")

    assert ["Connection_refused"] == said


def test_neither_the_network_nor_the_metadata_address_is_reached(cage: Cage) -> None:
    said = cage.says(
        TRIED + "import socket\nsocket.setdefaulttimeout(2)\n"
        "for address in (('169.254.169.254', 80), ('192.0.2.1', 443), ('10.0.0.1', 53)):\n"
        "    tried(socket.socket().connect, address)\n"
        "tried(socket.socket(socket.AF_INET6).connect, ('fd00:ec2::254', 80))\n"
        "try:\n    socket.getaddrinfo('example.org', 80)\nexcept OSError:\n    print('no_name')\n"
        "print(*[name for _, name in socket.if_nameindex() if name != 'lo' and not name.startswith(('tunl', 'sit', 'ip6'))])\n",
        network=OWN_LOOPBACK,
    )

    assert ["Network_is_unreachable"] * 3 == said[:3]
    assert said[3] in {"Network_is_unreachable", "Cannot_assign_requested_address", "Address_family_not_supported_by_protocol"}
    assert ["no_name"] == said[4:]


def test_the_hypervisor_and_raw_packets_are_out_of_reach(cage: Cage) -> None:
    """A socket to the hypervisor belongs to no network namespace: only the filter of system calls holds it."""
    said = cage.says(
        TRIED
        + "import socket\ntried(socket.socket, 40, socket.SOCK_STREAM)\ntried(socket.socket, socket.AF_PACKET, socket.SOCK_RAW)\n"
        "tried(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)\ntried(socket.socket, 38, socket.SOCK_SEQPACKET)\n",
        network=OWN_LOOPBACK,
    )

    assert ["Operation_not_permitted"] * 4 == said


def test_a_caged_server_is_reached_by_caged_clients_alone(cage: Cage) -> None:
    seen: list[str] = []
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def look() -> None:
        for _ in range(20):
            with socket.socket() as outside:
                seen.append("reached" if outside.connect_ex(("127.0.0.1", port)) == 0 else "refused")
            time.sleep(0.02)

    watcher = threading.Thread(target=look)
    watcher.start()
    said = cage.says(
        f"import socket, time\nserver = socket.create_server(('127.0.0.1', {port}))\n"
        f"print(socket.create_connection(('127.0.0.1', {port})) is not None)\ntime.sleep(0.3)",
        network=OWN_LOOPBACK,
    )
    watcher.join()

    assert ["True"] == said
    assert {"refused"} == set(seen)


def test_nobody_becomes_root_again(cage: Cage) -> None:
    said = cage.says(
        TRIED + CALLS + "print(os.getuid() not in (0, 65534), os.getgroups())\n"
        "for what in (os.setuid, os.setgid, os.seteuid):\n    tried(what, 0)\ntried(os.setgroups, [0])\n"
        "print(*[line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapPrm', 'CapEff', 'NoNewPrivs'))])\n"
    )

    assert said[0] == "True"
    assert said[-3:] == ["0" * 16, "0" * 16, "1"]
    assert all(word in {"Operation_not_permitted", "Invalid_argument"} for word in said[2:-3])


def test_a_setuid_program_gives_nothing(cage: Cage, tmp_path: Path) -> None:
    program = tmp_path / "whoami"
    program.write_bytes(Path("/usr/bin/id").read_bytes())
    program.chmod(0o4755)
    said = cage.says(
        "import subprocess\nprint(subprocess.run(['/whoami', '-u'], capture_output=True, text=True, check=True).stdout)\n"
        "import os\nprint(os.geteuid())",
        shown={"/whoami": program},
    )

    assert said[0] == said[1]
    assert said[0] != "0"


def test_nothing_is_mounted_and_no_namespace_is_made(cage: Cage) -> None:
    calls = {"x86_64": (165, 272, 308, 155, 428, 430), "aarch64": (40, 97, 268, 41, 428, 430)}[os.uname().machine]
    mount, unshare, setns, pivot, open_tree, fsopen = calls
    said = cage.says(
        CALLS + f"print(call({mount}, b'x', b'/tmp', b'tmpfs', 0, None), call({unshare}, 0x10000000), call({unshare}, 0x20000))\n"
        f"print(call({setns}, 0, 0), call({pivot}, b'.', b'.'), call({open_tree}, -100, b'/', 1), call({fsopen}, b'tmpfs', 0))\n"
        "for flag in (0x10000000, 0x20000, 0x40000000):\n"
        f"    print(call({56 if os.uname().machine == 'x86_64' else 220}, flag | 17, None, None, None, None))\n"
        "try:\n    os.chroot('/cage')\nexcept PermissionError:\n    print('no')\n"
    )

    assert ["-1"] * 10 + ["no"] == said


def test_no_device_is_made_or_opened(cage: Cage) -> None:
    said = cage.says(
        TRIED + "import os, stat\n"
        "for kind, number in ((stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFCHR, os.makedev(1, 1))):\n"
        "    tried(os.mknod, '/cage/device', kind | 0o666, number)\n"
        "print(*sorted(set(os.listdir('/dev')) - {'fd', 'stdin', 'stdout', 'stderr'}))\n"
        "print(len(os.urandom(8)), open('/dev/null').read())\n"
    )

    assert ["Operation_not_permitted"] * 2 + ["full", "null", "random", "shm", "urandom", "zero", "8"] == said


def test_the_kernel_takes_no_code_and_tells_no_keys(cage: Cage) -> None:
    calls = {"x86_64": (321, 298, 323, 425, 250, 304, 175, 246), "aarch64": (280, 241, 282, 425, 219, 265, 105, 104)}
    numbers = calls[os.uname().machine]

    assert ["-1"] * len(numbers) == cage.says(CALLS + f"for n in {numbers!r}:\n    print(call(n, 0, 0, 0, 0, 0))")


def test_a_32_bit_call_ends_the_program(cage: Cage) -> None:
    """It has other numbers, which would slip past the filter."""
    if os.uname().machine != "x86_64":
        pytest.skip("only x86-64 has a second table of calls")
    # mov eax, 20; int 0x80; ret: getpid by the 32-bit table
    code = "b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3'"
    ran = cage(
        "import ctypes, mmap\n"
        f"code = mmap.mmap(-1, 4096, prot=7)\ncode.write({code})\n"
        "print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))())"
    )

    assert -signal.SIGSYS == ran.code


def test_the_terminal_and_open_files_of_perfd_are_not_handed_down(cage: Cage, secret: Path) -> None:
    with secret.open() as held:
        os.set_inheritable(held.fileno(), True)  # noqa: FBT003 - by position only
        said = cage.says(
            "import os\nfound = []\nfor fd in range(3, 200):\n    try:\n        os.fstat(fd)\n        found.append(fd)\n"
            "    except OSError:\n        pass\n"
            "print(found, os.getpgid(0) == os.getsid(0))\ntry:\n    open('/dev/tty')\nexcept OSError:\n    print('no_terminal')"
        )

    assert "no_terminal" == said[-1]
    assert "[]" == said[0]
