"""POST /api/v1/results: a results file that was measured elsewhere becomes a Run with its Samples and Points."""

import hashlib
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from starlette.responses import JSONResponse

from perfd.domain import results as files
from perfd.domain.account import Right, Visitor
from perfd.domain.arrival import arrival_of
from perfd.errors import BadInputError
from perfd.rules.arrivals import points_of
from perfd.site.answers import Taken
from perfd.site.site import Here
from perfd.site.writing import check_own, check_scope, needs
from perfd.store.records import Written

router = APIRouter(prefix="/api/v1")
LONGEST_KEY = 200
Key = Annotated[
    str, Header(alias="Idempotency-Key", max_length=LONGEST_KEY, description="The Run's own name; by default its content's hash.")
]


async def body_of(request: Request) -> bytes:
    """The body, as large as a results file may be; raises BadInputError for a larger one before it is all here."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise BadInputError("results are sent as application/json")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > files.MOST_BYTES:
            raise BadInputError(f"the results have more than {files.MOST_BYTES:,} bytes, which is the most that is read")
        parts.append(part)
    return b"".join(parts)


Uploading = Annotated[Visitor, Depends(needs(Right.UPLOAD))]
OPENAPI: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A results file, perfd.results/1 (docs/results.md); `run` names subject, revision, workload, and more.",
        "content": {"application/json": {"schema": {"type": "object", "required": ["format", "state", "samples", "run"]}}},
    }
}


@router.post("/results", openapi_extra=OPENAPI, responses={201: {"model": Taken}, 200: {"model": Taken}, 409: {}})
def take(visitor: Uploading, body: Annotated[bytes, Depends(body_of)], site: Here, key: Key = "") -> JSONResponse:
    """201 with the Run's key when it is stored, 200 when it stood there, 409 when its key has other results."""
    try:
        results = files.parse(body.decode())
    except UnicodeDecodeError as error:
        raise BadInputError(f"the results are not UTF-8 at byte {error.start}") from None
    if not key.isprintable():
        raise BadInputError("Idempotency-Key holds a control character")
    arrival = arrival_of(results, key.strip() or hashlib.sha256(body).hexdigest())
    device = results.environment.device.name if results.environment else None
    check_scope(visitor, arrival.identity.subject, device)
    check_own(visitor, site, f"results:{arrival.key}", new=True)
    taken = site.store.arrivals.take(arrival, points_of(arrival), site.clock())
    if taken.written is Written.REFUSED:
        remedy = "Send what was measured again under another key, or without one."
        return JSONResponse({"error": "other results stand under this key", "remedy": remedy}, 409)
    status = 201 if taken.written is Written.STORED else 200
    return JSONResponse({"run": taken.run, "address": f"/runs/{taken.run}", "written": taken.written.value}, status)
