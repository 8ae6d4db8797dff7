"""What a caged program sees: a root of its own, put together from read-only views of the host and folders in memory."""

import os
from collections.abc import Mapping
from pathlib import Path

from perfd.bench.cage.kernel import (
    BIND,
    NEWNS,
    NO_DEVICES,
    NO_EXEC,
    NO_SUID,
    PRIVATE,
    READ_ONLY,
    RECURSIVE,
    change_root,
    mount,
    protect,
    unshare,
)
from perfd.bench.cage.plan import HOME, Plan

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
DEVICES = ("null", "zero", "full", "random", "urandom")
GPU_DEVICES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps")
ETC = {
    "passwd": "caged:x:{uid}:{uid}::/cage:/bin/sh\n",
    "group": "caged:x:{uid}:\n",
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
BASE = "/tmp"  # noqa: S108 - only the place where the new root is put together, in a mount namespace of our own
TREE = f"{BASE}/root"
MEMORY = f"{BASE}/memory"


def build(plan: Plan, uid: int) -> None:
    """This process's root is the cage; raises OSError. It is the first process of a new process namespace, with capabilities."""
    unshare(NEWNS, "a mount namespace")
    mount(None, "/", None, RECURSIVE | PRIVATE)
    handles = _open(plan)
    mount("cage", BASE, "tmpfs", NO_SUID | NO_DEVICES, "size=1m,mode=755")
    Path(TREE).mkdir()
    _folders_in_memory(plan, uid)
    _devices(handles)
    for place in sorted(handles, key=len):  # folders before what is shown inside of them
        _show(place, handles[place], NO_SUID | NO_DEVICES | (0 if place in plan.writes else READ_ONLY))
    for place in SYSTEM:
        if Path(place).is_symlink():
            Path(TREE + place).symlink_to(Path(place).readlink())
    if plan.processes_seen:
        _own_processes(uid)
    change_root(BASE)
    mount(None, "/", None, _REMOUNTED)
    # One more step down: in a process whose root is not that of its mounts, the kernel makes no user namespace, whoever asks.
    os.chroot("/root")
    os.chdir(plan.cwd)


_REMOUNTED = 32 | BIND | READ_ONLY | NO_SUID | NO_DEVICES


def _open(plan: Plan) -> dict[str, int]:
    """Place in the cage → a handle on what is shown there, taken while the host is still seen."""
    wanted = {place: place for place in SYSTEM if Path(place).exists() and not Path(place).is_symlink()}
    wanted |= {f"/dev/{name}": f"/dev/{name}" for name in DEVICES}
    wanted |= _gpu() if plan.gpu else {}
    wanted |= plan.shown
    wanted |= {place: place for place in plan.writes}
    return {place: os.open(source, os.O_PATH) for place, source in wanted.items()}


def _gpu() -> dict[str, str]:
    found = [*Path("/dev").glob("nvidia[0-9]*"), *(path for name in GPU_DEVICES if (path := Path("/dev", name)).exists())]
    return {str(place): str(place) for place in (*found, "/sys")}


def _folders_in_memory(plan: Plan, uid: int) -> None:
    """Home, /tmp and /dev/shm can be written, and hold `disk_bytes` and `files` together; they are gone with the cage."""
    Path(MEMORY).mkdir()
    limits = f"size={plan.limits.disk_bytes},nr_inodes={plan.limits.files},mode=755"
    mount("cage", MEMORY, "tmpfs", NO_SUID | NO_DEVICES, limits)
    for place, inside in ((HOME, "home"), ("/tmp", "tmp"), ("/dev/shm", "shm")):  # noqa: S108 - the cage's own
        Path(MEMORY, inside).mkdir(0o700)
        os.chown(f"{MEMORY}/{inside}", uid, uid)
        Path(TREE + place).mkdir(parents=True)
        mount(f"{MEMORY}/{inside}", TREE + place, None, BIND)


def _devices(handles: Mapping[str, int]) -> None:
    """Those that take nothing from anybody; made by showing the host's, since nobody in a user namespace makes devices."""
    for place in [place for place in handles if place.startswith("/dev/")]:
        is_folder = _is_folder(handles[place])
        _stand(TREE + place, is_folder=is_folder)
        mount(f"/proc/self/fd/{handles[place]}", TREE + place, None, BIND | (RECURSIVE if is_folder else 0))
        protect(TREE + place, NO_SUID | NO_EXEC)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        Path(TREE, "dev", name).symlink_to(target)


def _show(place: str, handle: int, flags: int) -> None:
    """What the handle stands for is at `place` in the new root."""
    if place.startswith("/dev/"):
        return
    _stand(TREE + place, is_folder=_is_folder(handle))
    mount(f"/proc/self/fd/{handle}", TREE + place, None, BIND | RECURSIVE)
    protect(TREE + place, flags)


def _is_folder(handle: int) -> bool:
    return Path(f"/proc/self/fd/{handle}").is_dir()


def _stand(place: str, *, is_folder: bool) -> None:
    """There is something to mount on."""
    there = Path(place)
    if there.exists():
        return
    (there if is_folder else there.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        there.touch()


def _own_processes(uid: int) -> None:
    """/proc holds the cage's processes alone; /etc names the one user there is."""
    Path(TREE, "proc").mkdir()
    mount("proc", f"{TREE}/proc", "proc", NO_SUID | NO_DEVICES | NO_EXEC)
    Path(TREE, "etc").mkdir(exist_ok=True)
    for name, text in ETC.items():
        Path(TREE, "etc", name).write_text(text.format(uid=uid), encoding="ascii")
