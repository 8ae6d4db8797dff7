"""One Build: what it is made of, what came of building it, and its Runs."""

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.build import BuildState
from perfd.domain.subject import brief
from perfd.site.fresh import this_minute
from perfd.site.numbers import duration
from perfd.site.parameters import digest
from perfd.site.site import Here, Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store.records import BuildPage

router = APIRouter()
MOST_RUNS = 200
STATES = {
    BuildState.BUILT: "built",
    BuildState.FAILED: "could not be built",
    BuildState.QUEUED: "waits to be built",
    BuildState.BUILDING: "is being built now",
}


@router.get("/builds/{name}")
def build(request: Request, name: str, site: Here) -> Response:
    """The page of one Build."""
    return this_minute(request, lambda: _page(site, find(site, name)), alike=True)


def _page(site: Site, page: BuildPage) -> HTMLResponse:
    spec = page.spec
    newest = sorted(page.runs, key=lambda run: run.queued_at, reverse=True)
    return site.pages.show(
        "build.html",
        sentence=f"{short(spec.subject)} at {brief(spec.revision)}: {STATES[page.state]}",
        build={"digest": spec.digest, "log_tail": page.log_tail},
        facts=_facts(page),
        toolchain=sorted(spec.toolchain.items()),
        dependencies=sorted(spec.dependencies.items()),
        runs=[
            {
                "key": run.key,
                "workload": run.workload,
                "state": run.state.value,
                "failure": run.failure.value if run.failure else "",
                "occasion": run.occasion,
                "finished_at": run.finished_at,
            }
            for run in newest[:MOST_RUNS]
        ],
        more_runs=len(newest) > MOST_RUNS,
    )


def find(site: Site, name: str) -> BuildPage:
    """The Build; raises NotHereError where there is none."""
    page = site.store.pages.build_page(digest(name, "Build"))
    if page is None:
        raise NotHereError(f"There is no Build {name[:12]}.")
    return page


def _facts(page: BuildPage) -> list[tuple[str, str]]:
    spec = page.spec
    told = [
        ("Subject", f"{spec.subject} ({page.kind.value})"),
        ("Revision", spec.revision),
        ("Title", page.title),
        ("Recipe", spec.recipe),
        ("Recipe's hash", spec.recipe_hash),
        ("State", page.state.value),
        ("Building took", duration(page.seconds) if page.seconds is not None else ""),
        ("Artifact", page.artifact or ""),
        ("Whole log", page.log or ""),
    ]
    return [(word, value) for word, value in told if value]
