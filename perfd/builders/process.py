"""Child processes of a Build: they never prompt, never outlive their time limit, and see no secret of perfd."""

import contextlib
import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import IO

from perfd.builders.theirs import check_tree
from perfd.builders.words import Enclose
from perfd.errors import PerfdError

KEEPER = Path(__file__).with_name("keeper.py")
TAIL_LINES = 60
TAIL_BYTES = 16_384
_SECRET = re.compile(
    r"^PERFD_|(?:^|_)(?:TOKEN|SECRET|CREDENTIALS?|PRIVATE_KEY|API_?KEY|ACCESS_KEY)(?:_|$)|PASS(?:WORD|WD|PHRASE)"
)
_GIT_PLACE = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
"""Set while a git hook runs; every git below would look at the wrong repository."""
_PLAIN = {"LC_ALL": "C.UTF-8"}
"""Sentences of other programs are recognised in English only; ccache counts the language as an input."""
_REMEDY = {
    "git": "install git",
    "cmake": "install CMake, or put the wheel `cmake` beside perfd",
    "cc": "install a C compiler, such as the package gcc",
    "c++": "install a C++ compiler, such as the package g++",
}


class BuildError(PerfdError):
    """A Build cannot be made; this is a finding about the Build, and its log says more."""


@dataclass(frozen=True)
class Workshop:
    """Where the steps of one Build run: what they print goes to `log`, and all must be done by `deadline_s`."""

    log: Path
    deadline_s: float
    """On the clock of time.monotonic."""
    enclose: Enclose | None = None
    """Puts a step into a cage, where nobody vouches for the code that is built."""

    def run(self, command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str] | None = None) -> None:
        """The command has ended well; raises BuildError where it did not, or could not start, or ran out of time."""
        words = [str(word) for word in command]
        given = dict(environment or {})
        started, variables = (
            (words, clean_environment() | given) if self.enclose is None else (self.enclose(words, cwd, given), {})
        )
        with self.log.open("ab") as out:
            out.write(f"$ {shlex.join(words)}\n".encode())
            out.flush()
            code = _wait(started, cwd, variables, out, self.deadline_s - monotonic())
        if self.enclose is not None:
            check_tree(cwd)
        if code is None:
            raise BuildError(f"{words[0]} did not end within the Build's time limit and was stopped")
        if code != 0:
            raise BuildError(_why(words[0], code, tail(self.log)))

    def ours(self) -> "Workshop":
        """The same workshop for steps that run no code of the source, such as installing a tool: they need no cage."""
        return replace(self, enclose=None)

    def note(self, sentence: str) -> None:
        """The sentence stands in the log."""
        with self.log.open("a", encoding="utf-8") as out:
            out.write(sentence.rstrip() + "\n")


def ask(
    command: Sequence[str | Path],
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    time_limit_s: float = 120.0,
) -> str:
    """What the command prints. Raises AskError where it fails; the environment is a clean one unless another is given."""
    words = [str(word) for word in command]
    environment = environment or clean_environment()
    _check_tool(words[0], cwd, environment)
    with _started(words, cwd, environment, subprocess.PIPE, subprocess.PIPE) as process:
        try:
            out, err = process.communicate(timeout=time_limit_s)
        except subprocess.TimeoutExpired:
            raise BuildError(
                f"{words[0]} did not answer within {time_limit_s:g} s: {shlex.join(words)}", permanent=False
            ) from None
        finally:
            if process.returncode is None:  # too slow, or a person stopped us: a clone must not go on behind our back
                _stop(process)
    if process.returncode != 0:
        raise AskError(words[0], process.returncode, err.decode(errors="replace"))
    return out.decode(errors="replace")


class AskError(BuildError):
    """A tool answered with an error; `said` is all that it printed on stderr."""

    def __init__(self, tool: str, code: int, said: str) -> None:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        causes = [line for line in lines if line.startswith("fatal:")][:1]  # git begins with the cause; pip ends with it
        errors = causes or [line for line in lines if line.lower().startswith(("error", "fatal"))]
        super().__init__(f"{Path(tool).name} ended with {code}: {(errors or lines or ['it said nothing'])[-1]}")
        self.said = said


def clean_environment() -> dict[str, str]:
    """This process's environment without perfd's variables and without anything that is named like a secret.

    A Build runs code that others wrote: it gets nothing that it could send away.
    """
    kept = {name: value for name, value in os.environ.items() if not _SECRET.search(name) and name not in _GIT_PLACE}
    return kept | _PLAIN


def git_environment() -> dict[str, str]:
    """The environment for git: its credentials stay, perfd's own variables go, nothing asks a person."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PERFD_") and name not in _GIT_PLACE}
    mine.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20")
    return mine | {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true"} | _PLAIN


def tail(log: Path) -> str:
    """The last lines of a log, at most 16 KiB."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-TAIL_LINES:])


def os_sentence(error: OSError) -> str:
    """What an OSError means for a person, and what to do."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"the disk is full{where}: free some space, or point PERFD_STATE at a larger disk"
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"no permission to write{where}: give it to this user, or point PERFD_STATE at a folder of its own"
    return f"{error.strerror or error}{where}"


def _why(tool: str, code: int, said: str) -> str:
    name = Path(tool).name
    if "No space left on device" in said or "Disk quota exceeded" in said:
        return f"the disk is full (said {name}): free some space, or point PERFD_STATE at a larger disk"
    if code < 0:
        killed = signal.Signals(-code).name
        extra = "; out of memory, perhaps" if killed == "SIGKILL" else ""
        return f"{name} was ended by {killed}{extra}"
    return f"{name} ended with {code}"


def _wait(words: list[str], cwd: Path, environment: Mapping[str, str], out: IO[bytes], time_limit_s: float) -> int | None:
    """The exit status; None when the time limit passed and the whole process group was killed."""
    _check_tool(words[0], cwd, environment)
    ours, theirs = os.pipe()[::-1]
    kept = [sys.executable, "-I", "-S", str(KEEPER), str(theirs), *words]
    try:
        with _started(kept, cwd, environment, out, subprocess.STDOUT, kept_open=(theirs,)) as process:
            try:
                return process.wait(timeout=max(0.0, time_limit_s))
            except subprocess.TimeoutExpired:
                return None
            finally:
                _stop(process)
    finally:
        os.close(theirs)
        os.close(ours)


def _started(
    words: list[str],
    cwd: Path | None,
    environment: Mapping[str, str],
    out: IO[bytes] | int,
    err: int,
    *,
    kept_open: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    """The process, leading a group of its own."""
    return subprocess.Popen(
        words,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        start_new_session=True,
        pass_fds=kept_open,
    )


def _check_tool(name: str, cwd: Path | None, environment: Mapping[str, str]) -> None:
    """Raises BuildError with the remedy where the command cannot be started."""
    if cwd is not None and not cwd.is_dir():
        raise BuildError(f"the folder {cwd} is not there")
    if shutil.which(name, path=environment.get("PATH", os.defpath)) is not None:
        return
    if Path(name).exists():
        raise BuildError(f"{name} may not be executed: make it executable")
    raise BuildError(f"{name} is not on this machine's PATH: {_REMEDY.get(name, f'install {name}')}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The process and everything in its group are gone."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
