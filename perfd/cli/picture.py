"""The picture of `perfd detect --plot`: whole or not at all, and in the place of no other file than a picture."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from perfd import plots
from perfd.domain.verdict import ChangeStatus
from perfd.errors import BadInputError
from perfd.rules.detect import Detected

_PNG = b"\x89PNG\r\n\x1a\n"
MOST_DRAWN = 40
"""A picture of more series is larger than what most programs open, and takes a second a series."""


def check_picture(plot: Path, source: Path) -> None:
    """Nothing, where the picture may be written there; before minutes are spent on what it shows."""
    try:
        if plot.exists() and source.exists() and plot.samefile(source):
            raise BadInputError(f"{plot}: is the file that is read, and would be lost; give another --plot FILE")
        if plot.is_file() and _begin(plot) not in {b"", _PNG}:
            raise BadInputError(f"{plot}: holds something that is no picture (PNG), and would be lost; give another --plot FILE")
        if not plot.parent.is_dir():
            raise BadInputError(f"{plot}: there is no folder {plot.parent}; make it, or give another --plot FILE")
    except OSError as error:
        raise _unwritable(plot, error) from None


def draw(found: Sequence[Detected], plot: Path) -> None:
    """The picture is in the file; of many series those with changes come first, and standard error tells what is left out."""
    first = sorted(range(len(found)), key=lambda place: -_weight(found[place]))[:MOST_DRAWN]
    drawn = [found[place] for place in sorted(first)]
    picture = plots.series_png([plots.SeriesView(one.name, "", one.values.tolist(), changes=one.changes) for one in drawn])
    try:
        _write(picture, plot.resolve())
    except OSError as error:
        raise _unwritable(plot, error) from None
    if len(drawn) < len(found):
        click.echo(f"{plot} shows {len(drawn)} of {len(found)} series, those with changes first", err=True)


def _begin(plot: Path) -> bytes:
    with plot.open("rb") as file:
        return file.read(len(_PNG))


def _weight(one: Detected) -> int:
    """2 where something is detected, 1 where something is suspected."""
    return 1 + any(change.status is ChangeStatus.DETECTED for change in one.changes) if one.changes else 0


def _write(picture: bytes, plot: Path) -> None:
    """Written beside and renamed, so that a full disk or a second perfd leaves an older picture whole; a device is written to."""
    if plot.exists() and not plot.is_file():
        plot.write_bytes(picture)
        return
    beside = plot.with_name(f".perfd-{os.getpid()}.part")
    try:
        beside.write_bytes(picture)
        beside.replace(plot)
    finally:
        beside.unlink(missing_ok=True)


def _unwritable(plot: Path, error: OSError) -> BadInputError:
    return BadInputError(f"{plot}: the picture cannot be written ({error.strerror}); give another --plot FILE")
