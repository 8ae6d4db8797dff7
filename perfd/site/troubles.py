"""What the site answers when it cannot answer: a clear page (or JSON under /api) with what to do, never a traceback."""

from collections.abc import Mapping
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from perfd.errors import BadInputError, PerfdError
from perfd.site.bodies import SENTENCE
from perfd.site.headers import HEADERS
from perfd.site.limits import TooManyError
from perfd.site.site import site_of
from perfd.site.visitors import NotKnownError
from perfd.site.writing import NotAllowedError, record
from perfd.store.trouble import DATABASE_GONE


class NotHereError(PerfdError):
    """The address is well formed, and names nothing that is stored."""


class Trouble(NamedTuple):
    """A failed answer, in words."""

    status: int
    heading: str
    sentence: str
    remedy: str


def answer(request: Request, trouble: Trouble) -> Response:
    """A page, or JSON for programs."""
    path = request.url.path
    if path.startswith(("/api/", "/hooks/")):
        return JSONResponse({"error": trouble.sentence, "remedy": trouble.remedy}, trouble.status)
    return site_of(request).pages.show("trouble.html", **trouble._asdict())


def _not_here(request: Request, error: Exception) -> Response:
    return answer(request, Trouble(404, "Not here", str(error), "Start from the home page, which lists every Series."))


def _bad_input(request: Request, error: Exception) -> Response:
    return answer(
        request, Trouble(400, "This address cannot be read", str(error), "Mend the address, or start from the home page.")
    )


def _not_allowed(request: Request, error: Exception) -> Response:
    record(request, site_of(request), str(error))
    remedy = "Ask whoever runs this perfd for the role, or for a token; docs/accounts.md tells what each may do."
    return answer(request, Trouble(403, "Not allowed", str(error), remedy))


def _not_known(request: Request, error: Exception) -> Response:
    remedy = "Log in at `/login`; programs show a token that `perfd token create` made."
    response = answer(request, Trouble(401, "Who are you?", str(error), remedy))
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _too_many(request: Request, error: Exception) -> Response:
    again_s = error.again_s if isinstance(error, TooManyError) else 1
    response = answer(request, Trouble(429, "Too many requests", str(error), "Wait, and send it again then."))
    response.headers["Retry-After"] = str(again_s)
    return response


def _perfd_error(request: Request, error: Exception) -> Response:
    remedy = "Look at the log of `perfd serve`, and run `perfd doctor` on the machine that serves this page; then load it again."
    return answer(request, Trouble(503, "perfd cannot answer now", str(error), remedy))


def _database_gone(request: Request, _: Exception) -> Response:
    sentence = "The database does not answer, so nothing can be shown; nothing that was measured is lost."
    remedy = "Start it (or `perfd serve`, which brings its own) and load the page again; `perfd doctor` says what is wrong."
    return answer(request, Trouble(503, "The database does not answer", sentence, remedy))


def _http(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headings: Mapping[int, str] = {404: "Not here", 405: "Not allowed"}
    sentences: Mapping[int, str] = {
        404: "There is no page at this address.",
        405: "This address is read with GET.",
        413: SENTENCE,
    }
    heading = headings.get(status, f"HTTP {status}")
    sentence = sentences.get(status, f"The request was refused with HTTP {status}.")
    return answer(request, Trouble(status, heading, sentence, "Start from the home page, which lists every Series."))


def _validation(request: Request, error: Exception) -> Response:
    details = error.errors() if isinstance(error, RequestValidationError) else []
    said = [f"{'.'.join(str(part) for part in one['loc'][1:])[:60]}: {one['msg']}" for one in details[:5]]
    sentence = "A parameter cannot be used: " + "; ".join(said) + "."
    return answer(
        request, Trouble(400, "This address cannot be read", sentence, "Mend the address, or start from the home page.")
    )


def _own_fault(request: Request, error: Exception) -> Response:
    sentence = f"perfd made a mistake of its own while it made this page ({type(error).__name__})."
    remedy = "The log of `perfd serve` has the details; please report them. Other pages may work."
    response = answer(request, Trouble(500, "perfd's own fault", sentence, remedy))
    response.headers.update(HEADERS)  # this one is made outside of all middleware
    return response


def add_troubles(app: FastAPI) -> None:
    """Every error that a request can raise has its page."""
    app.add_exception_handler(NotHereError, _not_here)
    app.add_exception_handler(BadInputError, _bad_input)
    app.add_exception_handler(NotAllowedError, _not_allowed)
    app.add_exception_handler(NotKnownError, _not_known)
    app.add_exception_handler(TooManyError, _too_many)
    app.add_exception_handler(PerfdError, _perfd_error)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    for gone in DATABASE_GONE:
        app.add_exception_handler(gone, _database_gone)
    app.add_exception_handler(Exception, _own_fault)
