"""The store of Builds, addressed by content: made beside and renamed, so that a kill -9 leaves no half Build.

STATE/builds/DIGEST/          build.json   build.log   artifact/
STATE/builds/DIGEST.failed/   build.log    of the last failed try
STATE/builds/.making/         what is being made; swept when nobody holds its lock
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from perfd.builders.locks import held, is_free
from perfd.builders.process import tail
from perfd.builders.words import Progress
from perfd.domain.build import BuildOutcome, BuildSpec
from perfd.domain.codec import from_json, to_json
from perfd.domain.identity import Json
from perfd.domain.subject import brief
from perfd.errors import BadInputError

FORMAT = "perfd.build/1"


def find(spec: BuildSpec, state: Path) -> BuildOutcome | None:
    """The Build with this digest where it is there and whole: no file is missing or has another size."""
    folder = _folder(spec, state)
    try:
        told = json.loads((folder / "build.json").read_text(encoding="utf-8"))
        same = told["format"] == FORMAT and from_json(BuildSpec, told["spec"]) == spec
        seconds = float(told["seconds"])
        whole = same and _is_whole(folder / "artifact", told["files"])
    except (OSError, ValueError, KeyError, TypeError, BadInputError):
        return None
    log = folder / "build.log"
    return BuildOutcome(spec, folder / "artifact", log, tail(log), seconds, cached=True) if whole else None


@contextmanager
def making(spec: BuildSpec, state: Path, progress: Progress) -> Iterator[Path]:
    """A fresh folder to make the Build in; nobody else makes the same one meanwhile, and it is gone afterwards."""
    builds = state / "builds"
    (builds / ".making").mkdir(parents=True, exist_ok=True)
    waiting = f"another process is building {spec.subject} {brief(spec.revision)}; waiting for it"
    with held(_lock(builds, spec.digest), lambda: progress(waiting)):
        _sweep(builds, spec.digest)
        folder = Path(mkdtemp(prefix=f"{spec.digest}.", dir=builds / ".making"))
        # mkdtemp lets only this user in; an engine may run as another one.
        folder.chmod(0o755)
        try:
            (folder / "artifact").mkdir()
            (folder / "build.log").touch()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def keep(spec: BuildSpec, made: Path, state: Path, seconds: float) -> BuildOutcome:
    """What was made is the Build with this digest from now on; a damaged one that stood there is gone."""
    told: Json = {"format": FORMAT, "spec": to_json(spec), "seconds": seconds, "files": _files(made / "artifact")}
    (made / "build.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    folder = _folder(spec, state)
    _replace(made, folder)
    _forget(_failed(spec, state))
    log = folder / "build.log"
    return BuildOutcome(spec, folder / "artifact", log, tail(log), seconds)


def keep_failure(spec: BuildSpec, made: Path, state: Path, seconds: float) -> BuildOutcome:
    """The log of the failed try stays; nothing else of it does."""
    folder = _failed(spec, state)
    shutil.rmtree(made / "artifact", ignore_errors=True)
    _replace(made, folder)
    log = folder / "build.log"
    return BuildOutcome(spec, None, log, tail(log), seconds)


def _folder(spec: BuildSpec, state: Path) -> Path:
    return state.absolute() / "builds" / spec.digest


def _failed(spec: BuildSpec, state: Path) -> Path:
    return state.absolute() / "builds" / f"{spec.digest}.failed"


def _lock(builds: Path, digest: str) -> Path:
    return builds / ".locks" / digest


def _replace(made: Path, folder: Path) -> None:
    """`made` stands at `folder`; what stood there goes first, since a folder cannot be renamed over a full one."""
    _forget(folder)
    made.rename(folder)


def _forget(folder: Path) -> None:
    """`folder` is gone: renamed away first, so that a reader sees all of it or nothing."""
    if folder.exists():
        grave = Path(mkdtemp(prefix=f"{folder.name.removesuffix('.failed')}.", dir=folder.parent / ".making"))
        folder.rename(grave / "old")
        shutil.rmtree(grave, ignore_errors=True)


def _sweep(builds: Path, mine: str) -> None:
    """What killed processes left behind is gone; what another process is making stays."""
    for left in (builds / ".making").iterdir():
        digest = left.name.partition(".")[0]
        if digest == mine or is_free(_lock(builds, digest)):
            shutil.rmtree(left, ignore_errors=True)


def _files(artifact: Path) -> dict[str, int]:
    """Every file's size; bytecode is left out, since Python writes it whenever the Build runs."""
    sizes: dict[str, int] = {}
    for folder, folders, names in os.walk(artifact):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = Path(folder) / name
            sizes[str(path.relative_to(artifact))] = path.lstat().st_size
    return sizes


def _is_whole(artifact: Path, sizes: Mapping[str, int]) -> bool:
    return artifact.is_dir() and all((artifact / name).lstat().st_size == size for name, size in sizes.items())
