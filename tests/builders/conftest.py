import os
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


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is the only index that pip asks; this machine's settings of pip do not count."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", folder.as_uri())
    return folder
