"""The section `[github]` of `perfd.toml`: whose pull requests are answered. Its secrets come from the environment."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from perfd.config.lines import Place
from perfd.config.secrets import refuse_address_with_password
from perfd.config.table import Mistakes, Table, meant
from perfd.config.words import GitHub, GitHubRepository
from perfd.domain.area import Area, Gate
from perfd.domain.metric import METRICS
from perfd.domain.subject import Engine
from perfd.domain.suite import WorkloadClass

URL = "https://api.github.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\[bot\])?")
_APP = re.compile(r"[A-Za-z0-9.]+")


def github(table: Table, environ: Mapping[str, str]) -> GitHub:
    """The forge, its repositories, and who perfd is there."""
    url = table.text("url", URL).rstrip("/")
    if not _is_address(url):
        table.wrong("url", f'github.url must be the address of an API such as "https://github.example.com/api/v3", not "{url}"')
    refuse_address_with_password(table, "url", url)
    app = environ.get("PERFD_GITHUB_APP_ID") or None
    if app is not None and not _APP.fullmatch(app):
        table.wrong("url", f'PERFD_GITHUB_APP_ID must be the App\'s number or client id, not "{app[:40]}"')
    key = environ.get("PERFD_GITHUB_PRIVATE_KEY_FILE")
    made = GitHub(
        url=url,
        site=table.text("site", "").rstrip("/"),
        repositories=tuple(_repository(one) for one in table.tables("repositories")),
        app_id=app,
        private_key_file=Path(key).expanduser() if key else None,
        webhook_secret=environ.get("PERFD_GITHUB_WEBHOOK_SECRET") or None,
    )
    if made.site and not _is_address(made.site):
        table.wrong(
            "site",
            f'github.site must be the address of perfd\'s own site, such as "https://perfd.example.com", not "{made.site}"',
        )
    table.close()
    return made


def check_github(mistakes: Mistakes, made: GitHub, engines: Iterable[Engine], suites: set[str]) -> None:
    """Every name that the section speaks of is there, and no repository twice."""
    known = {engine.name for engine in engines}
    seen: set[str] = set()
    for index, one in enumerate(made.repositories):
        place: Place = ("github", "repositories", index)
        if one.name.casefold() in seen:
            mistakes.add((*place, "name"), f'[[github.repositories]] "{one.name}" is there twice; its engine is one')
        seen.add(one.name.casefold())
        if one.engine and one.engine not in known:
            told = f'pull requests of "{one.name}" are built as the engine "{one.engine}", which is not there'
            mistakes.add((*place, "engine"), told + meant(one.engine, known))
        asked = {*one.suites, *(name for area in one.areas for name in area.suites)}
        for name in sorted(asked - suites) if suites else ():
            told = f'pull requests of "{one.name}" are measured by the suite "{name}", which is not there'
            mistakes.add(place, told + meant(name, suites))


def _repository(table: Table) -> GitHubRepository:
    name = table.text("name")
    if name and not _REPOSITORY.fullmatch(name):
        table.wrong("name", f'github.repositories.name must be "owner/name", not "{name}"')
    authors = table.texts("authors", ())
    for author in authors:
        if not _LOGIN.fullmatch(author):
            table.wrong("authors", f'github.repositories.authors names logins of people, such as "octocat", not "{author}"')
    made = GitHubRepository(
        name=name,
        engine=table.text("engine"),
        authors=authors,
        suites=table.texts("suites", ()),
        areas=tuple(_area(one) for one in table.tables("areas")),
        gates=tuple(_gate(one) for one in table.tables("gates")) if "gates" in table.values else _every(table),
        documentation=table.texts("documentation", ()),
        most_minutes=table.number("most_minutes", 30.0, 0.1),
        deadline_hours=table.number("deadline_hours", 12.0, 0.1),
    )
    table.close()
    return made


def _every(table: Table) -> tuple[Gate, ...]:
    table.tables("gates")  # absent, and known
    return (Gate(),)


def _area(table: Table) -> Area:
    made = Area(paths=table.texts("paths"), suites=table.texts("suites", ()), workloads=table.texts("workloads", ()))
    table.close()
    return made


def _gate(table: Table) -> Gate:
    made = Gate(workload=table.text("workload", ""), metric=table.text("metric", ""), workload_class=table.text("class", ""))
    if made.metric and made.metric not in METRICS:
        table.wrong(
            "metric", f'github.repositories.gates.metric "{made.metric}" is no Metric of perfd{meant(made.metric, METRICS)}'
        )
    if made.workload_class and made.workload_class not in set(WorkloadClass):
        told = meant(made.workload_class, WorkloadClass)
        table.wrong("class", f'github.repositories.gates.class cannot be "{made.workload_class}"{told}')
    table.close()
    return made


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not parts.query and not parts.fragment
