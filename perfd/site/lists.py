"""JSON of what the other pages list: Kernels, Launches, devices, nights, comparisons, spans, a week's report, formulas."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from perfd.domain.codec import to_json
from perfd.domain.run import OccasionKind
from perfd.site import answers, launches, weekly
from perfd.site.answers import told
from perfd.site.devices import DeviceId
from perfd.site.devices import find as find_device
from perfd.site.formulas import daily, formulas_of
from perfd.site.fresh import kept, this_minute
from perfd.site.launches import LaunchId
from perfd.site.parameters import Limit, Offset, asking, text
from perfd.site.sheets import judged, kernels, service, spans
from perfd.site.site import Here
from perfd.store.pages import OccasionFilter

router = APIRouter(prefix="/api/v1")
Document = dict[str, Any]
OF_KERNELS = {
    "kernel": "Only numbers of this Kernel.",
    "section": "Only static, values or timing.",
    "column": "Only this architecture, element type or shape.",
    "metric": "Only this Metric.",
    "device_class": "Only this device class.",
}
OF_LAUNCHES = {"model": "Only Launches of this Model.", "engine": "Only Launches on this Engine."}
OF_DEVICES = {
    "host": "Only devices of this host.",
    "device_class": "Only this device class.",
    "state": "Only ready, refused or quarantined ones.",
}
OF_NIGHTS = {"state": "Only nights in this state."}
OF_COMPARISONS = {"state": "Only comparisons in this state.", "outcome": "Only comparisons with this Verdict in all."}
WEEK = asking({"week": "A week such as 2026-W11, or a day in it; absent: the last complete one."})
FORMULAS = asking({"f": "A formula such as s12 / s7; up to four, each as an f of its own."})


def fresh(request: Request, make: Callable[[], Document]) -> Response:
    """The document, made anew when anything was written and every minute: some of it says how things stand just now."""
    return this_minute(request, lambda: JSONResponse(make()))


def page(name: str, rows: Sequence[Any], offset: int, limit: int) -> Document:
    """One page of these rows, and how many there are."""
    return {"total": len(rows), "offset": offset, "limit": limit, name: to_json(rows[offset : offset + limit])}


def matching(request: Request, rows: Iterable[Any], names: Iterable[str]) -> list[Any]:
    """The rows whose fields are what the address says of them; raises BadInputError for what can be no name."""
    wanted = {name: value for name in names if (value := text(request, name))}
    return [row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())]


@router.get("/kernels", openapi_extra=asking(OF_KERNELS), responses=told(answers.Kernels))
def list_kernels(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The latest Point of every Metric of every Kernel: counts of the compiler, errors against float64, times on a GPU."""
    return fresh(request, lambda: page("kernels", matching(request, kernels.lines(site.store), OF_KERNELS), offset, limit))


@router.get("/launches", openapi_extra=asking(OF_LAUNCHES), responses=told(answers.Launches))
def list_launches(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Launches with their whole reports, the newest first."""
    wanted = {name: text(request, name) for name in OF_LAUNCHES}

    def make() -> Document:
        rows = site.store.launches.every()
        found = [row for row in rows if all(value in {"", getattr(row.launch, name)} for name, value in wanted.items())]
        shown = [launches.report_of(site, row.id) for row in found[offset : offset + limit]]
        return {"total": len(found), "offset": offset, "limit": limit, "launches": shown}

    return fresh(request, make)


@router.get("/launches/{number}", responses=told(answers.Launch))
def one_launch(request: Request, number: LaunchId, site: Here) -> Response:
    """One Launch: days, classes, what changed, what Changes brought, roofline, and the list of what is left to do."""
    return fresh(request, lambda: launches.report_of(site, number))


@router.get("/devices", openapi_extra=asking(OF_DEVICES), responses=told(answers.Devices))
def list_devices(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Devices and how they stand: ready, refused or quarantined, why and since when."""

    def make() -> Document:
        rows = map(service.device, site.store.devices.rows())
        return page("devices", matching(request, rows, OF_DEVICES), offset, limit)

    return fresh(request, make)


@router.get("/devices/{device_id}", responses=told(answers.OneDevice))
def one_device(request: Request, device_id: DeviceId, site: Here) -> Response:
    """One device with its quarantines, the Runs that became void by it, and its last Runs."""

    def make() -> Document:
        row = find_device(site, device_id)
        found = site.store.devices.page(row.device)
        lasting = {"quarantines": site.store.devices.quarantines(row.device), "voided": found.voided, "runs": found.runs}
        return {**to_json(service.device(row)), **to_json(lasting)}

    return fresh(request, make)


@router.get("/nights", openapi_extra=asking(OF_NIGHTS), responses=told(answers.Nights))
def list_nights(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Nights with their Runs by state, the newest first."""

    def make() -> Document:
        wanted = OccasionFilter(OccasionKind.NIGHT, text(request, "state") or None)
        total, rows = site.store.pages.occasion_list(wanted, offset, limit)
        return {"total": total, "offset": offset, "limit": limit, "nights": to_json(list(service.nights(rows)))}

    return fresh(request, make)


@router.get("/comparisons", openapi_extra=asking(OF_COMPARISONS), responses=told(answers.Comparisons))
def list_comparisons(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Comparisons in interleaved blocks, the newest first, each with its Verdict in all."""

    def make() -> Document:
        parts = (text(request, name) or None for name in OF_COMPARISONS)
        total, rows = site.store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE, *parts), offset, limit)
        shown = to_json(list(map(judged.comparison, rows)))
        return {"total": total, "offset": offset, "limit": limit, "comparisons": shown}

    return fresh(request, make)


@router.get("/spans", responses=told(answers.Spans))
def list_spans(request: Request, site: Here) -> Response:
    """Whether things have become better: what came of last night, of seven and of thirty days."""
    return fresh(request, lambda: {"spans": to_json(list(spans.lines(site)))})


@router.get("/report", openapi_extra=WEEK, responses=told(answers.Report))
def week_report(request: Request, site: Here) -> Response:
    """The report of a week, of the last complete one where none is named."""
    asked = weekly.week_of(request, site)
    return fresh(request, lambda: weekly.document(site, asked))


@router.get("/formulas", openapi_extra=FORMULAS, responses=told(answers.Formulas))
def list_formulas(request: Request, site: Here) -> Response:
    """Formulas over Series day by day (UTC): `s12 / s7` is a ratio of the last Points of each day, in base units."""
    asked = formulas_of(request)

    def make() -> Response:
        found = [
            {
                "formula": formula.text,
                "series": sorted(formula.series),
                "days": [day.isoformat() for day, _ in known],
                "values": [value for _, value in known],
            }
            for formula, known, _ in daily(site, asked)
        ]
        return JSONResponse({"formulas": found})

    return kept(request, site.store.pages.version(), make)
