"""Submit in long Runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

CLASSES = ("chat", "agentic", "long_context", "multimodal", "batch", "kernel", "accuracy", "long_run")


def upgrade() -> None:
    """The new table is there and Workloads may be long Runs; yesterday's code still runs where no suite has one."""
    listed = ", ".join(f"'{word}'" for word in CLASSES)
    op.drop_constraint(op.f("ck_workload_class"), "workload", type_="check")
    op.create_check_constraint(op.f("ck_workload_class"), "workload", f"class IN ({listed})")
    scores = {"server_default": "[]", "nullable": False}
    op.create_table(
        "submission",
        sa.Column("run_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The long Run that handed it in."),
        sa.Column(
            "token",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The claim under which it came: a try that was interrupted keeps its own.",
        ),
        sa.Column(
            "place",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Which submission of the try it is, in the order in which they came, from 0.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="The file's name, as the work gave it."),
        sa.Column("elapsed_s", sa.Double(), nullable=False, comment="Seconds from the start of the work until it was seen."),
        sa.Column("digest", sa.Text(), nullable=False, comment="sha256 of the file."),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False, comment="The file's size."),
        sa.Column("metric", sa.Text(), nullable=False, comment="Name of the Metric that the scorer tells."),
        sa.Column("unit", sa.Text(), nullable=False, comment="Its unit."),
        sa.Column("better", sa.Text(), nullable=False, comment="Which way is better: higher or lower."),
        sa.Column(
            "validation",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            **scores,
            comment="Scores on the set that the work knows, one a repetition.",
        ),
        sa.Column(
            "held_out",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            **scores,
            comment="Scores on the set that it never saw.",
        ),
        sa.Column("reason", sa.Text(), server_default="", nullable=False, comment="Why it has no score; empty where it has."),
        sa.CheckConstraint("better IN ('higher', 'lower')", name=op.f("ck_submission_better")),
        sa.CheckConstraint("(validation = '[]') = (reason <> '')", name=op.f("ck_submission_scored_or_says_why")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_submission_run_id")),
        sa.PrimaryKeyConstraint("run_id", "token", "place", name=op.f("pk_submission")),
        comment="What a long Run handed in on its way, with its scores on both sets; written while the Run goes on.",
    )
