"""Weigh plans: a place in the queue, earlier tries, backfills, and work that was cancelled or not begun."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KINDS = "'night', 'checkpoint', 'compare', 'aa', 'backfill', 'import'"
FAILURES = "'build', 'not_ready', 'died', 'timeout', 'nonsense', 'device', 'harness', 'lost', 'missing', 'superseded', 'budget'"


def upgrade() -> None:
    """The new columns and words are there; yesterday's code still runs."""
    op.add_column(
        "run",
        sa.Column(
            "ranks_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Its place in the queue: queued_at less the head start of what it is for; NULL: queued_at.",
        ),
    )
    op.add_column(
        "run",
        sa.Column(
            "tries",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="What earlier tries came to, oldest first: when, by whom, which failure, why.",
        ),
    )
    op.add_column(
        "run",
        sa.Column(
            "lost_s",
            sa.Double(),
            nullable=True,
            comment="Device seconds of tries that gave no result; NULL where there were none.",
        ),
    )
    op.add_column(
        "build",
        sa.Column(
            "ranks_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="Its place in the queue, that of the most urgent occasion that needs it; NULL: queued_at.",
        ),
    )
    op.add_column(
        "occasion",
        sa.Column(
            "harness",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Version of perfd that planned it: only its like measures it; empty: any.",
        ),
    )
    op.add_column(
        "worker",
        sa.Column(
            "version",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Its version of perfd; empty where it did not say.",
        ),
    )
    op.create_index(op.f("ix_run_finished_at"), "run", ["finished_at"])
    op.drop_constraint(op.f("ck_occasion_kind"), "occasion")
    op.create_check_constraint(op.f("ck_occasion_kind"), "occasion", f"kind IN ({KINDS})")
    op.drop_constraint(op.f("ck_run_failure"), "run")
    op.create_check_constraint(op.f("ck_run_failure"), "run", f"failure IN ({FAILURES})")
