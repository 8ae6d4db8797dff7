"""The one table of what each role may do, and what a token may be."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

from perfd.domain.account import NewToken, Right, Role, Scope
from perfd.errors import BadInputError

MOST_DAYS = 730
LONGEST_LABEL = 60
_READS = frozenset({Right.READ, Right.FOLLOW})
RIGHTS: Mapping[Role, frozenset[Right]] = MappingProxyType(
    {
        Role.VIEWER: _READS,
        Role.RUNNER: frozenset({Right.FOLLOW, Right.UPLOAD, Right.COMPARE}),
        Role.TRIAGER: _READS | {Right.TRIAGE, Right.SAVE},
        Role.MAINTAINER: _READS | {Right.TRIAGE, Right.SAVE, Right.UPLOAD, Right.COMPARE, Right.OPERATE},
        Role.ADMIN: frozenset(Right),
    }
)
"""A triager lets no code run: at other services, whoever could set a label ran a fork's code on a GPU box."""


def may(role: Role | None, right: Right) -> bool:
    """Whether somebody with this role may do it; without a role nobody may do anything."""
    return role is not None and right in RIGHTS[role]


def roles_for(right: Right) -> str:
    """The roles that may do it, as a sentence names them: "triager, maintainer or admin"."""
    *others, last = [role.value for role in Role if may(role, right)]
    return f"{', '.join(others)} or {last}" if others else last


def outside(scope: Scope, engine: str, device: str | None = None) -> str:
    """Why a token of this scope may not do it for the Engine, on the device (None: on none); "" where it may."""
    if scope.engines and engine not in scope.engines:
        return f'this token is for {", ".join(scope.engines)} and not for "{engine[:100]}"'
    if device is not None and scope.devices and device not in scope.devices:
        return f'this token is for the devices {", ".join(scope.devices)} and not for "{device[:100]}"'
    return ""


def token_of(label: str, role: str, days: str, scope: Scope, by: str) -> NewToken:
    """A token as words ask for it; raises BadInputError."""
    if not label or len(label) > LONGEST_LABEL or not label.isprintable():
        raise BadInputError(f"a token needs a label of at most {LONGEST_LABEL} characters that says what it is for")
    if role not in set(Role):
        raise BadInputError(f"a token's role is one of {', '.join(Role)}")
    if not days.isascii() or not days.isdigit() or len(days) > 4 or not 1 <= int(days) <= MOST_DAYS:
        raise BadInputError(f"a token lasts for 1 to {MOST_DAYS} days")
    return NewToken(label, Role(role), scope, by, timedelta(days=int(days)))
