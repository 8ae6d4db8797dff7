"""Sound alarms."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Alarms, the clock's last look and messages that were given up are there; yesterday's code still runs."""
    op.create_table(
        "alarm",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("key", sa.Text(), nullable=False, comment="The natural key while it lasts: what is late."),
        sa.Column("kind", sa.Text(), nullable=False, comment="What is silent: night, checkpoint, worker and so on."),
        sa.Column("sentence", sa.Text(), nullable=False, comment="What is late, and since when."),
        sa.Column("remedy", sa.Text(), nullable=False, comment="What to do about it."),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False, comment="When it was due."),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False, comment="When it was first seen to be late."),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False, comment="When it was last seen to be late."),
        sa.Column(
            "told",
            sa.Integer(),
            server_default="1",
            autoincrement=False,
            nullable=False,
            comment="How often it was told: at its beginning, and with every reminder.",
        ),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=False, comment="When it was last told."),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="When it was over; NULL while it lasts."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alarm")),
        comment="Something that was owed and did not come, from when that was seen until it was over.",
    )
    op.create_index("uq_alarm_open", "alarm", ["key"], unique=True, postgresql_where=sa.text("ended_at IS NULL"))
    op.add_column(
        "service",
        sa.Column(
            "clock_at", sa.DateTime(timezone=True), nullable=True, comment="When the clock last looked; NULL before it did."
        ),
    )
    op.add_column(
        "outbox",
        sa.Column(
            "given_up",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether it was never sent, and never will be.",
        ),
    )
    op.create_index("ix_outbox_given_up", "outbox", ["done_at"], unique=False, postgresql_where=sa.text("given_up"))
