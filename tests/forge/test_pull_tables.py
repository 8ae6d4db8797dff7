"""Deliveries, pull requests, jobs and posts in a real database."""

from dataclasses import replace
from datetime import timedelta

import pytest
from forge_world import ASKED, DEADLINE, ENGINE, HEAD, LATER, NEXT_HEAD, NOON, check, comment, pull, seen
from sqlalchemy import text

from perfd.domain.forge import CheckStatus
from perfd.domain.pull import Approval, Delivery, InstallationSeen, JobState, PullAction, Repository
from perfd.store import Store
from perfd.store.pulls import PullRow

WAIT = timedelta(minutes=5)
PUSHED = {"head": NEXT_HEAD, "updated_at": LATER}


def opened(store: Store) -> PullRow:
    found = store.pulls.see(seen(), NOON)
    assert found is not None
    return found


def test_a_delivery_is_taken_once_by_its_name_and_by_its_signed_body(store: Store) -> None:
    first = Delivery("github", "name-1", "digest-1", seen())

    assert [True, False, False, True] == [
        store.deliveries.take(one, NOON)
        for one in (
            first,
            replace(first, digest="digest-2"),
            replace(first, delivery="name-2"),
            Delivery("github", "n", "d", seen()),
        )
    ]


def test_a_delivery_is_handled_once_and_comes_again_after_a_crash(store: Store) -> None:
    store.deliveries.take(Delivery("github", "name", "digest", seen()), NOON)
    claimed = store.deliveries.claim(NOON, WAIT)

    assert claimed is not None
    assert seen() == claimed.event
    assert store.deliveries.claim(NOON, WAIT) is None
    again = store.deliveries.claim(NOON + WAIT, WAIT)
    assert again is not None
    assert 2 == again.attempts
    assert store.deliveries.handled(again, "a job was opened", LATER)
    assert not store.deliveries.handled(claimed, "a job was opened", LATER)
    assert store.deliveries.claim(NOON + 3 * WAIT, WAIT) is None


def test_an_event_that_comes_late_changes_nothing(store: Store) -> None:
    store.pulls.see(seen(PullAction.PUSHED, **PUSHED), NOON)

    assert store.pulls.see(seen(), LATER) is None
    found = store.pulls.read("octo/engine", 7)
    assert found is not None
    assert pull(**PUSHED) == found.pull


def test_a_renamed_repository_keeps_its_pull_requests(store: Store) -> None:
    opened(store)
    store.posts.want(comment(), NOON)
    renamed = replace(ENGINE, name="octo/motor")

    store.pulls.see(replace(seen(PullAction.CHANGED, updated_at=LATER), repository=renamed), LATER)

    assert store.pulls.read("octo/engine", 7) is None
    assert store.pulls.read("octo/motor", 7) is not None
    assert store.posts.of(comment().key) is None
    assert store.posts.of(replace(comment(), repository="octo/motor").key) is not None


def test_a_repository_takes_the_name_of_one_that_is_gone(store: Store) -> None:
    old, gone = replace(ENGINE, name="octo/motor", key=5), replace(comment("of the old one"), repository="octo/motor")
    store.pulls.see(replace(seen(), repository=old), NOON)
    store.posts.want(gone, NOON)
    opened(store)
    store.posts.want(comment("of the new one"), NOON)

    store.pulls.see(replace(seen(PullAction.CHANGED, updated_at=LATER), repository=replace(ENGINE, name="octo/motor")), LATER)

    mine, theirs = store.posts.of(gone.key), store.posts.of(replace(gone, repository="octo/motor~5").key)
    assert mine is not None
    assert theirs is not None
    assert ("of the new one", "of the old one") == (mine.wanted.body, theirs.wanted.body)


def installations(store: Store) -> list[tuple[str, int | None]]:
    with store.engine.begin() as connection:
        found = connection.execute(text("SELECT name, installation FROM forge_repository ORDER BY name"))
        return [(row.name, row.installation) for row in found]


def test_repositories_know_the_installation_that_may_act_in_them(store: Store) -> None:
    opened(store)
    assert [("octo/engine", 99)] == installations(store)

    store.pulls.see_installation(InstallationSeen(99, gone=True, added=(), removed=()), LATER)
    assert [("octo/engine", None)] == installations(store)

    other = Repository("octo/other", 5, 100)
    both = (replace(ENGINE, installation=100), other)
    store.pulls.see_installation(InstallationSeen(100, gone=False, added=both, removed=()), LATER)
    store.pulls.see_installation(InstallationSeen(100, gone=False, added=(), removed=(other,)), LATER)
    assert [("octo/engine", 100), ("octo/other", None)] == installations(store)


def test_a_new_head_supersedes_the_job_of_the_last(store: Store) -> None:
    first = store.pull_jobs.open(opened(store), ASKED, NOON, deadline_at=DEADLINE)
    pushed = store.pulls.see(seen(PullAction.PUSHED, **PUSHED), LATER)
    assert pushed is not None
    second = store.pull_jobs.open(pushed, ASKED, LATER, deadline_at=DEADLINE)

    assert [(first.id, JobState.SUPERSEDED), (second.id, JobState.QUEUED)] == [
        (job.id, job.state) for job in store.pull_jobs.of(pushed)
    ]
    assert (HEAD, NOON) == (first.head, first.head_at)
    assert (NEXT_HEAD, LATER) == (second.head, second.head_at)


def test_the_same_head_asked_again_is_another_attempt_and_kept_its_first_time(store: Store) -> None:
    row = opened(store)
    store.pull_jobs.open(row, ASKED, NOON, deadline_at=DEADLINE)
    touched = store.pulls.see(seen(PullAction.CHANGED, title="Other", updated_at=LATER), LATER)
    assert touched is not None

    again = store.pull_jobs.open(touched, ASKED, LATER, deadline_at=DEADLINE)

    assert (2, NOON) == (again.attempt, again.head_at)


def test_an_approval_is_void_after_a_push(store: Store) -> None:
    job = store.pull_jobs.open(opened(store), ASKED, NOON, deadline_at=DEADLINE, waits=True)
    store.pulls.see(seen(PullAction.PUSHED, **PUSHED), LATER)

    assert not store.pull_jobs.approve(job, Approval("maintainer", HEAD, LATER), LATER)
    assert not store.pull_jobs.approve(job, Approval("maintainer", NEXT_HEAD, LATER), LATER)
    assert JobState.WAITING is store.pull_jobs.of(job.pull)[0].state


def test_an_approval_queues_the_head_that_it_names_once(store: Store) -> None:
    job = store.pull_jobs.open(opened(store), ASKED, NOON, deadline_at=DEADLINE, waits=True)
    approval = Approval("maintainer", HEAD, LATER)

    assert [True, False] == [store.pull_jobs.approve(job, approval, LATER) for _ in range(2)]
    found = store.pull_jobs.read(job.id)
    assert found is not None
    assert (JobState.QUEUED, approval) == (found.state, found.approval)


def test_a_job_that_is_over_stays_over(store: Store) -> None:
    job = store.pull_jobs.open(opened(store), ASKED, NOON, deadline_at=DEADLINE)
    store.pull_jobs.learn(job, {"behind": 43}, merge_base="d" * 40)
    store.pull_jobs.learn(job, {"place": 2})

    assert (job.id,) == tuple(one.id for one in store.pull_jobs.overdue(DEADLINE))
    assert store.pull_jobs.end(job, JobState.DONE, "no difference", LATER, {"outcome": "same"})
    assert not store.pull_jobs.end(job, JobState.EXPIRED, "too late", DEADLINE)
    found = store.pull_jobs.read(job.id)
    assert found is not None
    assert (JobState.DONE, {"outcome": "same"}, {"behind": 43, "place": 2}) == (found.state, found.verdict, found.facts)
    assert () == store.pull_jobs.overdue(DEADLINE)


def test_what_stands_already_is_not_sent_again(store: Store) -> None:
    assert [True, False, True] == [store.posts.want(comment(body), NOON) for body in ("faster", "faster", "slower")]
    row = store.posts.of(comment().key)

    assert row is not None
    assert (2, 0, comment("slower")) == (row.version, row.posted_version, row.wanted)


def test_a_check_that_is_over_does_not_go_back(store: Store) -> None:
    store.posts.want(check(), NOON, DEADLINE)

    assert store.posts.want(check(CheckStatus.COMPLETED), LATER)
    assert not store.posts.want(check(title="measuring still"), LATER, DEADLINE)
    assert () == store.posts.overdue(DEADLINE)


def test_a_check_in_progress_without_a_deadline_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="deadline"):
        store.posts.want(check(), NOON)


def test_what_was_deleted_is_made_anew_under_another_mark(store: Store) -> None:
    store.posts.want(comment(), NOON)
    row = store.posts.of(comment().key)
    assert row is not None
    store.posts.stands(row, 41, "https://example.com/41", NOON)

    store.posts.is_gone(row)

    anew = store.posts.of(comment().key)
    assert anew is not None
    assert anew.number is None
    assert row.marker != anew.marker
