"""Serve pages fast."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

FILL = """
    INSERT INTO series_latest (series_id, run_id, previous_run_id, value, low, high, previous, week_ago, month_ago, tail,
        measured_at, outcome, effect, bar, noise, judged_in, judged_for, change_id, version)
    SELECT e.series_id, e.runs[1], e.runs[2], e.numbers[1], p.low, p.high, e.numbers[2],
        CASE WHEN week.hardware_hash = p.hardware_hash AND week.age < interval '14 days' THEN week.value END,
        CASE WHEN month.hardware_hash = p.hardware_hash AND month.age < interval '60 days' THEN month.value END,
        e.tail, p.measured_at, v.outcome, v.effect, v.bar, v.noise, v.occasion_id, v.nominal_at, c.id, 1
    FROM (
        SELECT series_id, array_agg(run_id ORDER BY place) AS runs, array_agg(value ORDER BY place) AS numbers,
            array_agg(value ORDER BY place DESC) AS tail
        FROM series
        CROSS JOIN LATERAL (
            SELECT series_id, run_id, value, row_number() OVER (ORDER BY ordinal DESC, measured_at DESC, run_id DESC) AS place
            FROM point WHERE series_id = series.id
            ORDER BY ordinal DESC, measured_at DESC, run_id DESC LIMIT 60
        ) AS newest
        GROUP BY series_id
    ) AS e
    JOIN point AS p ON p.series_id = e.series_id AND p.run_id = e.runs[1]
    LEFT JOIN LATERAL (
        SELECT value, hardware_hash, p.measured_at - o.measured_at AS age FROM point AS o
        WHERE o.series_id = p.series_id AND o.measured_at <= p.measured_at - interval '7 days'
        ORDER BY ordinal DESC, measured_at DESC, run_id DESC LIMIT 1
    ) AS week ON true
    LEFT JOIN LATERAL (
        SELECT value, hardware_hash, p.measured_at - o.measured_at AS age FROM point AS o
        WHERE o.series_id = p.series_id AND o.measured_at <= p.measured_at - interval '30 days'
        ORDER BY ordinal DESC, measured_at DESC, run_id DESC LIMIT 1
    ) AS month ON true
    LEFT JOIN LATERAL (
        SELECT outcome, effect, bar, noise, occasion_id, nominal_at
        FROM verdict JOIN occasion ON occasion.id = verdict.occasion_id
        WHERE verdict.series_id = p.series_id ORDER BY nominal_at DESC, occasion.id DESC LIMIT 1
    ) AS v ON true
    LEFT JOIN LATERAL (
        SELECT change.id FROM change JOIN point AS o ON o.series_id = change.series_id AND o.run_id = change.run_id
        WHERE change.series_id = p.series_id AND change.gone_at IS NULL
        ORDER BY o.ordinal DESC, o.measured_at DESC, o.run_id DESC LIMIT 1
    ) AS c ON true"""


def upgrade() -> None:
    """The new table is there and filled, and one index alone gives a chart; yesterday's code still runs, and leaves both alone.

    A row that yesterday's code leaves behind is right again when its Series is next measured or judged.
    """
    op.create_table(
        "series_latest",
        sa.Column("series_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The Series."),
        sa.Column(
            "run_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=False,
            comment="The Run of its last Point, in the order of the Series.",
        ),
        sa.Column(
            "previous_run_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The Run of the Point before; NULL with one Point.",
        ),
        sa.Column("value", sa.Double(), nullable=False, comment="The last Point."),
        sa.Column("low", sa.Double(), nullable=True, comment="Lower end of its interval."),
        sa.Column("high", sa.Double(), nullable=True, comment="Upper end of its interval."),
        sa.Column("previous", sa.Double(), nullable=True, comment="The Point before; NULL with one Point."),
        sa.Column(
            "week_ago",
            sa.Double(),
            nullable=True,
            comment="The last Point measured a week or more before it, on the same hardware; NULL without one.",
        ),
        sa.Column(
            "month_ago",
            sa.Double(),
            nullable=True,
            comment="The last Point measured thirty days or more before it, likewise.",
        ),
        sa.Column("tail", sa.ARRAY(sa.Double()), nullable=False, comment="The last Points in order, oldest first: a sparkline."),
        sa.Column("measured_at", sa.DateTime(timezone=True), nullable=False, comment="When the last Point's Run began."),
        sa.Column("outcome", sa.Text(), nullable=True, comment="Of the last Verdict; NULL until it was judged."),
        sa.Column("effect", sa.Double(), nullable=True, comment="Of the last Verdict."),
        sa.Column("bar", sa.Double(), nullable=True, comment="Of the last Verdict."),
        sa.Column("noise", sa.Double(), nullable=True, comment="Of the last Verdict."),
        sa.Column(
            "judged_in",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The occasion of the last Verdict; NULL until it was judged.",
        ),
        sa.Column(
            "judged_for",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="When that occasion was due: an older Verdict that comes late does not replace it.",
        ),
        sa.Column(
            "change_id",
            sa.BigInteger(),
            autoincrement=False,
            nullable=True,
            comment="The last Change that stands; NULL without one.",
        ),
        sa.Column(
            "version",
            sa.BigInteger(),
            nullable=False,
            comment="Raised by every write about the Series, in the same transaction: what a cached answer is checked with.",
        ),
        sa.CheckConstraint(
            "outcome IN ('better', 'worse', 'same', 'unsure', 'not comparable')", name=op.f("ck_series_latest_outcome")
        ),
        sa.ForeignKeyConstraint(["change_id"], ["change.id"], name=op.f("fk_series_latest_change_id")),
        sa.ForeignKeyConstraint(["judged_in"], ["occasion.id"], name=op.f("fk_series_latest_judged_in")),
        sa.ForeignKeyConstraint(["previous_run_id"], ["run.id"], name=op.f("fk_series_latest_previous_run_id")),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], name=op.f("fk_series_latest_run_id")),
        sa.ForeignKeyConstraint(["series_id"], ["series.id"], name=op.f("fk_series_latest_series_id")),
        sa.PrimaryKeyConstraint("series_id", name=op.f("pk_series_latest")),
        comment="How a Series stands: last Points, last Verdict, last Change; written in the transaction of what it repeats.",
    )
    op.drop_index("ix_point_order", table_name="point")
    op.create_index(
        "ix_point_order",
        "point",
        ["series_id", "ordinal", "measured_at", "run_id"],
        unique=False,
        postgresql_include=["value", "low", "high"],
    )
    # A chart reads the index alone where VACUUM has seen the pages; by default it waits for a fifth of the table to be new.
    op.execute("ALTER TABLE point SET (autovacuum_vacuum_insert_scale_factor = 0.01)")
    op.execute(FILL)
