"""Regressions as an Atom feed (RFC 4287), newest first: a reader of feeds learns of each when its state moves."""

import xml.etree.ElementTree as ET

from fastapi import APIRouter, Request
from starlette.responses import Response

from perfd.site.fresh import kept
from perfd.site.numbers import percent
from perfd.site.parameters import text
from perfd.site.regressions import listed
from perfd.site.rows import label
from perfd.site.site import Here, Site
from perfd.site.templates import iso
from perfd.store.records import RegressionRow

router = APIRouter()
ATOM = "http://www.w3.org/2005/Atom"
MOST_ENTRIES = 100
MOST_MEMBERS = 20


@router.get("/regressions.atom")
def regressions(request: Request, site: Here) -> Response:
    """The newest hundred Regressions; `state` narrows them as in the list."""
    return kept(request, site.store.pages.snapshot(), lambda: _feed(request, site))


def _feed(request: Request, site: Site) -> Response:
    rows = sorted(listed(site, text(request, "state")), key=lambda one: one.moved_at, reverse=True)[:MOST_ENTRIES]
    home = str(request.base_url)
    feed = ET.Element("feed", {"xmlns": ATOM})
    _put(feed, "id", f"{home}regressions")
    _put(feed, "title", "Regressions of perfd")
    _put(feed, "updated", iso(rows[0].moved_at) if rows else "1970-01-01T00:00:00Z")
    ET.SubElement(feed, "link", {"rel": "self", "href": str(request.url)})
    ET.SubElement(feed, "link", {"rel": "alternate", "href": f"{home}regressions"})
    _put(ET.SubElement(feed, "author"), "name", "perfd")
    for row in rows:
        _entry(feed, row, home)
    body = ET.tostring(feed, encoding="utf-8", xml_declaration=True)
    return Response(body, media_type="application/atom+xml")


def _entry(feed: ET.Element, row: RegressionRow, home: str) -> None:
    entry = ET.SubElement(feed, "entry")
    address = f"{home}regressions/{row.id}"
    _put(entry, "id", address)
    _put(entry, "title", f"{row.state}: {row.title}")
    _put(entry, "published", iso(row.opened_at))
    _put(entry, "updated", iso(row.moved_at))
    ET.SubElement(entry, "link", {"rel": "alternate", "href": address})
    ET.SubElement(entry, "category", {"term": row.state.value})
    lines = [f"{label(info)}: {percent(change.effect)}" for info, change in row.members[:MOST_MEMBERS]]
    last = [f"{event.actor}: {event.to_state}, {event.reason}" for event in row.events[-1:]]
    _put(entry, "content", "\n".join([*lines, *last]), {"type": "text"})


def _put(parent: ET.Element, name: str, value: str, attributes: dict[str, str] | None = None) -> None:
    """An element with text, without the characters that no XML document may hold."""
    ET.SubElement(parent, name, attributes or {}).text = "".join(
        one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in value
    )
