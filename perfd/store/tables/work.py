"""What is going on: workers that are alive, and messages on their way out."""

from sqlalchemy import CheckConstraint, Index, Table
from sqlalchemy import text as sql

from perfd.store.tables.columns import METADATA, document, identity, moment, text, truth, whole

service = Table(
    "service",
    METADATA,
    whole("id", "Always 1: there is one row.", key=True),
    moment("began_at", "When perfd began on this database: no night before it was missed."),
    moment("clock_at", "When the clock last looked; NULL before it did.", null=True),
    CheckConstraint("id = 1", name="one_row"),
    comment="The service itself, in one row.",
)

worker = Table(
    "worker",
    METADATA,
    identity(),
    text("name", "host:pid:starttime of the process.", unique=True),
    text("host", "The machine it runs on."),
    text("device_class", "The class of device that it measures on; empty for builders and clocks.", default=""),
    text("doing", "What it last said it does, in a few words.", default=""),
    text("version", "Its version of perfd; empty where it did not say.", default=""),
    moment("started_at", "When it was first seen."),
    moment("seen_at", "When it was last seen."),
    comment="A process that claims work; one that is not seen for long is gone.",
)

outbox = Table(
    "outbox",
    METADATA,
    identity(),
    text("dedupe_key", "A message with this key is sent once.", unique=True),
    text("kind", "What sort of message: decides who sends it."),
    document("payload", "The message."),
    whole("attempts", "How often sending was tried.", default=0),
    text("last_error", "Why the last try failed; empty until one did.", default=""),
    moment("created_at", "When it was written, in the transaction of what it tells of."),
    moment("next_at", "It is not tried before then."),
    moment("done_at", "When it was sent; NULL until then.", null=True),
    truth("given_up", "Whether it was never sent, and never will be."),
    CheckConstraint("attempts >= 0", name="attempts"),
    Index("ix_outbox_due", "next_at", postgresql_where=sql("done_at IS NULL")),
    Index("ix_outbox_given_up", "done_at", postgresql_where=sql("given_up")),
    comment="Messages to the outside, written with what they tell of and sent afterwards.",
)
