"""The OpenAPI document: what FastAPI writes, with the errors that every route can answer, as they really look."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from perfd.site.answers import Trouble

ALWAYS = {
    "400": "A parameter or a name cannot be read.",
    "401": "Who asks is not known, and this site is not open.",
    "403": "Who asks may not do this.",
    "404": "Nothing stands under this address.",
    "429": "Too many requests; Retry-After says when to come again.",
    "503": "The database does not answer.",
}
KEPT = "What the reader has (If-None-Match) still stands."


def described(app: FastAPI, *, ordinary: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """A replacement for `app.openapi`: made once, when it is first asked for."""

    def make() -> dict[str, Any]:
        if not app.openapi_schema or "x-perfd" not in app.openapi_schema:
            app.openapi_schema = _described(ordinary())
        return app.openapi_schema

    return make


def _described(document: dict[str, Any]) -> dict[str, Any]:
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Trouble"] = Trouble.model_json_schema()
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Trouble"}}}
    for operations in document["paths"].values():
        for method, operation in operations.items():
            answers = operation["responses"]
            answers.pop("422", None)  # perfd answers 400, with a sentence
            if method == "get":
                answers.setdefault("304", {"description": KEPT})
            for status, sentence in ALWAYS.items():
                answers[status] = {"description": sentence, "content": content}
            if "409" in answers:
                answers["409"] = {"description": "Something else stands under this key.", "content": content}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    document["x-perfd"] = "docs/api.md"
    told: dict[str, Any] = _without_tuples(document)
    return told


def _without_tuples(schema: Any) -> Any:
    """Pairs as lists of a length: readers of OpenAPI 3.0, schemathesis among them, know no `prefixItems`."""
    if isinstance(schema, list):
        return [_without_tuples(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _without_tuples(one) for name, one in schema.items() if name != "prefixItems"}
    kinds = schema.get("prefixItems", ())
    return plain | {"items": kinds[0]} if kinds and all(one == kinds[0] for one in kinds) else plain
