"""Comparisons: the list, and one with its Verdicts as they were reported, and its blocks in the order of measuring."""

import shlex
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from perfd.domain.occasion import OccasionState
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.site import comparing
from perfd.site.fresh import kept, this_minute
from perfd.site.numbers import scale_of
from perfd.site.parameters import MOST_CHARACTERS, Limit, Offset, linker
from perfd.site.sentences import plural
from perfd.site.site import Here, Site
from perfd.site.templates import short, utc
from perfd.site.troubles import NotHereError
from perfd.store.pages import OccasionFilter
from perfd.store.records import ArmSamples, OccasionRow, OccasionSummary, RunRow

router = APIRouter()
NIGHTS = 60
"""Nights that the form lets choose from."""
SIDES = {"subject": "engines", "device": "devices", "model": "models", "quantisation": "quantisations"}
"""Parts of a key in which the form lets two sides differ; an address takes the others too."""
ORDER = (Outcome.WORSE, Outcome.BETTER, Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE)


@router.get("/compare")
def comparisons(request: Request, site: Here, offset: Offset = 0, limit: Limit = 100) -> Response:
    """The list, newest first; with `base` and `head`, two nights or Builds Series by Series."""
    question = comparing.question_of(request, site, offset, limit)
    if question is not None:
        return kept(request, site.page_version(), lambda: comparing.show(request, site, question), alike=True)
    return this_minute(request, lambda: _list(request, site, offset, limit), alike=True)


@router.get("/compare/{name:path}")
def comparison(request: Request, name: str, site: Here) -> Response:
    """The page of one comparison, named by its occasion."""
    return this_minute(request, lambda: _page(site, name, find(site, name)), alike=True)


def _list(request: Request, site: Site, offset: int, limit: int) -> HTMLResponse:
    total, found = site.store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE), offset, limit, whole=True)
    version = site.version()
    named = {part: site.memory.fact(("paired", part, version), partial(site.store.pages.paired, part)) for part in SIDES}
    return site.pages.show(
        "comparisons.html",
        days=list(dict.fromkeys(utc(row.occasion.nominal_at, "day") for row in site.store.pages.nights(NIGHTS))),
        sides=[(part, word, named[part]) for part, word in SIDES.items() if named[part]],
        here="/compare",
        sentence=f"{plural(total, 'comparison')} measured or under way." if total else "No comparison has been measured yet.",
        comparisons=[_line(row) for row in found],
        total=total,
        offset=offset,
        limit=limit,
        link=linker(request),
    )


def _page(site: Site, name: str, found: OccasionSummary) -> HTMLResponse:
    report = found.row.report or {}
    return site.pages.show(
        "comparison.html",
        here="/compare",
        sentence=sentence(found.row),
        one={"name": name, "at": found.row.opened_at, "state": state_word(found.row.state), "label": found.row.occasion.label},
        verdict=report.get("verdict"),
        again=again(found),
        base=_side(found, Arm.BASE),
        head=_side(found, Arm.HEAD),
        rows=[row_words(row) | {"picture": _picture(name, row, at)} for at, row in enumerate(report.get("rows", []))],
        blocks=[block_words(block) for block in in_order(site.store.pages.blocks(found.row.occasion))],
    )


def find(site: Site, name: str) -> OccasionSummary:
    """The comparison; raises NotHereError where there is none, and BadInputError for what can be no name."""
    if len(name) > MOST_CHARACTERS or not name.isprintable():
        raise BadInputError("a comparison is named by its occasion, such as compare:2026-11-29T02:00:00Z:LABEL")
    found = site.store.pages.occasion_named(name)
    if found is None or found.row.occasion.kind is not OccasionKind.COMPARE:
        raise NotHereError(f"There is no comparison {short(name, 100)}.")
    return found


def sentence(row: OccasionRow) -> str:
    """What the comparison found, the worst first; before its report, how far it is."""
    rows = (row.report or {}).get("rows")
    if rows is None:
        done = row.runs.get(RunState.DONE.value, 0)
        return f"This comparison is under way: {done} of {plural(sum(row.runs.values()), 'Run')} done."
    outcomes = [one["verdict"]["outcome"] for one in rows]
    if not outcomes:
        return "Nothing was measured on both sides, so there is nothing to compare."
    told = ", ".join(f"{outcomes.count(one.value)} {one.value}" for one in ORDER if one.value in outcomes)
    return f"Head against base: {told} of {plural(len(outcomes), 'Metric')}."


def state_word(state: OccasionState) -> str:
    """How far a comparison is, for people."""
    return {OccasionState.REPORTED: "reported", OccasionState.JUDGED: "judged"}.get(state, "under way")


def row_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """One row of a comparison's report, its numbers in one unit."""
    scale = scale_of(row["unit"], [row["base"], row["head"]])
    verdict = row["verdict"]
    return {
        "workload": row["workload"],
        "metric": row["metric"],
        "base": scale.text(row["base"]),
        "head": scale.text(row["head"]),
        "unit": scale.unit,
        "pairs": row["pairs"],
        "effect": verdict["effect"],
        "interval": verdict["interval"],
        "verdict": verdict["outcome"],
        "reason": verdict["reason"],
    }


def _picture(name: str, row: Mapping[str, Any], place: int) -> str:
    """Where the row is drawn pair by pair; "" where something else than pairs decided."""
    return f"/plots/compare/{quote(name, safe='')}.png?row={place}" if row.get("course") else ""


def in_order(blocks: Sequence[ArmSamples]) -> list[RunRow]:
    """The Runs as they were measured; those that wait come last."""
    runs = [one.run for one in blocks]
    return sorted(runs, key=lambda run: (run.started_at is None, run.started_at or run.queued_at, run.workload, run.block))


def block_words(run: RunRow) -> dict[str, Any]:
    """One block as a line."""
    return {
        "block": run.block,
        "arm": run.arm.value,
        "workload": run.workload,
        "state": run.state.value,
        "reason": run.reason,
        "started_at": run.started_at,
        "key": run.key,
    }


def _line(row: OccasionRow) -> dict[str, Any]:
    verdict = (row.report or {}).get("verdict")
    return {
        "address": quote(row.occasion.name, safe=""),
        "at": row.opened_at,
        "label": row.occasion.label,
        "verdict": verdict["outcome"] if verdict else None,
        "told": sentence(row),
        "done": row.runs.get(RunState.DONE.value, 0),
        "planned": sum(row.runs.values()),
        "state": state_word(row.state),
    }


def again(found: OccasionSummary) -> str:
    """The command that measures the comparison again; "" where only one side has Runs yet."""
    sides = [next((one for one in found.runs if one.arm is arm), None) for arm in (Arm.BASE, Arm.HEAD)]
    base, head = sides
    if base is None or head is None:
        return ""
    named = dict.fromkeys(one.workload for one in found.runs)
    words = ["perfd", "compare", base.revision, head.revision, "--engine", head.subject]
    return shlex.join([*words, *(word for one in named for word in ("--workload", one))])


def _side(found: OccasionSummary, arm: Arm) -> dict[str, str] | None:
    run = next((one for one in found.runs if one.arm is arm), None)
    return {"digest": run.build, "revision": run.revision, "title": run.title} if run else None
