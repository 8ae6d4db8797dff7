"""The folder of the state folder that one Run works in; it is named after its worker, so that those of dead ones can be told."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfd.stages.context import Context, is_dead
from perfd.store.records import ClaimedRun

AT = "@"
"""Between the parts of a worker's name; a colon would end the path in variables such as PATH."""


@contextmanager
def workplace(context: Context, claimed: ClaimedRun) -> Iterator[Path]:
    """A fresh folder for the Run, gone afterwards."""
    name = AT.join((*context.worker.split(":"), f"{claimed.key[:16]}-{claimed.attempts}"))
    work = _runs(context) / name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def sweep(context: Context) -> None:
    """The folders of Runs whose worker was killed are gone."""
    if not _runs(context).is_dir():
        return
    for left in _runs(context).iterdir():
        if is_dead(left.name.rpartition(AT)[0].replace(AT, ":")):
            shutil.rmtree(left, ignore_errors=True)


def _runs(context: Context) -> Path:
    return context.config.state.absolute() / "runs"
