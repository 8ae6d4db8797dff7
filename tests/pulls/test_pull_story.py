import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from answered_world import Answered, answered_world
from pull_world import PullWorld, engine_text, pull_world

from perfd.domain.bisect import BisectEnd
from perfd.domain.forge import CheckStatus, Conclusion, ForgeError, Permission, Trouble
from perfd.domain.occasion import OccasionState
from perfd.domain.pull import JobState, PullAction
from perfd.domain.run import Arm, RunState
from perfd.stages.bisect import bisect
from perfd.store import Store
from perfd.store.records import BisectEnded
from perfd.store.regressions import Step

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
SLOWER = {Arm.BASE: 1.0, Arm.HEAD: 1.05}


@pytest.fixture
def world(tmp_path: Path) -> PullWorld:
    made = pull_world(tmp_path, "")
    made.commit("Begin", {"engine.py": engine_text("begin")})
    return made


@pytest.fixture
def one(world: PullWorld, store: Store) -> Answered:
    return answered_world(world, store, NOON)


def head(world: PullWorld, title: str = "Change", name: str = "engine.py") -> str:
    return world.pull(title, {name: engine_text(title)})


def test_a_slowdown_is_answered_in_a_comment_and_a_failed_check(one: Answered, world: PullWorld) -> None:
    commit = head(world)
    world.commit("Go on", {"README.md": "more"})
    one.slowdown = SLOWER

    one.pull(commit)

    assert (CheckStatus.QUEUED, "Queued at place 1") == (one.check.status, one.check.title)
    one.finish()
    assert (Conclusion.FAILURE, commit, JobState.DONE) == (one.check.conclusion, one.check.head, one.jobs[-1].state)
    assert "worse: 2 worse, 1 same of 3 metrics; everything was measured" in one.check.title
    body = one.comments["1"].body
    assert one.check.title in body
    assert "1 commit behind main" in body
    assert "https://perf.example.org/plots/compare/" in body
    assert [("suites/speed.toml", 5)] * 2 == [(note.path, note.line) for note in one.check.annotations]
    assert 1 == len(one.comments)
    assert [OccasionState.REPORTED] == [one.context.store.occasions.state(job.occasion) for job in one.jobs if job.occasion]


def test_no_change_is_green(one: Answered, world: PullWorld) -> None:
    one.pull(head(world))
    one.finish()

    assert Conclusion.SUCCESS is one.check.conclusion
    assert "no difference to tiny that matters: 3 same of 3 metrics" in one.comments["1"].body


def test_documentation_alone_is_green_at_once_without_a_comment(one: Answered, world: PullWorld) -> None:
    one.pull(world.pull("Explain", {"docs/a.md": "x", "README.md": "y"}))

    assert (Conclusion.SUCCESS, {}) == (one.check.conclusion, one.comments)
    assert "Nothing to measure: only documentation is changed (2 files)" == one.check.title
    assert () == one.context.store.occasions.every_in_state(OccasionState.PLANNED)


@pytest.mark.parametrize("files", [{"tools/x.py": "1"}, {}])
def test_a_change_that_affects_nothing_is_green(one: Answered, world: PullWorld, files: dict[str, str]) -> None:
    one.pull(world.pull("Empty", files))

    assert Conclusion.SUCCESS is one.check.conclusion


def rewritten(world: PullWorld, names: list[str]) -> str:
    """The head of a pull request that adds all these files, none of which was ever on a disk."""
    blob = world.git("rev-parse", "HEAD:engine.py")
    entries = "".join(f"100644 {blob}\t{name}\0" for name in names)
    command = ["git", "-C", str(world.checkout), "update-index", "-z", "--index-info"]
    subprocess.run(command, input=entries.encode(), check=True)
    commit = world.git("-c", "user.name=a", "-c", "user.email=a", "commit-tree", "-p", "HEAD", "-m", "x", world.git("write-tree"))
    world.git("read-tree", "HEAD")
    return commit


def test_three_thousand_files_are_all_looked_at(one: Answered, world: PullWorld) -> None:
    one.pull(rewritten(world, [*(f"docs/page {n} ü.md" for n in range(2999)), "zz_engine.py"]))

    assert JobState.RUNNING is one.jobs[-1].state


def test_a_stranger_waits_for_a_maintainer_and_runs_in_a_cage(one: Answered, world: PullWorld) -> None:
    one.pull(head(world), author="eve", head_repository="eve/engine")

    assert (Conclusion.ACTION_REQUIRED, JobState.WAITING) == (one.check.conclusion, one.jobs[-1].state)
    assert "Waiting for a maintainer: code of eve" in one.check.title
    one.forge.permissions = {"grace": Permission.WRITE}
    one.later(60)
    one.says("grace", "/perfd run")

    assert JobState.RUNNING is one.jobs[-1].state
    assert "may run, on the word of grace" in one.reply
    occasion = one.jobs[-1].occasion
    assert occasion is not None
    assert "vouched" not in occasion.label.split()
    one.finish()
    assert "let run by grace" in one.comments["1"].body


def test_an_allowed_authors_code_is_vouched_for(one: Answered, world: PullWorld) -> None:
    one.pull(head(world))

    occasion = one.jobs[-1].occasion
    assert occasion is not None
    assert "vouched" in occasion.label.split()


@pytest.mark.parametrize("permission", [Permission.NONE, Permission.READ, Permission.TRIAGE])
def test_who_may_not_write_approves_nothing(one: Answered, world: PullWorld, permission: Permission) -> None:
    one.pull(head(world), author="eve")
    one.forge.permissions = {"eve": permission}
    one.later(60)

    one.says("eve", "/perfd run")

    assert JobState.WAITING is one.jobs[-1].state
    assert "Not done: this needs permission to write" in one.reply


def test_an_approval_is_void_after_a_push(one: Answered, world: PullWorld) -> None:
    one.forge.permissions = {"grace": Permission.ADMIN}
    one.pull(head(world, "Good"), author="eve")
    one.later(60)
    one.says("grace", "/perfd run")
    one.later(60)

    one.pull(head(world, "Evil"), PullAction.PUSHED, author="eve")

    assert [JobState.SUPERSEDED, JobState.WAITING] == [job.state for job in one.jobs]
    assert "void" in one.check.summary


def test_a_push_between_reading_and_saying_approves_nothing(one: Answered, world: PullWorld) -> None:
    one.forge.permissions = {"grace": Permission.ADMIN}
    one.pull(head(world, "Good"), author="eve")
    said_at = one.later(60)
    one.later(5)
    one.pull(head(world, "Evil"), PullAction.PUSHED, author="eve")

    one.says("grace", "/perfd run", said_at)

    assert JobState.WAITING is one.jobs[-1].state
    assert "not the head of this pull request any more" in one.reply


def test_a_push_cancels_what_was_queued_and_keeps_what_was_measured(one: Answered, world: PullWorld) -> None:
    one.pull(head(world, "First"))
    for _ in range(4):
        one.measure()
    one.later(60)

    one.pull(head(world, "Second"), PullAction.PUSHED)

    first, second = one.jobs
    assert (JobState.SUPERSEDED, JobState.RUNNING) == (first.state, second.state)
    assert first.occasion is not None
    counts = one.context.store.runs.counts(first.occasion)
    assert (2, 0) == (counts[RunState.DONE], counts[RunState.QUEUED])
    one.finish()
    assert Conclusion.SUCCESS is one.check.conclusion
    assert all(check.conclusion is not None for check in one.forge.checks.values())


def test_a_comment_is_edited_until_something_gets_worse(one: Answered, world: PullWorld) -> None:
    def pushed(title: str, slowdown: float) -> None:
        one.later(600)
        one.slowdown = {Arm.BASE: 1.0, Arm.HEAD: slowdown}
        one.pull(head(world, title), PullAction.PUSHED if one.forge.comments else PullAction.OPENED)
        one.finish()

    pushed("Nothing", 1.0)
    pushed("Slower", 1.05)
    pushed("As slow", 1.055)
    assert ["1", "2"] == list(one.comments)
    pushed("Slower still", 1.15)
    assert ["1", "2", "3"] == list(one.comments)
    pushed("Mended", 1.0)

    assert ["1", "2", "3"] == list(one.comments)
    assert "no difference" in one.comments["3"].body
    pushed("Slower again", 1.05)
    assert ["1", "2", "3", "4"] == list(one.comments)


def test_an_arm_that_fails_is_counted_as_not_measured_and_never_green(one: Answered, world: PullWorld) -> None:
    one.slowdown = {Arm.BASE: 1.0}
    one.pull(head(world))
    one.finish()

    assert (Conclusion.ACTION_REQUIRED, JobState.FAILED) == (one.check.conclusion, one.jobs[-1].state)
    assert "Nothing could be measured of tiny: 2 workloads were not measured" == one.check.title
    assert "the device is gone" in one.comments["1"].body


def test_commands_are_answered_once_each(one: Answered, world: PullWorld) -> None:
    one.forge.permissions = {"grace": Permission.WRITE}
    one.pull(head(world))
    one.finish()
    one.later(60)

    one.says("grace", "/perfd run nosuch\n/perfd frobnicate\n/perfd ack 99 it is fine\n/perfd bisect\n/perfd compare nowhere")

    for said in ("there is no suite 'nosuch'", "no command “frobnicate”", "no regression 99", "nothing to search", "/perfd help"):
        assert said in one.reply.replace("\\", "")
    one.later(60)
    one.says("grace", "/perfd run texts")
    one.finish()
    assert {"nll_nats"} == set(re.findall(r"nll_nats|itl_s", one.comments["1"].body.split("Commands")[0]))
    assert ("/perfd run texts", ("texts",)) == (one.jobs[-1].asked.why, one.jobs[-1].asked.suites)


def test_another_base_is_measured_and_said_to_be_that(one: Answered, world: PullWorld) -> None:
    world.git("tag", "v1")
    world.commit("Go on", {"engine.py": engine_text("on")})
    one.forge.permissions = {"grace": Permission.WRITE}
    one.pull(head(world))
    one.finish()
    one.later(60)

    one.says("grace", "/perfd compare v1")
    one.finish()

    assert "asked for as v1" in one.comments["1"].body
    assert world.git("rev-parse", "v1") == one.jobs[-1].merge_base


def test_a_ref_that_is_not_there_ends_in_the_checks_text(one: Answered, world: PullWorld) -> None:
    one.forge.permissions = {"grace": Permission.WRITE}
    one.pull(head(world))
    one.later(60)

    one.says("grace", "/perfd compare nowhere")
    one.finish()

    assert Conclusion.ACTION_REQUIRED is one.check.conclusion
    assert "no branch, tag or commit" in one.check.summary


def test_a_head_that_was_force_pushed_away_is_told_with_its_remedy(one: Answered, world: PullWorld) -> None:
    head(world)
    one.pull("d" * 40)
    one.finish()

    assert (Conclusion.ACTION_REQUIRED, JobState.FAILED) == (one.check.conclusion, one.jobs[-1].state)
    assert "common history" in one.check.summary


def test_a_forge_that_is_away_is_asked_again_and_its_refusal_is_told(one: Answered, world: PullWorld) -> None:
    one.forge.broken = ForgeError(Trouble.BROKEN, "GitHub answered 502", NOON + timedelta(minutes=1))
    one.pull(head(world))
    assert JobState.QUEUED is one.jobs[-1].state
    one.forge.broken = None
    one.later(120)
    one.finish()

    assert Conclusion.SUCCESS is one.check.conclusion


def test_a_check_never_stays_open_for_ever(one: Answered, world: PullWorld) -> None:
    one.pull(head(world))
    one.later(13 * 3600)

    one.finish()

    assert (Conclusion.NEUTRAL, JobState.EXPIRED) == (one.check.conclusion, one.jobs[-1].state)
    assert one.jobs[-1].occasion is not None
    assert 0 == one.context.store.runs.unfinished(one.jobs[-1].occasion)


def test_a_closed_pull_request_is_measured_no_further(one: Answered, world: PullWorld) -> None:
    commit = head(world)
    one.pull(commit)
    one.later(60)
    one.pull(commit, PullAction.CLOSED)

    job = one.jobs[-1]
    assert JobState.SUPERSEDED is job.state
    assert job.occasion is not None
    assert 0 == one.context.store.runs.unfinished(job.occasion)


def test_the_commits_of_a_pull_request_never_become_the_tracked_branchs(one: Answered, world: PullWorld) -> None:
    commit = head(world)
    one.pull(commit)
    one.finish()

    assert commit not in [revision.name for revision in one.context.store.subjects.revisions("tiny", "main")]
    assert () == one.context.store.pages.series_rows()


def test_an_answer_that_had_no_more_minutes_says_so_and_is_not_green(store: Store, tmp_path: Path) -> None:
    world = pull_world(tmp_path, "", minutes=0.1)
    world.commit("Begin", {"engine.py": engine_text("begin")})
    one = answered_world(world, store, NOON)

    one.pull(head(world))
    one.finish()

    assert Conclusion.NEUTRAL is one.check.conclusion
    assert "minutes were spent before everything was decided" in one.comments["1"].body


def two_commits(world: PullWorld) -> str:
    """The head of a pull request with two commits after its merge base."""
    world.git("checkout", "--quiet", "--detach")
    world.commit("Prepare", {"engine.py": engine_text("prepare")})
    commit = world.commit("Slow down", {"engine.py": engine_text("slow")})
    world.git("update-ref", "refs/pull/7/head", commit)
    world.git("checkout", "--quiet", "main")
    return commit


def test_the_commits_of_a_pull_request_are_bisected_and_the_end_is_told_there(one: Answered, world: PullWorld) -> None:
    commit = two_commits(world)
    one.forge.permissions = {"grace": Permission.WRITE}
    one.slowdown = SLOWER
    one.pull(commit)
    one.finish()
    one.later(60)

    one.says("grace", "/perfd bisect")

    (row,) = one.context.store.bisects.unended()
    assert ["Begin", "Prepare", "Slow down"] == [place.title for place in row.path]
    assert f"Bisection {row.id} searches" in one.reply
    assert bisect(one.context)
    assert commit not in [revision.name for revision in one.context.store.subjects.revisions("tiny", "main")]
    ended = BisectEnded(BisectEnd.COMMIT, 1, 2, "it is slower", one.now, proposal="Take it back. @everyone")
    one.context.store.bisects.end(row.id, ended, Step("bisect", "found", one.now))
    one.finish()
    told = one.comments[f"bisect {row.id}"].body
    assert "Slow down did it" in told
    assert "@\u200beveryone" in told


def test_a_strangers_commits_are_not_bisected(one: Answered, world: PullWorld) -> None:
    one.forge.permissions = {"grace": Permission.WRITE}
    one.pull(two_commits(world), author="eve")
    one.later(60)
    one.slowdown = SLOWER
    one.says("grace", "/perfd run")
    one.finish()
    one.later(60)

    one.says("grace", "/perfd bisect")

    assert "eve is none of the repository's `authors`" in one.reply.replace("\\", "")
    assert () == one.context.store.bisects.unended()


def test_a_pull_request_into_another_branch_is_given_no_wrong_age(one: Answered, world: PullWorld) -> None:
    world.commit("Go on", {"README.md": "x"})
    one.pull(head(world), base_branch="release-1")
    one.finish()

    assert "behind" not in one.comments["1"].body
    assert "the merge base, " in one.comments["1"].body
