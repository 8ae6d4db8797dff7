"""The books: what must be true of the database whatever was killed. Every sentence that comes back is a violation."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text
from town import REQUESTS, WARMUPS, WORKLOADS

NEVER = {
    "a Run of a reported occasion has no outcome": """
        SELECT o.name || ' ' || r.key FROM run r JOIN occasion o ON o.id = r.occasion_id
        WHERE o.state = 'reported' AND r.state IN ('queued', 'claimed')""",
    "a Sample stands there twice": """
        SELECT run_id || ' ' || metric_id || ' ' || place FROM sample GROUP BY run_id, metric_id, place HAVING count(*) > 1""",
    "a Point stands there twice": """
        SELECT run_id || ' ' || s.metric_id FROM point p JOIN series s ON s.id = p.series_id
        GROUP BY run_id, s.metric_id HAVING count(*) > 1""",
    "a Run without a result has Points": """
        SELECT r.key FROM run r WHERE r.state <> 'done' AND EXISTS (SELECT FROM point p WHERE p.run_id = r.id)""",
    "a failed Run has Samples": """
        SELECT r.key FROM run r WHERE r.state = 'failed' AND EXISTS (SELECT FROM sample s WHERE s.run_id = r.id)""",
    "a done Run of a night lacks Points": """
        SELECT r.key FROM run r JOIN occasion o ON o.id = r.occasion_id WHERE o.kind = 'night' AND r.state = 'done'
        AND (SELECT count(*) FROM point p WHERE p.run_id = r.id)
        <> (SELECT count(DISTINCT metric_id) FROM sample s WHERE s.run_id = r.id)""",
    "a done Run has not one Sample a request": f"""
        SELECT r.key || ' ' || count(s.*) FROM run r LEFT JOIN sample s ON s.run_id = r.id
        AND s.metric_id = (SELECT id FROM metric WHERE name = 'ttft_s')
        WHERE r.state = 'done' GROUP BY r.key HAVING count(s.*) <> {REQUESTS - WARMUPS}""",  # noqa: S608  # a number of our own
    "two nights were opened for one time": """
        SELECT nominal_at::text FROM occasion WHERE kind = 'night' GROUP BY nominal_at HAVING count(*) > 1""",
    "a reported night has no report": "SELECT name FROM occasion WHERE state = 'reported' AND kind = 'night' AND report IS NULL",
    "a report counts other Runs than there are": """
        SELECT o.name FROM occasion o WHERE o.kind = 'night' AND o.state = 'reported' AND
        (o.report -> 'runs' ->> 'done')::int <> (SELECT count(*) FROM run r WHERE r.occasion_id = o.id AND r.state = 'done')""",
}
OPEN_IN_THE_END = {
    "a Run is still claimed": "SELECT key FROM run WHERE state = 'claimed'",
    "a Build is still being made": "SELECT digest FROM build WHERE state = 'building'",
    "a lock is still held": "SELECT objid::text FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()",
}


@dataclass
class Books:
    """What was seen so far: a report that stood there must never change."""

    reports: dict[str, tuple[datetime, Any]] = field(default_factory=dict)

    def check(self, connection: Connection, due: list[datetime]) -> list[str]:
        """Violations, now that the nights of those due times should be reported."""
        found = [f"{what}: {which}" for what, which in _found(connection, NEVER)]
        rows = connection.execute(
            text("SELECT name, nominal_at, state, closed_at, report::text, id FROM occasion WHERE kind = 'night'")
        )
        nights = {row.nominal_at: row for row in rows}
        for moment in due:
            found += self._night(connection, moment, nights.get(moment))
        return found

    def _night(self, connection: Connection, moment: datetime, row: Any) -> Iterator[str]:
        if row is None:
            yield f"the night of {moment:%Y-%m-%d} was never opened"
            return
        if row.state != "reported":
            yield f"{row.name} is {row.state}"
            return
        owed = connection.execute(text("SELECT count(*) FROM run WHERE occasion_id = :id"), {"id": row.id}).scalar_one()
        if owed != len(WORKLOADS):
            yield f"{row.name} owes {owed} Runs, and should owe {len(WORKLOADS)}"
        if self.reports.setdefault(row.name, (row.closed_at, row.report)) != (row.closed_at, row.report):
            yield f"{row.name} was reported twice"


def left_open(connection: Connection) -> list[str]:
    """What should be over once every process has ended."""
    return [f"{what}: {which}" for what, which in _found(connection, OPEN_IN_THE_END)]


def tally(connection: Connection) -> dict[str, int]:
    """How the Runs of all occasions ended, and how often one was tried again."""
    asked = "SELECT coalesce(failure, state), count(*) FROM run GROUP BY 1 ORDER BY 1"
    counts = {str(word): int(number) for word, number in connection.execute(text(asked))}
    again = connection.execute(text("SELECT coalesce(sum(jsonb_array_length(tries)), 0) FROM run")).scalar_one()
    return counts | {"tried again": int(again)}


def _found(connection: Connection, questions: dict[str, str]) -> Iterator[tuple[str, str]]:
    for what, question in questions.items():
        for (which,) in connection.execute(text(question)):
            yield what, str(which)
