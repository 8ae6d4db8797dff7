"""What people do on an emulated GitHub: branches, pull requests, pushes; and what stands there."""

import base64
import secrets
from dataclasses import dataclass
from typing import Any

import httpx

REPOSITORY = "alice/engine"


@dataclass(frozen=True)
class Emulator:
    """A running emulator, and Alice, who owns the repository."""

    url: str
    hook_port: int
    """Where it sends its webhooks."""
    client: httpx.Client

    def branch(self) -> str:
        """A new branch off main, with a commit."""
        name = f"change-{secrets.token_hex(4)}"
        tip = self.ask("GET", "git/ref/heads/main")["object"]["sha"]
        self.ask("POST", "git/refs", ref=f"refs/heads/{name}", sha=tip)
        self.push(name)
        return name

    def push(self, branch: str) -> str:
        """Another commit on the branch; its hash."""
        content = base64.b64encode(secrets.token_bytes(8)).decode()
        made = self.ask("PUT", f"contents/{secrets.token_hex(4)}.c", message="Make it faster", content=content, branch=branch)
        return str(made["commit"]["sha"])

    def pull(self, branch: str, token: str = "alice-token") -> dict[str, Any]:  # noqa: S107  # no secret
        """A new pull request."""
        return self.ask("POST", "pulls", token, title="Faster @everyone <b>", head=branch, base="main")

    def comments(self, number: int) -> list[str]:
        """The bodies of what is said on a pull request."""
        return [one["body"] for one in self.ask("GET", f"issues/{number}/comments?per_page=100")]

    def checks(self, head: str) -> list[dict[str, Any]]:
        """The checks of a commit, oldest first."""
        return sorted(self.ask("GET", f"commits/{head}/check-runs?filter=all")["check_runs"], key=lambda one: int(one["id"]))

    def ask(self, method: str, path: str, token: str = "alice-token", **body: Any) -> Any:  # noqa: S107  # no secret
        headers = {"Authorization": f"token {token}"}
        answer = self.client.request(method, f"/repos/{REPOSITORY}/{path}", json=body or None, headers=headers)
        assert answer.is_success, answer.text
        return answer.json()
