"""JSON of single things under /api/v1: Runs, Builds, one Regression; api.py has the Series."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import JSONResponse, Response

from perfd.domain.codec import to_json
from perfd.domain.run import RunState
from perfd.site import answers, builds, documents, regressions
from perfd.site.answers import told
from perfd.site.fresh import kept
from perfd.site.parameters import MOST_CHARACTERS, BuildName, Limit, Offset, RegressionId, RunKey, text
from perfd.site.reproduce import recipe
from perfd.site.runs import find
from perfd.site.sheets import judged
from perfd.site.site import Here
from perfd.site.templates import iso
from perfd.store.pages.run_list import RunFilter

router = APIRouter(prefix="/api/v1")
Name = Annotated[str, Query(max_length=MOST_CHARACTERS, description="Only Runs with this name.")]
State = Annotated[RunState | None, Query(description="Only Runs in this state.")]


@router.get("/runs", responses=told(answers.RunPage))
def list_runs(  # noqa: PLR0917  # a parameter of the address each
    request: Request,
    site: Here,
    offset: Offset = 0,
    limit: Limit = 100,
    subject: Name = "",
    workload: Name = "",
    device: Name = "",
    occasion: Name = "",
    state: State = None,
) -> Response:
    """Runs, the one that was planned last first, with what became of each."""
    said = {"subject": subject, "workload": workload, "device": device, "occasion": occasion}
    parts = {name: text(request, name) or None for name in said}
    wanted = RunFilter(parts["subject"], parts["workload"], parts["device"], parts["occasion"], state)

    def make() -> Response:
        total, rows = site.store.pages.run_list(wanted, offset, limit)
        return JSONResponse({"total": total, "offset": offset, "limit": limit, "runs": to_json(rows)})

    return kept(request, site.store.pages.snapshot(), make)


@router.get("/runs/{key}/reproduce", responses=told(answers.Reproduce))
def reproduce(request: Request, key: RunKey, site: Here) -> Response:
    """The one command that measures a Run again, and everything that its numbers depend on."""
    return kept(request, site.snapshot(), lambda: JSONResponse(to_json(recipe(find(site, key)))))


@router.get("/builds/{name}", responses=told(answers.OneBuild))
def one_build(request: Request, name: BuildName, site: Here) -> Response:
    """One Build with its ingredients and all its Runs."""

    def make() -> Response:
        page = builds.find(site, name)
        document = {
            "build": to_json(page.spec) | {"digest": page.spec.digest},
            "state": page.state.value,
            "kind": page.kind.value,
            "title": page.title,
            "seconds": page.seconds,
            "finished_at": iso(page.finished_at) if page.finished_at else None,
            "log_tail": page.log_tail,
            "runs": to_json(page.runs),
        }
        return JSONResponse(document)

    return kept(request, site.store.pages.snapshot(), make)


@router.get("/regressions/{regression_id}", responses=told(answers.OneRegression))
def one_regression(request: Request, regression_id: RegressionId, site: Here) -> Response:
    """One Regression with its members, everything that happened to it, the commits of its range, and its bisections."""

    def make() -> Response:
        row = regressions.find(site, regression_id)
        steps = site.store.pages.last_steps([row.id])
        found = site.store.pages.commits(row.members[0][1].id) if row.members else None
        standing = to_json(regressions.standing(row, steps.get(row.id), site.clock()))
        del standing["seen"]
        beside = {
            "commits": list(judged.commits(row.id, found)),
            "bisection": list(judged.steps(site.store.bisects.of_regression(row.id))),
        }
        return JSONResponse(documents.regression(row) | standing | to_json(beside))

    return kept(request, f"{site.store.pages.snapshot()} {site.clock():%Y-%m-%d}", make)
