"""Kernels: what the compiler made of them by architecture, how far they are from float64, and times where a GPU measured them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.metric import MetricKind
from perfd.site.fresh import this_minute
from perfd.site.numbers import Scale, effect_between, scale_of
from perfd.site.rows import effect_word
from perfd.site.sentences import plural
from perfd.site.sheets.kernels import kernel_rows, place
from perfd.site.site import Here, Site
from perfd.store.records import SeriesRow

router = APIRouter()
SECTIONS = {
    "static": "Compiled, by architecture",
    "values": "Held against float64, by element type",
    "timing": "Timed on a GPU, by shape",
}


@dataclass(frozen=True)
class Cell:
    """The latest Point of one Series."""

    series: int
    value: str
    effect: float | None
    word: str


@dataclass(frozen=True)
class MetricRow:
    """One Metric over the columns of a section; a column without it has no cell."""

    metric: str
    unit: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Section:
    """One table of a Kernel."""

    word: str
    columns: tuple[str, ...]
    rows: tuple[MetricRow, ...]


@dataclass(frozen=True)
class KernelTables:
    """All tables of one Kernel."""

    name: str
    sections: tuple[Section, ...]


@router.get("/kernels")
def kernels(request: Request, site: Here) -> Response:
    """The page."""
    return this_minute(request, lambda: _page(site), alike=True)


def _page(site: Site) -> HTMLResponse:
    rows, of_floor = kernel_rows(site.store)
    found = kernel_tables(rows, of_floor)
    timed = any(row.info.metric.kind is MetricKind.SPEED for row in rows)
    return site.pages.show(
        "kernels.html",
        here="/kernels",
        sentence=f"{plural(len(found), 'Kernel')}: registers, spills and instructions by architecture"
        if found
        else "No Kernel has been compiled yet.",
        timing=timing_sentence(timed=timed),
        kernels=found,
    )


def timing_sentence(*, timed: bool) -> str:
    """What the numbers are, and what they are not."""
    if timed:
        return (
            "Times were measured on GPUs: below each stand its share of the roofline, where the GPU's peak is known, and its "
            "noise from night to night. Registers, spills, shared memory and instructions are counted by the compiler."
        )
    return (
        "No GPU has measured here, so kernels are compiled and checked, not timed: counts are the compiler's for each "
        "architecture, errors are against float64 under Triton's interpreter, and nothing here says how fast a kernel is."
    )


def kernel_tables(rows: Iterable[SeriesRow], of_floor: Mapping[int, float]) -> list[KernelTables]:
    """The tables of every Kernel, by name; `of_floor` is the share of the roofline by Run."""
    by_kernel: dict[str, dict[str, list[tuple[str, SeriesRow]]]] = {}
    for row in rows:
        kind, column = place(row)
        by_kernel.setdefault(row.info.key.subject, {}).setdefault(kind, []).append((column, row))
    return [
        KernelTables(
            name, tuple(_section(SECTIONS.get(kind, kind), kinds[kind], of_floor) for kind in sorted(kinds, key=_kind_order))
        )
        for name, kinds in sorted(by_kernel.items())
    ]


def _kind_order(kind: str) -> tuple[int, str]:
    known = list(SECTIONS)
    return (known.index(kind) if kind in known else len(known), kind)


def _section(word: str, placed: list[tuple[str, SeriesRow]], of_floor: Mapping[int, float]) -> Section:
    columns = tuple(sorted({column for column, _ in placed}, key=_column_order))
    metrics = {row.info.metric.name: row.info.metric for _, row in placed}
    rows = [_metric_row(name, columns, placed) for name in metrics]
    timed = {column: row for column, row in placed if row.info.metric.kind is MetricKind.SPEED}
    if timed:
        shares = {column: of_floor.get(row.latest.run_id) for column, row in timed.items()}
        noises = {column: row.verdict.noise if row.verdict else None for column, row in timed.items()}
        rows += [
            _share_row(name, columns, timed, given) for name, given in (("of the roofline", shares), ("noise floor", noises))
        ]
    return Section(word, columns, tuple(rows))


def _share_row(
    name: str, columns: Sequence[str], timed: Mapping[str, SeriesRow], shares: Mapping[str, float | None]
) -> MetricRow:
    """A share in per cent under the times that it belongs to; a column without one has no cell."""
    cells = [
        None if (share := shares.get(column)) is None else Cell(timed[column].info.id, f"{100 * share:.1f}", None, "")
        for column in columns
    ]
    return MetricRow(name, "%", tuple(cells))


def _column_order(column: str) -> tuple[int, str]:
    """sm_80 before sm_100."""
    return (len(column), column)


def _metric_row(metric: str, columns: tuple[str, ...], placed: list[tuple[str, SeriesRow]]) -> MetricRow:
    found: dict[str, SeriesRow] = {column: row for column, row in placed if row.info.metric.name == metric}
    unit = next(iter(found.values())).info.metric.unit
    scale = scale_of(unit, [row.latest.point.value for row in found.values()])
    cells = tuple(_cell(found[column], scale) if column in found else None for column in columns)
    return MetricRow(metric, scale.unit, cells)


def _cell(row: SeriesRow, scale: Scale) -> Cell:
    value = row.latest.point.value
    effect = effect_between(row.previous.point.value if row.previous else None, value)
    return Cell(row.info.id, scale.text(value), effect, effect_word(row.info.metric, effect) if effect else "")
