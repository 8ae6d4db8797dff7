"""For machines: is perfd alive, and is anything late that it owes."""

from fastapi import APIRouter
from starlette.responses import JSONResponse

from perfd.site.alarms import late, words
from perfd.site.site import Here

router = APIRouter()


@router.get("/healthz")
def healthz(site: Here) -> JSONResponse:
    """200 when the database answers and nothing is late; else 503, with what is late (or the error page)."""
    found = [words(alarm) for alarm in late(site, site.clock())]
    told = {"status": "late" if found else "ok", "database": "answers", "alarms": found}
    return JSONResponse(told, 503 if found else 200)


@router.get("/livez")
def livez(site: Here) -> JSONResponse:
    """200 when the site and its database answer: what a service manager asks, since a restart brings no missed night."""
    site.store.pages.ping()
    return JSONResponse({"status": "ok", "database": "answers"})
