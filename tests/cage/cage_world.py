"""A cage to attack from inside."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from perfd.bench.cage.plan import GIGABYTE, MEGABYTE, NO_NETWORK, Limits, Plan, python_places
from perfd.bench.cage.run import PLACES, Ran, run

LIMITS = Limits(20.0, GIGABYTE, 128, 64 * MEGABYTE, 2000, 4 * MEGABYTE)
PROGRAM = "/program.py"


class Cage:
    """Runs Python programs of a test in a cage, by the interpreter that runs the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        program: str,
        *,
        shown: Mapping[str, Path] | None = None,
        writes: Sequence[Path] = (),
        network: str = NO_NETWORK,
        stdin: bytes = b"",
        **limits: object,
    ) -> Ran:
        file = self.folder / "program.py"
        file.write_text(program)
        file.chmod(0o644)
        told = {place: str(path) for place, path in (shown or {}).items()}
        plan = Plan(
            command=(sys.executable, "-I", "-S", "-B", PROGRAM),
            limits=replace(LIMITS, **limits),  # type: ignore[arg-type]
            environment=PLACES,
            shown={**python_places(), PROGRAM: str(file), **told},
            writes=tuple(map(str, writes)),
            network=network,
        )
        return run(plan, stdin)

    def says(self, program: str, **how: object) -> list[str]:
        """The words that the program prints; it must end well."""
        ran = self(program, **how)  # type: ignore[arg-type]
        assert ran.code == 0, ran.errors + ran.over
        return ran.output.decode().split()
