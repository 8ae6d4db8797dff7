"""Save views."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new table is there; yesterday's code still runs."""
    op.create_table(
        "saved_view",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="The number that it is forgotten by; never given out again.",
        ),
        sa.Column("name", sa.Text(), nullable=False, comment="What its owner calls it."),
        sa.Column("address", sa.Text(), nullable=False, comment="Path and query of the page that it stands for."),
        sa.Column("owner", sa.Text(), nullable=False, comment="Who saved it: github:alice, token:3:ci, local."),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="When that was."),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
        sa.UniqueConstraint("owner", "name", name=op.f("uq_saved_view_owner_name")),
        comment="A name for the address of a page, for everybody; rows are written and removed, never changed.",
    )
