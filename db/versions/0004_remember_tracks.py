"""Remember tracks."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new table is there; yesterday's code still runs, and leaves it alone."""
    op.create_table(
        "track",
        sa.Column("series_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Series that is remembered."),
        sa.Column(
            "occasion_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The occasion that it is of.",
        ),
        sa.Column(
            "memory",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What the judge goes on from: level, noise, old levels, steps that wait; places count back.",
        ),
        sa.Column(
            "before",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="What it was before that occasion: judging the occasion again says the same.",
        ),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_track_occasion_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_track_series_id")),
        sa.PrimaryKeyConstraint("series_id", name=op.f("pk_track")),
        comment="What the judge remembers of a Series from one night to the next.",
    )
