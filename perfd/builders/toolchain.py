"""Which tools there are, and their versions: part of what a Build is."""

import platform
import re
import shutil
from collections.abc import Callable, Mapping
from importlib import metadata

from perfd.builders.process import BuildError, ask

COMPILERS = {"cc", "c++"}
_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


def versions(*names: str) -> Mapping[str, str]:
    """Each tool's version; "absent" where this machine has none."""
    return {name: _KNOWN[name]() for name in names}


def _python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"


def _platform() -> str:
    """System, machine and C library: a Build made on another one may not run here."""
    return f"{platform.system()} {platform.machine()} {' '.join(platform.libc_ver())}".strip()


def _package(name: str) -> Callable[[], str]:
    def version() -> str:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return "absent"

    return version


def _command(*words: str) -> Callable[[], str]:
    def version() -> str:
        if shutil.which(words[0]) is None:
            return "absent"
        try:
            first = ask([*words, "--version"], time_limit_s=20).partition("\n")[0]
        except BuildError:
            return "absent"
        found = _VERSION.search(first)
        # A compiler's whole line: distributions patch it, and say so there only.
        return first.strip() if words[0] in COMPILERS or found is None else found.group()

    return version


_KNOWN: Mapping[str, Callable[[], str]] = {
    "python": _python,
    "platform": _platform,
    "torch": _package("torch"),
    "triton": _package("triton"),
    "numpy": _package("numpy"),
    "cc": _command("cc"),
    "c++": _command("c++"),
    "cmake": _command("cmake"),
    "ninja": _command("ninja"),
    "ccache": _command("ccache"),
    "git": _command("git"),
}
