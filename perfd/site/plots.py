"""Pictures of comparisons at a stable address, for comments on pull requests; drawn from reports, which never change."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from perfd.domain.codec import from_json
from perfd.domain.metric import METRICS
from perfd.domain.run import OccasionKind
from perfd.domain.verdict import Outcome, Verdict
from perfd.errors import BadInputError
from perfd.plots import Effect, Pair, effects_png, pairs_png
from perfd.site.parameters import MOST_CHARACTERS, text
from perfd.site.site import Here
from perfd.site.templates import short
from perfd.site.troubles import NotHereError

router = APIRouter()
MOST_ROWS = 24
ORDER = (Outcome.WORSE, Outcome.NOT_COMPARABLE, Outcome.BETTER, Outcome.UNSURE, Outcome.SAME)


@router.get("/plots/compare/{name:path}.png")
def comparison(request: Request, name: str, site: Here) -> Response:
    """The Metrics of a reported comparison as PNG, the worst first; or one of them pair by pair, where `row` is its number."""
    if len(name) > MOST_CHARACTERS or not name.isprintable():
        raise BadInputError("a comparison is named by its occasion, such as compare:2026-11-29T02:00:00Z:LABEL")
    found = site.store.pages.occasion_named(name)
    if found is None or found.row.occasion.kind is not OccasionKind.COMPARE or found.row.report is None:
        raise NotHereError(f"There is no comparison {short(name, 100)} that was reported.")
    rows, row = found.row.report["rows"], text(request, "row")
    picture = _pairs(rows, row) if row else effects_png(sorted(filter(None, map(_effect, rows)), key=_rank)[:MOST_ROWS])
    return Response(picture, media_type="image/png", headers={"Cache-Control": "public, max-age=86400"})


def _pairs(rows: Sequence[Mapping[str, Any]], row: str) -> bytes:
    known = {str(place): one for place, one in enumerate(rows) if one.get("course") and one["metric"] in METRICS}
    if row not in known:
        raise NotHereError(f"Row {short(row, 20)} of this comparison is not one that pairs of Runs decided.")
    one = known[row]
    pairs = [
        Pair(p["base"], p["head"], p["effect"], p["interval"] and tuple(p["interval"]), p["base_first"]) for p in one["course"]
    ]
    return pairs_png(pairs, METRICS[one["metric"]], from_json(Verdict, one["verdict"]))


def _rank(one: Effect) -> tuple[int, float]:
    return ORDER.index(one.outcome), -abs(one.effect) / max(one.relevant, 1e-3)


def _effect(row: Mapping[str, Any]) -> Effect | None:
    """The row as a line; absent where there is no ratio to draw, such as from a base of zero."""
    verdict, metric = row["verdict"], METRICS.get(row["metric"])
    if verdict["effect"] is None or metric is None or row["base"] == 0.0:
        return None
    low, high = verdict["interval"] or (verdict["effect"],) * 2
    name = f"{row['workload']} {row['metric']}"
    return Effect(name, verdict["effect"], low, high, metric.relevant, Outcome(verdict["outcome"]))
