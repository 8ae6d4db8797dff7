"""Where Revisions that come from elsewhere stand on their branch: by the time of their commits, among those that are known."""

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, select

from perfd.domain.arrival import Identity
from perfd.domain.subject import Revision
from perfd.store import tables
from perfd.store.subjects import write_revision

V = tables.revision.c
LONG_AGO = datetime.min.replace(tzinfo=UTC)


def place(connection: Connection, subject_id: int, branch: str, arriving: Sequence[Identity]) -> dict[str, int]:
    """By name, the rows of all these Revisions, which stand in the branch; what is known already stays as it is told.

    One that says its ordinal stands there. The others go by their commit's time, or behind all where they tell none; a known one
    moves only where the new ones need its place, and its Points move with it.
    """
    asked = select(V.id, V.name, V.ordinal, V.committed_at, V.title, V.parent).where(
        V.subject_id == subject_id, V.branch == branch
    )
    rows = connection.execute(asked.order_by(V.ordinal, V.id)).all()
    ids = {row.name: row.id for row in rows}
    known = [Revision(row.name, row.ordinal, row.committed_at, row.title, row.parent) for row in rows]
    new = {one.revision: one for one in arriving if one.revision not in ids}
    for one in [one for one in new.values() if one.ordinal is not None]:
        said = Revision(one.revision, one.ordinal or 0, one.committed_at, one.title)
        ids[one.revision] = write_revision(connection, subject_id, branch, said)
        known.append(said)
    unplaced = [Revision(one.revision, -1, one.committed_at, one.title) for one in new.values() if one.ordinal is None]
    moved = in_order(sorted(known, key=lambda one: one.ordinal), unplaced)
    for revision in moved:
        ids[revision.name] = write_revision(connection, subject_id, branch, revision)
    return ids


def in_order(known: Sequence[Revision], new: Sequence[Revision]) -> list[Revision]:
    """The new Revisions with their ordinals, and those known ones whose ordinal has to move; every ordinal stands once."""
    dated = sorted((one for one in new if one.committed_at is not None), key=lambda one: one.committed_at or LONG_AGO)
    waiting = [*dated, *(one for one in new if one.committed_at is None)]
    changed: list[Revision] = []
    last = -1 if not known else min(known[0].ordinal, 0) - 1
    for one in known:
        while waiting and _before(waiting[0], one):
            last = _put(changed, waiting.pop(0), last + 1)
        last = one.ordinal if one.ordinal > last else _put(changed, one, last + 1)
    for one in waiting:
        last = _put(changed, one, last + 1)
    return changed


def _before(one: Revision, other: Revision) -> bool:
    return one.committed_at is not None and other.committed_at is not None and one.committed_at < other.committed_at


def _put(changed: list[Revision], one: Revision, ordinal: int) -> int:
    changed.append(Revision(one.name, ordinal, one.committed_at, one.title, one.parent))
    return ordinal
