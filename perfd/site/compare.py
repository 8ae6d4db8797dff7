"""Comparisons: the list, and one with its Verdicts, its blocks and the raw medians of both sides."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from perfd.domain.occasion import OccasionState
from perfd.domain.run import Arm, OccasionKind, RunState
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.site.numbers import scale_of
from perfd.site.pairs import Compared, compared
from perfd.site.parameters import MOST_CHARACTERS, Limit, Offset, linker
from perfd.site.sentences import plural
from perfd.site.site import Here
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store.records import ArmSamples, OccasionRow

router = APIRouter()
MOST_LISTED = 1000


@router.get("/compare")
def comparisons(request: Request, site: Here, offset: Offset = 0, limit: Limit = 50) -> HTMLResponse:
    """The list, newest first."""
    found = site.store.pages.occasions(OccasionKind.COMPARE, last=MOST_LISTED)
    shown = found[offset : offset + limit]
    return site.pages.show(
        "comparisons.html",
        here="/compare",
        sentence=f"{plural(len(found), 'comparison')} measured or under way."
        if found
        else "No comparison has been measured yet.",
        comparisons=[_line(row, site.store.pages.blocks(row.occasion)) for row in shown],
        total=len(found),
        offset=offset,
        limit=limit,
        link=linker(request),
    )


@router.get("/compare/{name:path}")
def comparison(name: str, site: Here) -> HTMLResponse:
    """The page of one comparison, named by its occasion."""
    if len(name) > MOST_CHARACTERS or not name.isprintable():
        raise BadInputError("a comparison is named by its occasion, such as compare:2026-11-29T02:00:00Z:LABEL")
    found = site.store.pages.occasion_named(name)
    if found is None or found.row.occasion.kind is not OccasionKind.COMPARE:
        raise NotHereError(f"There is no comparison {short(name, 100)}.")
    blocks = site.store.pages.blocks(found.row.occasion)
    rows = compared(blocks)
    return site.pages.show(
        "comparison.html",
        here="/compare",
        sentence=sentence(rows, found.row.state),
        one={"name": name, "at": found.row.opened_at, "state": found.row.state.value},
        base=_side(blocks, Arm.BASE),
        head=_side(blocks, Arm.HEAD),
        rows=[_words(row) for row in rows],
        blocks=[
            _block(block) for block in sorted(blocks, key=lambda one: (one.run.started_at or one.run.queued_at, one.run.block))
        ],
    )


def sentence(rows: Sequence[Compared], state: OccasionState) -> str:
    """What the comparison found, the worst first."""
    outcomes = [row.verdict.outcome for row in rows if row.verdict]
    if not outcomes:
        return "This comparison has no pair of blocks yet."
    order = (Outcome.WORSE, Outcome.BETTER, Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE)
    told = ", ".join(f"{outcomes.count(one)} {one.value}" for one in order if one in outcomes)
    so_far = "" if state in {OccasionState.REPORTED, OccasionState.JUDGED} else " so far"
    return f"Head against base{so_far}: {told} of {plural(len(outcomes), 'Metric')}."


def _line(row: OccasionRow, blocks: Sequence[ArmSamples]) -> dict[str, Any]:
    base, head = _side(blocks, Arm.BASE), _side(blocks, Arm.HEAD)
    return {
        "address": quote(row.occasion.name, safe=""),
        "at": row.opened_at,
        "label": row.occasion.label,
        "base": base["revision"] if base else "",
        "head": head["revision"] if head else "",
        "told": sentence(compared(blocks), row.state),
        "done": row.runs.get(RunState.DONE.value, 0),
        "planned": sum(row.runs.values()),
        "state": row.state.value,
    }


def _side(blocks: Sequence[ArmSamples], arm: Arm) -> dict[str, str] | None:
    run = next((one.run for one in blocks if one.run.arm is arm), None)
    return {"digest": run.build, "revision": run.revision} if run else None


def _words(row: Compared) -> dict[str, Any]:
    scale = scale_of(row.metric.unit, [row.base, row.head])
    verdict = row.verdict
    return {
        "workload": row.workload,
        "metric": row.metric.name,
        "base": scale.text(row.base),
        "head": scale.text(row.head),
        "unit": scale.unit,
        "pairs": row.pairs,
        "effect": verdict.effect if verdict else None,
        "interval": verdict.interval if verdict else None,
        "verdict": verdict.outcome.value if verdict else None,
        "reason": verdict.reason if verdict else "no pair is done yet",
    }


def _block(block: ArmSamples) -> dict[str, Any]:
    run = block.run
    return {
        "block": run.block,
        "arm": run.arm.value,
        "workload": run.workload,
        "state": run.state.value,
        "reason": run.reason,
        "started_at": run.started_at,
        "key": run.key,
    }
