"""Raw Samples of old months leave; Points, Verdicts and pages stay for ever.

A month is one partition: where nobody needs any of it, it is dropped at once; else what is not needed is deleted from it.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import CompoundSelect, Connection, Engine, TableClause, and_, column, false, func, or_, select, table, text
from sqlalchemy.exc import OperationalError

from perfd.domain.occasion import OccasionState
from perfd.domain.verdict import OPEN_STATES
from perfd.errors import PerfdError
from perfd.store import tables
from perfd.store.partitions import month_of

R = tables.run.c
WAIT_S = 10
"""How long a month waits for readers before it is left for the next time."""
Pinned = tuple[str, str]
"""An Engine, and how a Revision of it begins."""


@dataclass(frozen=True)
class OldMonth:
    """A month that is older than what is kept."""

    month: str
    """As in 2025-10."""
    samples: int
    """How many Samples leave."""
    needed: int
    """How many stay, because something that is open needs them."""
    size_bytes: int
    """What the month takes on the disk now, with its index."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it stays."""
        return self.needed == 0


def first_kept(now: datetime, months: int) -> datetime:
    """The beginning of the oldest month that is kept, of so many; the current one counts."""
    first, _ = month_of(now)
    ahead = first.year * 12 + first.month - 1 - (months - 1)
    return datetime(ahead // 12, ahead % 12 + 1, 1, tzinfo=UTC)


def old_months(engine: Engine, before: datetime, pinned: Collection[Pinned] = ()) -> tuple[OldMonth, ...]:
    """The months before that moment that hold Samples which may leave, oldest first; nothing is changed."""
    with engine.begin() as connection:
        found = [_look(connection, name, pinned) for name in _partitions(connection, before)]
    return tuple(one for one in found if one.samples or one.is_whole)


def prune(engine: Engine, before: datetime, pinned: Collection[Pinned] = ()) -> Iterator[OldMonth]:
    """Each of those months, once it has gone, in a transaction of its own: what was done before a crash stays done.

    Raises PerfdError where a reader holds a month for too long.
    """
    with engine.begin() as connection:
        names = _partitions(connection, before)
    for name in names:
        gone = _prune(engine, name, pinned)
        if gone.samples or gone.is_whole:
            yield gone


def _prune(engine: Engine, name: str, pinned: Collection[Pinned]) -> OldMonth:
    try:
        with engine.begin() as connection:
            connection.execute(text(f"SET LOCAL lock_timeout = '{WAIT_S}s'"))
            one = _look(connection, name, pinned)
            if one.is_whole:
                connection.execute(text(f"DROP TABLE {name}"))
            elif one.samples:
                part = _part(name)
                connection.execute(part.delete().where(part.c.run_id.not_in(_needed(pinned))))
            return one
    except OperationalError as error:
        if getattr(error.orig, "sqlstate", None) != "55P03":  # lock_not_available
            raise
        raise PerfdError(
            f"{_month(name)}: somebody has read or written Samples for {WAIT_S} s; nothing of it has gone: try again later",
            permanent=False,
        ) from None


def _partitions(connection: Connection, before: datetime) -> Sequence[str]:
    """Names of the partitions that end before that moment or at it, oldest first."""
    asked = text("SELECT c.relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'sample'::regclass")
    return sorted(name for name in connection.execute(asked).scalars() if name < f"sample_{before:%Y_%m}")


def _look(connection: Connection, name: str, pinned: Collection[Pinned]) -> OldMonth:
    part = _part(name)
    needed = part.c.run_id.in_(_needed(pinned))
    asked = select(func.count().filter(~needed).label("gone"), func.count().filter(needed).label("kept")).select_from(part)
    row = connection.execute(asked).one()
    size = connection.execute(select(func.pg_total_relation_size(name))).scalar_one()
    return OldMonth(_month(name), row.gone, row.kept, size)


def _needed(pinned: Collection[Pinned]) -> CompoundSelect[int]:
    """Runs whose Samples stay: of Series with an open Regression, of pinned Revisions, of Launches, and of what is open."""
    P, C, M, G = tables.point.c, tables.change.c, tables.regression_member.c, tables.regression.c  # noqa: N806  # columns
    Occ, B, S, K = tables.occasion.c, tables.build.c, tables.subject.c, tables.checkpoint.c  # noqa: N806  # columns
    answered = (
        select(P.run_id)
        .join(tables.change, C.series_id == P.series_id)
        .join(tables.regression_member, M.change_id == C.id)
        .join(tables.regression, G.id == M.regression_id)
        .where(G.state.in_([state.value for state in OPEN_STATES]))
    )
    unfinished = select(R.id).join(tables.occasion, Occ.id == R.occasion_id).where(Occ.state != OccasionState.REPORTED.value)
    launched = select(R.id).join(tables.checkpoint, or_(K.occasion_id == R.occasion_id, K.comparison_id == R.occasion_id))
    named = [and_(S.name == engine, B.revision.startswith(revision, autoescape=True)) for engine, revision in pinned]
    releases = (
        select(R.id).join(tables.build, B.id == R.build_id).join(tables.subject, S.id == B.subject_id).where(or_(false(), *named))
    )
    return answered.union(unfinished, launched, releases)


def _part(name: str) -> TableClause:
    return table(name, column("run_id"))


def _month(name: str) -> str:
    return name.removeprefix("sample_").replace("_", "-")
