"""The files of web/: templates, stylesheet, scripts. Their URLs carry a hash, so that browsers may keep them for a year."""

import gzip
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from types import MappingProxyType

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from perfd.errors import PerfdError
from perfd.site.memory import Packed

YEAR_S = 365 * 24 * 3600
BUNDLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "site.js": ("times.js", "news.js", "scroll.js", "how.js"),
        "uplot.js": ("uplot-begin.js", "vendor/uplot-1.6.32/uPlot.iife.min.js", "uplot-end.js"),
    }
)
"""Files that come as one: a request costs a browser more than their bytes."""


def web_folder() -> Path:
    """The project's web/ folder; raises PerfdError where the installation lacks it."""
    folder = Path(__file__).resolve().parents[2] / "web"
    if not (folder / "templates").is_dir():
        raise PerfdError(f"{folder}: the site's templates are not there; install perfd from a clone with `pip install -e .`")
    return folder


@lru_cache(maxsize=64)
def static_url(name: str) -> str:
    """The URL of a file of web/static, with the first digits of its hash; raises PerfdError where there is no such file."""
    return f"/static/{name}?v={hashlib.sha256(_content(web_folder() / 'static', name)).hexdigest()[:12]}"


def _content(folder: Path, name: str) -> bytes:
    """What is sent under that name: a file, or the files of a bundle one after the other."""
    try:
        return b"".join((folder / part).read_bytes() for part in BUNDLES.get(name, (name,)))
    except OSError as error:
        raise PerfdError(f"{error.filename}: cannot be read ({error.strerror}); restore it from the repository") from None


class KeptFiles:
    """The files of a folder as an ASGI app, read and packed once: what every page loads costs one look-up, no disk and no thread.

    A browser may keep a file that it asks for with its hash; a changed file has another URL.
    """

    def __init__(self, folder: Path) -> None:
        there = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        self._files = {name: _packed(name, _content(folder, name)) for name in (*there, *BUNDLES)}

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


def _packed(name: str, content: bytes) -> Packed:
    kind = guess_type(name)[0] or "application/octet-stream"
    typed = f"{kind}; charset=utf-8" if kind.startswith("text/") else kind
    tag = f'W/"{hashlib.sha256(content).hexdigest()[:20]}"'
    return Packed(200, {"content-type": typed, "etag": tag}, gzip.compress(content, 9), len(content))
