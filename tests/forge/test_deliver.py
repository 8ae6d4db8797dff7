"""Bringing comments and checks to a forge that fails, and taking in what it tells, without any program of Node."""

from datetime import UTC, datetime, timedelta

import pytest
from edge import Heard, context_of, edge
from fault_server import APP, PEM, Fault, FaultServer
from forge_hook import app_at
from forge_world import ENGINE, HEAD, NEXT_HEAD, check, comment, pull, seen

from perfd.domain.forge import CheckStatus
from perfd.domain.pull import CheckAsked, Delivery, Event, InstallationSeen, JobState, PullAction
from perfd.forge import GitHub
from perfd.stages.context import Context
from perfd.stages.deliver import MOST_TRIES, deliver
from perfd.store import Store
from perfd.store.posts import PostRow

SOON, DAY = timedelta(minutes=20), timedelta(days=1)


def now() -> datetime:
    return datetime.now(UTC)


def stand(store: Store, key: str = comment().key) -> PostRow:
    row = store.posts.of(key)
    assert row is not None
    return row


def told(store: Store, *events: Event) -> None:
    for number, event in enumerate(events):
        assert store.deliveries.take(Delivery("github", f"{now()} {number}", f"{now()} {number}", event), now())


def sender(store: Store, faulty: FaultServer, later: timedelta = timedelta()) -> Context:
    """Another process that sends, later."""
    return context_of(store, app_at(faulty.url, PEM, APP), later)


def test_what_is_wanted_meanwhile_is_sent_once_in_its_last_form(store: Store, github: GitHub, faulty: FaultServer) -> None:
    for body in ("one", "two", "three"):
        store.posts.want(comment(body), now())
    edge(context_of(store, github))

    assert ["three"] == [one["body"].partition("\n")[0] for one in faulty.comments]
    assert 1 == sum(request.startswith(("POST /repos", "PATCH")) for request in faulty.requests)
    row = stand(store)
    assert (3, 3, 1, f"{faulty.url}/comment/1") == (row.version, row.posted_version, row.number, row.url)


@pytest.mark.parametrize("fault", [Fault("POST", "comments", 502, done=True), Fault("POST", "comments", done=True, cut=True)])
def test_an_answer_that_was_lost_makes_no_second_comment(store: Store, github: GitHub, faulty: FaultServer, fault: Fault) -> None:
    faulty.faults = [fault]
    store.posts.want(comment(), now())
    edge(context_of(store, github))
    assert 0 == stand(store).posted_version

    edge(sender(store, faulty, SOON))

    assert 1 == stand(store).posted_version
    assert 1 == len(faulty.comments)


def test_a_refused_post_says_why_and_is_not_tried_again(store: Store, github: GitHub, faulty: FaultServer) -> None:
    faulty.faults = [Fault("GET", "check-runs", 403, "Resource not accessible by integration", times=9)]
    store.posts.want(check(), now(), now() + DAY)
    context = context_of(store, github)
    edge(context)
    edge(sender(store, faulty, SOON))

    assert "lacks the permission checks: write" in stand(store, check().key).trouble
    assert 8 == faulty.faults[0].times
    assert isinstance(context.tell, Heard)
    assert "deliver: given up" in context.tell.lines[0]


def test_a_limit_is_waited_for_and_then_nothing_is_lost(store: Store, github: GitHub, faulty: FaultServer) -> None:
    faulty.faults = [Fault("POST", "comments", 429, "slow down", {"Retry-After": "120"})]
    store.posts.want(comment(), now())
    edge(context_of(store, github))
    edge(sender(store, faulty, timedelta(seconds=100)))
    assert [] == faulty.comments

    edge(sender(store, faulty, timedelta(seconds=121)))
    assert 1 == len(faulty.comments)


def test_a_forge_that_never_answers_is_given_up_after_a_day(store: Store, github: GitHub, faulty: FaultServer) -> None:
    faulty.faults = [Fault("GET", "comments", 500, "boom", times=1000)]
    store.posts.want(comment(), now())
    tries, later = 0, timedelta()
    while not stand(store).trouble:
        tries, later = tries + deliver(context_of(store, github, later)), later + timedelta(minutes=16)

    assert MOST_TRIES == tries
    assert later >= DAY


def test_a_comment_that_a_person_deleted_is_made_anew(store: Store, github: GitHub, faulty: FaultServer) -> None:
    store.posts.want(comment(), now())
    edge(context_of(store, github))
    old = stand(store).marker
    faulty.comments.clear()
    faulty.add_comment(f"{ENGINE.name}#7", f"copied <!-- perfd:{old} -->")
    faulty.comments[0]["id"] = 77

    store.posts.want(comment("slower"), now())
    edge(context_of(store, github))

    assert ["copied", "slower"] == [one["body"].partition(" <")[0].partition("\n")[0] for one in faulty.comments]


def test_a_check_that_nobody_ends_is_neutral_at_its_deadline(store: Store, github: GitHub, faulty: FaultServer) -> None:
    store.posts.want(check(), now(), now() + timedelta(hours=1))
    edge(context_of(store, github))
    assert ["in_progress"] == [one["status"] for one in faulty.checks]

    edge(sender(store, faulty, timedelta(minutes=59)))
    assert ["in_progress"] == [one["status"] for one in faulty.checks]
    edge(sender(store, faulty, timedelta(minutes=61)))

    assert [("completed", "neutral")] == [(one["status"], one["conclusion"]) for one in faulty.checks]
    assert "/perfd rerun" in faulty.checks[0]["output"]["summary"]


def test_a_job_that_is_not_over_at_its_deadline_is_expired_with_its_check(
    store: Store, github: GitHub, faulty: FaultServer
) -> None:
    told(store, seen(updated_at=now()))
    edge(context_of(store, github))
    (job,) = store.pull_jobs.in_state(JobState.QUEUED)

    edge(sender(store, faulty, timedelta(hours=13)))

    assert JobState.EXPIRED is store.pull_jobs.of(job.pull)[0].state
    assert [("completed", "neutral")] == [(one["status"], one["conclusion"]) for one in faulty.checks]


def test_a_push_ends_the_check_of_the_head_before_it(store: Store, github: GitHub, faulty: FaultServer) -> None:
    told(store, seen(), seen(PullAction.PUSHED, head=NEXT_HEAD, updated_at=now()))
    edge(context_of(store, github))

    assert [(HEAD, "neutral"), (NEXT_HEAD, None)] == [(one["head_sha"], one.get("conclusion")) for one in faulty.checks]


def test_events_in_the_wrong_order_leave_the_last_head(store: Store, github: GitHub, faulty: FaultServer) -> None:
    told(store, seen(PullAction.PUSHED, head=NEXT_HEAD, updated_at=now()), seen())
    edge(context_of(store, github))

    assert [NEXT_HEAD] == [one["head_sha"] for one in faulty.checks]


def test_a_pull_request_that_is_closed_is_not_measured(store: Store, github: GitHub, faulty: FaultServer) -> None:
    told(store, seen(), seen(PullAction.CLOSED, is_open=False, updated_at=now()))
    edge(context_of(store, github))

    assert () == store.pull_jobs.in_state(JobState.QUEUED)
    assert ["neutral"] == [one["conclusion"] for one in faulty.checks]


def test_a_repository_that_nobody_configured_is_left_alone(store: Store, github: GitHub, faulty: FaultServer) -> None:
    told(store, seen(repository="octo/other"), InstallationSeen(99, gone=True, added=(), removed=()))
    edge(context_of(store, github))

    assert ([], 0) == (faulty.requests, store.deliveries.waiting())


def test_the_same_event_handled_twice_opens_one_job(store: Store, github: GitHub) -> None:
    told(store, seen())
    claimed = store.deliveries.claim(now(), timedelta())
    assert claimed is not None  # a worker took it, and died before it said so
    edge(context_of(store, github))
    edge(context_of(store, github, SOON))

    assert [1] == [job.attempt for job in store.pull_jobs.in_state(*JobState)]


def rerun(who: str, slot: str, head: str = HEAD) -> CheckAsked:
    return CheckAsked(ENGINE, head, slot, "rerun", who)


@pytest.mark.parametrize(
    ("press", "attempts"),
    [
        (("maintainer", "of the check", HEAD), 2),
        (("maintainer", "", HEAD), 2),
        (("reader", "of the check", HEAD), 1),
        (("stranger", "of the check", HEAD), 1),
        (("", "of the check", HEAD), 1),
        (("maintainer", "of the check", NEXT_HEAD), 1),
        (("maintainer", "999999", HEAD), 1),
        (("maintainer", "9" * 100, HEAD), 1),
        (("maintainer", "1; DROP TABLE run", HEAD), 1),
    ],
)
def test_only_who_may_write_runs_a_head_again(
    store: Store, github: GitHub, faulty: FaultServer, press: tuple[str, str, str], attempts: int
) -> None:
    faulty.permissions = {
        "maintainer": {"permission": "write", "role_name": "maintain"},
        "reader": {"permission": "read", "role_name": "triage"},
    }
    told(store, seen())
    edge(context_of(store, github))
    (job,) = store.pull_jobs.in_state(JobState.QUEUED)

    who, slot, head = press
    told(store, rerun(who, str(job.id) if slot == "of the check" else slot, head))
    edge(context_of(store, github))

    assert attempts == len(store.pull_jobs.of(job.pull))
    assert attempts == len(faulty.checks)


def test_a_permission_that_cannot_be_asked_is_asked_again_later(store: Store, github: GitHub, faulty: FaultServer) -> None:
    faulty.permissions = {"maintainer": {"permission": "write", "role_name": "maintain"}}
    told(store, seen(author="stranger"))
    edge(context_of(store, github))
    (job,) = store.pull_jobs.in_state(JobState.WAITING)
    assert [["approve"]] == [[button["identifier"] for button in one["actions"]] for one in faulty.checks]
    faulty.faults = [Fault("GET", "permission", 500, "boom")]
    told(store, CheckAsked(ENGINE, HEAD, str(job.id), "approve", "maintainer"))

    edge(context_of(store, github))
    assert JobState.WAITING is store.pull_jobs.of(job.pull)[0].state
    edge(sender(store, faulty, SOON))
    assert JobState.QUEUED is store.pull_jobs.of(job.pull)[0].state
    assert ["queued"] == [one["status"] for one in faulty.checks]


def test_without_an_app_heads_are_queued_and_what_is_to_be_said_waits(store: Store) -> None:
    told(store, seen())
    store.posts.want(comment(), now())
    edge(context_of(store, None))

    assert pull() == store.pull_jobs.in_state(JobState.QUEUED)[0].pull.pull
    assert CheckStatus.QUEUED is stand(store, f"check:octo/engine@{HEAD}:1").wanted.status


def test_an_event_that_perfd_stumbles_over_stops_nothing_else(store: Store, github: GitHub, faulty: FaultServer) -> None:
    told(store, seen(number=2**40), seen())
    context = context_of(store, github)
    edge(context)

    assert (1, 1) == (len(faulty.checks), store.deliveries.waiting())
    assert isinstance(context.tell, Heard)
    assert any("perfd's own fault" in line for line in context.tell.lines)
