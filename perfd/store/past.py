"""What the judge reads of a night's Series: a window of Runs and values each, and what those Runs were, each asked once.

A Series has hundreds of Points and a night ten thousand Series, but Series of one Workload share their Runs: what is true of a
Run is read once for all of them. A window comes as two strings of bytes, which cost nothing to take apart.
"""

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from perfd.domain.past import Past
from perfd.store.writing import AnyRow, ids_text

_WINDOWS = """
    SELECT asked.id, newest.runs, newest.numbers
    FROM unnest(CAST(CAST(:ids AS text) AS bigint[])) AS asked (id)
    CROSS JOIN LATERAL (
        SELECT string_agg(int8send(run_id), '') AS runs, string_agg(float8send(value), '') AS numbers
        FROM (
            SELECT run_id, value FROM point WHERE series_id = asked.id
            ORDER BY ordinal DESC, measured_at DESC, run_id DESC LIMIT :last
        ) AS point
    ) AS newest"""
_RUNS = """
    SELECT asked.id, run.key, build.digest, revision.name, occasion.name AS occasion,
        point.ordinal, point.hardware_hash, point.epoch
    FROM unnest(CAST(CAST(:ids AS text) AS bigint[])) AS asked (id)
    CROSS JOIN LATERAL (
        SELECT build_id, revision_id, ordinal, occasion_id, hardware_hash, epoch FROM point WHERE run_id = asked.id LIMIT 1
    ) AS point
    JOIN run ON run.id = asked.id
    JOIN build ON build.id = point.build_id
    JOIN revision ON revision.id = point.revision_id
    JOIN occasion ON occasion.id = point.occasion_id"""
Ids: TypeAlias = NDArray[np.int64]


def pasts(connection: Connection, series: Sequence[int], last: int) -> dict[int, Past]:
    """By Series, its last Points in order (by commit, then by occasion), oldest first; a Series without any is empty."""
    rows = connection.execute(text(_WINDOWS), {"ids": ids_text(series), "last": last}).all()
    measured = _Runs.of(connection, {row.runs for row in rows if row.runs is not None})
    return {row.id: measured.past(row) for row in rows}


@dataclass(frozen=True)
class _Runs:
    """What is true of Runs, and the columns of every window that was asked for."""

    columns: dict[bytes, dict[str, Any]]

    @classmethod
    def of(cls, connection: Connection, windows: Collection[bytes]) -> "_Runs":
        """What these windows hold."""
        ids = {window: _taken_apart(window, ">i8") for window in windows}
        every = np.unique(np.concatenate([np.array([], dtype=np.int64), *ids.values()]))
        rows = {row.id: row for row in connection.execute(text(_RUNS), {"ids": ids_text(every.tolist())}).all()}
        return cls({window: _columns([rows[run] for run in found.tolist()]) for window, found in ids.items()})

    def past(self, row: AnyRow) -> Past:
        """The Past of a row of `_WINDOWS`."""
        if row.runs is None:
            return Past.of(())
        return Past(**self.columns[row.runs], values=array("d", _taken_apart(row.numbers, ">f8").tobytes()))


def _taken_apart(window: bytes, kind: str) -> Any:
    """The numbers of a window, oldest first; Postgres sends the newest first, and the highest byte of each."""
    found = np.frombuffer(window, dtype=kind)[::-1]
    return found.astype(found.dtype.newbyteorder("="))


def _columns(rows: Sequence[AnyRow]) -> dict[str, Any]:
    return {
        "runs": [row.key for row in rows],
        "builds": [row.digest for row in rows],
        "revisions": [row.name for row in rows],
        "ordinals": [row.ordinal for row in rows],
        "occasions": [row.occasion for row in rows],
        "hardware": [row.hardware_hash for row in rows],
        "epochs": [row.epoch for row in rows],
    }
