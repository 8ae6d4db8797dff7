"""Bisection of Regressions over a real repository and a real database; what a commit measures is written down, not measured."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from store_world import ENVIRONMENT, FIRST_NIGHT, LEASE, WORKER, reduced, samples

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.bisect import BisectEnd, StepOutcome, Wanted
from perfd.domain.occasion import Occasion
from perfd.domain.results import Results
from perfd.domain.run import Arm, FailureKind, OccasionKind, RunState
from perfd.domain.subject import Engine, Launch, Source, SourceKind
from perfd.domain.verdict import RegressionState
from perfd.errors import BadInputError
from perfd.stages.bisect import bisect
from perfd.stages.bisect_path import Budget, open_between, open_bisect
from perfd.stages.build import build
from perfd.stages.confirm import confirm
from perfd.stages.context import Context
from perfd.stages.device import device_class
from perfd.stages.judge import judge
from perfd.stages.plan import plan
from perfd.stages.report import report
from perfd.stages.subjects import by_name
from perfd.stages.watch import look_up, watch
from perfd.store import Store
from perfd.store.records import BisectEnded, ClaimedRun, RegressionRow

SUITE = """
question = "How long does a token take?"

[[workloads]]
name = "chat"
class = "chat"
question = "Short answers."
seed = 1

[workloads.parameters]
requests = 3
prompt_tokens = 8
output_tokens = 8
concurrency = 1
"""
STAGES = (watch, plan, build, bisect, judge, confirm, report)


@dataclass
class History:
    """An engine's repository, what each commit measures, and perfd beside it."""

    folder: Path
    context: Context
    seconds: dict[str, float] = field(default_factory=dict)
    """By commit; one that is not there cannot be measured."""
    shown: dict[str, float] = field(default_factory=dict)
    """By commit, what a night shows of it where that is something else: a busy machine, or luck."""
    commits: list[str] = field(default_factory=list)
    voids: int = 0
    """So many of the next Runs are void, with wild Samples."""
    days: int = 0

    @property
    def store(self) -> Store:
        return self.context.store

    def git(self, *words: str) -> str:
        who = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
        command = ["git", "-C", str(self.folder / "engine"), *words]
        return subprocess.run(command, env=os.environ | who, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, title: str, seconds: float | None = 1.0, text: str | None = None) -> str:
        path = self.folder / "engine" / "engine.py"
        path.write_text(text or f"# {title} {len(self.commits)}\n", encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", title)
        self.commits.append(self.git("rev-parse", "HEAD"))
        if seconds is not None:
            self.seconds[self.commits[-1]] = seconds
        return self.commits[-1]

    def night(self) -> None:
        """A night is over, with all that it set going."""
        self.store.occasions.open(Occasion(OccasionKind.NIGHT, FIRST_NIGHT + timedelta(days=self.days)), self.context.now())
        self.finish()
        self.days += 1

    def finish(self, *stages: Callable[[Context], bool]) -> None:
        """Everything that is due is done."""
        for _ in range(2000):
            if not (self.measure() or any(stage(self.context) for stage in stages or STAGES)):
                return
        raise AssertionError("the stages never come to an end")

    def measure(self) -> bool:
        now = self.context.now()
        claimed = self.store.runs.claim(device_class(self.context.config), WORKER, now, LEASE)
        if claimed is None:
            return False
        results = self.results(claimed)
        given = reduced(results) if results.state is RunState.DONE else {}
        self.store.runs.finish(claimed, results, given, results.finished_at)
        return True

    def results(self, claimed: ClaimedRun) -> Results:
        now = self.context.now()
        true = self.seconds.get(claimed.spec.revision)
        seconds = self.shown.get(claimed.spec.revision, true) if claimed.arm is Arm.ONLY else true
        if seconds is None:
            return Results(RunState.FAILED, (), now, now, ENVIRONMENT, failure=FailureKind.DIED, reason="it exited with code 1")
        noisy = seconds * (1.0 + 0.001 * ((claimed.block * 7 + self.days * 3) % 5 - 2))
        void = self.voids > 0
        self.voids -= void
        state = RunState.VOID if void else RunState.DONE
        value = 9.0 if void else noisy
        rest = {"failure": FailureKind.DEVICE, "reason": "throttled"} if void else {}
        measured = (samples(value, value, value, name="itl_s"), samples(value, value, value, name="ttft_s"))
        return Results(state, measured, now, now + timedelta(seconds=9), ENVIRONMENT, **rest)  # type: ignore[arg-type]

    def ended(self, number: int = 1) -> BisectEnded:
        row = self.store.bisects.read(number)
        assert row is not None
        assert row.ended is not None
        return row.ended

    def opened(self, good: int, bad: int, **wanted: str) -> int:
        subject = by_name(self.context.config, "tiny")
        known = {one.name: one for one in look_up(self.context, subject)}
        ends = (known[self.commits[good]], known[self.commits[bad]])
        return open_between(self.context, subject, ends, Wanted(**wanted))


def world(folder: Path, store: Store, *, by_itself: bool) -> History:
    (folder / "engine").mkdir()
    (folder / "suites").mkdir()
    (folder / "suites" / "speed.toml").write_text(SUITE, encoding="utf-8")
    engine = Engine(
        name="tiny",
        source=Source(SourceKind.GIT, str(folder / "engine")),
        recipe="script",
        launch=Launch(("true", "{port}"), "openai"),
        suites=("speed",),
        models=(),
    )
    config = Config(
        path=None,
        state=folder / "state",
        engines=(engine,),
        models=(),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=False, bisect=by_itself),
        kernels=False,
        suites_folder=folder / "suites",
    )
    made = History(folder, Context(config, store, Silent(), WORKER))
    made.context = replace(made.context, now=lambda: FIRST_NIGHT + timedelta(days=made.days, minutes=1))
    made.git("init", "--quiet", "--initial-branch", "main")
    return made


@pytest.fixture
def history(tmp_path: Path, store: Store) -> History:
    return world(tmp_path, store, by_itself=False)


def confirmed(history: History) -> RegressionRow:
    """Eight quiet nights, and one in which six commits arrived, the third of them slow."""
    for day in range(8):
        history.commit(f"Day {day}")
        history.night()
    for number in range(6):
        history.commit(f"Busy {number}", 1.0 if number < 2 else 1.1)
    history.night()
    (found,) = history.store.regressions.every({RegressionState.CONFIRMED})
    return found


def test_a_confirmed_regression_is_searched_by_itself_where_that_is_wanted(tmp_path: Path, store: Store) -> None:
    history = world(tmp_path, store, by_itself=True)

    found = confirmed(history)

    (row,) = store.bisects.of_regression(found.id)
    assert row.ended is not None
    assert (BisectEnd.COMMIT, history.commits[10]) == (row.ended.end, row.path[row.ended.bad].revision)
    assert [history.commits[7], history.commits[13]] == [row.path[0].revision, row.path[-1].revision]
    after = store.regressions.read(found.id)
    assert after is not None
    life = [event.reason for event in after.events if event.actor == "bisect"]
    assert any("searches for its commit" in reason for reason in life)
    assert any("Busy 2 did it" in reason and "conflicts in engine.py" in reason for reason in life)
    (message,) = store.outbox.since("bisect", FIRST_NIGHT)
    assert message.payload["regression"] == found.id
    history.night()
    assert 1 == len(store.bisects.of_regression(found.id))


def test_where_several_builds_may_be_the_first_slow_one_the_search_is_between_those_that_were_told_apart(
    tmp_path: Path, store: Store
) -> None:
    history = world(tmp_path, store, by_itself=True)
    for day, shown in enumerate((1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99, 1.025, 1.024, 1.06)):
        history.shown[history.commit(f"Day {day}", 1.045 if day >= 8 else 1.0)] = shown
        history.night()

    (found,) = store.regressions.every({RegressionState.CONFIRMED})
    assert history.commits[9] == found.revision
    assert "Day 9, or a Build before it and after" in found.title
    (row,) = store.bisects.of_regression(found.id)
    assert [history.commits[7], history.commits[9]] == [row.path[0].revision, row.path[-1].revision]
    assert row.ended is not None
    assert (BisectEnd.COMMIT, history.commits[8]) == (row.ended.end, row.path[row.ended.bad].revision)


def test_nothing_is_searched_by_itself_unless_it_is_wanted_and_a_person_may_ask(history: History) -> None:
    found = confirmed(history)
    assert () == history.store.bisects.of_regression(found.id)

    number = open_bisect(history.context, found.id)
    assert number == open_bisect(history.context, found.id)
    history.finish()

    row = history.store.bisects.read(number)
    assert row is not None
    assert ("chat", "ttft_s") == (row.wanted.workload, row.wanted.metric) or "itl_s" == row.wanted.metric
    assert history.commits[10] == row.path[history.ended(number).bad].revision


def test_its_runs_enter_no_series_and_the_night_says_what_became_of_it(history: History) -> None:
    found = confirmed(history)
    open_bisect(history.context, found.id)
    points = len(history.store.judgements.history(found.members[0][0].id))
    history.finish()
    assert points == len(history.store.judgements.history(found.members[0][0].id))

    history.commit("Next day", 1.1)
    history.night()
    night = history.store.occasions.last()
    assert night is not None
    summary = history.store.pages.occasion(night)
    assert summary.row.report is not None
    assert "bisections" in summary.row.report


def test_another_worker_that_judges_first_changes_nothing(history: History) -> None:
    for number in range(6):
        history.commit(f"Commit {number}", 1.0 if number < 4 else 1.1)
    number = history.opened(0, 5)

    history.finish(build, judge, report, bisect)

    assert (BisectEnd.COMMIT, 4) == (history.ended(number).end, history.ended(number).bad)


def test_void_runs_count_for_nothing(history: History) -> None:
    for number in range(5):
        history.commit(f"Commit {number}", 1.0 if number < 3 else 1.1)
    number = history.opened(0, 4, metric="itl_s")
    history.voids = 6

    history.finish()

    assert (BisectEnd.COMMIT, 3) == (history.ended(number).end, history.ended(number).bad)


def test_ends_that_are_the_same_are_not_reproduced(history: History) -> None:
    for number in range(5):
        history.commit(f"Commit {number}")

    number = history.opened(0, 4)
    history.finish()

    assert BisectEnd.NOT_REPRODUCED == history.ended(number).end
    assert "the two ends are same" in history.ended(number).reason


def test_a_good_end_that_cannot_be_measured_is_not_reproduced_and_says_so(history: History) -> None:
    history.commit("Broken", None)
    history.commit("Slow", 1.1)

    number = history.opened(0, 1)
    history.finish()

    assert BisectEnd.NOT_REPRODUCED == history.ended(number).end
    assert "the good end" in history.ended(number).reason
    assert "it exited with code 1" in history.ended(number).reason


def test_a_budget_of_builds_that_is_spent_ends_in_a_range(history: History) -> None:
    for number in range(9):
        history.commit(f"Commit {number}", 1.0 if number < 5 else 1.1)
    subject = by_name(history.context.config, "tiny")
    known = look_up(history.context, subject)

    number = open_between(history.context, subject, (known[0], known[8]), Wanted(), Budget(builds=3))
    history.finish()

    ended = history.ended(number)
    assert (BisectEnd.RANGE, 4, 8) == (ended.end, ended.good, ended.bad)
    assert "the budget of 3 is spent" in ended.reason
    assert history.commits[5][:12] in ended.proposal


def test_a_revert_that_conflicts_says_where(history: History) -> None:
    history.commit("Begin", 1.0, "one\n")
    history.commit("Slow", 1.1, "two\n")
    history.commit("Write over it", 1.1, "three\n")

    number = history.opened(0, 2)
    history.finish()

    assert (BisectEnd.COMMIT, 1) == (history.ended(number).end, history.ended(number).bad)
    assert "" == history.ended(number).patch
    assert "conflicts in engine.py" in history.ended(number).proposal


def test_a_merge_is_one_step_and_is_taken_back_to_its_first_parent(history: History) -> None:
    history.commit("Begin", 1.0, "one\n")
    history.git("checkout", "--quiet", "-b", "side")
    (history.folder / "engine" / "side.py").write_text("slow\n", encoding="utf-8")
    history.git("add", ".")
    history.git("commit", "--quiet", "--message", "Side work")
    history.git("checkout", "--quiet", "main")
    history.commit("Main work", 1.0, "two\n")
    history.git("merge", "--quiet", "--no-ff", "--message", "Merge side", "side")
    history.commits.append(history.git("rev-parse", "HEAD"))
    history.seconds[history.commits[-1]] = 1.1

    number = history.opened(0, 2)
    history.finish()

    ended = history.ended(number)
    assert (BisectEnd.COMMIT, 2) == (ended.end, ended.bad)
    assert "deleted file" in Path(ended.patch).read_text(encoding="utf-8")
    assert "two\n" == (history.folder / "engine" / "engine.py").read_text(encoding="utf-8")


def test_the_same_commit_built_with_other_tools_is_nobodys_commit(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in range(9):
        history.commit(f"Day {day}")
        history.night()
    from perfd.builders import toolchain

    versions = toolchain.versions
    monkeypatch.setattr(toolchain, "versions", lambda *names: {**versions(*names), "triton": "9.9"})
    slow = history.commit("Nothing of note", 1.0)
    plain = history.results

    def results(claimed: ClaimedRun) -> Results:
        history.seconds = dict.fromkeys(history.commits, 1.1 if claimed.spec.toolchain.get("triton") == "9.9" else 1.0)
        return plain(claimed)

    monkeypatch.setattr(history, "results", results)
    history.night()
    (found,) = history.store.regressions.every({RegressionState.CONFIRMED})
    assert slow == found.revision

    number = open_bisect(history.context, found.id)
    history.finish()

    ended = history.ended(number)
    assert BisectEnd.DEPENDENCIES == ended.end
    assert "triton absent → 9.9" in ended.proposal


@pytest.mark.parametrize(("good", "bad", "said"), [(2, 2, "are both"), (2, 0, "is newer than")])
def test_ends_that_make_no_path_are_refused(history: History, good: int, bad: int, said: str) -> None:
    for number in range(3):
        history.commit(f"Commit {number}")

    with pytest.raises(BadInputError, match=said):
        history.opened(good, bad)


def test_a_workload_that_does_not_exist_is_refused_before_anything_is_built(history: History) -> None:
    for number in range(2):
        history.commit(f"Commit {number}")

    with pytest.raises(BadInputError, match="there is no workload 'chatt'; there is chat"):
        history.opened(0, 1, workload="chatt")


def test_a_regression_that_is_not_there_is_refused(history: History) -> None:
    with pytest.raises(BadInputError, match="there is no regression 7"):
        open_bisect(history.context, 7)


def test_every_step_has_its_outcome_and_why(history: History) -> None:
    for number in range(5):
        history.commit(f"Commit {number}", None if number == 2 else 1.0 if number < 4 else 1.1)
    number = history.opened(0, 4)
    history.finish()

    row = history.store.bisects.read(number)
    assert row is not None
    assert all(step.why and step.outcome and step.settled_at for step in row.steps)
    assert [2] == [step.head for step in row.steps if step.outcome is StepOutcome.BROKEN]
    assert (BisectEnd.COMMIT, 4) == (history.ended(number).end, history.ended(number).bad)
