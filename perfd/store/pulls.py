"""Repositories and pull requests, as the forge last told of them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.pull import InstallationSeen, PullRequest, PullSeen, Repository
from perfd.store import tables
from perfd.store.posts import follow_renaming
from perfd.store.writing import AnyRow, clean

R = tables.forge_repository.c
Q = tables.pull_request.c
FORGE = "github"


@dataclass(frozen=True)
class PullRow:
    """A pull request, by the database's own number."""

    id: int
    pull: PullRequest


@dataclass(frozen=True)
class Pulls:
    """Questions about pull requests."""

    engine: Engine

    def see(self, event: PullSeen, now: datetime) -> PullRow | None:
        """The pull request stands here as the event tells; absent (and nothing changed) where a later event told already."""
        pull = event.pull
        values = {
            "title": clean(pull.title),
            "author": pull.author,
            "head": pull.head,
            "head_branch": clean(pull.head_branch),
            "head_repository": pull.head_repository,
            "base": pull.base,
            "base_branch": clean(pull.base_branch),
            "is_open": pull.is_open,
            "is_draft": pull.is_draft,
            "updated_at": pull.updated_at,
        }
        with self.engine.begin() as connection:
            repository = ensure_repository(connection, event.repository, now)
            row = insert(tables.pull_request).values(repository_id=repository, number=pull.number, **values)
            later = row.on_conflict_do_update(
                index_elements=[Q.repository_id, Q.number], set_=values, where=Q.updated_at <= row.excluded.updated_at
            )
            found = connection.execute(later.returning(Q.id)).scalar()
        return None if found is None else PullRow(int(found), pull)

    def read(self, repository: str, number: int) -> PullRow | None:
        """The pull request of that number."""
        return next(iter(self._pulls(R.name == repository, Q.number == number)), None)

    def see_installation(self, event: InstallationSeen, now: datetime) -> None:
        """Repositories know the installation that may act in them, or that there is none any more."""
        mine = update(tables.forge_repository).where(R.forge == FORGE, R.installation == event.installation)
        with self.engine.begin() as connection:
            if event.gone:
                connection.execute(mine.values(installation=None))
            for one in event.added:
                ensure_repository(connection, one, now)
            taken = [one.key for one in event.removed]
            connection.execute(mine.where(R.number.in_(taken)).values(installation=None))

    def _pulls(self, *where: ColumnElement[bool]) -> list[PullRow]:
        asked = select(tables.pull_request, R.name).join(tables.forge_repository, R.id == Q.repository_id).where(*where)
        with self.engine.begin() as connection:
            return [as_pull(row, row.id, row.head) for row in connection.execute(asked.order_by(R.seen_at.desc()))]


def ensure_repository(connection: Connection, seen: Repository, now: datetime) -> int:
    """The repository stands here as it was just seen, under the forge's own number, whatever it is called today; its id."""
    values = {"name": seen.name, "archived": seen.archived, "seen_at": now}
    if seen.installation is not None:
        values["installation"] = seen.installation
    if seen.default_branch:
        values["default_branch"] = clean(seen.default_branch)
    _lose_name(connection, seen)
    known = select(R.name).where(R.forge == FORGE, R.number == seen.key)
    renamed = connection.execute(known.with_for_update()).scalar()
    if renamed not in {None, seen.name}:
        follow_renaming(connection, str(renamed), seen.name)
    row = insert(tables.forge_repository).values(forge=FORGE, number=seen.key, **values)
    again = row.on_conflict_do_update(index_elements=[R.forge, R.number], set_=values)
    return int(connection.execute(again.returning(R.id)).scalar_one())


def _lose_name(connection: Connection, seen: Repository) -> None:
    """Another repository that had the name before has it no more: it was deleted, or renamed without our being told.

    What was posted there is kept under a name that no repository can have, so that neither meets the other's comments.
    """
    others = select(R.id, R.number).where(R.forge == FORGE, R.name == seen.name, R.number != seen.key)
    for row in connection.execute(others.with_for_update()).all():
        lost = f"{seen.name}~{row.number}"
        follow_renaming(connection, seen.name, lost)
        connection.execute(update(tables.forge_repository).where(R.id == row.id).values(name=lost))


def as_pull(row: AnyRow, pull: int, head: str) -> PullRow:
    """A pull request from a row with its columns and its repository's name."""
    return PullRow(
        pull,
        PullRequest(
            repository=row.name,
            number=row.number,
            title=row.title,
            author=row.author,
            head=head,
            head_branch=row.head_branch,
            head_repository=row.head_repository,
            base=row.base,
            base_branch=row.base_branch,
            is_open=row.is_open,
            is_draft=row.is_draft,
            updated_at=row.updated_at,
        ),
    )
