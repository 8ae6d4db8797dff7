"""Logging people in through GitHub's web flow (OAuth 2 with state and PKCE): who they are there, and nothing else, is asked."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

import httpx

from perfd import HARNESS_VERSION
from perfd.errors import PerfdError
from perfd.forge.http import new_client

LARGEST_BYTES = 100_000
AGENT = {"Accept": "application/json", "User-Agent": f"perfd/{HARNESS_VERSION}"}


@dataclass(frozen=True)
class GitHubLogin:
    """An OAuth app of GitHub. No scope is asked for, so that its tokens read nothing but a public profile; each is dropped."""

    api: str
    """https://api.github.com, or https://HOST/api/v3."""
    client_id: str
    client_secret: str = field(repr=False)

    @property
    def web(self) -> str:
        """Where people log in: the same host, except at github.com itself."""
        parts = urlsplit(self.api)
        host = "github.com" if parts.netloc == "api.github.com" else parts.netloc
        return f"{parts.scheme}://{host}"

    def address(self, state: str, verifier: str, back: str) -> str:
        """Where a browser is sent; it comes `back` with the state and a code that only the verifier opens."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "client_id": self.client_id,
            "redirect_uri": back,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self.web}/login/oauth/authorize?{urlencode(asked)}"

    def login(self, code: str, verifier: str, back: str) -> str:
        """The login of whoever came back with this code; raises PerfdError where GitHub tells none."""
        given = {
            "client_id": self.client_id,
            "client_secret": self.client_secret,
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": back,
        }
        with new_client() as client:
            made = _read(client, httpx.Request("POST", f"{self.web}/login/oauth/access_token", data=given, headers=AGENT))
            token = made.get("access_token")
            if not isinstance(token, str) or not token:
                raise PerfdError(f"GitHub took back the log-in ({str(made.get('error'))[:100]}); begin again at /login")
            bearer = {**AGENT, "Authorization": f"Bearer {token}"}
            found = _read(client, httpx.Request("GET", f"{self.api}/user", headers=bearer)).get("login")
        if not isinstance(found, str) or not found or not found.isprintable() or len(found) > 100:
            raise PerfdError("GitHub does not tell who logged in; begin again at /login")
        return found


def _read(client: httpx.Client, request: httpx.Request) -> dict[str, object]:
    """The answer's JSON object; its sentence never repeats what was sent, which holds secrets."""
    try:
        response = client.send(request)
        content = json.loads(response.content) if len(response.content) <= LARGEST_BYTES else None
    except httpx.HTTPError as error:
        raise PerfdError(f"GitHub does not answer the log-in ({type(error).__name__}); try again later") from None
    except (ValueError, RecursionError):
        content = None
    if not response.is_success or not isinstance(content, dict):
        raise PerfdError(f"GitHub does not log anybody in (HTTP {response.status_code}); try again later")
    return content
