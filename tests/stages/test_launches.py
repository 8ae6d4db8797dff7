"""Launches: every owed Checkpoint once, in time, late or missed; machine told from software; faster but worse is worse."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from launch_world import DAY_0, Released, released
from rich.console import Console
from store_world import LEASE, WORKER

from perfd.cli import launch_tables
from perfd.domain.launch import ModelLaunch, TodoState
from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.subject import Revision, SubjectKind
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, Verdict
from perfd.errors import BadInputError
from perfd.rules.launch_report import side_by_side
from perfd.rules.launches import late_by, missed
from perfd.stages.build import build
from perfd.stages.confirm import confirm
from perfd.stages.device import device_class
from perfd.stages.judge import judge
from perfd.stages.launching import declare
from perfd.stages.night import run_to_report
from perfd.stages.plan import plan
from perfd.stages.report import report
from perfd.stages.watch import watch
from perfd.store import Store
from perfd.store.launches import Declared
from perfd.store.todos import TodoMove


@pytest.fixture
def world(store: Store, tmp_path: Path) -> Released:
    return released(store, tmp_path)


def rows(told: dict, kind: str, metric: str) -> dict:
    (one,) = [one for one in told["classes"] if one["class"] == kind]
    (row,) = [row for row in one["rows"] if row["metric"] == metric]
    return row["days"]


def test_a_checkpoint_runs_every_suite_and_not_the_nightly_subset(world: Released) -> None:
    world.commit("Begin")
    world.launch()
    (opened,) = world.day(0)

    runs = world.store.pages.occasion(opened).runs
    assert OccasionKind.CHECKPOINT == opened.kind
    assert {"speed", "long", "accuracy"} == {run.suite for run in runs}
    assert {RunState.DONE} == {run.state for run in runs}
    assert {"m3"} == {run.model for run in runs}
    (build,) = world.store.pages.occasion(opened).builds
    assert frozenset({build.digest}) == world.store.launches.kept_builds()
    shares = {line["workload"]: line["days"]["0"] for line in world.report()["roofline"]}
    assert (0.3, "") == (pytest.approx(shares["chat"]["mbu"], abs=0.001), shares["chat"]["why"])
    assert {(None, True)} == {(shares[name]["mbu"], bool(shares[name]["why"])) for name in ("agent", "texts")}


def test_nothing_is_opened_before_its_time_and_each_day_once(world: Released) -> None:
    world.commit("Begin")
    world.launch()
    world.at(-0.001)
    assert () == world.fire()
    assert 1 == len(world.day(0))
    assert () == world.fire()
    assert () == world.day(6.9)
    assert ["m3 on tiny day 7"] == [one.label for one in world.day(7)]
    assert ["m3 on tiny day 14"] == [one.label for one in world.day(14)]
    assert () == world.day(21)
    assert {OccasionState.REPORTED} == {one.state for one in world.store.launches.checkpoints()}


def test_two_clocks_that_fire_at_once_open_a_checkpoint_once(world: Released) -> None:
    world.commit("Begin")
    world.launch(0)
    world.at(0)
    opened: list[int] = []
    clocks = [threading.Thread(target=lambda: opened.append(len(world.fire()))) for _ in range(6)]
    for clock in clocks:
        clock.start()
    for clock in clocks:
        clock.join()

    assert [0, 0, 0, 0, 0, 1] == sorted(opened)
    assert 1 == len(world.store.pages.occasions(OccasionKind.CHECKPOINT))


def test_a_checkpoint_that_perfd_was_down_for_is_opened_late_and_says_so(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7)
    world.at(0.1)
    (alarm,) = missed(world.store.launches.checkpoints(), world.clock[0])
    assert "Day 0 of m3 on tiny was due 2026-12-01 09:00 UTC and has not begun" in alarm.sentence

    world.day(0.1)
    first = world.store.launches.checkpoints()[0]
    assert timedelta(hours=2.4) == late_by(first)
    assert () == missed(world.store.launches.checkpoints(), world.clock[0])
    assert 8640.0 == world.report()["days"][0]["late_s"]
    assert any("2.4 hours late" in line for line in world.heard.lines)


def test_days_that_were_slept_through_are_all_measured_once_the_first_day_first(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7)
    opened = world.day(9)

    assert ["m3 on tiny day 0", "m3 on tiny day 7"] == [one.label for one in opened]
    told = world.report()
    assert ["reported", "reported"] == [day["state"] for day in told["days"]]
    assert "its Build is that of day 0" == told["days"][1]["why_no_comparison"]


def test_within_a_quarter_of_an_hour_nothing_is_missed_and_nothing_late(world: Released) -> None:
    world.commit("Begin")
    world.launch(0)
    world.clock[0] = DAY_0 + timedelta(minutes=15)
    assert () == missed(world.store.launches.checkpoints(), world.clock[0])
    world.fire()
    assert None is late_by(world.store.launches.checkpoints()[0])


def test_a_checkpoint_that_does_not_end_is_an_alarm(world: Released) -> None:
    world.commit("Begin")
    world.launch(0)
    world.at(0)
    world.fire()
    opened = world.store.launches.checkpoints()

    assert () == missed(opened, DAY_0 + timedelta(hours=24))
    (alarm,) = missed(opened, DAY_0 + timedelta(hours=24, minutes=16))
    assert "has not ended after 24 hours (due)" in alarm.sentence


def test_software_that_became_faster_is_told_from_a_machine_that_became_slower(world: Released) -> None:
    world.commit("Begin", token_s=0.010)
    world.launch(0, 7)
    world.day(0)
    world.commit("Fuse the norms", token_s=0.008)
    world.machine.slower, world.machine.kernel = 1.25, "6.9"
    world.day(7)

    told = world.report()
    cell = rows(told, "chat", "itl_s")["7"]
    assert ("interleaved", "better") == (cell["against"]["basis"], cell["against"]["outcome"])
    assert -0.2 == pytest.approx(cell["against"]["effect"], abs=0.005)
    assert cell["against"]["interval"][0] < -0.2 < cell["against"]["interval"][1]
    assert 0.010 == pytest.approx(cell["value"], rel=0.005)  # by the Runs of the two days, nothing would have happened
    assert ("worse", 0.25) == (cell["machine"]["outcome"], pytest.approx(cell["machine"]["effect"], abs=0.01))
    machine = told["days"][1]["machine"]
    assert "drifted" == machine["outcome"]
    assert "kernel 6.1 → 6.9" == machine["changed"]
    assert {"chat": "better", "agentic": "better", "accuracy": "same"} == {
        name: one["outcome"] for name, one in told["days"][1]["classes"].items()
    }


def test_a_machine_that_was_replaced_is_named_and_its_runs_are_not_compared(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7, minutes=0.0)
    world.day(0)
    world.commit("Fuse the norms", token_s=0.008)
    world.machine.hardware = {"cpu": "y", "cores": "4"}
    world.day(7)

    told = world.report()
    cell = rows(told, "chat", "itl_s")["7"]["against"]
    assert ("runs of both days", "not comparable") == (cell["basis"], cell["outcome"])
    assert "the launch gives it no device minutes" == told["days"][1]["why_no_comparison"]


def test_without_a_comparison_the_runs_of_both_days_answer_and_say_so(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7, minutes=0.0)
    world.day(0)
    world.commit("Fuse the norms", token_s=0.008)
    world.day(7)

    told = world.report()
    cell = rows(told, "chat", "itl_s")["7"]["against"]
    assert ("runs of both days", "better") == (cell["basis"], cell["outcome"])
    assert "how nights differ is not known yet" in cell["reason"]
    assert "same items" == rows(told, "accuracy", "nll_nats")["7"]["against"]["basis"]
    assert "not measured" == told["days"][1]["machine"]["outcome"]


def test_faster_but_worse_in_quality_is_worse_and_loses_the_floor(world: Released) -> None:
    world.commit("Begin", token_s=0.010)
    world.launch(0, 7)
    world.day(0)
    world.commit("Round the cache", token_s=0.007, nll=1.05)
    world.day(7)

    told = world.report()
    day = told["days"][1]
    assert "better" == rows(told, "chat", "itl_s")["7"]["against"]["outcome"]
    assert "worse" == day["classes"]["accuracy"]["outcome"]
    assert "lost" == day["quality"]["floor"]
    assert "texts nll_nats" in day["quality"]["reason"]
    assert told["sentence"].endswith("the floor of quality is lost.")
    assert ("same", "") == (day["machine"]["outcome"], day["machine"]["changed"])

    console = Console(record=True, width=220, file=StringIO())
    launch_tables.show(console, [told, told], side_by_side([told, told]))
    text = console.export_text()
    assert 2 == text.count("Day 7, quality: the floor is lost (texts nll_nats: ")
    assert 2 == text.count("Day 0 → 7, commit ")
    assert "side by side: each against its own first day" in text
    assert text.count("▼ worse (interleaved)") == 4  # once in each report, once for each side by side


def test_the_report_tells_commits_flags_and_weights_that_changed(world: Released) -> None:
    world.commit("Begin")
    kernel(world, "0" * 64)
    world.launch(0, 7)
    world.day(0)
    world.commit("Fuse the norms", token_s=0.008)
    last = world.commit("Tidy up", token_s=0.008)
    engine, model = world.context.config.engines[0], world.context.config.models[0]
    flags = replace(engine, launch=replace(engine.launch, command=(*engine.launch.command, "--fast")))
    quantised = replace(model, quantisation="Q4_0")
    world.context = replace(world.context, config=replace(world.context.config, engines=(flags,), models=(quantised,)))
    kernel(world, "1" * 64)
    world.day(7)

    (span,) = world.report()["changed"]
    assert (0, 7, 2) == (span["from"], span["to"], span["commits_total"])
    assert ["Tidy up", "Fuse the norms"] == [one["title"] for one in span["commits"]]
    items = {one["what"]: one["after"] for one in span["items"]}
    assert last[:12] == items["engine"]
    assert items["flags"].endswith("--fast")
    assert "Q4_0" == items["model quantisation"]
    assert "1" * 12 == items["kernel rope"]


def kernel(world: Released, revision: str) -> None:
    """Nights measure Kernels too, and the newest Revision of this one is that."""
    folder = world.repository.parent / "kernels"
    folder.mkdir(exist_ok=True)
    (folder / "rope.py").touch()
    world.store.subjects.record("rope", SubjectKind.KERNEL, "main", [Revision(revision, int(revision[0]))])
    world.context = replace(world.context, config=replace(world.context.config, kernels=True, kernels_folder=folder))


def test_a_change_of_the_series_between_two_days_is_what_its_build_brought(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7, suites=("speed",), minutes=0.0)
    world.day(0)
    fused = world.commit("Fuse the norms", token_s=0.008)
    (last,) = world.day(7)
    series = next(row.info.id for row in world.store.pages.series_rows() if row.info.metric.name == "itl_s")
    points = world.store.judgements.history(series)
    step = Change(1, ChangeKind.STEP, ChangeStatus.DETECTED, 0.01, 0.008, -0.2, (-0.21, -0.19), flagged_at=1)
    said = Judgement(Verdict(Outcome.BETTER, "as the judge would say after more nights", "told", 2, -0.2), (step,))
    world.store.judgements.write(series, last, points, said, world.clock[0])

    (brought,) = world.report()["brought"]
    assert (fused, "Fuse the norms", [0, 7]) == (brought["revision"], brought["title"], brought["between"])
    assert (-0.2, [-0.21, -0.19], False) == (brought["effect"], list(brought["interval"]), brought["worse"])

    number = world.store.todos.add(1, "Fuse the norms", "attention kernels", "ada", world.clock[0])
    world.store.todos.move(number, TodoMove(TodoState.DONE, change=brought["change"]), world.clock[0])
    (todo,) = world.report()["todo"]
    assert ("chat itl_s", "better", -0.2) == tuple(todo["measured"][name] for name in ("what", "outcome", "effect"))


def test_what_could_not_be_measured_is_told_and_compared_with_nothing(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7)
    world.day(0)
    world.commit("Break the long ones", token_s=0.008)
    world.machine.fails.add("agent")
    for _ in range(4):
        world.day(7)
        world.clock[0] += timedelta(hours=1)
        world.work_off()

    told = world.report()
    assert ["agentic agent"] == [one["what"] for one in told["days"][1]["missing"]]
    assert {"chat", "texts"} == {run.workload for run in _comparison_runs(world)}


def _comparison_runs(world: Released) -> list:
    (compared,) = world.store.pages.occasions(OccasionKind.COMPARE)
    return list(world.store.pages.occasion(compared.occasion).runs)


def test_a_first_day_that_gave_nothing_leaves_nothing_to_compare_with(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7, suites=("speed",))
    world.machine.fails.add("chat")
    for hour in range(6):
        world.day(hour / 24)
    world.machine.fails.clear()
    world.commit("Mend it")
    world.day(7)

    told = world.report()
    assert ["reported", "reported"] == [day["state"] for day in told["days"]]
    assert "day 0 has no Build that could be measured" == told["days"][1]["why_no_comparison"]
    assert "Day 7 is measured; nothing can be held against it yet." == told["sentence"]


def test_the_minutes_of_a_launch_bound_its_comparison(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, 7, minutes=0.7)  # a block of one Workload takes 36 seconds, and two are 72
    world.day(0)
    world.commit("Fuse the norms", token_s=0.008)
    world.day(7)

    assert 4 == len(_comparison_runs(world))


def test_a_rehearsal_is_measured_on_random_weights_and_enters_a_series_of_its_own(world: Released) -> None:
    world.commit("Begin")
    world.launch(-7, 0)
    (opened,) = world.day(-7)
    world.day(0)

    assert {"m3-rehearsal"} == {run.model for run in world.store.pages.occasion(opened).runs}
    told = world.report()
    assert [True, False] == [day["rehearsal"] for day in told["days"]]
    assert "a rehearsal on random weights is held against nothing" == told["days"][0]["why_no_comparison"]
    assert {"m3", "m3-rehearsal"} == {row.info.key.model for row in world.store.pages.series_rows()}
    assert 0 == told["first_day"]


def test_a_launch_that_was_postponed_moves_and_one_that_has_begun_does_not(world: Released) -> None:
    world.commit("Begin")
    launch = world.launch(-7, 0, 7)
    world.day(-7)
    later = replace(launch, at=launch.at + timedelta(days=2))
    assert Declared.CHANGED == declare(world.context, later)
    assert [launch.due_at(-7), later.due_at(0), later.due_at(7)] == [one.due_at for one in world.store.launches.checkpoints()]
    world.day(2)
    with pytest.raises(BadInputError, match="a launch that has begun cannot move"):
        declare(world.context, replace(launch, at=launch.at + timedelta(days=4)))
    assert Declared.CHANGED == declare(world.context, replace(later, days=(-7, 0, 7, 30)))
    assert Declared.SAME == declare(world.context, replace(later, days=(-7, 0, 7, 30)))


def test_a_launch_of_the_file_is_followed_and_days_before_it_was_seen_are_not_owed(store: Store, tmp_path: Path) -> None:
    world = released(store, tmp_path, [ModelLaunch("m3", "tiny", DAY_0, (0, 7))])
    world.commit("Begin")
    world.at(3)
    assert () == world.fire()

    told = world.report()
    assert ["not owed", "to come"] == [day["state"] for day in told["days"]]
    assert [] == told["alarms"]
    assert ["m3 on tiny day 7"] == [one.label for one in world.day(7)]
    assert "it is the day" not in world.report()["days"][1]["why_no_comparison"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"model": "m4"}, "there is no model 'm4'; the configuration has m3"),
        ({"engine": "huge"}, "there is no engine 'huge'; the configuration has tiny"),
        ({"suites": ("nothing",)}, "there is no suite 'nothing'"),
        ({"at": datetime(2026, 10, 1, tzinfo=UTC)}, r"day 0, 7, 14 of this launch was due before now .* an --at that is to come"),
        ({"at": datetime(2026, 10, 26, tzinfo=UTC)}, r"day 0 of this launch was due before now .* --days 7,14"),
    ],
)
def test_a_launch_that_cannot_be_is_refused_in_a_sentence(world: Released, change: dict, told: str) -> None:
    given = replace(ModelLaunch("m3", "tiny", DAY_0), **change)
    with pytest.raises(BadInputError, match=told):
        declare(world.context, given)
    assert () == world.store.launches.every()


def test_an_engine_that_loads_no_gguf_is_not_rehearsed(store: Store, tmp_path: Path) -> None:
    world = released(store, tmp_path, dialect="openai")
    with pytest.raises(BadInputError, match="GGUF, which the engine tiny does not load"):
        world.launch(-7, 0)


def test_weights_that_are_not_out_on_day_0_are_a_finding(world: Released) -> None:
    world.commit("Begin")
    world.launch(0)
    announced = replace(world.context.config.models[0], file="", sha256="")
    world.context = replace(world.context, config=replace(world.context.config, models=(announced,)))
    (opened,) = world.day(0)

    (finding,) = world.store.occasions.findings(opened)
    assert "the weights of m3 are not there on day 0" in finding.sentence
    assert "reported" == world.report()["days"][0]["state"]


def test_an_engine_that_left_the_configuration_is_a_finding(world: Released) -> None:
    world.commit("Begin")
    world.launch(0)
    world.context = replace(world.context, config=replace(world.context.config, engines=()))
    (opened,) = world.day(0)

    (finding,) = world.store.occasions.findings(opened)
    assert "the configuration has no such engine any more" in finding.sentence


def test_a_run_that_may_be_tried_again_while_the_stages_look_is_not_closed_as_missing(world: Released) -> None:
    world.commit("Begin")
    world.launch(0, suites=("speed",))
    world.at(0)
    (opened,) = world.fire()
    while any(stage(world.context) for stage in (watch, plan, build)):
        pass
    claimed = world.store.runs.claim(device_class(world.context.config), WORKER, world.clock[0], LEASE)
    assert claimed is not None
    world.store.runs.put_back(claimed, "the machine was busy", world.clock[0] + timedelta(seconds=30), world.clock[0])
    measured: list[bool] = []

    def later() -> datetime:
        """Every question takes seven seconds: the Run's time comes between two of them."""
        world.clock[0] += timedelta(seconds=7)
        return world.clock[0]

    stages = {
        "measure": lambda context: measured.append(world.measure(context)) or measured[-1],
        "judge": judge,
        "report": report,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("perfd.stages.night.STAGES", stages | {"confirm": confirm})
        patch.setattr("perfd.stages.night.WAIT_S", 0.0)
        run_to_report(replace(world.context, now=later), opened)

    assert [RunState.DONE] == [run.state for run in world.store.pages.occasion(opened).runs]
