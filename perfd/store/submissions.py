"""Submissions of long Runs, written while a Run goes on, so that a try that is interrupted leaves what it had handed in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, select

from perfd.domain.codec import to_json
from perfd.domain.metric import Better
from perfd.domain.submission import Submission
from perfd.store import tables
from perfd.store.records import ClaimedRun
from perfd.store.writing import AnyRow, add_missing, clean

S = tables.submission.c


@dataclass(frozen=True)
class Submissions:
    """Questions about what long Runs handed in."""

    engine: Engine

    def add(self, claimed: ClaimedRun, given: Sequence[Submission]) -> int:
        """They stand there under this claim; answers how many are new."""
        rows = [{**clean(to_json(one)), "run_id": claimed.id, "token": claimed.token} for one in given]
        with self.engine.begin() as connection:
            return add_missing(connection, tables.submission, rows)

    def of_run(self, run_id: int) -> Mapping[int, tuple[Submission, ...]]:
        """By try (in order, counted from 1 over those that handed something in), what came, in the order in which it came."""
        asked = select(tables.submission).where(S.run_id == run_id).order_by(S.token, S.place)
        by_token: dict[int, list[Submission]] = {}
        with self.engine.begin() as connection:
            for row in connection.execute(asked):
                by_token.setdefault(row.token, []).append(_as_submission(row))
        return {number: tuple(came) for number, came in enumerate(by_token.values(), 1)}


def _as_submission(row: AnyRow) -> Submission:
    told: dict[str, Any] = {name: getattr(row, name) for name in ("place", "name", "elapsed_s", "digest", "size_bytes", "metric")}
    return Submission(
        **told,
        unit=row.unit,
        better=Better(row.better),
        validation=tuple(row.validation),
        held_out=tuple(row.held_out),
        reason=row.reason,
    )
