"""What should stand at the forge, and what does: comments and checks, found again after a crash by a mark of random bits."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import from_json, to_json
from perfd.domain.forge import Check, CheckStatus, Comment, Conclusion
from perfd.store import tables
from perfd.store.writing import AnyRow, clean

P = tables.forge_post.c
KINDS: dict[str, type[Comment] | type[Check]] = {"comment": Comment, "check": Check}
MESSAGE = "post"
"""The kind of the outbox's messages that say: let the forge have the latest version of this."""


@dataclass(frozen=True)
class PostRow:
    """A comment or a check."""

    id: int
    marker: str
    wanted: Comment | Check
    version: int
    posted_version: int
    number: int | None
    """The forge's own number; absent until it is known."""
    url: str
    trouble: str
    """Why it could not be posted; empty where it could."""


@dataclass(frozen=True)
class Posts:
    """Questions about comments and checks."""

    engine: Engine

    def want(self, wanted: Comment | Check, now: datetime, deadline_at: datetime | None = None) -> bool:
        """That should stand at the forge, and a message that brings it there is in the outbox, both in one transaction.

        False (and nothing changed) when it should stand there already, or when a check that is completed would go back; one
        that waits for somebody's action may go on. A check that is not completed needs a deadline.
        """
        unfinished = isinstance(wanted, Check) and wanted.status is not CheckStatus.COMPLETED
        if unfinished != (deadline_at is not None):
            raise ValueError("exactly a check that is not completed has a deadline")
        document = clean(to_json(wanted))
        with self.engine.begin() as connection:
            standing = connection.execute(select(tables.forge_post).where(P.key == wanted.key).with_for_update()).first()
            if standing is not None and (standing.wanted == document or (unfinished and _is_over(standing.wanted))):
                return False
            values = {"wanted": document, "wanted_at": now, "deadline_at": deadline_at, "trouble": ""}
            if standing is None:
                post, version = _make(connection, wanted, values), 1
            else:
                post, version = standing.id, standing.version + 1
                connection.execute(update(tables.forge_post).where(P.id == post).values(**values, version=version))
            _announce(connection, post, version, now)
        return True

    def read(self, post: int) -> PostRow | None:
        """The post of that number."""
        return next(iter(self._rows(P.id == post)), None)

    def of(self, key: str) -> PostRow | None:
        """The post of a Comment's or Check's key."""
        return next(iter(self._rows(P.key == key)), None)

    def overdue(self, now: datetime) -> tuple[PostRow, ...]:
        """Checks that are not completed, and whose deadline has passed."""
        return self._rows(P.deadline_at <= now)

    def in_trouble(self, most: int = 50) -> tuple[PostRow, ...]:
        """The newest that the forge does not take."""
        asked = select(tables.forge_post).where(P.trouble != "").order_by(P.wanted_at.desc()).limit(most)
        with self.engine.begin() as connection:
            return tuple(_as_post(row) for row in connection.execute(asked))

    def stands(self, row: PostRow, number: int, url: str, now: datetime) -> None:
        """The forge has this version, under that number."""
        values = {"posted_version": row.version, "forge_number": number, "url": clean(url), "trouble": "", "posted_at": now}
        self._update(row, values)

    def is_refused(self, row: PostRow, reason: str) -> None:
        """The forge does not take it, and why."""
        self._update(row, {"trouble": clean(reason)})

    def is_gone(self, row: PostRow) -> None:
        """It was deleted at the forge. It is made anew under a new mark, since anybody may have copied the old one."""
        self._update(row, {"forge_number": None, "marker": secrets.token_hex(16)})

    def _update(self, row: PostRow, values: dict[str, Any]) -> None:
        with self.engine.begin() as connection:
            connection.execute(update(tables.forge_post).where(P.id == row.id).values(**values))

    def _rows(self, *where: ColumnElement[bool]) -> tuple[PostRow, ...]:
        with self.engine.begin() as connection:
            return tuple(_as_post(row) for row in connection.execute(select(tables.forge_post).where(*where).order_by(P.id)))


def _make(connection: Connection, wanted: Comment | Check, values: dict[str, Any]) -> int:
    kind = "comment" if isinstance(wanted, Comment) else "check"
    row = {"key": clean(wanted.key), "kind": kind, "marker": secrets.token_hex(16), "version": 1, **values}
    return int(connection.execute(insert(tables.forge_post).values(**row).returning(P.id)).scalar_one())


def follow_renaming(connection: Connection, old: str, new: str) -> None:
    """What stands in a repository is found under its new name, so that no second comment or check is made there."""
    for row in connection.execute(select(P.id, P.kind, P.wanted).where(P.wanted["repository"].astext == old)).all():
        moved = from_json(KINDS[row.kind], {**row.wanted, "repository": new})
        values = {"key": clean(moved.key), "wanted": clean(to_json(moved))}
        connection.execute(update(tables.forge_post).where(P.id == row.id).values(**values))


def _is_over(check: dict[str, Any]) -> bool:
    return check["conclusion"] not in {None, Conclusion.ACTION_REQUIRED.value}


def _announce(connection: Connection, post: int, version: int, now: datetime) -> None:
    values = {
        "dedupe_key": f"{MESSAGE}:{post}:{version}",
        "kind": MESSAGE,
        "payload": {"post": post},
        "created_at": now,
        "next_at": now,
    }
    connection.execute(insert(tables.outbox).values(**values))


def _as_post(row: AnyRow) -> PostRow:
    return PostRow(
        id=row.id,
        marker=row.marker,
        wanted=from_json(KINDS[row.kind], row.wanted),
        version=row.version,
        posted_version=row.posted_version,
        number=row.forge_number,
        url=row.url,
        trouble=row.trouble,
    )
