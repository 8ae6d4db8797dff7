"""Remember re-measurements, and Regressions that a budget opened."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new table and column are there; yesterday's code still runs."""
    op.add_column(
        "regression",
        sa.Column(
            "cause", sa.Text(), nullable=True, comment="What it was opened for where that is no Change: a budget; NULL otherwise."
        ),
    )
    op.create_index(
        "uq_regression_cause",
        "regression",
        ["cause"],
        unique=True,
        postgresql_where=sa.text("state NOT IN ('fixed', 'verified')"),
    )
    op.create_table(
        "confirmation",
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The comparison that re-measures."
        ),
        sa.Column("regression_id", sa.BigInteger(), nullable=False, comment="The Regression that is re-measured."),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When the comparison was planned."),
        sa.Column(
            "outcome",
            sa.Text(),
            nullable=True,
            comment="reproduced, not reproduced, unsure or impossible; NULL until it is settled.",
        ),
        sa.Column(
            "reason", sa.Text(), server_default="", nullable=False, comment="What the comparison said, or why there was none."
        ),
        sa.Column(
            "settled_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When the Regression was moved by it; NULL until then.",
        ),
        sa.CheckConstraint(
            "outcome IN ('reproduced', 'not reproduced', 'unsure', 'impossible')", name=op.f("ck_confirmation_outcome")
        ),
        sa.CheckConstraint("(outcome IS NULL) = (settled_at IS NULL)", name=op.f("ck_confirmation_settled_has_outcome")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_confirmation_occasion_id")),
        sa.ForeignKeyConstraint(["regression_id"], ["regression.id"], name=op.f("fk_confirmation_regression_id")),
        sa.PrimaryKeyConstraint("occasion_id", name=op.f("pk_confirmation")),
        comment="A re-measurement of a Regression, first bad Build against last good one; at most one a Regression and night.",
    )
    op.create_index(op.f("ix_confirmation_regression_id"), "confirmation", ["regression_id"])
