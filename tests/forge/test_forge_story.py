"""The story of a pull request between perfd and an emulated GitHub, from its opening to its green check."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from edge import context_of, edge
from emulated import REPOSITORY, Emulator
from fault_server import APP, PEM
from forge_hook import Hook, app_at

from perfd.domain.forge import CheckStatus, Comment, Conclusion, Permission
from perfd.domain.pull import JobState
from perfd.forge.notes import nothing
from perfd.stages.context import Context
from perfd.stages.deliver import put_check
from perfd.store import Store

PATIENCE_S = 20.0


@pytest.fixture
def context(store: Store, emulator: Emulator) -> Context:
    """perfd's stages, and its App at the emulator, whose comments stand under the account that installed it."""
    return context_of(store, app_at(emulator.url, PEM, APP, "alice"))


def attended(context: Context, until: Callable[[], bool]) -> None:
    """perfd attends to the forge until that is so: webhooks come when they come."""
    end = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < end, context.tell
        if not edge(context):
            time.sleep(0.05)


def test_a_pull_request_is_answered_from_its_opening_to_its_check(
    store: Store, emulator: Emulator, hooked: Hook, context: Context
) -> None:
    branch = emulator.branch()
    pull = emulator.pull(branch)
    number, head = pull["number"], pull["head"]["sha"]

    attended(context, lambda: bool(emulator.checks(head)))
    (job,) = store.pull_jobs.in_state(JobState.QUEUED)
    assert (head, number, "alice") == (job.head, job.pull.pull.number, job.asked.by)
    assert ["queued"] == [check["status"] for check in emulator.checks(head)]

    said = Comment(REPOSITORY, number, "1", "No difference was found.")
    store.posts.want(said, context.now())
    attended(context, lambda: len(emulator.comments(number)) == 1)
    pushed = emulator.push(branch)
    hooked.send("pull_request", synchronized(pull, pushed))

    attended(context, lambda: bool(emulator.checks(pushed)))
    assert [("completed", "neutral")] == [(one["status"], one["conclusion"]) for one in emulator.checks(head)]
    (second,) = store.pull_jobs.in_state(JobState.QUEUED)
    assert pushed == second.head

    store.posts.want(Comment(REPOSITORY, number, "1", "It became slower."), context.now())
    put_check(context, second, nothing("only documentation is changed"), CheckStatus.COMPLETED, Conclusion.SUCCESS)
    attended(context, lambda: emulator.checks(pushed)[0]["status"] == "completed")
    assert ["It became slower."] == [body.partition("\n")[0] for body in emulator.comments(number)]
    assert ["success"] == [check["conclusion"] for check in emulator.checks(pushed)]
    assert "Nothing to measure: only documentation is changed" == emulator.checks(pushed)[0]["output"]["title"]


def synchronized(pull: dict[str, object], head: str) -> dict[str, object]:
    """The webhook of a push to a pull request, which the emulator does not send."""
    repository = {"id": 1, "full_name": REPOSITORY}
    changed = {
        **pull,
        "head": {"sha": head, "ref": "x", "repo": repository},
        "updated_at": (datetime.now(UTC) + timedelta(seconds=1)).isoformat(),
    }
    base = pull["base"]
    assert isinstance(base, dict)
    return {"action": "synchronize", "repository": base["repo"], "sender": {"login": "alice"}, "pull_request": changed}


def pressed(check: dict[str, object], who: str, button: str) -> dict[str, object]:
    """The webhook of a press of one of a check's buttons."""
    action = {"action": "rerequested"} if button == "rerun" else {"action": "requested_action"}
    identifier = {"requested_action": {"identifier": button}}
    return {
        **action,
        **identifier,
        "sender": {"login": who},
        "check_run": check,
        "repository": {"id": 1, "full_name": REPOSITORY},
    }


def test_a_strangers_code_waits_until_somebody_who_may_write_lets_it_run(
    store: Store, emulator: Emulator, hooked: Hook, context: Context
) -> None:
    pull = emulator.pull(emulator.branch(), "bob-token")
    head = pull["head"]["sha"]
    attended(context, lambda: bool(emulator.checks(head)))
    (check,) = emulator.checks(head)
    assert ("completed", "action_required") == (check["status"], check["conclusion"])
    (job,) = store.pull_jobs.in_state(JobState.WAITING)

    hooked.send("check_run", pressed(check, "bob", "approve"))
    hooked.send("check_run", pressed({**check, "head_sha": "e" * 40}, "alice", "approve"))
    attended(context, lambda: not store.deliveries.waiting())
    assert JobState.WAITING is store.pull_jobs.of(job.pull)[0].state

    hooked.send("check_run", pressed(check, "alice", "approve"))
    attended(context, lambda: emulator.checks(head)[0]["status"] == "queued")
    (approved,) = store.pull_jobs.in_state(JobState.QUEUED)
    assert approved.approval is not None
    assert ("alice", head) == (approved.approval.by, approved.approval.head)
    assert 1 == len(emulator.checks(head))


def test_the_emulator_knows_permissions_and_merge_bases(emulator: Emulator, context: Context) -> None:
    assert context.forge is not None
    head = emulator.pull(emulator.branch())["head"]["sha"]
    main = emulator.ask("GET", "git/ref/heads/main")["object"]["sha"]

    assert Permission.ADMIN is context.forge.permission(REPOSITORY, "alice")
    assert Permission.NONE is context.forge.permission(REPOSITORY, "bob")
    found = context.forge.merge_base(REPOSITORY, "main", head)
    assert (main, 1, True) == (found.commit, len(found.files), found.complete)


def test_two_senders_at_once_make_one_comment(store: Store, emulator: Emulator, context: Context) -> None:
    number = emulator.pull(emulator.branch())["number"]
    for body in ("first", "second"):
        store.posts.want(Comment(REPOSITORY, number, "1", body), context.now())
    start = threading.Barrier(2)

    def send() -> None:
        start.wait()
        edge(context_of(store, app_at(emulator.url, PEM, APP, "alice")))

    senders = [threading.Thread(target=send) for _ in range(2)]
    for one in senders:
        one.start()
    for one in senders:
        one.join()
    edge(context_of(store, app_at(emulator.url, PEM, APP, "alice"), timedelta(hours=1)))

    assert ["second"] == [body.partition("\n")[0] for body in emulator.comments(number)]


def test_a_sender_that_dies_between_any_two_steps_makes_nothing_twice(
    database_url: str, emulator: Emulator, tmp_path: Path
) -> None:
    pull = emulator.pull(emulator.branch())
    key = tmp_path / "key.pem"
    key.write_text(PEM, encoding="ascii")
    about = (database_url, emulator.url, str(key), APP, "alice", REPOSITORY, str(pull["number"]), pull["head"]["sha"])
    command = [sys.executable, str(Path(__file__).with_name("dying.py")), *about]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert 0 == ran.returncode, ran.stderr
    steps = json.loads(ran.stdout)

    bodies = [body.partition("\n")[0] for body in emulator.comments(pull["number"])]
    checks = [(one["output"]["title"], one["status"]) for one in emulator.checks(pull["head"]["sha"])]
    for kind, found, words in (("comment", bodies, ("made", "changed")), ("check", checks, ("in_progress", "completed"))):
        made, changed = steps[kind]
        assert min(made, changed) >= 5, steps  # claim, read, send, remember, done
        expected = [(str(n + 1), words[0] if n <= made else words[1]) for n in range(made + changed + 2)]
        assert ([" ".join(one) for one in expected] if kind == "comment" else expected) == found
