"""Comparisons that pipelines ask for: POST asks, GET tells how far one is; `perfd ci --server` speaks to these two."""

import hashlib
import secrets
from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from perfd.domain.account import Right, Visitor
from perfd.domain.codec import to_json
from perfd.domain.occasion import Occasion
from perfd.domain.pull import ComparisonAsked, Delivery
from perfd.domain.run import OccasionKind
from perfd.errors import BadInputError
from perfd.site import answers, compare
from perfd.site.answers import told
from perfd.site.fresh import kept
from perfd.site.parameters import MOST_CHARACTERS
from perfd.site.site import Here, Site
from perfd.site.visitors import Asking
from perfd.site.writing import check_own, check_scope, needs

router = APIRouter(prefix="/api/v1")
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key", max_length=200, description="The question's own name: asked again, it is the same comparison."
    ),
]
ComparisonName = Annotated[str, Path(description="The comparison's name, as the answer to its question gave it.")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]


class Question(BaseModel):
    """Two commits of an Engine's source."""

    model_config = ConfigDict(extra="forbid")
    engine: Name
    base: Commit
    head: Commit
    suites: Annotated[tuple[Name, ...], Field(max_length=20)] = ()


@router.post("/comparisons", status_code=202, responses={202: {"model": answers.Asked}, 400: {}, 401: {}, 403: {}})
def ask(
    visitor: Annotated[Visitor, Depends(needs(Right.COMPARE))], question: Question, site: Here, again: Key = ""
) -> JSONResponse:
    """The comparison is queued, its code in a cage; `comparison` names it, and its address tells how far it is."""
    check_scope(visitor, question.engine)
    key = hashlib.sha256(f"{visitor.name} {again}".encode()).hexdigest()[:16] if again else secrets.token_hex(8)
    at = site.clock().replace(microsecond=0)
    label = f"pull {question.engine}@{question.base[:12]}..{question.head[:12]} {key}"
    event = ComparisonAsked(question.engine, question.base, question.head, label, at, question.suites)
    new = site.store.deliveries.take(Delivery("api", key, hashlib.sha256(key.encode()).hexdigest(), event), site.clock())
    name = Occasion(OccasionKind.COMPARE, *((at, label) if new else _before(site, key, event))).name
    check_own(visitor, site, name, new=True)
    return JSONResponse({"comparison": name}, 202)


@router.get("/comparisons/{name:path}", responses=told(answers.Comparison))
def one_comparison(request: Request, name: ComparisonName, site: Here, visitor: Asking) -> Response:
    """How far the comparison is: its state, its Runs by state, what went wrong, and its report once there is one."""
    if len(name) > MOST_CHARACTERS or not name.isprintable():
        raise BadInputError("a comparison is named by its occasion, such as compare:2026-11-29T02:00:00Z:LABEL")
    check_own(visitor, site, name, new=False)

    def make() -> Response:
        row = (found := compare.find(site, name)).row
        words = {"comparison": name, "state": row.state.value, "runs": dict(row.runs)}
        return JSONResponse(words | {"findings": to_json(found.findings), "report": row.report})

    return kept(request, site.store.pages.snapshot(), make)


def _before(site: Site, key: str, event: ComparisonAsked) -> tuple[datetime, str]:
    """When the same was asked under that key, and its label; raises BadInputError where it was something else."""
    found = site.store.deliveries.known("api", key)
    if not isinstance(found, ComparisonAsked) or replace(event, at=found.at, label=found.label) != found:
        raise BadInputError("another comparison was asked for under this Idempotency-Key; ask under another one")
    return found.at, found.label
