"""The files of web/: templates, stylesheet, scripts. Their URLs carry a hash, so that browsers may keep them for a year."""

import hashlib
from functools import lru_cache
from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from perfd.errors import PerfdError

YEAR_S = 365 * 24 * 3600


def web_folder() -> Path:
    """The project's web/ folder; raises PerfdError where the installation lacks it."""
    folder = Path(__file__).resolve().parents[2] / "web"
    if not (folder / "templates").is_dir():
        raise PerfdError(f"{folder}: the site's templates are not there; install perfd from a clone with `pip install -e .`")
    return folder


@lru_cache(maxsize=64)
def static_url(name: str) -> str:
    """The URL of a file of web/static, with the first digits of its hash; raises PerfdError where there is no such file."""
    path = web_folder() / "static" / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PerfdError(f"{path}: cannot be read ({error.strerror}); restore it from the repository") from None
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


class KeptFiles(StaticFiles):
    """Static files that a browser may keep; a changed file has another URL."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, with a caching header when it was asked for with its hash."""
        response = await super().get_response(path, scope)
        kept = scope.get("query_string", b"").startswith(b"v=") and response.status_code == 200
        response.headers["Cache-Control"] = f"public, max-age={YEAR_S}, immutable" if kept else "no-cache"
        return response
