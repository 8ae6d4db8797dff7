"""Alarms, from their beginning to their end."""

from sqlalchemy import Index, Table
from sqlalchemy import text as sql

from perfd.store.tables.columns import METADATA, identity, moment, text, whole

alarm = Table(
    "alarm",
    METADATA,
    identity(),
    text("key", "The natural key while it lasts: what is late."),
    text("kind", "What is silent: night, checkpoint, worker and so on."),
    text("sentence", "What is late, and since when."),
    text("remedy", "What to do about it."),
    moment("since", "When it was due."),
    moment("begun_at", "When it was first seen to be late."),
    moment("seen_at", "When it was last seen to be late."),
    whole("told", "How often it was told: at its beginning, and with every reminder.", default=1),
    moment("told_at", "When it was last told."),
    moment("ended_at", "When it was over; NULL while it lasts.", null=True),
    Index("uq_alarm_open", "key", unique=True, postgresql_where=sql("ended_at IS NULL")),
    comment="Something that was owed and did not come, from when that was seen until it was over.",
)
