"""How one Series is looked at: days, a scale, a release to be held against, and others laid over it; all of it in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from fastapi import Request

from perfd.domain.direction import written_out
from perfd.domain.numbers import Scale
from perfd.domain.subject import brief
from perfd.errors import BadInputError
from perfd.site.marking import LETTERS
from perfd.site.numbers import scale_of
from perfd.site.parameters import ids_of, text, texts
from perfd.site.rows import model_of
from perfd.site.site import Site
from perfd.site.templates import short
from perfd.store.pages import Sibling
from perfd.store.records import SeriesInfo, SeriesPage

SCALES = ("", "log", "ratio")
MOST_OVER = 8
"""Series in one chart: more lines than colours that tell them apart help nobody."""


@dataclass(frozen=True)
class View:
    """What the address asks for."""

    start: str = ""
    """The first day, in UTC; "" from the first Point on."""
    stop: str = ""
    scale: str = ""
    against: str = ""
    """Beginning of the name of the Revision that a ratio is taken to."""
    over: tuple[int, ...] = ()
    builds: tuple[str, ...] = ()
    """Beginnings of the names of Builds, or of their Revisions, that are marked."""


def view_of(request: Request) -> View:
    """The view; raises BadInputError."""
    scale = text(request, "scale")
    if scale not in SCALES:
        raise BadInputError("scale is log or ratio, or is left out")
    start, stop = _day(request, "from"), _day(request, "to")
    if start and stop and start > stop:
        raise BadInputError(f"from ({start}) is after to ({stop})")
    over = ids_of(",".join(named)) if (named := [one for one in request.query_params.getlist("with") if one]) else []
    if len(over) > MOST_OVER:
        raise BadInputError(f"at most {MOST_OVER} Series are laid over one another")
    return View(start, stop, scale, text(request, "against"), tuple(over), _builds(request))


def _builds(request: Request) -> tuple[str, ...]:
    """What the address marks; raises BadInputError."""
    named = dict.fromkeys(one for one in texts(request, "build") if one)
    if len(named) > len(LETTERS):
        raise BadInputError(f"at most {len(LETTERS)} Builds are marked")
    return tuple(named)


def _day(request: Request, name: str) -> str:
    given = text(request, name)
    if not given:
        return ""
    try:
        return date.fromisoformat(given).isoformat()
    except ValueError as error:
        raise BadInputError(f"{name} is a day such as 2026-11-29") from error


@dataclass(frozen=True)
class Axis:
    """The scale of a chart, with a sentence where it could not be what was asked for."""

    scale: Scale
    log: bool = False
    ratio: bool = False
    said: str = ""


def axis(site: Site, page: SeriesPage, view: View) -> Axis:
    """In which numbers the Series is drawn."""
    plain = scale_of(page.info.metric.unit, page.extent)
    if view.scale == "log":
        above = min(page.extent, default=0.0) > 0.0
        return Axis(plain, log=above, said="" if above else "A logarithm needs values above zero, so the scale is linear.")
    if view.scale != "ratio":
        return Axis(plain)
    if not view.against:
        return Axis(plain, said="Name the Revision that the ratio is taken to: the first letters of its name are enough.")
    found = site.store.pages.pinned(page.info.id, view.against)
    if found is None or found.value == 0.0:
        why = "measured zero, and nothing has a ratio to it" if found else "was not measured in this Series"
        return Axis(plain, said=f"{short(view.against, 60)} {why}, so the values are as measured.")
    return Axis(Scale(found.value, f"\N{MULTIPLICATION SIGN} {brief(found.revision)}", 3), ratio=True)


def beside(found: Sequence[Sibling], chosen: Sequence[int]) -> list[dict[str, Any]]:
    """Series that can be laid over it, with the part in which each differs."""
    return [{"id": one.info.id, "part": one.part, "word": _part_word(one), "chosen": one.info.id in chosen} for one in found]


def _part_word(one: Sibling) -> str:
    key = one.info.key
    named = "subject" if one.part == "subject" else one.part.replace(" ", "_")
    return str(getattr(key, named)) or "none"


def lines(infos: Sequence[SeriesInfo], scale: Scale) -> list[dict[str, Any]]:
    """What a chart of several Series must know of each line."""
    return [
        {
            "id": info.id,
            "label": written_out(
                short(", ".join(part for part in (info.key.subject, model_of(info), info.key.device_class) if part), 90)
            ),
            "size": scale.size,
            "unit": scale.unit,
            "decimals": scale.decimals,
        }
        for info in infos
    ]
