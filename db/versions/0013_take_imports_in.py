"""Take imports in: they needed no table, and the number stays, for databases stand at it."""

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing."""
