import json
from datetime import timedelta

from sqlalchemy import event, text
from store_world import CHAT, CPU, FIRST_NIGHT, MODEL, World, commit, done, night, plan, planned_run, reduced, samples, spec

from perfd.domain.build import BuildState
from perfd.domain.environment import Device, Environment
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import Workload, WorkloadClass
from perfd.domain.verdict import Judgement, Outcome, Verdict
from perfd.store import SeriesFilter, Store
from perfd.store.pages import OccasionFilter, Window

UNSURE = Verdict(Outcome.UNSURE, "3 Points, 6 are needed", "test/1", 3)


def test_an_empty_store_shows_empty_pages(store: Store) -> None:
    status = store.pages.status()

    store.pages.ping()
    assert (None, (), (), 0) == (status.last_night, status.open_occasions, status.queue, status.builds_queued)
    assert () == store.pages.series_rows() == store.pages.nights() == store.pages.regressions()
    assert store.pages.series_page(1) is None
    assert store.pages.run_page("ab" * 32) is None
    assert store.pages.build_page("ab" * 32) is None
    assert store.pages.occasion_named("night:2026-11-20T02:00:00Z") is None
    assert store.pages.regression(1) is None


def test_a_line_of_the_list_has_latest_previous_verdict_and_sparkline(world: World) -> None:
    for number in range(70):
        world.measured_night(1.0 + number)
    world.store.judgements.write(1, night(69), world.store.judgements.history(1), Judgement(UNSURE), world.now)

    [row] = world.store.pages.series_rows()

    assert row.previous is not None
    assert (70.0, 69.0) == (row.latest.point.value, row.previous.point.value)
    assert tuple(1.0 + number for number in range(10, 70)) == row.values
    assert UNSURE == row.verdict
    assert ("llama", "main", "smol", "Q4_1", CPU) == (
        row.info.key.subject,
        row.info.key.branch,
        row.info.key.model,
        row.info.key.quantisation,
        row.info.key.device_class,
    )
    assert (CHAT.identity, "quick", "chat", SubjectKind.ENGINE) == (
        row.info.key.workload,
        row.info.suite,
        row.info.workload_name,
        row.info.subject_kind,
    )
    assert ("bench-1", "Commit 69", night(69).nominal_at) == (row.latest.host, row.latest.title, row.latest.nominal_at)


def test_the_list_asks_the_same_few_questions_however_long_it_is(world: World) -> None:
    asked = []
    event.listen(world.store.engine, "before_cursor_execute", lambda *call: asked.append(call[2]))
    counts = []
    for number in range(3):
        workloads = [Workload("quick", f"w{number}.{n}", WorkloadClass.CHAT, {}, n, "") for n in range(4)]
        world.open(night(number), plan(number, runs=[planned_run(number, one) for one in workloads]))
        world.build()
        for _ in workloads:
            results = done(world.now, samples(1.0), samples(2.0, name="itl_s"))
            world.store.runs.finish(world.claim(), results, reduced(results), world.now)
        asked.clear()
        assert (number + 1) * 8 == len(world.store.pages.series_rows())
        counts.append(len(asked))

    assert 1 == len(set(counts))
    assert max(counts) <= 7


def test_series_are_chosen_by_every_part_of_their_key(world: World) -> None:
    world.measured_night(1.0)
    choices = world.store.pages.choices()

    for part, values in choices.items():
        assert 1 == len(values)
        assert 1 == len(world.store.pages.series_rows(SeriesFilter(**{part: values[0]})))
        assert () == world.store.pages.series_rows(SeriesFilter(**{part: "something else"}))


def test_the_page_of_a_series_has_its_points_in_order(world: World) -> None:
    for value in (1.0, 3.0, 2.0):
        world.measured_night(value, value, value, value, value, value + 1)

    page = world.store.pages.series_page(1)

    assert page is not None
    assert CHAT == page.workload
    assert [1.0, 3.0, 2.0] == [row.value for row in page.points]
    assert (2.0, 3.0) == page.points[-1].interval
    assert (None, None, ()) == (page.verdict, page.verdict_occasion, page.changes)
    assert 2 == len(getattr(world.store.pages.series_page(1, last=2), "points", ()))


def test_the_page_of_a_run_has_all_that_was_measured(world: World) -> None:
    world.open(night(), plan(0))
    world.build()
    claimed = world.claim()
    results = done(
        world.now, samples(3.0, 1.0, 2.0), samples(9.0, name="ready_s"), harness_version="0.1", extra={"asked_rps": 2.5}
    )
    world.store.runs.finish(claimed, results, reduced(results), world.now)

    page = world.store.pages.run_page(claimed.key)

    assert page is not None
    assert {one.name: one for one in results.samples} == {one.name: one for one in page.samples}
    assert results.environment == page.environment
    assert results.device_states == page.device_states
    assert {"ttft_s": 2.0, "ready_s": 9.0} == {name: point.value for name, (_, point) in page.points.items()}
    assert (CHAT, spec(0), {"asked_rps": 2.5}, "0.1", "1") == (
        page.workload,
        page.spec,
        page.extra,
        page.harness_version,
        page.definitions_version,
    )
    assert (RunState.DONE, "llama", commit(0).name, MODEL.name) == (
        page.run.state,
        page.run.subject,
        page.run.revision,
        page.run.model,
    )


def test_the_page_of_a_build_lists_its_runs(world: World) -> None:
    world.measured_night(1.0)
    world.measured_night(1.0, number=0)

    page = world.store.pages.build_page(spec(0).digest)

    assert page is not None
    assert (spec(0), BuildState.BUILT, "Commit 0", 12.5) == (page.spec, page.state, page.title, page.seconds)
    assert [night(0).name, night(1).name] == [run.occasion for run in page.runs]


def test_the_final_table_tells_what_was_built_measured_judged_and_is_missing(world: World) -> None:
    world.measured_night(1.0)
    other = Workload("quick", "long", WorkloadClass.LONG_CONTEXT, {}, 1, "")
    world.open(night(1), plan(0, runs=[planned_run(0), planned_run(0, other), planned_run(0, other, "gpu:h200")]))
    results = done(world.now, samples(2.0))
    world.store.runs.finish(world.claim(), results, reduced(results), world.now)
    world.store.judgements.write(1, night(1), world.store.judgements.history(1), Judgement(UNSURE), world.now)
    world.store.occasions.note(night(1), Finding("watch", "vllm", "its source did not answer"), world.now)
    world.store.runs.close_missing(night(1), "nobody came", world.now)

    summary = world.store.pages.occasion(night(1))

    assert {"queued": 0, "claimed": 0, "done": 1, "failed": 2, "void": 0} == summary.row.runs
    assert 2 == summary.row.missing == len(summary.missing)
    assert {Outcome.UNSURE: 1} == summary.verdict_counts
    assert [2.0] == [judged.latest.point.value for judged in summary.verdicts if judged.latest]
    assert ["its source did not answer"] == [finding.sentence for finding in summary.findings]
    assert [(BuildState.BUILT, True)] == [(one.state, one.cached) for one in summary.builds]
    assert {FailureKind.MISSING} == {run.failure for run in summary.missing}
    assert summary == world.store.pages.occasion_named(night(1).name)


def test_the_status_counts_what_waits(world: World) -> None:
    compare = Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "a..b")
    world.open(night(), plan(0, 1))
    world.open(compare, plan(2))
    world.build()
    world.claim()

    status = world.store.pages.status()

    assert status.last_night is not None
    assert night() == status.last_night.row.occasion
    assert [(CPU, 2, 1)] == [(one.device_class, one.queued, one.claimed) for one in status.queue]
    assert (2, 0) == (status.builds_queued, status.builds_building)
    assert {night(), compare} == {row.occasion for row in status.open_occasions}


def test_hosts_of_one_class_share_a_series_and_stay_tellable(world: World) -> None:
    world.measured_night(1.0)
    world.measured_night(
        2.0, environment=Environment(Device("bench-2", "cpu", CPU), {"cpu": "x", "cores": "2"}, "performance", {"kernel": "6.2"})
    )

    page = world.store.pages.series_page(1)

    assert page is not None
    assert ["bench-1", "bench-2"] == [row.host for row in page.points]
    epochs = world.store.pages.series_columns(1, Window()).epochs
    assert [{"index": 1, "word": "other driver or libraries"}] == json.loads(epochs)


def test_comparisons_are_narrowed_and_paged_with_their_verdicts_alone(store: Store) -> None:
    for number, outcome in enumerate((Outcome.WORSE, Outcome.SAME, Outcome.WORSE)):
        one = Occasion(OccasionKind.COMPARE, FIRST_NIGHT + timedelta(days=number), f"a..{number}")
        store.occasions.open(one, FIRST_NIGHT)
        store.occasions.move(one, OccasionState.DUE, OccasionState.JUDGED, FIRST_NIGHT)
        store.occasions.close(one, {"verdict": {"outcome": outcome}, "rows": ["a long one"]}, FIRST_NIGHT)
    store.occasions.open(Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "under way"), FIRST_NIGHT)

    total, rows = store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE, outcome="worse"), 0, 1)
    whole = store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE, "reported"), 2, 9, whole=True)

    assert (2, ["a..2"], {"verdict": {"outcome": "worse"}}) == (total, [row.occasion.label for row in rows], rows[0].report)
    assert (3, ["a..0"]) == (whole[0], [row.occasion.label for row in whole[1]])
    assert ["a long one"] == (whole[1][0].report or {})["rows"]
    assert 4 == store.pages.occasion_list(OccasionFilter(OccasionKind.COMPARE), 0, 1)[0]
    assert 0 == store.pages.occasion_list(OccasionFilter(OccasionKind.NIGHT), 0, 1)[0]


def test_a_decimated_series_gives_the_very_points_that_the_whole_one_holds(world: World) -> None:
    for place in range(9):
        world.measured_night(1.0 + place % 3)
    with world.store.engine.begin() as connection:  # a Point is found by its time to the microsecond
        connection.execute(text("UPDATE point SET measured_at = measured_at + run_id * interval '7.000013 seconds'"))
    whole = world.store.pages.series_columns(1, Window())
    few = world.store.pages.series_columns(1, Window(start=2, most=4))
    places, told = json.loads(few.data)[0], json.loads(whole.points)

    assert (9, 7) == (few.total, few.many)
    assert (2, 8) == (places[0], places[-1])
    assert len(places) == few.shown < 7
    assert {name: [column[place] for place in places] for name, column in told.items()} == json.loads(few.points)
    assert [[column[place] for place in places] for column in json.loads(whole.data)] == json.loads(few.data)
