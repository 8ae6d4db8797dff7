"""What is raised when the database does not answer, for those who must tell a person and know no SQLAlchemy."""

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionLeft

DATABASE_GONE: tuple[type[Exception], ...] = (OperationalError, InterfaceError, NoConnectionLeft)
"""Stopped, unreachable, restarting, or out of connections: asking again later may help."""
