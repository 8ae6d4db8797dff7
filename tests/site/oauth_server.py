"""A small GitHub for logging people in, as it is documented: a code counts once, for one app, one address and one verifier."""

import base64
import hashlib
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT, SECRET = "perfd-client", "perfd-client-secret"


@dataclass
class OAuthServer:
    """Who is logged in there, and what it handed out."""

    url: str = ""
    login: str = "Alice"
    broken: int = 0
    """The status that every token is answered with instead; 0: none."""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def authorize(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to, as if its user had pressed the button."""
        assert {"client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method"} == set(asked)
        assert (CLIENT, "S256") == (asked["client_id"], asked["code_challenge_method"])
        code = secrets.token_hex(10)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str]) -> dict[str, str]:
        """A token for a code, or the error that GitHub documents (with status 200)."""
        if (given.get("client_id"), given.get("client_secret")) != (CLIENT, SECRET):
            return {"error": "incorrect_client_credentials"}
        asked = self.codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or asked["code_challenge"] != challenge or asked["redirect_uri"] != given.get("redirect_uri"):
            return {"error": "bad_verification_code"}
        made = f"gho_{secrets.token_hex(10)}"
        self.tokens[made] = self.login
        return {"access_token": made, "token_type": "bearer", "scope": ""}


@contextmanager
def oauth_server() -> Iterator[OAuthServer]:
    """It answers on a free port of loopback while the block runs."""
    forge = OAuthServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/login/oauth/authorize":
                self.send_response(302)
                self.send_header("Location", forge.authorize({k: v[0] for k, v in parse_qs(parts.query).items()}))
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            login = forge.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
            self.answer(200 if login else 401, {"login": login} if login else {"message": "Bad credentials"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if forge.broken:
                self.answer(forge.broken, {"message": "Server Error"})
                return
            self.answer(200, forge.token({name: values[0] for name, values in parse_qs(body).items()}))

        def answer(self, status: int, content: dict[str, str]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        forge.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield forge
        server.shutdown()
