"""/hooks/github over a real site and a real database."""

import json
import socket
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
from forge_hook import SECRET, Hook, served
from forge_world import HEAD, NEXT_HEAD, NOON, comment

from perfd.domain.pull import BranchPushed, CommentMade, PullAction, PullSeen
from perfd.forge.webhook import event_of
from perfd.site.hooks import LARGEST_BYTES
from perfd.store import Store
from perfd.store.deliveries import Claimed

REPOSITORY = {"id": 1296269, "full_name": "octo/engine", "default_branch": "main"}
ALICE = {"login": "alice"}
ANNOUNCED = b"POST /hooks/github HTTP/1.1\r\nHost: x\r\n"


def opened(action: str = "opened", **changes: Any) -> dict[str, Any]:
    pull = {
        "number": 7,
        "title": "Make attention faster",
        "state": "open",
        "user": ALICE,
        "updated_at": "2026-11-29T12:00:00Z",
        "head": {"sha": HEAD, "ref": "faster", "repo": {"full_name": "octo/engine"}},
        "base": {"sha": NEXT_HEAD, "ref": "main", "repo": {"full_name": "octo/engine"}},
    }
    return {"action": action, "repository": REPOSITORY, "sender": ALICE, "pull_request": {**pull, **changes}}


def said(body: str, action: str = "created", **issue: Any) -> dict[str, Any]:
    comment = {"id": 1, "body": body, "user": ALICE, "created_at": "2026-11-29T12:00:00Z"}
    return {"action": action, "repository": REPOSITORY, "issue": {"number": 7, "pull_request": {}, **issue}, "comment": comment}


def queued(store: Store) -> list[Claimed]:
    """Every delivery that waits to be handled."""
    found = []
    while (one := store.deliveries.claim(NOON, NOON - NOON.replace(hour=11))) is not None:
        found.append(one)
    return found


def test_an_opened_pull_request_is_queued_and_nothing_else_is_done(store: Store, hook: Hook) -> None:
    answer = hook.send("pull_request", opened())

    assert (202, {"taken": True}) == (answer.status_code, answer.json())
    (one,) = queued(store)
    assert isinstance(one.event, PullSeen)
    assert (PullAction.OPENED, HEAD, False) == (one.event.action, one.event.pull.head, one.event.pull.fork)
    assert store.pulls.read("octo/engine", 7) is None


@pytest.mark.parametrize("signature", ["", "sha256=", "sha256=" + "0" * 64, "sha1=" + "0" * 40, "sha256=\u00e9"])
def test_a_webhook_without_githubs_signature_is_refused(store: Store, hook: Hook, signature: str) -> None:
    answer = hook.client.post(
        "/hooks/github", json=opened(), headers={"X-GitHub-Event": "pull_request", "X-Hub-Signature-256": signature.encode()}
    )

    assert 401 == answer.status_code
    assert [] == queued(store)


def test_an_unsigned_body_is_not_even_read(hook: Hook) -> None:
    with socket.create_connection((hook.client.base_url.host, hook.client.base_url.port), 10) as line:
        line.sendall(ANNOUNCED + b"Content-Length: 4000000\r\n\r\n")

        assert b" 401 " in line.recv(100)


def test_a_signature_of_another_secret_or_body_is_refused(store: Store, hook: Hook) -> None:
    assert 401 == Hook(hook.client, "another secret").send("pull_request", opened()).status_code
    good = hook.client.build_request("POST", "/hooks/github", json=opened())
    assert 401 == hook.raw("pull_request", good.content + b" ", X_Hub_Signature_256="sha256=" + "1" * 64).status_code
    assert [] == queued(store)


def test_a_replay_is_refused_also_under_another_name(store: Store, hook: Hook) -> None:
    answers = [hook.send("pull_request", opened(), name) for name in ("one", "one", "two")]

    assert [202, 409, 409] == [answer.status_code for answer in answers]
    assert 1 == len(queued(store))


def test_without_a_secret_no_webhook_is_taken_and_the_answer_says_how(store: Store) -> None:
    with served(store, None) as address:
        answer = httpx.post(f"{address}/hooks/github", json=opened())

    assert 503 == answer.status_code
    assert "PERFD_GITHUB_WEBHOOK_SECRET" in answer.json()["why"]


def test_a_body_that_is_too_large_is_refused_before_it_is_read(hook: Hook) -> None:
    with socket.create_connection((hook.client.base_url.host, hook.client.base_url.port), 10) as line:
        line.sendall(
            b"POST /hooks/github HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=0\r\nContent-Length: 9000000000\r\n\r\n"
        )

        assert b" 413 " in line.recv(100)


def test_a_body_that_does_not_say_how_large_it_is_is_cut_off(hook: Hook) -> None:
    parts = (b" " * 1_000_000 for _ in range(LARGEST_BYTES // 1_000_000 + 1))

    signed = {"X-Hub-Signature-256": "sha256=0"}
    assert 413 == hook.client.post("/hooks/github", content=parts, headers=signed).status_code


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), (b"[" * 200_000, 400), (b"\xff", 400), (b"{}", 422), (b'{"action": "opened"}', 422)],
)
def test_a_signed_body_that_is_no_event_is_refused_in_words(hook: Hook, body: bytes, status: int) -> None:
    answer = hook.raw("pull_request", body)

    assert status == answer.status_code
    assert answer.json()["why"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"X_GitHub_Event": "x" * 101}, 400), ({"X_GitHub_Delivery": "x" * 101}, 400), ({"Content_Type": "text/plain"}, 415)],
)
def test_headers_that_github_would_not_send_are_refused(hook: Hook, headers: dict[str, str], status: int) -> None:
    assert status == hook.send("pull_request", opened(), **headers).status_code


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("ping", {"zen": "Keep it logically awesome."}),
        ("star", {"action": "created"}),
        ("never_heard_of", {}),
        ("pull_request", opened("labeled")),
        ("issue_comment", said("/perfd run", "edited")),
        ("issue_comment", said("nice work")),
        ("issue_comment", said("/perfd run says our own help\n<!-- perfd:abc -->")),
        ("issue_comment", {**said("/perfd run"), "issue": {"number": 7}}),
        ("push", {"ref": "refs/tags/v1"}),
        ("check_run", {"action": "created", "check_run": {"external_id": "someone else's"}}),
    ],
)
def test_what_asks_for_nothing_is_answered_and_forgotten(store: Store, hook: Hook, event: str, payload: dict[str, Any]) -> None:
    answer = hook.send(event, payload)

    assert (200, False) == (answer.status_code, answer.json()["taken"])
    assert [] == queued(store)


def test_a_head_whose_repository_was_deleted_is_a_forks(store: Store, hook: Hook) -> None:
    head = {"sha": HEAD, "ref": "faster", "repo": None}
    assert 202 == hook.send("pull_request", opened(head=head, user=None)).status_code

    (one,) = queued(store)
    assert isinstance(one.event, PullSeen)
    assert (True, "") == (one.event.pull.fork, one.event.pull.author)


def test_unicode_from_anywhere_is_kept_as_it_is(store: Store, hook: Hook) -> None:
    hook.send("issue_comment", said("/perfd run \u202e🚀\x00 <script>"))

    (one,) = queued(store)
    assert isinstance(one.event, CommentMade)
    assert "/perfd run \u202e🚀␀ <script>" == one.event.body


def test_every_example_payload_is_taken_or_needs_nothing(
    store: Store, hook: Hook, examples: list[tuple[str, dict[str, Any]]]
) -> None:
    slowest, statuses = 0.0, Counter[int]()
    for event, payload in examples:
        began = time.monotonic()
        answer = hook.send(event, payload)
        slowest = max(slowest, time.monotonic() - began)
        statuses[answer.status_code] += 1
        assert answer.status_code in {200, 202, 409}, (event, answer.text)

    assert 329 == len(examples)
    repeated = len(examples) - len({(event, str(payload)) for event, payload in examples})
    assert repeated >= statuses[409]  # the package has some payloads twice
    events = queued(store)
    assert statuses[202] == len(events)
    assert {"PullSeen", "BranchPushed", "CheckAsked", "InstallationSeen"} <= {type(one.event).__name__ for one in events}
    assert slowest < 1.0


def test_a_deleted_branch_has_no_tip(store: Store, hook: Hook) -> None:
    push = {
        "ref": "refs/heads/a/b",
        "before": HEAD,
        "after": "0" * 40,
        "deleted": True,
        "forced": False,
        "repository": REPOSITORY,
    }
    hook.send("push", push)

    (one,) = queued(store)
    assert isinstance(one.event, BranchPushed)
    assert ("a/b", "") == (one.event.branch, one.event.after)


def test_the_lock_file_of_the_node_packages_names_no_registry() -> None:
    lock = Path(__file__).with_name("package-lock.json").read_text(encoding="utf-8")

    assert '"resolved"' not in lock
    assert "sha512-R2kKebrA5MZRKv0U3vNJuOHPbtK34KZlNCTvVMAC6y/LuAD4jjNFgkMX79fth3ETrCXWA5IB/PwiID0Y04s0cw==" in lock


def test_the_secret_stands_in_no_answer(hook: Hook) -> None:
    assert SECRET not in Hook(hook.client, "other").send("pull_request", opened()).text


def test_the_status_page_shows_what_the_forge_does_not_take(store: Store, hook: Hook) -> None:
    store.posts.want(comment(), NOON)
    row = store.posts.of(comment().key)
    assert row is not None
    assert "does not take" not in hook.client.get("/status").text

    store.posts.is_refused(row, "the App lacks the permission <b>")

    page = hook.client.get("/status").text
    assert "comment:octo/engine#7:1" in page
    assert "the App lacks the permission &lt;b&gt;" in page


def test_what_enterprise_servers_send_is_read_or_needs_nothing(node_modules: Path) -> None:
    read = Counter[str]()
    for file in sorted((node_modules / "@octokit/webhooks-examples").glob("ghes-*/index.json")):
        for event in json.loads(file.read_text(encoding="utf-8")):
            for example in event["examples"]:
                read[type(event_of(event["name"], example)).__name__] += 1

    assert {"PullSeen", "CheckAsked", "InstallationSeen", "NoneType"} <= read.keys()
    assert read.total() > 300
