"""Launch models."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new tables and the new column are there; yesterday's code still runs, and leaves them alone."""
    op.create_table(
        "launch",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="The number in the Launch's address on the site.",
        ),
        sa.Column("model", sa.Text(), nullable=False, comment="The Model's name in perfd.toml."),
        sa.Column("subject_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Engine that serves it."),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="The moment of day 0."),
        sa.Column(
            "suites",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="Names of the suites that a Checkpoint measures; empty means all.",
        ),
        sa.Column(
            "compare_minutes",
            sa.Double(),
            nullable=False,
            comment="Device minutes that a Checkpoint may spend on re-measuring the first day's Build.",
        ),
        sa.Column(
            "known_at",
            sa.DateTime(timezone=True),
            nullable=False,
            comment="When perfd first knew of it: a Checkpoint that was due before is not owed.",
        ),
        sa.ForeignKeyConstraint(["subject_id"], ["subject.id"], name=op.f("fk_launch_subject_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_launch")),
        sa.UniqueConstraint("model", "subject_id", name=op.f("uq_launch_model_subject_id")),
        comment="A Model's release on an Engine.",
    )
    op.create_table(
        "checkpoint",
        sa.Column("launch_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Launch it belongs to."),
        sa.Column(
            "day",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Days of 24 hours after day 0; a negative one rehearses on random weights.",
        ),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False, comment="When it is due."),
        sa.Column(
            "owed",
            sa.Boolean(),
            server_default="true",
            nullable=False,
            comment="Whether it was still to come when perfd first knew of the Launch.",
        ),
        sa.Column(
            "occasion_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The occasion that measures it; NULL until it was opened.",
        ),
        sa.Column(
            "launched_with",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Command, environment, Model and Kernels as they were when it was planned.",
        ),
        sa.Column(
            "comparison_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The first day's Build beside its own; NULL where there is none.",
        ),
        sa.Column(
            "why_no_comparison",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Why there is none; empty until that was looked at, and where there is one.",
        ),
        sa.ForeignKeyConstraint(["comparison_id"], ["occasion.id"], name=op.f("fk_checkpoint_comparison_id")),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name=op.f("fk_checkpoint_launch_id")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_checkpoint_occasion_id")),
        sa.PrimaryKeyConstraint("launch_id", "day", name=op.f("pk_checkpoint")),
        sa.UniqueConstraint("comparison_id", name=op.f("uq_checkpoint_comparison_id")),
        sa.UniqueConstraint("occasion_id", name=op.f("uq_checkpoint_occasion_id")),
        comment="One day of a Launch on which the full suites are measured.",
    )
    op.create_index(op.f("ix_checkpoint_due_at"), "checkpoint", ["due_at"], unique=False)
    op.create_table(
        "todo",
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="The number that `perfd launch todo` tells."
        ),
        sa.Column(
            "launch_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Launch that it would make better."
        ),
        sa.Column("title", sa.Text(), nullable=False, comment="What is to be done."),
        sa.Column(
            "area", sa.Text(), nullable=False, comment="What it is about: kv cache, attention kernels, quantisation, routing."
        ),
        sa.Column("owner", sa.Text(), server_default="", nullable=False, comment="Who does it; empty while nobody does."),
        sa.Column("state", sa.Text(), server_default="open", nullable=False, comment="open, doing, done or dropped."),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="What was said when it was moved last."),
        sa.Column(
            "change_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The Change that shows its effect; NULL while none does.",
        ),
        sa.Column(
            "comparison_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The comparison that shows its effect; NULL while none does.",
        ),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was written down."),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False, comment="When anything of it last changed."),
        sa.CheckConstraint("state <> 'doing' OR owner <> ''", name=op.f("ck_todo_doing_has_owner")),
        sa.CheckConstraint("state IN ('open', 'doing', 'done', 'dropped')", name=op.f("ck_todo_state")),
        sa.ForeignKeyConstraint(["change_id"], ["change.id"], name=op.f("fk_todo_change_id")),
        sa.ForeignKeyConstraint(["comparison_id"], ["occasion.id"], name=op.f("fk_todo_comparison_id")),
        sa.ForeignKeyConstraint(["launch_id"], ["launch.id"], name=op.f("fk_todo_launch_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_todo")),
        sa.UniqueConstraint("launch_id", "title", name=op.f("uq_todo_launch_id_title")),
        comment="An optimisation that a Launch can still use.",
    )
    op.add_column(
        "model",
        sa.Column(
            "shape",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The file with the announced shapes that random weights are written from; empty for real weights.",
        ),
    )
