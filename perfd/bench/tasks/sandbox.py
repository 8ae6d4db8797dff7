"""Runs a program that a model wrote: in a cage without network and /proc, ended by the clock, its words cut short."""

import secrets
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from perfd.bench.cage.plan import HOME, PROGRAM, Plan, python_places
from perfd.bench.cage.run import Ended, NoCageError, Ran, run
from perfd.errors import BadInputError

WALL_S = 10.0
PLACE = f"{HOME}/program.py"


def run_program(program: str, work: Path, wall_s: float = WALL_S) -> Ran:
    """How the program ended, at most `wall_s` seconds later; nothing it started is alive. Raises BadInputError without a cage."""
    with tempfile.NamedTemporaryFile(dir=work) as file:
        file.write(program.encode("utf-8", "replace"))
        file.flush()
        Path(file.name).chmod(0o644)
        plan = Plan(
            command=(sys.executable, "-I", "-S", "-B", PLACE),
            limits=replace(PROGRAM, wall_s=wall_s),
            shown={**python_places(), PLACE: file.name},
            processes_seen=False,
        )
        try:
            return run(plan)
        except NoCageError as error:
            raise BadInputError(f"programs that a model wrote are not run: {error.message}, or leave HumanEval out") from None


def check_sandbox(work: Path) -> None:
    """Raise BadInputError where this host cannot keep a program apart, before any item is asked."""
    word = secrets.token_hex(8)
    ran = run_program(f"print({word!r})", work)
    if ran.ended is not Ended.WELL or word.encode() not in ran.output:
        raise BadInputError(f"a program that only prints did not run in the sandbox ({ran.errors.strip()[-200:]})")
