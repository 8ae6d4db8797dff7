"""GitHub as a forge: the four calls, over its REST API."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from perfd.domain.forge import Check, CheckStatus, Comment, ForgeError, MergeBase, Permission, Trouble
from perfd.forge.credentials import Credentials
from perfd.forge.http import Call, Http
from perfd.forge.protocol import Posted
from perfd.forge.refusals import Refused

PAGE = 100
MOST_FILES = 300
"""A comparison lists no more; how many more there are, it does not say."""
PULLS, CHECKS, READ, CONTENTS = "pull_requests: write", "checks: write", "metadata: read", "contents: read"
ROLES = {"triage": "read", "maintain": "write"}
"""The roles that GitHub's old word for a permission does not know, and what it calls them."""


def hidden(marker: str) -> str:
    """The comment's last line, which GitHub does not show."""
    return f"<!-- perfd:{marker} -->"


def external_id(slot: str, marker: str) -> str:
    """By which a check is found again, and a press of its buttons is told apart."""
    return f"perfd:{slot}:{marker}"


def slot_of(external: str) -> str:
    """The slot in an external id; empty for one that is not ours."""
    word, _, rest = external.partition(":")
    return rest.partition(":")[0] if word == "perfd" else ""


@dataclass(frozen=True)
class GitHub:
    """GitHub, or GitHub Enterprise Server. Every answer is read with suspicion: what it lacks is the forge's fault, told so."""

    http: Http
    who: Credentials

    def put_comment(self, comment: Comment, marker: str, known: int | None = None) -> Posted:
        """See Forge. The comment is looked for before it is made, so that a crash after the making makes no second one."""
        where = f"{comment.repository}#{comment.number}"
        number = known if known is not None else self._find_comment(comment, hidden(marker))
        body = {"body": f"{comment.body}\n\n{hidden(marker)}"}
        if number is None:
            path = f"/repos/{comment.repository}/issues/{comment.number}/comments"
            return self._post(comment.repository, Call("POST", path, f"comment on {where}", PULLS, body))
        path = f"/repos/{comment.repository}/issues/comments/{number}"
        return self._edit(comment.repository, Call("PATCH", path, f"edit a comment on {where}", PULLS, body))

    def put_check(self, check: Check, marker: str, known: int | None = None) -> Posted:
        """See Forge."""
        where = f"{check.repository}@{check.head[:12]}"
        external = external_id(check.slot, marker)
        number = known if known is not None else self._find_check(check, external)
        body = {**_check(check), "external_id": external}
        path = f"/repos/{check.repository}/check-runs"
        if number is None:
            made = {**body, "head_sha": check.head}
            return self._post(check.repository, Call("POST", path, f"make a check of {where}", CHECKS, made))
        return self._edit(check.repository, Call("PATCH", f"{path}/{number}", f"update a check of {where}", CHECKS, body))

    def permission(self, repository: str, login: str) -> Permission:
        """See Forge. A role of an organisation's own making counts as what it is built on."""
        path = f"/repos/{repository}/collaborators/{quote(login, safe='')}/permission"
        try:
            found = self._send(repository, Call("GET", path, f"ask what {login} may do in {repository}", READ))
        except Refused as refused:
            if refused.trouble is Trouble.NOT_FOUND:  # GitHub's answer for an account that does not exist
                return Permission.NONE
            raise
        with self.http.understanding(f"ask what {login} may do in {repository}"):
            old, role = str(found["permission"]), str(found.get("role_name", ""))
        word = role if ROLES.get(role) == old else old
        return Permission(word) if word in set(Permission) else Permission.NONE

    def merge_base(self, repository: str, base: str, head: str) -> MergeBase:
        """See Forge."""
        path = f"/repos/{repository}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
        doing = f"compare {base[:40]} and {head[:40]} in {repository}"
        found = self._send(repository, Call("GET", path, doing, CONTENTS, query={"per_page": 1}))
        with self.http.understanding(doing):
            return _merge_base(found)

    def _find_comment(self, comment: Comment, mark: str) -> int | None:
        """The oldest with the mark that is ours: whoever copied the mark came later, and is somebody else."""
        path = f"/repos/{comment.repository}/issues/{comment.number}/comments"
        call = Call("GET", path, f"list the comments on {comment.repository}#{comment.number}", PULLS)
        marked = [one for one in self._pages(comment.repository, call, None) if mark in str(one.get("body"))]
        own = self.who.author() if marked else ""
        with self.http.understanding(call.doing):
            ours = [int(one["id"]) for one in marked if (one.get("user") or {}).get("login") == own]
        return min(ours, default=None)

    def _find_check(self, check: Check, external: str) -> int | None:
        path = f"/repos/{check.repository}/commits/{check.head}/check-runs"
        query: dict[str, str | int] = {"check_name": check.name, "filter": "all"}
        call = Call("GET", path, f"list the checks of {check.repository}@{check.head[:12]}", CHECKS, query=query)
        found = [one for one in self._pages(check.repository, call, "check_runs") if one.get("external_id") == external]
        with self.http.understanding(call.doing):
            return min((int(one["id"]) for one in found), default=None)

    def _pages(self, repository: str, call: Call, key: str | None) -> Iterator[dict[str, Any]]:
        page, more = 1, True
        while more:
            query = {**call.query, "per_page": PAGE, "page": page}
            answer = self._send(repository, Call(call.method, call.path, call.doing, call.needs, query=query))
            with self.http.understanding(call.doing):
                items = [{**one} for one in (answer if key is None else answer[key])]
            yield from items
            page, more = page + 1, len(items) == PAGE

    def _edit(self, repository: str, call: Call) -> Posted:
        try:
            return self._post(repository, call)
        except Refused as refused:
            if refused.trouble is Trouble.NOT_FOUND:
                raise ForgeError(Trouble.GONE, f"{refused.message} (it stood there before)") from None
            raise

    def _post(self, repository: str, call: Call) -> Posted:
        made = self._send(repository, call)
        with self.http.understanding(call.doing):
            return Posted(int(made["id"]), str(made.get("html_url") or ""))

    def _send(self, repository: str, call: Call) -> Any:
        """The answer; a token that is refused is replaced once, since permissions and keys change while it lives."""
        try:
            return self.http.send(call, self.who.authorization(repository))
        except Refused as refused:
            if refused.trouble is not Trouble.UNAUTHORISED or not self.who.renewed(repository):
                raise
        return self.http.send(call, self.who.authorization(repository))


def _merge_base(found: dict[str, Any]) -> MergeBase:
    commit = found["merge_base_commit"]
    files = found.get("files") or []
    moved = int(found.get("ahead_by", 1)) > 0
    paths = {str(one[key]) for one in files for key in ("filename", "previous_filename") if one.get(key)}
    return MergeBase(
        commit=str(commit["sha"]),
        committed_at=datetime.fromisoformat(commit["commit"]["committer"]["date"]),
        title=str(commit["commit"]["message"]).split("\n", 1)[0],
        files=tuple(sorted(paths)),
        # A comparison that is too much for GitHub comes without its files, as one of empty commits does: git tells which it is.
        complete=len(files) < MOST_FILES and (bool(files) or not moved),
        behind=int(found["behind_by"]),
    )


def _check(check: Check) -> dict[str, Any]:
    """A check as GitHub takes it. Annotations are added to those that stand there, so that only the last word brings them."""
    output: dict[str, Any] = {"title": check.title, "summary": check.summary}
    if check.text:
        output["text"] = check.text
    if check.annotations and check.status is CheckStatus.COMPLETED:
        output["annotations"] = [
            {
                "path": one.path,
                "start_line": one.line,
                "end_line": one.line,
                "annotation_level": one.level.value,
                "message": one.message,
                **({"title": one.title} if one.title else {}),
            }
            for one in check.annotations
        ]
    body: dict[str, Any] = {"name": check.name, "status": check.status.value, "output": output}
    if check.conclusion is not None:
        body["conclusion"] = check.conclusion.value
    if check.details_url:
        body["details_url"] = check.details_url
    # Also when there is none any more: an update without the key would leave the old ones standing.
    body["actions"] = [{"identifier": one.name, "label": one.label, "description": one.description} for one in check.buttons]
    return body
