"""Folder sources: files read by path; a Revision is the hash of what they hold. Kernels come this way.

A location that is one Python file stands for that file and the helpers beside it that it imports, directly or through each other.
"""

import ast
import json
import os
import shutil
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from perfd.builders.locks import held
from perfd.domain.identity import digest
from perfd.domain.subject import Revision, Source
from perfd.errors import BadInputError

_LEFT_OUT = {"__pycache__", ".git", ".ruff_cache", ".mypy_cache", ".pytest_cache"}


def revisions(source: Source, state: Path) -> tuple[Revision, ...]:
    """The one Revision that the files are now. Ordinals count the contents in the order in which this state folder saw them.

    A content that comes back is a new Revision, HASH~2, as a revert is a new commit in git; what was measured between stays so.
    """
    files = source_files(source)
    seen = state.absolute() / "sources" / f"folder-{sha256(str(_root(source)).encode()).hexdigest()[:12]}.json"
    with held(seen.with_suffix(".lock")):
        before = _seen(seen)
        names = _with(before, _content(files))
        if names != before:
            beside = seen.with_suffix(".new")
            beside.write_text(json.dumps(names), encoding="utf-8")
            beside.replace(seen)
    place, name = len(names) - 1, names[-1]
    newest = max(path.stat().st_mtime for path in files.values())
    return (
        Revision(
            name=name,
            ordinal=place,
            committed_at=datetime.fromtimestamp(newest, UTC),
            title=f"{_root(source).name} as of {name[:12]}",
            parent=names[place - 1] if place else None,
        ),
    )


def check_out(source: Source, revision: str, into: Path) -> None:
    """`into` holds the files; refused where they are no longer what the Revision says."""
    files = source_files(source)
    for name, path in files.items():
        copy = into / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    # The copies are hashed, not the originals: an editor may save between the two.
    if _content({name: into / name for name in files}) != revision.partition("~")[0]:
        raise BadInputError(f"{source.location} has changed since Revision {revision[:12]}: watch it again")


def source_files(source: Source) -> dict[str, Path]:
    """Names inside the Build → files now."""
    root = _root(source)
    if root.is_file():
        return {path.name: path for path in _with_helpers(root)}
    if not root.is_dir():
        raise BadInputError(f"{source.location} is neither a file nor a folder: check the source's location")
    files: dict[str, Path] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        files |= {str((Path(folder) / name).relative_to(root)): Path(folder) / name for name in sorted(names)}
    if not files:
        raise BadInputError(f"{source.location} is empty: there is nothing to build")
    return files


def _root(source: Source) -> Path:
    return Path(source.location).expanduser().absolute()


def _with_helpers(file: Path) -> list[Path]:
    """The file, then every file beside it that it imports, then what those import."""
    found: list[Path] = []
    waiting = [file]
    while waiting:
        path = waiting.pop(0)
        if path not in found:
            found.append(path)
            waiting += [path.parent / f"{name}.py" for name in _imports(path) if (path.parent / f"{name}.py").is_file()]
    return found


def _imports(path: Path) -> list[str]:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        # A file that does not parse is a Build that fails when it is measured; its content is its Revision all the same.
        return []
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # `from . import helper` names the helper after `import`, `from helper import x` before it.
            names += [node.module] if node.module else [alias.name for alias in node.names]
    return [name.partition(".")[0] for name in names]


def _content(files: dict[str, Path]) -> str:
    return digest({name: sha256(path.read_bytes()).hexdigest() for name, path in files.items()})


def _with(names: list[str], content: str) -> list[str]:
    contents = [name.partition("~")[0] for name in names]
    if contents[-1:] == [content]:
        return names
    times = contents.count(content)
    return [*names, f"{content}~{times + 1}" if times else content]


def _seen(path: Path) -> list[str]:
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    return [str(name) for name in names] if isinstance(names, list) else []
