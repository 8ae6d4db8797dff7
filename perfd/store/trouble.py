"""What is raised when the database does not answer, for those who must tell a person and know no SQLAlchemy."""

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, ProgrammingError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft

DATABASE_GONE: tuple[type[Exception], ...] = (OperationalError, InterfaceError, NoConnectionLeft)
"""Stopped, unreachable, restarting, or out of connections: asking again later may help."""
REFUSED = "42501"
"""SQLSTATE insufficient_privilege."""


def said(error: Exception) -> str:
    """The server's or the driver's own words, on one line; never the statement, nor an address with its password."""
    words = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def is_refused(error: Exception) -> bool:
    """Whether the database answered that this role may not do so."""
    return isinstance(error, ProgrammingError) and getattr(error.orig, "sqlstate", None) == REFUSED
