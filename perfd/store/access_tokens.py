"""Tokens for programs: found by the hash of what was shown, so that no comparison tells how close a guess was."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.account import AccessToken, NewToken, Role, Scope
from perfd.store import tables
from perfd.store.writing import AnyRow, clean

T = tables.access_token.c
J = tables.token_job.c
USED_EVERY = timedelta(minutes=1)
"""How often the last use is written: not with every request of a busy pipeline."""


def new_secret() -> str:
    """256 random bits, with a beginning by which scanners of leaked secrets know whose it is."""
    return f"perfd_{secrets.token_urlsafe(32)}"


def digest(secret: str) -> str:
    """What is kept of a secret: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class AccessTokens:
    """Questions about tokens."""

    engine: Engine

    def add(self, secret: str, new: NewToken, now: datetime) -> AccessToken:
        """The token stands there; `secret` itself is not stored."""
        values = {
            "digest": digest(secret),
            "label": clean(new.label),
            "role": new.role.value,
            "engines": clean(list(new.scope.engines)),
            "devices": clean(list(new.scope.devices)),
            "created_by": clean(new.created_by),
            "created_at": now,
            "expires_at": now + new.lasts,
        }
        with self.engine.begin() as connection:
            row = connection.execute(insert(tables.access_token).values(**values).returning(tables.access_token)).one()
        return _as_token(row)

    def find(self, secret: str) -> AccessToken | None:
        """The token with this secret, whatever its state; absent where there is none."""
        with self.engine.begin() as connection:
            row = connection.execute(select(tables.access_token).where(T.digest == digest(secret))).first()
        return None if row is None else _as_token(row)

    def every(self) -> tuple[AccessToken, ...]:
        """Every token that was ever made, the newest first."""
        with self.engine.begin() as connection:
            return tuple(_as_token(row) for row in connection.execute(select(tables.access_token).order_by(T.id.desc())))

    def used(self, number: int, address: str, now: datetime) -> None:
        """Its last use is known, to the minute."""
        stale = or_(T.last_used_at.is_(None), T.last_used_at < now - USED_EVERY)
        with self.engine.begin() as connection:
            values = {"last_used_at": now, "last_used_from": clean(address)}
            connection.execute(update(tables.access_token).where(T.id == number, stale).values(**values))

    def revoke(self, number: int, now: datetime) -> AccessToken | None:
        """The token opens nothing any more; absent where there is none, and one that was revoked before stays as it was."""
        with self.engine.begin() as connection:
            standing = update(tables.access_token).where(T.id == number, T.revoked_at.is_(None)).values(revoked_at=now)
            connection.execute(standing)
            row = connection.execute(select(tables.access_token).where(T.id == number)).first()
        return None if row is None else _as_token(row)

    def own(self, number: int, name: str, now: datetime) -> bool:
        """Whether the job is this token's own: it is, from now on, where no token came with it before."""
        with self.engine.begin() as connection:
            connection.execute(
                insert(tables.token_job).values(name=clean(name), token_id=number, at=now).on_conflict_do_nothing()
            )
            owner = connection.execute(select(J.token_id).where(J.name == clean(name))).scalar_one()
        return bool(owner == number)

    def owns(self, number: int, name: str) -> bool:
        """Whether this token came with the job; False for one that none came with."""
        with self.engine.begin() as connection:
            return connection.execute(select(J.token_id).where(J.name == clean(name))).scalar() == number


def _as_token(row: AnyRow) -> AccessToken:
    return AccessToken(
        id=row.id,
        label=row.label,
        role=Role(row.role),
        scope=Scope(tuple(row.engines), tuple(row.devices)),
        created_by=row.created_by,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        last_used_from=row.last_used_from,
        revoked_at=row.revoked_at,
    )
