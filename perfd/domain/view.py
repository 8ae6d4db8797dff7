"""A saved view: a name for the address of a page, kept for everybody."""

from dataclasses import dataclass
from datetime import datetime

PAGES = ("/explore", "/charts")
"""Pages whose address holds a whole view that somebody would come back to."""


@dataclass(frozen=True)
class SavedView:
    """A name for an address, and who gave it."""

    id: int
    name: str
    address: str
    """Path and query, never another site's."""
    owner: str
    """As events and the audit log name people."""
    at: datetime
