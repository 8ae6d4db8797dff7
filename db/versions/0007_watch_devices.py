"""Watch devices."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new table and columns are there; yesterday's code still runs, and looks at no device before it measures."""
    for column in (
        sa.Column(
            "looked_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When a worker last looked whether a Run may begin; NULL if none did.",
        ),
        sa.Column(
            "refusal",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Why no Run may begin for now, as a sentence; empty where one may.",
        ),
        sa.Column(
            "refused_since",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Since when it is refused; NULL where it is not.",
        ),
        sa.Column(
            "good_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When a Run on it last ended with nothing wrong with it: its last good check; NULL before one.",
        ),
        sa.Column(
            "spoilt",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="The Runs in a row that it has spoilt, as JSON: run, at, reason.",
        ),
    ):
        op.add_column("device", column)
    _create_quarantine()
    op.add_column(
        "run",
        sa.Column(
            "quarantine_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The quarantine that made it void; NULL unless one did.",
        ),
    )
    op.create_foreign_key(op.f("fk_run_quarantine_id"), "run", "quarantine", ["quarantine_id"], ["id"])
    op.create_check_constraint(op.f("ck_run_quarantined_is_void"), "run", "quarantine_id IS NULL OR state = 'void'")
    op.create_index(op.f("ix_run_device_id_finished_at"), "run", ["device_id", "finished_at"], unique=False)
    op.create_index(op.f("ix_run_quarantine_id"), "run", ["quarantine_id"], unique=False)


def _create_quarantine() -> None:
    op.create_table(
        "quarantine",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="The number in its device's page."),
        sa.Column(
            "device_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The device; what it measured under other classes is meant too.",
        ),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was opened."),
        sa.Column(
            "since",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="What the device finished from then on is void: its last good check, or its first bad one.",
        ),
        sa.Column("actor", sa.Text(), nullable=False, comment="The person, or the named rule, that opened it."),
        sa.Column("reason", sa.Text(), nullable=False, comment="Why, in a sentence that says what to do."),
        sa.Column(
            "evidence",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What was seen: facts, Runs, comparisons.",
        ),
        sa.Column(
            "released_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When a person released the device; NULL while it lasts.",
        ),
        sa.Column("released_by", sa.Text(), server_default="", nullable=False, comment="Who released it; empty while it lasts."),
        sa.Column(
            "release_reason",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="What was done about it; empty while it lasts.",
        ),
        sa.Column(
            "again_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The occasion that measures again what became void; NULL until it is planned.",
        ),
        sa.CheckConstraint("(released_at IS NULL) = (released_by = '')", name=op.f("ck_quarantine_released_by_someone")),
        sa.ForeignKeyConstraint(["again_id"], ["occasion.id"], name=op.f("fk_quarantine_again_id")),
        sa.ForeignKeyConstraint(["device_id"], ["device.id"], name=op.f("fk_quarantine_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quarantine")),
        comment="A span in which a device was not to be trusted, with the evidence.",
    )
    op.create_index(
        "uq_quarantine_open", "quarantine", ["device_id"], unique=True, postgresql_where=sa.text("released_at IS NULL")
    )
    op.create_index(op.f("ix_quarantine_again_id"), "quarantine", ["again_id"], unique=False)
