"""Virtual environments of perfd's own making: without pip inside, and movable."""

import sys
from collections.abc import Sequence
from pathlib import Path

from perfd.builders.pip import QUIET, explained, is_silence, pip
from perfd.builders.process import BuildError, Workshop, tail

_RELATIVE = b"""#!/bin/sh
'''exec' "$(dirname -- "$(realpath -- "$0")")/python" "$0" "$@"
' '''
"""
"""Runs the interpreter beside the script, wherever both were moved; to Python the first lines are one string."""


def make_venv(folder: Path, workshop: Workshop) -> Path:
    """The interpreter of a new virtual environment, of our own Python version."""
    # Without pip: ours installs into it, and Debian's Python cannot bring one along.
    workshop.run([sys.executable, "-m", "venv", "--without-pip", folder], folder.parent)
    return folder / "bin" / "python"


def install(python: Path, requirements: Sequence[str], workshop: Workshop) -> None:
    """Exactly these requirements lie in the environment of `python`, checked against their hashes where they name one.

    Raises PerfdError, not permanent, where the index does not answer.
    """
    listed = python.parent.parent / "requirements.txt"
    listed.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
    command = pip("install", "--no-deps", "--no-compile", "--progress-bar=off", "--requirement", listed, interpreter=python)
    try:
        workshop.run(command, listed.parent, QUIET)
    except BuildError as error:
        said = tail(workshop.log)
        raise explained("the packages of the Build", said, error) if is_silence(said) else error from None
    make_movable(python.parent)


def make_movable(scripts: Path) -> None:
    """Every script of the environment finds its interpreter beside itself; pip had written where it was made."""
    for script in scripts.iterdir():
        if script.is_symlink() or not script.is_file():
            continue
        text = script.read_bytes()
        if text.startswith(b"#!") and str(scripts).encode() in text[:1024]:
            script.write_bytes(_RELATIVE + _body(text))


def _body(script: bytes) -> bytes:
    """What follows the shebang, which is three lines long where the path has a space in it."""
    lines = 3 if script.startswith(b"#!/bin/sh\n'''exec'") else 1
    return script.split(b"\n", lines)[lines]
