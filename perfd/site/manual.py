"""The API's page: every route of the OpenAPI document, without a script from elsewhere."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from perfd.site.fresh import kept
from perfd.site.site import Here

router = APIRouter()


class Route(NamedTuple):
    """One operation of the API."""

    method: str
    path: str
    summary: str
    parameters: tuple[tuple[str, str], ...]
    """Name and description of each."""


@router.get("/api")
def manual(request: Request, site: Here) -> Response:
    """The list of routes; the OpenAPI document itself is a link away."""

    def make() -> Response:
        return site.pages.show("manual.html", here="/api", routes=routes(request.app.openapi()))

    return kept(request, site.started, make, alike=True)


@router.get("/api/openapi.json")
def openapi(request: Request, site: Here) -> Response:
    """The OpenAPI document, which changes with perfd alone."""
    return kept(request, site.started, lambda: JSONResponse(request.app.openapi()))


def routes(document: Mapping[str, Any]) -> list[Route]:
    """The operations of an OpenAPI document, in its order."""
    return [
        Route(
            method.upper(),
            path,
            operation.get("description") or operation.get("summary", ""),
            tuple((one["name"], one.get("description", "")) for one in operation.get("parameters", [])),
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
