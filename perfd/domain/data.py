"""The data of a Workload: files and folders of the suites' data folder, and the hash that makes them part of its identity."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from perfd.domain.identity import digest


def hashes_of(folder: Path, name: str) -> dict[str, str]:
    """sha256 of the file, or of every file of the folder, by its name; raises OSError for what cannot be read."""
    path = folder / name
    found = path.rglob("*") if path.is_dir() else [path]
    files = sorted(one for one in found if not one.is_dir() and "__pycache__" not in one.parts)
    return {str(one.relative_to(folder)): hashlib.sha256(one.read_bytes()).hexdigest() for one in files}


def data_hash(hashes: Mapping[str, str]) -> str:
    """One hash for a Workload's data files, given the sha256 of each; "" for none."""
    return digest(dict(hashes)) if hashes else ""


def hash_of(folder: Path, names: Iterable[str]) -> str:
    """The data hash of these files and folders; empty names are passed over. Raises OSError for what cannot be read."""
    return data_hash({place: one for name in filter(None, names) for place, one in hashes_of(folder, name).items()})
