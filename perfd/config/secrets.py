"""Secrets never stand in perfd.toml: a file is committed, copied and shown."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from perfd.config.lines import Place
from perfd.config.table import Mistakes, Table

_SECRET = re.compile(
    r"(?:^|[_-])(?:password|passwd|passphrase|token|secret|credentials?|api_?key|private_?key|access_?key)(?:$|[_-])"
)
_INSTEAD = (
    ("database", "PERFD_DATABASE_URL"),
    ("postgres", "PERFD_DATABASE_URL"),
    ("webhook", "PERFD_GITHUB_WEBHOOK_SECRET"),
    ("private", "PERFD_GITHUB_PRIVATE_KEY_FILE"),
    ("github", "PERFD_GITHUB_PRIVATE_KEY_FILE"),
)


def refuse_secrets(mistakes: Mistakes, document: dict[str, Any]) -> None:
    """Every key that sounds like a secret is told, with the environment variable that takes its place."""
    for place in _keys(document):
        if _is_secret(str(place[-1])):
            mistakes.add(place, f'"{place[-1]}" looks like a secret, which perfd.toml never holds; {_instead(place)}')


def drop_secrets(value: Any) -> Any:
    """The document without those keys, so that they are not told a second time as unknown."""
    if isinstance(value, list):
        return [drop_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: drop_secrets(item) for key, item in value.items() if not _is_secret(key)}


def refuse_address_with_password(table: Table, key: str, address: str) -> None:
    """`https://user:password@host/…` is a secret too; a bare `git@host` is none."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return
    if parts.password or (parts.scheme in {"http", "https"} and parts.username):
        table.wrong(
            key, "the address carries a user or password, which perfd.toml never holds; let git's credential helper keep it"
        )


def _is_secret(key: str) -> bool:
    small = key.lower()
    return (_SECRET.search(small) is not None and not small.endswith("_file")) or small == "database_url"


def _keys(value: Any, place: Place = ()) -> Iterator[Place]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*place, key)
            yield from _keys(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _keys(item, (*place, index))


def _instead(place: Place) -> str:
    path = ".".join(str(part) for part in place).lower()
    if "environment." in path:
        return f"export {place[-1]} where perfd is started instead"
    variable = next((name for word, name in _INSTEAD if word in path), None)
    return f"set {variable} in the environment instead" if variable else "set it in the environment of perfd instead"
