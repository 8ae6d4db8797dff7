"""What a fork's author, a stranger and a maintainer in a hurry can do to the answers to pull requests."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from answered_world import Answered, answered_world
from pull_world import PullWorld, engine_text, pull_world

from perfd.builders import commits
from perfd.cli.tell import Silent
from perfd.domain.forge import Conclusion, ForgeError, Permission, Trouble
from perfd.domain.occasion import OccasionState
from perfd.domain.pull import JobState, PullAction
from perfd.domain.run import Arm, RunState
from perfd.stages.subjects import by_name
from perfd.store import Store

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
FORK = "eve/engine"


@pytest.fixture
def world(tmp_path: Path) -> PullWorld:
    made = pull_world(tmp_path, "")
    made.commit("Begin", {"engine.py": engine_text("begin")})
    return made


@pytest.fixture
def one(world: PullWorld, store: Store) -> Answered:
    made = answered_world(world, store, NOON)
    made.forge.permissions = {"grace": Permission.WRITE}
    return made


def head(world: PullWorld, title: str, number: int = 7) -> str:
    return world.pull(title, {"engine.py": engine_text(title)}, number)


def is_vouched(one: Answered) -> bool:
    occasion = one.jobs[-1].occasion
    assert occasion is not None
    return "vouched" in occasion.label.split()


def test_a_head_that_came_just_before_the_comment_is_not_approved_unread(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "Good"), author="eve", head_repository=FORK)
    one.later(600)
    one.pull(head(world, "Evil"), PullAction.PUSHED, author="eve", head_repository=FORK)
    one.later(1)

    one.says("grace", "/perfd run")

    assert JobState.WAITING is one.jobs[-1].state
    assert "the head changed in the 60 s before that comment" in one.reply
    one.later(60)
    one.says("grace", "/perfd run")
    assert JobState.RUNNING is one.jobs[-1].state


def test_the_first_head_can_be_approved_at_once(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "Good"), author="eve", head_repository=FORK)
    one.later(1)

    one.says("grace", "/perfd run")

    assert JobState.RUNNING is one.jobs[-1].state


def test_a_head_that_is_pushed_back_is_new_again_and_can_be_approved(one: Answered, world: PullWorld) -> None:
    first, second = head(world, "First"), head(world, "Second")
    one.pull(first, author="eve", head_repository=FORK)
    for commit in (second, first):
        one.later(600)
        one.pull(commit, PullAction.PUSHED, author="eve", head_repository=FORK)
    one.later(1)

    one.says("grace", "/perfd run")
    assert "the head changed" in one.reply
    one.later(60)
    one.says("grace", "/perfd run")

    assert (first, JobState.RUNNING) == (one.jobs[-1].head, one.jobs[-1].state)


def test_whoever_pushes_to_a_fork_answers_for_it_whoever_opened(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "Good"), author="ada", head_repository=FORK)
    assert is_vouched(one)
    one.later(60)

    one.pull(head(world, "Evil"), PullAction.PUSHED, sender="eve", author="ada", head_repository=FORK)

    assert (JobState.WAITING, "Waiting for a maintainer: code of eve") == (one.jobs[-1].state, one.check.title.split(" is ")[0])
    one.later(61)
    one.slowdown = {Arm.BASE: 1.0, Arm.HEAD: 1.05}
    one.says("grace", "/perfd run")
    assert not is_vouched(one)
    one.finish()
    one.later(61)
    one.says("grace", "/perfd bisect")
    assert "eve is none of the repository's `authors`" in one.reply.replace("\\", "")


def test_whoever_may_push_to_the_repository_pushes_for_an_allowed_author(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "Good"))
    one.later(60)

    one.pull(head(world, "Better"), PullAction.PUSHED, sender="grace")

    assert is_vouched(one)


def test_an_edit_that_overtakes_a_push_is_answered_and_vouches_for_nobody(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "Good"), head_repository="ada/engine")
    pushed_at = one.later(60)
    evil = head(world, "Evil")
    one.later(1)

    one.pull(evil, PullAction.CHANGED, head_repository="ada/engine")
    one.pull(evil, PullAction.PUSHED, sender="eve", head_repository="ada/engine", updated_at=pushed_at)

    assert [JobState.SUPERSEDED, JobState.WAITING] == [job.state for job in one.jobs]
    assert evil == one.check.head


def test_what_was_pushed_while_it_was_closed_is_not_vouched_for_by_reopening(one: Answered, world: PullWorld) -> None:
    good = head(world, "Good")
    one.pull(good, author="ada", head_repository=FORK)
    one.later(60)
    one.pull(good, PullAction.CLOSED, author="ada", head_repository=FORK)
    one.later(60)

    one.pull(head(world, "Evil"), PullAction.OPENED, author="ada", head_repository=FORK)

    assert JobState.WAITING is one.jobs[-1].state
    assert "code of an unknown account" in one.check.title


def test_a_pull_request_that_moves_to_another_base_is_measured_against_that(one: Answered, world: PullWorld) -> None:
    first = world.git("rev-parse", "main")
    tip = world.commit("Go on", {"engine.py": engine_text("on")})
    commit = head(world, "Change")
    one.pull(commit)
    assert tip == one.jobs[-1].merge_base
    one.later(60)

    one.pull(commit, PullAction.REBASED, base=first, base_branch="release-1")

    assert ([JobState.SUPERSEDED, JobState.RUNNING], first) == ([job.state for job in one.jobs], one.jobs[-1].merge_base)


def test_an_app_that_lacks_a_permission_says_in_the_check_which_one(one: Answered, world: PullWorld) -> None:
    lacks = "GitHub answered 403 to compare: the App lacks the permission contents: read; grant it"
    one.forge.unread = ForgeError(Trouble.FORBIDDEN, lacks)

    one.pull(head(world, "Change"))

    assert (Conclusion.ACTION_REQUIRED, JobState.FAILED) == (one.check.conclusion, one.jobs[-1].state)
    assert "lacks the permission contents: read" in one.check.summary


@pytest.mark.parametrize("date", ["@253402300800 +0000", "@100 +9959", "@253402300799 -0100"])
def test_a_commit_of_no_possible_date_is_measured(
    one: Answered, world: PullWorld, monkeypatch: pytest.MonkeyPatch, date: str
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", date)
    commit = head(world, "From another time")
    monkeypatch.undo()

    one.pull(commit)
    one.finish()

    assert Conclusion.SUCCESS is one.check.conclusion


def test_a_fault_of_perfds_own_in_one_pull_request_leaves_the_others_alone(one: Answered, world: PullWorld) -> None:
    one.forge.broken = RuntimeError("boom")
    one.pull(head(world, "Strange"))
    assert "perfd's own fault" in one.jobs[-1].facts["trouble"]
    one.forge.broken = None
    one.later(16 * 60)
    one.finish()

    assert Conclusion.SUCCESS is one.check.conclusion


def test_a_strangers_commit_as_base_is_caged_with_the_head(one: Answered, world: PullWorld) -> None:
    evil = head(world, "Evil", number=9)
    commits.revision(
        by_name(one.context.config, "tiny").source, evil, one.context.config.state
    )  # fetched for its own pull request
    one.pull(head(world, "Good"))
    one.later(60)

    one.says("grace", f"/perfd compare {evil[:12]}")
    assert (evil, False) == (one.jobs[-1].merge_base, is_vouched(one))

    one.later(60)
    one.says("grace", "/perfd compare main")
    assert is_vouched(one)


def test_a_stranger_who_never_stops_talking_is_heard_no_more(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "Good"))
    for _ in range(30):
        one.later(2)
        one.says("eve", "/perfd run")

    replies = [slot for slot in one.comments if slot.startswith("reply")]
    assert (20, 21) == (one.forge.asked, len(replies))
    assert "more than 20 comments" in one.reply
    one.says("grace", "/perfd run")
    assert "its check tells" in one.reply
    one.later(3601)
    one.says("eve", "/perfd run")
    assert 22 == one.forge.asked


def test_a_head_that_hides_a_metric_is_not_green_and_spends_no_cap(one: Answered, world: PullWorld) -> None:
    one.hidden = "itl_s"
    one.pull(head(world, "Hide"))
    one.finish()

    assert Conclusion.NEUTRAL is one.check.conclusion
    assert "1 workload was not measured" in one.check.title
    assert "only one arm gave itl_s" in one.comments["1"].body.replace("\\", "")
    occasion = one.jobs[-1].occasion
    assert occasion is not None
    assert 24 > sum(one.context.store.runs.counts(occasion).values())


@dataclass
class Pushing(Silent):
    """Somebody pushes at the worst moment: after the comparison was planned, before its job knows of it."""

    one: Answered
    evil: str

    def say(self, stage: str, text: str) -> None:  # noqa: ARG002
        if "is planned" in text and self.evil:
            commit, self.evil = self.evil, ""
            self.one.later(60)
            self.one.context = replace(self.one.context, tell=Silent())
            self.one.pull(commit, PullAction.PUSHED)


def test_a_push_while_its_comparison_is_planned_leaves_nothing_to_measure(one: Answered, world: PullWorld) -> None:
    one.context = replace(one.context, tell=Pushing(one, head(world, "Second")))

    one.pull(head(world, "First"))
    one.finish()

    first, second = one.jobs
    assert ([JobState.SUPERSEDED, JobState.DONE], None) == ([first.state, second.state], first.occasion)
    assert () == one.context.store.occasions.every_in_state(OccasionState.PLANNED)
    for row in one.context.store.pages.occasions():
        measured = [run for run in one.context.store.pages.occasion(row.occasion).runs if run.state is RunState.DONE]
        assert bool(measured) == row.occasion.label.endswith(f"job {second.id}")
