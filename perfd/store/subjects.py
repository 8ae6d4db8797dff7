"""Subjects and their Revisions."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Select, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.subject import Revision, SubjectKind
from perfd.store import latest, tables
from perfd.store.writing import clean, ensure

R = tables.revision.c
S = tables.subject.c


@dataclass(frozen=True)
class Subjects:
    """Questions about subjects and Revisions."""

    engine: Engine

    def record(self, subject: str, kind: SubjectKind, branch: str, revisions: Iterable[Revision]) -> int:
        """The Revisions are there; answers how many are new. Where an ordinal moved, its Points move too."""
        with self.engine.begin() as connection:
            subject_id = ensure_subject(connection, subject, kind)
            known = set(connection.execute(select(R.name).where(R.subject_id == subject_id, R.branch == branch)).scalars())
            given = list(revisions)
            for revision in given:
                write_revision(connection, subject_id, branch, revision)
            return len({revision.name for revision in given} - known)

    def revisions(self, subject: str, branch: str) -> tuple[Revision, ...]:
        """Every known Revision on the branch, oldest first."""
        asked = _revisions(subject, branch).order_by(R.ordinal, R.id)
        with self.engine.begin() as connection:
            return tuple(Revision(*row) for row in connection.execute(asked))

    def latest(self, subject: str, branch: str) -> Revision | None:
        """The newest known Revision on the branch."""
        asked = _revisions(subject, branch).order_by(R.ordinal.desc(), R.id.desc()).limit(1)
        with self.engine.begin() as connection:
            row = connection.execute(asked).first()
        return None if row is None else Revision(*row)

    def names(self) -> dict[str, SubjectKind]:
        """Every subject that was ever seen, with its kind."""
        with self.engine.begin() as connection:
            return {row.name: SubjectKind(row.kind) for row in connection.execute(select(S.name, S.kind).order_by(S.name))}


def _revisions(subject: str, branch: str) -> Select[*tuple[Any, ...]]:
    columns = (R.name, R.ordinal, R.committed_at, R.title, R.parent)
    return select(*columns).join(tables.subject).where(S.name == subject, R.branch == branch)


def ensure_subject(connection: Connection, name: str, kind: SubjectKind) -> int:
    """The subject's id."""
    return ensure(connection, tables.subject, {"name": name}, {"kind": kind.value})


def write_revision(connection: Connection, subject_id: int, branch: str, revision: Revision) -> int:
    """The Revision is there as given; its id."""
    values = {
        "ordinal": revision.ordinal,
        "committed_at": revision.committed_at,
        "title": clean(revision.title),
        "parent": revision.parent,
    }
    key = {"subject_id": subject_id, "branch": branch, "name": revision.name}
    same = [R[name].is_not_distinct_from(value) for name, value in (key | values).items()]
    found = connection.execute(select(R.id).where(*same)).scalar()
    if found is not None:
        return int(found)
    written = insert(tables.revision).values(**key, **values)
    written = written.on_conflict_do_update(index_elements=["subject_id", "branch", "name"], set_=values)
    row = connection.execute(written.returning(R.id, literal_column("xmax = 0").label("new"))).one()
    if not row.new:  # only one that stood there before can have Points
        _move_points(connection, int(row.id), revision)
    return int(row.id)


def _move_points(connection: Connection, revision_id: int, revision: Revision) -> None:
    """The Points of the Revision have its ordinal; its Builds and Runs lead to them, for `point` is too large to be searched."""
    B, P, run = tables.build.c, tables.point.c, tables.run.c  # noqa: N806  # columns
    measured = select(run.id).join(tables.build, B.id == run.build_id).join(tables.revision, R.subject_id == B.subject_id)
    moved = update(tables.point).where(
        P.revision_id == revision_id, P.run_id.in_(measured.where(R.id == revision_id, B.revision == R.name))
    )
    series = connection.execute(moved.values(ordinal=revision.ordinal).returning(P.series_id)).scalars()
    latest.refresh(connection, set(series))
