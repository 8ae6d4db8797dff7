"""Package index sources: released versions as Revisions, and the exact set of packages that one version needs.

What was seen once is kept in the state folder, so that a pinned version is described and ordered the same way without the index.
"""

import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import InvalidVersion, Version

from perfd.builders.locks import held
from perfd.builders.pip import ask_pip
from perfd.builders.words import Progress, quiet
from perfd.domain.codec import from_json, to_json
from perfd.domain.identity import Json
from perfd.domain.subject import Revision, Source
from perfd.errors import BadInputError, PerfdError

LATEST = "latest"


def revisions(source: Source, state: Path, progress: Progress = quiet) -> tuple[Revision, ...]:
    """The released versions, oldest first; the last is the one that the source means: the newest, or the pinned one.

    A pinned version asks no index. Ordinals count the versions that this state folder has seen; pip lists no pre-releases. A pin
    that was set back to an older version stands last all the same, so that nights measure it.
    """
    seen = state.absolute() / "sources" / f"index-{source.location}.json"
    with held(seen.with_suffix(".lock")):
        known = _read_list(seen)
        if source.version == LATEST:
            progress(f"asking the package index for versions of {source.location}")
            known |= set(released_versions(source.location))
        else:
            known.add(_checked(source.version, source.location))
        _write(seen, _ordered(known))
    pinned = [name for name in known if name == source.version]
    upto = _ordered(known - set(pinned)) + pinned
    return tuple(
        Revision(name, place, title=f"{source.location} {name}", parent=upto[place - 1] if place else None)
        for place, name in enumerate(upto)
    )


def released_versions(package: str) -> tuple[str, ...]:
    """Every released version that the index has for this Python, oldest first."""
    said = ask_pip(package, "index", "versions", package)
    listed = next((line for line in said.splitlines() if line.startswith("Available versions:")), None)
    if listed is None:
        raise PerfdError(
            f'pip answered in an unknown form when asked for versions of {package}: expected "Available versions: …"'
        )
    return tuple(_ordered(name.strip() for name in listed.partition(":")[2].split(",")))


@dataclass(frozen=True)
class Pinned:
    """One package of a resolved set."""

    name: str
    version: str
    sha256: str = ""
    """Hash of the file that was resolved; "" where pip told none."""

    @property
    def requirement(self) -> str:
        """A line of a requirements file."""
        return f"{self.name}=={self.version}" + (f" --hash=sha256:{self.sha256}" if self.sha256 else "")


def resolve(requirement: str, state: Path) -> tuple[Pinned, ...]:
    """Exactly the packages that `requirement` (with its version) needs here; resolved once, then kept.

    So the same version means the same Build on every night, and a dependency moves only with a version of its own.
    """
    here = f"{requirement} {platform.python_implementation()} {platform.python_version()} {platform.machine()}"
    kept = state.absolute() / "sources" / f"resolved-{sha256(here.encode()).hexdigest()[:16]}.json"
    with held(kept.with_suffix(".lock")):
        found = _read_pins(kept)
        if found is None:
            found = _ask(requirement)
            _write(kept, to_json(found))
        return found


def _ask(requirement: str) -> tuple[Pinned, ...]:
    with TemporaryDirectory(prefix="perfd-resolve-") as folder:
        report = Path(folder) / "report.json"
        ask_pip(requirement, "install", "--quiet", "--dry-run", "--ignore-installed", "--report", report, requirement)
        told = json.loads(report.read_text(encoding="utf-8"))
    return tuple(sorted((_pin(entry) for entry in told["install"]), key=lambda pin: pin.name))


def _pin(entry: Mapping[str, Json]) -> Pinned:
    hashes = entry["download_info"].get("archive_info", {}).get("hashes", {})
    return Pinned(entry["metadata"]["name"].lower(), entry["metadata"]["version"], hashes.get("sha256", ""))


def _checked(version: str, package: str) -> str:
    try:
        Version(version)
    except InvalidVersion:
        raise BadInputError(f'"{version}" is no version of {package}: write one such as "1.2.3", or "{LATEST}"') from None
    return version


def _ordered(names: Iterable[str]) -> list[str]:
    return sorted(names, key=Version)


def _read_list(path: Path) -> set[str]:
    try:
        return {str(name) for name in json.loads(path.read_text(encoding="utf-8"))}
    except (FileNotFoundError, ValueError, TypeError):
        return set()


def _read_pins(path: Path) -> tuple[Pinned, ...] | None:
    try:
        return from_json(tuple[Pinned, ...], json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, BadInputError):
        return None


def _write(path: Path, value: object) -> None:
    """Renamed from beside, so that a kill leaves the old list or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(value), encoding="utf-8")
    beside.replace(path)
