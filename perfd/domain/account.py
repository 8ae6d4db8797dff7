"""Who asks perfd for something, and what they may do: roles, rights, visitors, tokens, sessions, and the audit log."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum


class Role(StrEnum):
    """What somebody is to perfd; perfd/rules/rights.py has the table of what each may do."""

    VIEWER = "viewer"
    """Reads."""
    RUNNER = "runner"
    """A machine: a pipeline or a device box. It asks for its own comparisons and hands in its own results, and nothing else."""
    TRIAGER = "triager"
    """Reads, answers Regressions, and saves views."""
    MAINTAINER = "maintainer"
    """Also lets code run, hands in results, and takes devices out."""
    ADMIN = "admin"
    """Also gives and takes tokens, and reads the audit log."""


class Right(StrEnum):
    """Something that not everybody may do."""

    READ = "read pages and the API"
    FOLLOW = "ask how far a comparison is"
    UPLOAD = "hand in results"
    COMPARE = "ask for a comparison"
    TRIAGE = "answer Regressions"
    SAVE = "save views"
    OPERATE = "take devices out and let them measure again"
    TOKENS = "give and take tokens"
    AUDIT = "read the audit log"


class Way(StrEnum):
    """How a visitor is known."""

    NOBODY = "nobody"
    LOOPBACK = "loopback"
    """The one person who sits at the machine that serves the page."""
    TOKEN = "token"  # noqa: S105  # a word, no secret
    SESSION = "session"
    PROXY = "proxy"
    """A reverse proxy names them in a header."""


@dataclass(frozen=True)
class Scope:
    """What a token is held to; an empty tuple holds it to nothing."""

    engines: tuple[str, ...] = ()
    """Names of Engines (of Kernels, too): a repository is its Engine."""
    devices: tuple[str, ...] = ()
    """Names of devices, as results call them."""


@dataclass(frozen=True)
class Visitor:
    """Whoever sends a request."""

    name: str
    """As events and the audit log name them: github:alice, proxy:alice, token:3:ci, local; "" for nobody."""
    way: Way
    role: Role | None
    """Absent for nobody, and for somebody who is known and was given no role."""
    address: str
    """Where the request came from."""
    seal: str = field(default="", repr=False)
    """What a form must carry to be theirs; "" where no form is taken: programs show their token each time."""
    scope: Scope = Scope()
    token_id: int | None = None
    session_id: int | None = None


@dataclass(frozen=True)
class NewToken:
    """A token that is to be made."""

    label: str
    role: Role
    scope: Scope
    created_by: str
    lasts: timedelta


@dataclass(frozen=True)
class AccessToken:
    """A token as it may be shown: the secret itself was shown once, and only its SHA-256 is kept."""

    id: int
    label: str
    role: Role
    scope: Scope
    created_by: str
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    last_used_from: str
    revoked_at: datetime | None

    def state(self, now: datetime) -> str:
        """valid, expired or revoked."""
        if self.revoked_at is not None:
            return "revoked"
        return "valid" if now < self.expires_at else "expired"

    @property
    def name(self) -> str:
        """Who acts with it, in events and the audit log."""
        return f"token:{self.id}:{self.label}"


@dataclass(frozen=True)
class WebSession:
    """A browser that is logged in; its cookie is kept as a SHA-256 only."""

    id: int
    person: str
    began_at: datetime
    seen_at: datetime
    expires_at: datetime
    address: str
    browser: str


@dataclass(frozen=True)
class AuditEvent:
    """Who did what, when, and from where. It is written before the deed is done, and never holds a secret."""

    at: datetime
    actor: str
    way: str
    """A Way, or cli."""
    address: str
    deed: str
    allowed: bool
    why: str = ""
    """Why it was refused; empty where it was not."""
