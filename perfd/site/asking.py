"""Comparisons that pipelines ask for: POST asks, GET tells how far one is; `perfd ci --server` speaks to these two."""

import hashlib
import secrets
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from perfd.domain.codec import to_json
from perfd.domain.occasion import Occasion
from perfd.domain.pull import ComparisonAsked, Delivery
from perfd.domain.run import OccasionKind
from perfd.errors import BadInputError
from perfd.site.parameters import MOST_CHARACTERS
from perfd.site.site import Here
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.site.writing import MayWrite

router = APIRouter(prefix="/api/v1")
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class Question(BaseModel):
    """Two commits of an Engine's source."""

    model_config = ConfigDict(extra="forbid")
    engine: Name
    base: Commit
    head: Commit
    suites: Annotated[tuple[Name, ...], Field(max_length=20)] = ()


@router.post("/comparisons", status_code=202, responses={202: {}, 400: {}, 403: {}})
def ask(question: Question, site: Here, _: MayWrite) -> JSONResponse:
    """The comparison is queued, its code in a cage; `comparison` names it, and its address tells how far it is."""
    key = secrets.token_hex(8)
    at = site.clock().replace(microsecond=0)
    label = f"pull {question.engine}@{question.base[:12]}..{question.head[:12]} {key}"
    event = ComparisonAsked(question.engine, question.base, question.head, label, at, question.suites)
    site.store.deliveries.take(Delivery("api", key, hashlib.sha256(key.encode()).hexdigest(), event), site.clock())
    return JSONResponse({"comparison": Occasion(OccasionKind.COMPARE, at, label).name}, 202)


@router.get("/comparisons/{name:path}", responses={400: {}, 404: {}})
def told(name: str, site: Here) -> dict[str, Any]:
    """How far the comparison is: its state, its Runs by state, what went wrong, and its report once there is one."""
    if len(name) > MOST_CHARACTERS or not name.isprintable():
        raise BadInputError("a comparison is named by its occasion, such as compare:2026-11-29T02:00:00Z:LABEL")
    found = site.store.pages.occasion_named(name)
    if found is None or found.row.occasion.kind is not OccasionKind.COMPARE:
        raise NotHereError(f"There is no comparison {short(name, 100)}.")
    return {
        "comparison": name,
        "state": found.row.state.value,
        "runs": dict(found.row.runs),
        "findings": to_json(found.findings),
        "report": found.row.report,
    }
