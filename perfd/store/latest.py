"""How every Series stands, kept in one row each (`series_latest`) so that lists never read whole Series.

Whoever writes Points, Verdicts or Changes calls `refresh` or `judged` at the end of the same transaction.
"""

from collections.abc import Collection

from sqlalchemy import Connection, text

SPARK = 60
"""Values in a sparkline."""

# A new row's version is the time, and not 0: when all Points of a Series become void its row goes, and the row that comes later
# must not come back to a version under which somebody remembers the numbers of before.
_CLAIM = """
    INSERT INTO series_latest (series_id, run_id, value, tail, measured_at, version)
    SELECT DISTINCT ON (series_id) series_id, run_id, value, ARRAY[value], measured_at,
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
    FROM point WHERE series_id = ANY(:ids) AND NOT EXISTS (SELECT FROM series_latest l WHERE l.series_id = point.series_id)
    ORDER BY series_id
    ON CONFLICT DO NOTHING"""
_LOCK = "SELECT 1 FROM series_latest WHERE series_id = ANY(:ids) ORDER BY series_id FOR UPDATE"
_POINTS = """
    UPDATE series_latest AS l SET
        run_id = e.runs[1], previous_run_id = e.runs[2], value = e.numbers[1], previous = e.numbers[2],
        tail = e.tail, low = p.low, high = p.high, measured_at = p.measured_at,
        week_ago = CASE WHEN week.hardware_hash = p.hardware_hash AND week.age < interval '14 days' THEN week.value END,
        month_ago = CASE WHEN month.hardware_hash = p.hardware_hash AND month.age < interval '60 days' THEN month.value END,
        version = l.version + 1
    FROM (
        SELECT series_id, array_agg(run_id ORDER BY place) AS runs, array_agg(value ORDER BY place) AS numbers,
            array_agg(value ORDER BY place DESC) AS tail
        FROM series
        CROSS JOIN LATERAL (
            SELECT series_id, run_id, value, row_number() OVER (ORDER BY ordinal DESC, measured_at DESC, run_id DESC) AS place
            FROM point WHERE series_id = series.id
            ORDER BY ordinal DESC, measured_at DESC, run_id DESC LIMIT :spark
        ) AS newest
        WHERE series.id = ANY(:ids)
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
    WHERE l.series_id = e.series_id"""
_TOUCH = """
    UPDATE series_latest AS l SET version = version + 1, change_id = (
        SELECT c.id FROM change AS c JOIN point AS p ON p.series_id = c.series_id AND p.run_id = c.run_id
        WHERE c.series_id = l.series_id AND c.gone_at IS NULL
        ORDER BY p.ordinal DESC, p.measured_at DESC, p.run_id DESC LIMIT 1)"""
_CHANGES = f"{_TOUCH} WHERE l.series_id = ANY(:ids)"
_VERDICTS = f"""{_TOUCH},
        outcome = v.outcome, effect = v.effect, bar = v.bar, noise = v.noise, judged_in = v.occasion_id, judged_for = o.nominal_at
    FROM verdict AS v JOIN occasion AS o ON o.id = v.occasion_id
    WHERE v.series_id = l.series_id AND v.series_id = ANY(:ids) AND v.occasion_id = :occasion
        AND (l.judged_for IS NULL OR l.judged_for <= o.nominal_at)
    RETURNING v.series_id"""


def refresh(connection: Connection, series_ids: Collection[int]) -> None:
    """The rows of these Series tell their last Points. Two writers of one Series wait for each other: none is forgotten."""
    if not series_ids:
        return
    ids = {"ids": sorted(series_ids)}
    connection.execute(text(_CLAIM), ids)
    connection.execute(text(_LOCK), ids)  # a statement of its own: what follows sees what the other writer has committed
    connection.execute(text(_POINTS), ids | {"spark": SPARK})


def judged(connection: Connection, series_ids: Collection[int], occasion_id: int) -> None:
    """The rows of these Series tell that occasion's Verdicts, unless later ones are told, and their last Changes.

    Their Points they tell already: whoever wrote those has seen to it.
    """
    ids = sorted(series_ids)
    connection.execute(text(_LOCK), {"ids": ids})
    told = connection.execute(text(_VERDICTS), {"ids": ids, "occasion": occasion_id}).scalars()
    touch(connection, set(ids).difference(told))


def touch(connection: Connection, series_ids: Collection[int]) -> None:
    """The rows of these Series tell their last Changes, and whoever has cached an answer about them asks again."""
    connection.execute(text(_CHANGES), {"ids": sorted(series_ids)})
