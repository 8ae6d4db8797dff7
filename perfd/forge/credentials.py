"""Who perfd is at GitHub: an App with a key, which is exchanged for tokens of an hour; or, in CI, a token that is at hand."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import jwt

from perfd.domain.forge import Trouble
from perfd.errors import BadInputError
from perfd.forge.http import Call, Http
from perfd.forge.refusals import Refused

EARLY = timedelta(minutes=5)
"""A token is renewed that long before it expires, so that none expires on its way."""
BACK = timedelta(seconds=60)
"""A key's signature is dated back by this much, as GitHub advises: clocks differ."""
LIVES = timedelta(minutes=9)
"""GitHub refuses ten minutes and more."""
WRONG_CLOCK = timedelta(seconds=30)
"""By more than that the two clocks differ when a refused signature is signed again by GitHub's clock."""


class Credentials(Protocol):
    """Who asks."""

    def authorization(self, repository: str) -> str:
        """The header that lets perfd act in that repository."""

    def renewed(self, repository: str) -> bool:
        """Whether another header can be had, after one was refused."""

    def author(self) -> str:
        """The login under which perfd's comments stand."""


@dataclass(frozen=True)
class Token:
    """A token that somebody else keeps alive: GITHUB_TOKEN in a workflow."""

    value: str = field(repr=False)
    login: str = "github-actions[bot]"

    def authorization(self, repository: str) -> str:  # noqa: ARG002  # the same one everywhere
        """The header with the token."""
        return f"Bearer {self.value}"

    def renewed(self, repository: str) -> bool:  # noqa: ARG002
        """Never: there is no other token."""
        return False

    def author(self) -> str:
        """The login that was given."""
        return self.login


@dataclass(frozen=True)
class Key:
    """A GitHub App and its private key."""

    app: str
    """Its number, or its client id."""
    pem: str = field(repr=False)

    def signed(self, now: datetime) -> str:
        """A signature that says who perfd is, good for nine minutes from `now`, GitHub's time."""
        claims = {"iat": int((now - BACK).timestamp()), "exp": int((now + LIVES).timestamp()), "iss": self.app}
        return jwt.encode(claims, self.pem, algorithm="RS256")


def read_key(app: str, path: Path) -> Key:
    """The App's key in that file; raises BadInputError with what to do where there is none."""
    try:
        key = Key(app, path.read_text(encoding="ascii"))
        key.signed(datetime.now(UTC))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"PERFD_GITHUB_PRIVATE_KEY_FILE: {path} cannot be read ({error}); name the App's .pem file") from None
    except (jwt.PyJWTError, ValueError, TypeError):
        raise BadInputError(
            f"PERFD_GITHUB_PRIVATE_KEY_FILE: {path} holds no RSA private key; generate one in the App's settings"
        ) from None
    return key


@dataclass
class App:
    """A GitHub App; its tokens are kept until shortly before they expire, and never shown."""

    key: Key
    http: Http
    login: str = ""
    """Under which its comments stand; empty: asked of GitHub when it is needed."""
    ahead: timedelta = timedelta()
    """How far GitHub's clock is ahead of ours, once a signature was refused for it."""
    _tokens: dict[str, tuple[str, datetime]] = field(default_factory=dict, repr=False)

    def authorization(self, repository: str) -> str:
        """The header with a token of the App's installation on that repository."""
        kept = self._tokens.get(repository)
        if kept is None or self._there() >= kept[1] - EARLY:
            kept = self._tokens[repository] = self._new_token(repository)
        return f"Bearer {kept[0]}"

    def renewed(self, repository: str) -> bool:
        """A token that was refused is thrown away; false where there was none, so that a wrong key is not tried for ever."""
        return self._tokens.pop(repository, None) is not None

    def author(self) -> str:
        """The App's login: its short name and "[bot]"."""
        if not self.login:
            doing = "ask who the App is"
            with self.http.understanding(doing):
                self.login = f"{self._ask(Call('GET', '/app', doing, 'none'))['slug']}[bot]"
        return self.login

    def _new_token(self, repository: str) -> tuple[str, datetime]:
        where = f"the App's installation on {repository}"
        with self.http.understanding(f"get a token of {where}"):
            found = self._ask(Call("GET", f"/repos/{repository}/installation", f"find {where}", "metadata: read"))
            path = f"/app/installations/{int(found['id'])}/access_tokens"
            made = self._ask(Call("POST", path, f"get a token of {where}", "metadata: read", body={}))
            return str(made["token"]), datetime.fromisoformat(made["expires_at"])

    def _ask(self, call: Call) -> Any:
        """The answer to the App itself. Where a signature was refused and the clocks differ, GitHub's clock is believed, once."""
        try:
            return self._send(call)
        except Refused as refused:
            if not self._wrong_clock(refused):
                raise
        return self._send(call)

    def _send(self, call: Call) -> Any:
        return self.http.send(call, f"Bearer {self.key.signed(self._there())}")

    def _wrong_clock(self, refused: Refused) -> bool:
        if refused.trouble is not Trouble.UNAUTHORISED or refused.clock is None:
            return False
        ahead = refused.clock - self.http.now()
        differs = abs(ahead - self.ahead) > WRONG_CLOCK
        self.ahead = ahead if differs else self.ahead
        return differs

    def _there(self) -> datetime:
        return self.http.now() + self.ahead
