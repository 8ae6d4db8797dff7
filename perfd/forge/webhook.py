"""What GitHub tells us by itself: whether a webhook is really GitHub's, and what it says in perfd's words."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from perfd.domain.pull import (
    BranchPushed,
    CheckAsked,
    CommentMade,
    Event,
    InstallationSeen,
    PullAction,
    PullRequest,
    PullSeen,
    Repository,
)
from perfd.errors import BadInputError
from perfd.forge.github import slot_of

COMMAND = "/perfd"
OURS = "<!-- perfd:"
"""How perfd's own comments are marked; they explain commands, and give none."""
ACTIONS = {
    "opened": PullAction.OPENED,
    "reopened": PullAction.OPENED,
    "ready_for_review": PullAction.OPENED,
    "synchronize": PullAction.PUSHED,
    "closed": PullAction.CLOSED,
    "edited": PullAction.CHANGED,
    "converted_to_draft": PullAction.CHANGED,
}
"""Anything else (labels, reviews, assignments) changes nothing that perfd looks at."""
GONE = frozenset({"deleted", "suspend"})

Payload = Mapping[str, Any]


def is_signed(secret: str, body: bytes, signature: str) -> bool:
    """Whether the body carries GitHub's signature with our secret; takes the same time however much of it is right."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace"))


def event_of(name: str, payload: Payload) -> Event | None:
    """What the webhook says; absent where there is nothing to do. Raises BadInputError where it has not GitHub's form."""
    read = _READERS.get(name)
    if read is None:
        return None
    try:
        return read(payload)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(f'the event "{name}" has not the form that GitHub documents ({error!r})') from None


def _repository(payload: Payload) -> Repository:
    found = payload["repository"]
    installation = payload.get("installation")
    return Repository(
        name=str(found["full_name"]),
        key=int(found["id"]),
        installation=int(installation["id"]) if installation else None,
        default_branch=str(found.get("default_branch") or ""),
        archived=bool(found.get("archived")),
    )


def _pull_seen(payload: Payload) -> PullSeen | None:
    action = ACTIONS.get(str(payload["action"]))
    if action is None:
        return None
    if action is PullAction.CHANGED and "base" in (payload.get("changes") or {}):
        action = PullAction.REBASED
    repository, found = _repository(payload), payload["pull_request"]
    head, base = found["head"], found["base"]
    pull = PullRequest(
        repository=repository.name,
        number=int(found["number"]),
        title=str(found["title"]),
        author=_login(found["user"]),
        head=str(head["sha"]),
        head_branch=str(head["ref"]),
        head_repository=str(head["repo"]["full_name"]) if head["repo"] else "",
        base=str(base["sha"]),
        base_branch=str(base["ref"]),
        is_open=found["state"] == "open",
        is_draft=bool(found.get("draft")),
        updated_at=datetime.fromisoformat(found["updated_at"]),
    )
    return PullSeen(action, repository, pull, _login(payload["sender"]))


def _comment_made(payload: Payload) -> CommentMade | None:
    """A new comment on a pull request that holds a command; an edit of an old one is no word of anybody's."""
    issue, comment = payload["issue"], payload["comment"]
    body = str(comment["body"] or "")
    if payload["action"] != "created" or "pull_request" not in issue or COMMAND not in body or OURS in body:
        return None
    at = datetime.fromisoformat(comment["created_at"])
    return CommentMade(_repository(payload), int(issue["number"]), int(comment["id"]), _login(comment["user"]), body, at)


def _check_asked(payload: Payload) -> CheckAsked | None:
    buttons = {"rerequested": "rerun", "requested_action": str((payload.get("requested_action") or {}).get("identifier", ""))}
    button, check = buttons.get(str(payload["action"])), payload["check_run"]
    slot = slot_of(str(check.get("external_id") or ""))
    if not button or not slot:
        return None
    return CheckAsked(_repository(payload), str(check["head_sha"]), slot, button, _login(payload["sender"]))


def _suite_asked(payload: Payload) -> CheckAsked | None:
    """Read "Re-run all checks", which GitHub tells of the whole suite."""
    if payload["action"] != "rerequested":
        return None
    return CheckAsked(_repository(payload), str(payload["check_suite"]["head_sha"]), "", "rerun", _login(payload["sender"]))


def _branch_pushed(payload: Payload) -> BranchPushed | None:
    kind, _, branch = str(payload["ref"]).removeprefix("refs/").partition("/")
    if kind != "heads":
        return None
    after = "" if payload["deleted"] else str(payload["after"])
    return BranchPushed(_repository(payload), branch, str(payload["before"]), after, forced=bool(payload["forced"]))


def _installed(payload: Payload) -> InstallationSeen:
    number = int(payload["installation"]["id"])
    gone = payload["action"] in GONE
    added = [] if gone else payload.get("repositories") or []
    return InstallationSeen(number, gone, added=_listed(added, number), removed=())


def _installed_on(payload: Payload) -> InstallationSeen:
    number = int(payload["installation"]["id"])
    added, removed = (_listed(payload.get(key) or [], number) for key in ("repositories_added", "repositories_removed"))
    return InstallationSeen(number, gone=False, added=added, removed=removed)


def _listed(found: list[Payload], installation: int) -> tuple[Repository, ...]:
    return tuple(Repository(str(one["full_name"]), int(one["id"]), installation) for one in found)


def _login(user: Payload | None) -> str:
    """An account's name; of one that was deleted, the name of nobody."""
    return str(user["login"]) if user else ""


_READERS: Mapping[str, Callable[[Payload], Event | None]] = {
    "pull_request": _pull_seen,
    "issue_comment": _comment_made,
    "check_run": _check_asked,
    "check_suite": _suite_asked,
    "push": _branch_pushed,
    "installation": _installed,
    "installation_repositories": _installed_on,
}
