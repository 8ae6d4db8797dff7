"""The one table of what each role may do."""

from collections.abc import Mapping
from types import MappingProxyType

from perfd.domain.account import Right, Role, Scope

_READS = frozenset({Right.READ, Right.FOLLOW})
RIGHTS: Mapping[Role, frozenset[Right]] = MappingProxyType(
    {
        Role.VIEWER: _READS,
        Role.RUNNER: frozenset({Right.FOLLOW, Right.UPLOAD, Right.COMPARE}),
        Role.TRIAGER: _READS | {Right.TRIAGE},
        Role.MAINTAINER: _READS | {Right.TRIAGE, Right.UPLOAD, Right.COMPARE, Right.OPERATE},
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
