"""pip, as a child process: it fetches, resolves and installs; perfd never speaks to a package index itself."""

import importlib.util
import sys
from pathlib import Path

from perfd.builders.process import AskError, BuildError, ask, clean_environment
from perfd.errors import BadInputError, PerfdError

FETCH_LIMIT_S = 1800.0
QUIET = {"PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore"}
_SILENT = (
    "NewConnectionError",
    "ConnectionError",
    "Temporary failure",
    "timed out",
    "ProxyError",
    "Max retries",
    "No route to host",
)
_NOT_THERE = ("No matching distribution", "Could not find a version", "from versions:")


def pip(*words: str | Path, interpreter: Path | None = None) -> list[str | Path]:
    """The command line of pip, for our own interpreter or for the one of another virtual environment."""
    if importlib.util.find_spec("pip") is None:
        raise BuildError(f"pip is not installed beside perfd: run `{sys.executable} -m ensurepip`")
    target: list[str | Path] = ["--python", interpreter] if interpreter else []
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--retries", "2", *target, *words]


def ask_pip(wanted: str, *words: str | Path) -> str:
    """What pip prints. Raises BadInputError where the index has no `wanted`, PerfdError (not permanent) where it is silent."""
    try:
        return ask(pip(*words), environment=clean_environment() | QUIET, time_limit_s=FETCH_LIMIT_S)
    except AskError as error:
        raise explained(wanted, error.said, error) from None


def explained(wanted: str, said: str, error: PerfdError) -> PerfdError:
    """What pip's complaint means."""
    if is_silence(said):
        return PerfdError(
            f"the package index did not answer when asked for {wanted}: check the network, or pip's settings", permanent=False
        )
    if any(word in said for word in _NOT_THERE):
        return BadInputError(
            f"the package index has no {wanted} for this Python and this machine: check the name and the version"
        )
    if "No space left on device" in said:
        return PerfdError(f"the disk is full: {wanted} does not fit; free some space", permanent=False)
    return PerfdError(f"{wanted} could not be fetched: {error.message}", permanent=False)


def is_silence(said: str) -> bool:
    """Whether pip complains that the index did not answer, which may pass."""
    return any(word in said for word in _SILENT)


def download(package: str, version: str, into: Path, *, source: bool = False) -> Path:
    """The one file that the index has for this version: a wheel, or the sdist."""
    kind = f"--no-binary={package}" if source else "--only-binary=:all:"
    wanted = f"{package} {version}" + (" (source)" if source else "")
    into.mkdir(parents=True, exist_ok=True)
    ask_pip(wanted, "download", "--quiet", "--no-deps", kind, "--dest", into, f"{package}=={version}")
    (file,) = into.iterdir()
    return file
