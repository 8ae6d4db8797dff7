"""Partitions of `sample`, one a month (UTC), made when the first Sample of a month arrives."""

from datetime import UTC, datetime

from sqlalchemy import Connection, text

from perfd.errors import BadInputError

YEARS = range(2000, 2200)
LOCK = 0x70657266_73_616D  # two writers that need the same new month make it one after the other


def ensure(connection: Connection, moment: datetime) -> str:
    """The partition of that month is there; its name."""
    if moment.year not in YEARS:
        raise BadInputError(
            f"a Run that began at {moment.isoformat()} is not stored: the clock of its machine must be wrong; set it"
        )
    first, following = month_of(moment)
    name = f"sample_{first:%Y_%m}"
    if _exists(connection, name):
        return name
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    if not _exists(connection, name):
        bounds = f"FROM ('{first.isoformat()}') TO ('{following.isoformat()}')"
        connection.execute(text(f"CREATE TABLE {name} PARTITION OF sample FOR VALUES {bounds}"))
    return name


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """The beginning of the moment's month, and of the next one, in UTC."""
    first = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = first.replace(year=first.year + 1, month=1) if first.month == 12 else first.replace(month=first.month + 1)
    return first, following


def _exists(connection: Connection, name: str) -> bool:
    return bool(connection.execute(text("SELECT to_regclass(:name) IS NOT NULL"), {"name": name}).scalar_one())
