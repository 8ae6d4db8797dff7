"""Tables of one Series, Launch, device, Run, Build or Regression: its page's address, the table's name, and an ending."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from perfd.domain.table import Table
from perfd.plots import series_png
from perfd.site import builds, launches, regressions, runs, submissions, tables
from perfd.site.devices import DeviceId
from perfd.site.devices import find as find_device
from perfd.site.exports import Form
from perfd.site.files import Sheets, answer
from perfd.site.fresh import kept
from perfd.site.launches import LaunchId
from perfd.site.parameters import RegressionId, SeriesId
from perfd.site.series import find as find_series
from perfd.site.sheets import judged, service, sheet
from perfd.site.sheets import launches as launching
from perfd.site.site import Here

router = APIRouter()


@router.get("/series/{series_id:int}/{name}.{ending:form}")
def series_file(request: Request, site: Here, series_id: SeriesId, name: str, ending: Form) -> Response:
    """A table of one Series: its Changes."""

    def changes() -> Table:
        page = find_series(site, series_id, 0)
        return sheet("changes", judged.ChangeLine, (judged.change(page.info, one) for one in page.changes))

    return answer(request, {"changes": changes}, name, ending)


LAUNCH: Mapping[str, tuple[type, Callable[[Mapping[str, Any]], Iterable[Any]]]] = {
    "days": (launching.DayLine, launching.days),
    "numbers": (launching.NumberLine, launching.numbers),
    "changed": (launching.ChangedLine, launching.changed),
    "brought": (launching.BroughtLine, launching.brought),
    "roofline": (launching.RooflineLine, launching.roofline),
    "todo": (launching.TodoLine, launching.todo),
}


@router.get("/launches/{number:int}/{name}.{ending:form}")
def launch_file(request: Request, site: Here, number: LaunchId, name: str, ending: Form) -> Response:
    """A table of one Launch: days, numbers, changed, brought, roofline or todo."""

    def maker(kind: type, rows: Callable[[Mapping[str, Any]], Iterable[Any]]) -> Callable[[], Table]:
        return lambda: sheet(name, kind, rows(launches.report_of(site, number)))

    return answer(request, {word: maker(*one) for word, one in LAUNCH.items()}, name, ending)


@router.get("/devices/{device_id:int}/{name}.{ending:form}")
def device_file(request: Request, site: Here, device_id: DeviceId, name: str, ending: Form) -> Response:
    """A table of one device: quarantines, voided (Runs), seen (in its last Run) or runs (its last)."""
    store, device = site.store, find_device(site, device_id).device

    def seen() -> Table:
        page = store.devices.page(device)
        return sheet("seen", service.SeenLine, service.seen(page.states_of, page.states))

    held: Sheets = {
        "quarantines": lambda: sheet(
            "quarantines", service.QuarantineLine, service.quarantines(device_id, store.devices.quarantines(device))
        ),
        "voided": lambda: tables.runs(store.devices.page(device).voided),
        "seen": seen,
        "runs": lambda: tables.runs(store.devices.page(device).runs),
    }
    return answer(request, held, name, ending)


@router.get("/runs/{key}/{name}.{ending:form}")
def run_file(request: Request, site: Here, key: str, name: str, ending: Form) -> Response:
    """A table of one Run: seen (what its device did meanwhile) or submissions (of a long Run)."""
    page = runs.find(site, key)

    def handed_in() -> Table:
        return sheet(
            "submissions", judged.SubmissionLine, judged.submissions(page.run.key, site.store.submissions.of_run(page.run.id))
        )

    held: Sheets = {
        "seen": lambda: sheet("seen", service.SeenLine, service.seen(page.run.key, page.device_states)),
        "submissions": handed_in,
    }
    return answer(request, held, name, ending)


@router.get("/runs/{key}/submissions.png")
def course_picture(request: Request, site: Here, key: str) -> Response:
    """What a long Run handed in over time in its last try: scores on the validation set, and below on the held-out set."""
    page = runs.find(site, key)

    def make() -> Response:
        came = site.store.submissions.of_run(page.run.id)
        return Response(series_png(submissions.pictures(came[max(came)]) if came else []), media_type="image/png")

    return kept(request, site.snapshot(), make)


@router.get("/builds/{digest}/{name}.{ending:form}")
def build_file(request: Request, site: Here, digest: str, name: str, ending: Form) -> Response:
    """A table of one Build: ingredients."""
    page = builds.find(site, digest)
    return answer(request, {"ingredients": lambda: tables.ingredients(page.spec)}, name, ending)


@router.get("/regressions/{regression_id:int}/{name}.{ending:form}")
def regression_file(request: Request, site: Here, regression_id: RegressionId, name: str, ending: Form) -> Response:
    """A table of one Regression: members, commits (of its range), bisection or life."""
    row = regressions.find(site, regression_id)

    def commits() -> Table:
        found = site.store.pages.commits(row.members[0][1].id) if row.members else None
        return sheet("commits", judged.CommitLine, judged.commits(row.id, found))

    held: Sheets = {
        "members": lambda: tables.regressions([row]),
        "commits": commits,
        "bisection": lambda: sheet("bisection", judged.StepLine, judged.steps(site.store.bisects.of_regression(row.id))),
        "life": lambda: sheet("life", judged.EventLine, judged.events(row.id, row.events)),
    }
    return answer(request, held, name, ending)
