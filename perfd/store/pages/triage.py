"""What triage asks about Regressions beside their own rows: later steps of their Series, and the commits of the range."""

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from perfd.domain.verdict import ChangeKind
from perfd.store import tables

C = tables.change.c
P = tables.point.c
V = tables.revision.c
LASTING = (ChangeKind.STEP.value, ChangeKind.DRIFT.value)
MOST_COMMITS = 100


class Commit(NamedTuple):
    """One Revision of the range in which a Change came."""

    name: str
    title: str
    committed_at: datetime | None


class Commits(NamedTuple):
    """Revisions after the last one at the old level, up to the first at the new one, newest first."""

    last_good: str
    """The last Revision that was measured at the old level."""
    total: int
    listed: tuple[Commit, ...]


def last_steps(connection: Connection, regressions: Collection[int]) -> dict[int, datetime]:
    """By Regression: when the judge last found a step or drift that stands in one of its Series, its own members included."""
    member, own, judged = tables.regression_member.c, tables.change.alias(), tables.verdict.c
    found = (
        select(member.regression_id, func.max(judged.judged_at))
        .join(own, own.c.id == member.change_id)
        .join(tables.change, C.series_id == own.c.series_id)
        .join(tables.verdict, (judged.series_id == C.series_id) & (judged.occasion_id == C.found_in))
        .where(member.regression_id.in_(regressions), C.gone_at.is_(None), C.kind.in_(LASTING))
        .group_by(member.regression_id)
    )
    rows: dict[int, datetime] = dict(connection.execute(found).all())
    return rows


def commits(connection: Connection, change: int) -> Commits | None:
    """The Revisions in which a Change came; absent where nothing was measured before it."""
    first = connection.execute(
        select(P.series_id, P.ordinal, V.subject_id, V.branch)
        .join(tables.change, (C.series_id == P.series_id) & (C.run_id == P.run_id))
        .join(tables.revision, V.id == P.revision_id)
        .where(C.id == change)
    ).first()
    if first is None:
        return None
    before = (
        select(P.ordinal, V.name)
        .join(tables.revision, V.id == P.revision_id)
        .where(P.series_id == first.series_id, P.ordinal < first.ordinal)
        .order_by(P.ordinal.desc())
        .limit(1)
    )
    good = connection.execute(before).first()
    if good is None:
        return None
    within = (V.subject_id == first.subject_id, V.branch == first.branch, V.ordinal > good.ordinal, V.ordinal <= first.ordinal)
    total = connection.execute(select(func.count()).where(*within)).scalar_one()
    asked = select(V.name, V.title, V.committed_at).where(*within).order_by(V.ordinal.desc()).limit(MOST_COMMITS)
    return Commits(good.name, total, tuple(Commit(*row) for row in connection.execute(asked)))
