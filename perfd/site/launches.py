"""The Launches page: says that none are configured, until Launches exist."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from perfd.site.site import Here

router = APIRouter()


@router.get("/launches")
def launches(site: Here) -> HTMLResponse:
    """One sentence: there are none yet."""
    return site.pages.show("launches.html", here="/launches")
