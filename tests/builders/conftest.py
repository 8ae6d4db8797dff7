from pathlib import Path

import pytest
from git_repository import Repository, new_repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "an engine")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with a space in its name that does not exist yet."""
    return tmp_path / "the state"


@pytest.fixture
def told() -> list[str]:
    return []
