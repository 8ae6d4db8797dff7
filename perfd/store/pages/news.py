"""What has come since a moment: one count over an index, for readers who ask while they read."""

from datetime import datetime

from sqlalchemy import Connection, func, select

from perfd.domain.run import RunState
from perfd.store import tables

R = tables.run.c


def results_since(connection: Connection, moment: datetime) -> int:
    """How many Runs were done after that moment."""
    asked = select(func.count()).where(R.finished_at > moment, R.state == RunState.DONE.value)
    return connection.execute(asked).scalar_one()
