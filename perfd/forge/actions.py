"""What GitHub Actions tells a step about the pull request that it runs for: environment variables and the event's file."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from perfd.errors import BadInputError
from perfd.forge.credentials import Token
from perfd.forge.http import Call, Http, new_client

LARGEST_BYTES = 30_000_000
"""GitHub's own limit of an event is 25 MB."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,99}/[A-Za-z0-9._-]{1,100}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class PipelineFacts:
    """What a pipeline knows; empty where it does not."""

    repository: str = ""
    """owner/name of the base repository."""
    pull: int | None = None
    head: str = ""
    """The head commit: not the merge commit that Actions checks out; in a workflow_run, that of the workflow that ran."""
    base: str = ""
    """The tip of the base branch."""
    base_branch: str = ""
    fork: bool = False
    """Whether the head comes from another repository: its token may only read."""
    api: str = "https://api.github.com"


def facts_of(environ: Mapping[str, str]) -> PipelineFacts:
    """What the environment says; nothing outside of Actions. Raises BadInputError for an event's file that is none."""
    repository = environ.get("GITHUB_REPOSITORY", "")
    if repository and not _NAME.fullmatch(repository):
        raise BadInputError(f"GITHUB_REPOSITORY must be owner/name, not {repository[:100]!r}")
    found = PipelineFacts(repository, api=environ.get("GITHUB_API_URL") or PipelineFacts.api)
    path = environ.get("GITHUB_EVENT_PATH", "")
    event = _event(Path(path)) if path else {}
    run, pull = event.get("workflow_run"), event.get("pull_request")
    if isinstance(run, dict):
        return replace(found, head=str(run.get("head_sha", "")))
    return found if pull is None else _of_pull(found, pull)


def token_of(environ: Mapping[str, str], facts: PipelineFacts, now: Callable[[], datetime]) -> Token | None:
    """The token at hand, with the login under which its comments stand; absent where there is none. Raises ForgeError.

    A workflow's own token may not ask who it is, and is github-actions[bot] by its form (ghs_); a person's is asked.
    """
    value = environ.get("GITHUB_TOKEN", "")
    if not value or value.startswith("ghs_"):
        return Token(value) if value else None
    call = Call("GET", "/user", "learn whose GITHUB_TOKEN it is", "metadata: read")
    found = Http(facts.api, now, new_client()).send(call, Token(value).authorization(""))
    return Token(value, str((found if isinstance(found, dict) else {}).get("login", "")))


def head_of(facts: PipelineFacts, repository: str, pull: int, token: Token, now: Callable[[], datetime]) -> str:
    """The head of the pull request as GitHub tells it: what an artefact says of itself is no proof. Raises ForgeError."""
    http = Http(facts.api, now, new_client())
    call = Call("GET", f"/repos/{repository}/pulls/{pull}", f"read {repository}#{pull}", "pull requests: read")
    found = http.send(call, token.authorization(repository))
    return str(((found if isinstance(found, dict) else {}).get("head") or {}).get("sha", ""))


def _event(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise BadInputError(f"{path}: is larger than any event of GitHub's; check GITHUB_EVENT_PATH")
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadInputError(
            f"{path}: cannot be read as GitHub's event ({type(error).__name__}); check GITHUB_EVENT_PATH"
        ) from None
    if not isinstance(found, dict):
        raise BadInputError(f"{path}: GitHub's event is a JSON object, not a {type(found).__name__}; check GITHUB_EVENT_PATH")
    return found


def _of_pull(found: PipelineFacts, pull: Mapping[str, Any]) -> PipelineFacts:
    try:
        number, head, base = int(pull["number"]), str(pull["head"]["sha"]), str(pull["base"]["sha"])
        branch, repository = str(pull["base"]["ref"]), str(pull["base"]["repo"]["full_name"])
        source = (pull["head"].get("repo") or {}).get("full_name", "")  # absent when the fork was deleted
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInputError("the event's pull_request lacks its number, head or base; check GITHUB_EVENT_PATH") from None
    if not _COMMIT.fullmatch(head) or not _COMMIT.fullmatch(base) or not _NAME.fullmatch(repository) or number < 1:
        raise BadInputError("the event's pull_request names commits or a repository that cannot be; check GITHUB_EVENT_PATH")
    return PipelineFacts(repository, number, head, base, branch, source != repository, found.api)
