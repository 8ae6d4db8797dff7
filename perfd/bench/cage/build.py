"""A Build's steps in a cage: what a compilation of code that nobody vouches for is shown, and where it may write."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from perfd.bench.cage.plan import BUILD, Plan, command, python_places, same_place
from perfd.bench.cage.run import PLACES

FROM_STATE = ("tools", "ccache")
"""Of the state folder: build tools, and what was compiled before. Both are read, never written: no other Build may be spoilt."""
READ_ONLY_CACHE = {"CCACHE_READONLY": "1", "CCACHE_NOSTATS": "1", "CCACHE_TEMPDIR": f"{PLACES['TMPDIR']}/ccache"}

PASSED_ON = ("LANG", "LC_CTYPE", "LC_MESSAGES")
"""ccache hashes the language: without these, nothing that was compiled outside would be found."""


def enclosure(state: Path) -> Callable[[Sequence[str], Path, Mapping[str, str]], list[str]]:
    """What makes a caged command line of a Build's step: given to `builders.build` by the build stage."""
    kept = [path for name in FROM_STATE if (path := state.absolute() / name).exists()]

    def enclose(words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> list[str]:
        place = str(folder.absolute())
        passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        environment = {**passed, **PLACES, "PATH": os.environ.get("PATH", PLACES["PATH"]), **variables, **READ_ONLY_CACHE}
        shown = {**python_places(), **same_place(*kept)}
        return command(Plan(tuple(words), BUILD, environment, shown, writes=(place,), cwd=place))

    return enclose
