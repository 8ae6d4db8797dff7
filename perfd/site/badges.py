"""Badges: a picture of two words to be shown in a README, for a Series or a subject; other pages may embed it."""

from typing import Annotated, Any
from xml.sax.saxutils import escape, quoteattr

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Outcome
from perfd.site.fresh import kept
from perfd.site.numbers import percent, scale_of
from perfd.site.parameters import MOST_CHARACTERS, SeriesId
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store import SeriesFilter

router = APIRouter()
GREY, BLUE, ORANGE = "#595959", "#00588a", "#a34700"
"""Dark enough for white letters (4.5:1), and the word says the same."""
COLOURS = {Outcome.WORSE: ORANGE, Outcome.BETTER: BLUE, Outcome.SAME: BLUE}
EM = 6.6
"""Pixels of a letter of 11 pixels; `textLength` makes every font fit."""
MOST_WORDS = 60
SubjectName = Annotated[str, Path(max_length=MOST_CHARACTERS, description="An Engine's or Kernel's name.")]


@router.get("/badges/series/{series_id:int}.svg")
def series_badge(request: Request, site: Here, series_id: SeriesId) -> Response:
    """The last value of one Series and its last Verdict."""
    return kept(request, site.store.pages.version([series_id]), lambda: _series(site, series_id))


@router.get("/badges/subjects/{name:path}.svg")
def subject_badge(request: Request, site: Here, name: SubjectName) -> Response:
    """How many Regressions of a subject are open."""
    return kept(request, site.store.pages.snapshot(), lambda: _subject(site, name))


def _series(site: Site, series_id: int) -> Response:
    rows = site.store.pages.series_lines([series_id])
    if not rows:
        raise NotHereError(f"There is no Series {series_id} with a Point.")
    row = rows[0]
    scale = scale_of(row.info.metric.unit, [row.value])
    said, colour = _said(row.outcome, row.effect)
    value = f"{scale.text(row.value)} {scale.unit}".rstrip()
    return badge(f"{row.info.key.subject} {row.info.workload_name} {row.info.metric.name}", f"{value}, {said}", colour)


def _said(outcome: Outcome | None, effect: float | None) -> tuple[str, str]:
    """The last Verdict in words, and its colour."""
    if outcome is None:
        return "not judged yet", GREY
    moved = outcome in {Outcome.WORSE, Outcome.BETTER} and effect is not None
    return f"{outcome}{f' {percent(effect)}' if moved else ''}", COLOURS.get(outcome, GREY)


def _subject(site: Site, name: str) -> Response:
    if not name.isprintable() or not site.store.pages.series_order(SeriesFilter(subject=name), tuple(WorkloadClass)).counts:
        raise NotHereError(f"Nothing of {short(name)} was measured.")
    many = sum(one.subject == name for one in site.store.regressions.unanswered())
    return badge(f"perfd {name}", plural(many, "open regression") if many else "no open regression", ORANGE if many else BLUE)


def badge(left: str, right: str, colour: str) -> Response:
    """The two words side by side as SVG, escaped."""
    shown = [short(_visible(word), MOST_WORDS) for word in (left, right)]
    widths = [round(len(word) * EM) for word in shown]
    cut, whole = widths[0] + 12, sum(widths) + 24
    title = f"{shown[0]}: {shown[1]}"
    words = "".join(
        f'<text x="{at}" y="14" textLength="{width}" lengthAdjust="spacingAndGlyphs">{escape(word)}</text>'
        for at, width, word in zip((6, cut + 6), widths, shown, strict=True)
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" aria-label={quoteattr(title)}>'
        f"<title>{escape(title)}</title>"
        f'<rect width="{cut}" height="20" fill="#333333"/><rect x="{cut}" width="{whole - cut}" height="20" fill="{colour}"/>'
        f'<g fill="#ffffff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">{words}</g></svg>'
    )
    headers: dict[str, Any] = {"Cross-Origin-Resource-Policy": "cross-origin"}
    return Response(svg, media_type="image/svg+xml", headers=headers)


def _visible(text: str) -> str:
    """The text without characters that no XML may hold, or that turn its direction."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)
