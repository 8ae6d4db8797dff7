"""Imports follow the table of docs/design.md; what runs next to a GPU needs neither SQLAlchemy nor FastAPI."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EVERYWHERE = {"domain", "errors", "config", ""}
FLOORS = {
    "domain": set(),
    "errors": set(),
    "config": set(),
    "stats": set(),
    "rules": {"stats"},
    "bench": {"stats"},
    "builders": set(),
    "store": set(),
    "forge": set(),
    "notify": set(),
    "plots": set(),
    "parquet": set(),
    "suites": set(),
    "importers": set(),
    "client": set(),
    "stages": {"suites", "rules", "builders", "bench", "store", "forge", "notify", "plots"},
    "schedule": {"stages"},
    "site": {"store", "forge", "plots", "parquet", "rules"},
    "cli": {
        "importers",
        "parquet",
        "client",
        "schedule",
        "site",
        "stages",
        "suites",
        "rules",
        "builders",
        "bench",
        "store",
        "forge",
        "plots",
        "stats",
    },
}
BARE = {"domain": set(), "errors": set(), "config": set(), "stats": {"numpy"}}
BESIDE_A_GPU = {"torch", "triton", "numpy", "pytest", "pytest_benchmark", "pynvml"}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module == "perfd":
                yield from (f"perfd.{alias.name}" for alias in node.names)
            else:
                yield node.module


def room(path: Path) -> str:
    first = path.relative_to(ROOT / "perfd").parts[0]
    return first.removesuffix(".py")


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def foreign(path: Path) -> set[str]:
    return {name.split(".")[0] for name in imports(path)} - set(sys.stdlib_module_names) - {"perfd"}


@pytest.mark.parametrize("path", files("perfd"), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_import_goes_down_the_house(path: Path) -> None:
    here = room(path)
    if here in {"__init__", "__main__"}:
        return
    allowed = FLOORS[here] | {here} | (EVERYWHERE if here not in {"domain", "errors"} else {"domain", "errors"})

    seen = {name.split(".")[1] if "." in name else "" for name in imports(path) if name.split(".")[0] == "perfd"}
    # `from perfd import HARNESS_VERSION` names a constant of the package itself, which has no floor.
    rooms = {name for name in seen if (ROOT / "perfd" / name).exists() or (ROOT / "perfd" / f"{name}.py").exists()}

    assert rooms - allowed == set()


@pytest.mark.parametrize("path", [p for name in BARE for p in files("perfd") if room(p) == name], ids=str)
def test_the_lowest_floors_need_only_the_standard_library_and_numpy(path: Path) -> None:
    assert foreign(path) - BARE[room(path)] == set()


@pytest.mark.parametrize("path", [*files("perfd/bench"), *files("suites")], ids=lambda path: str(path.relative_to(ROOT)))
def test_what_runs_beside_a_gpu_needs_no_database_and_no_web(path: Path) -> None:
    local = {other.stem for other in files("suites")}

    assert foreign(path) - BESIDE_A_GPU - local == set()


def test_only_one_file_knows_the_clock_library() -> None:
    knowing = [path.name for path in files("perfd") if "apscheduler" in foreign(path)]

    assert knowing == ["schedule.py"]


def test_only_the_store_and_the_migrations_know_sql() -> None:
    knowing = {room(path) for path in files("perfd") if foreign(path) & {"sqlalchemy", "psycopg", "alembic"}}

    assert knowing <= {"store"}
