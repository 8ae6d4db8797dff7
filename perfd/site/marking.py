"""Builds that are marked in the chart of one Series and held against each other below it."""

import shlex
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from perfd.domain.metric import Metric
from perfd.domain.numbers import Scale, effect_between, percent, scale_of
from perfd.site.drawing import strip
from perfd.site.rows import effect_word
from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.site.templates import short
from perfd.store.pages.marking import Marked
from perfd.store.records import SeriesInfo, SeriesPage

LETTERS = "AB"


class MarkLine(NamedTuple):
    """One marked Build as a line."""

    letter: str
    build: str
    revision: str
    title: str
    run: str
    points: int
    value: str
    interval: str
    n: int
    strip: Markup


class Marks(NamedTuple):
    """All that the page says of them."""

    lines: list[MarkLine]
    unit: str
    sentence: str
    """How the second lies from the first; what was not found; "" where nothing was asked for."""
    command: str
    """What decides between two; "" with fewer."""

    @property
    def drawn(self) -> list[dict[str, str]]:
        """What the chart must know."""
        return [{"letter": one.letter, "build": one.build} for one in self.lines]


def marks_of(site: Site, page: SeriesPage, names: Sequence[str]) -> Marks:
    """The Builds whose names begin so, the first one as A."""
    asked = [(name, site.store.pages.marked(page.info.id, name)) for name in names]
    found = {one.last.point.build: one for _, one in asked if one is not None}
    lost = [f"No Build and no Revision of this Series begins with {short(name, 40)}." for name, one in asked if one is None]
    told = list(found.values())
    scale = scale_of(page.info.metric.unit, [*page.extent, *(value for one in told for value in one.samples)])
    every = [value for one in told for value in one.samples]
    span = (min(every), max(every)) if every else None
    lines = [_line(letter, one, scale, span) for letter, one in zip(LETTERS, told, strict=False)]
    between = [_between(page.info.metric, *told)] if len(told) == 2 else []
    return Marks(lines, scale.unit, " ".join([*lost, *between]), _command(page.info, told))


def _line(letter: str, one: Marked, scale: Scale, span: tuple[float, float] | None) -> MarkLine:
    point = one.last.point
    many = plural(len(one.samples), "Sample")
    title = f"{letter}: {many} around {scale.text(statistics.median(one.samples))}" if one.samples else ""
    return MarkLine(
        letter,
        point.build,
        point.revision,
        one.last.title,
        point.run,
        one.points,
        scale.text(point.value),
        scale.interval(point.interval),
        point.n,
        strip(one.samples, title, span=span),
    )


def _between(metric: Metric, base: Marked, head: Marked) -> str:
    effect = effect_between(base.last.point.value, head.last.point.value)
    if effect is None:
        return "B has no ratio to A, which is zero."
    return f"B against A: {percent(effect)} ({effect_word(metric, effect)}), by the last Point of each."


def _command(info: SeriesInfo, told: Sequence[Marked]) -> str:
    if len(told) < 2:
        return ""
    base, head = (one.last.point.revision for one in told)
    return shlex.join(["perfd", "compare", base, head, "--engine", info.key.subject, "--workload", info.workload_name])
