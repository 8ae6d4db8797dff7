"""Every test here starts real processes, and where this host has no cages it skips and says why."""

import sys
from pathlib import Path

import pytest
from cage_world import Cage

from perfd.bench.cage.refuse import refusal

for beside in ("bench", "builders"):
    sys.path.append(str(Path(__file__).parents[1] / beside))  # jobs on the tiny engine and git repositories serve here too


@pytest.fixture
def cages_are_here() -> None:
    """Skips where no cage can be built; test_cage_refusal.py proves the sentence everywhere."""
    if refusal():
        pytest.skip(refusal())


@pytest.fixture
def cage(tmp_path: Path, cages_are_here: None) -> Cage:
    del cages_are_here
    return Cage(tmp_path)
