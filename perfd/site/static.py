"""The files of web/: templates, stylesheet, scripts. Their URLs carry a hash, so that browsers may keep them for a year."""

import gzip
import hashlib
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from perfd.errors import PerfdError
from perfd.site.memory import Packed

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


class KeptFiles:
    """The files of a folder as an ASGI app, read and packed once: what every page loads costs one look-up, no disk and no thread.

    A browser may keep a file that it asks for with its hash; a changed file has another URL.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {path.relative_to(folder).as_posix(): _packed(path) for path in folder.rglob("*") if path.is_file()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The file, or 304 where it is known already; raises HTTPException (404, 405)."""
        request = Request(scope)
        if request.method != "GET":
            raise HTTPException(405)
        found = self._files.get(scope["path"].removeprefix(scope["root_path"]).removeprefix("/"))
        if found is None:
            raise HTTPException(404)
        hashed = scope.get("query_string", b"").startswith(b"v=")
        tag = found.headers["etag"]
        known = request.headers.get("if-none-match") == tag
        answer = Response(status_code=304, headers={"ETag": tag}) if known else found.answer(request)
        answer.headers["Cache-Control"] = f"public, max-age={YEAR_S}, immutable" if hashed else "no-cache"
        await answer(scope, receive, send)


def _packed(path: Path) -> Packed:
    content = path.read_bytes()
    kind = guess_type(path.name)[0] or "application/octet-stream"
    typed = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
    tag = f'W/"{hashlib.sha256(content).hexdigest()[:20]}"'
    return Packed(200, {"content-type": typed, "etag": tag}, gzip.compress(content, 9), len(content))
