"""Remember bisections."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The new tables and columns are there; yesterday's code still runs."""
    op.create_table(
        "bisect",
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="The number that `perfd bisect` tells."
        ),
        sa.Column(
            "subject_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The Engine or Kernel whose history is searched.",
        ),
        sa.Column(
            "regression_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The Regression it is for; NULL where a person gave the two ends.",
        ),
        sa.Column("branch", sa.Text(), nullable=False, comment="The branch whose first parents are searched."),
        sa.Column(
            "path",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="The places from the good end to the bad one, as JSON.",
        ),
        sa.Column(
            "wanted",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Workload, Model, device class and Metric that were asked for; empty ones are chosen by the ends.",
        ),
        sa.Column(
            "target",
            postgresql.JSONB(none_as_null=True, astext_type=sa.Text()),
            nullable=True,
            comment="What decides, as JSON; NULL until the ends were compared.",
        ),
        sa.Column("most_builds", sa.Integer(), autoincrement=False, nullable=False, comment="How many Builds it may make."),
        sa.Column("most_minutes", sa.Double(), nullable=False, comment="How many device minutes it may measure."),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was opened."),
        sa.Column(
            "outcome", sa.Text(), nullable=True, comment="commit, dependencies, range or not reproduced; NULL until it has ended."
        ),
        sa.Column(
            "good",
            sa.Integer(),
            autoincrement=False,
            nullable=True,
            comment="The last place known to be good; NULL until it has ended.",
        ),
        sa.Column(
            "bad",
            sa.Integer(),
            autoincrement=False,
            nullable=True,
            comment="The first place known to be bad; NULL until it has ended.",
        ),
        sa.Column("reason", sa.Text(), server_default="", nullable=False, comment="Why it ended so, in a sentence."),
        sa.Column(
            "patch",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="The file that takes the commit back, in the state folder; empty where there is none.",
        ),
        sa.Column("proposal", sa.Text(), server_default="", nullable=False, comment="What a person can do about it, as text."),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True, comment="When it ended; NULL until then."),
        sa.CheckConstraint("outcome IN ('commit', 'dependencies', 'range', 'not reproduced')", name=op.f("ck_bisect_outcome")),
        sa.CheckConstraint(
            "(outcome IS NULL) = (ended_at IS NULL) AND (outcome IS NULL) = (good IS NULL) AND (outcome IS NULL) = (bad IS NULL)",
            name=op.f("ck_bisect_ended_has_outcome"),
        ),
        sa.ForeignKeyConstraint(["regression_id"], ["regression.id"], name=op.f("fk_bisect_regression_id")),
        sa.ForeignKeyConstraint(["subject_id"], ["subject.id"], name=op.f("fk_bisect_subject_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bisect")),
        comment="A search for the commit that brought a difference between two Builds.",
    )
    op.create_index(op.f("ix_bisect_regression_id"), "bisect", ["regression_id"], unique=False)
    op.create_index(
        "uq_bisect_open",
        "bisect",
        ["regression_id"],
        unique=True,
        postgresql_where=sa.text("ended_at IS NULL AND regression_id IS NOT NULL"),
    )
    op.create_table(
        "bisect_step",
        sa.Column(
            "id",
            sa.BigInteger(),
            sa.Identity(always=True),
            nullable=False,
            comment="A number of the database's own; never shown as a name.",
        ),
        sa.Column("bisect_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The bisection it belongs to."),
        sa.Column(
            "number",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Counted from 1; a step is opened when the one before it is settled.",
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="build or compare."),
        sa.Column(
            "base",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="The place that is compared with; the place itself where it is a Build.",
        ),
        sa.Column("head", sa.Integer(), autoincrement=False, nullable=False, comment="The place that is asked about."),
        sa.Column("why", sa.Text(), nullable=False, comment="Why this was asked, in a sentence."),
        sa.Column(
            "occasion_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The occasion that builds or measures."
        ),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False, comment="When it was planned."),
        sa.Column(
            "outcome",
            sa.Text(),
            nullable=True,
            comment="built, broken, better, worse, same, unsure or not comparable; NULL while it is open.",
        ),
        sa.Column(
            "broken",
            sa.Integer(),
            autoincrement=False,
            nullable=True,
            comment="The place that could not be built or measured; NULL unless one could not.",
        ),
        sa.Column(
            "pairs",
            sa.Integer(),
            server_default="0",
            autoincrement=False,
            nullable=False,
            comment="How many pairs of Runs it rests on.",
        ),
        sa.Column("effect", sa.Double(), nullable=True, comment="Ratio minus one, head against base; NULL where there is none."),
        sa.Column("low", sa.Double(), nullable=True, comment="Lower end of the effect's interval."),
        sa.Column("high", sa.Double(), nullable=True, comment="Upper end of the effect's interval."),
        sa.Column(
            "final", sa.Boolean(), server_default="true", nullable=False, comment="Whether more pairs could not have told more."
        ),
        sa.Column("reason", sa.Text(), server_default="", nullable=False, comment="What came of it, in a sentence."),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True, comment="When that was known; NULL while it is open."),
        sa.CheckConstraint("kind IN ('build', 'compare')", name=op.f("ck_bisect_step_kind")),
        sa.CheckConstraint(
            "outcome IN ('built', 'broken', 'better', 'worse', 'same', 'unsure', 'not comparable')",
            name=op.f("ck_bisect_step_outcome"),
        ),
        sa.CheckConstraint("(low IS NULL) = (high IS NULL)", name=op.f("ck_bisect_step_interval_has_two_ends")),
        sa.CheckConstraint("(outcome IS NULL) = (settled_at IS NULL)", name=op.f("ck_bisect_step_settled_has_outcome")),
        sa.ForeignKeyConstraint(["bisect_id"], ["bisect.id"], name=op.f("fk_bisect_step_bisect_id")),
        sa.ForeignKeyConstraint(["occasion_id"], ["occasion.id"], name=op.f("fk_bisect_step_occasion_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bisect_step")),
        sa.UniqueConstraint("bisect_id", "number", name=op.f("uq_bisect_step_bisect_id_number")),
        comment="One step of a bisection: a Build that is made, or two places that are compared.",
    )
