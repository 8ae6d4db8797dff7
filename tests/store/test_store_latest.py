"""How Series stand, kept in one row each: it must always say what the Points, Verdicts and Changes say."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import select, text
from store_world import ENVIRONMENT, FIRST_NIGHT, MODEL, World, commit, done, night, plan, reduced, samples, spec

from perfd.domain.arrival import Arrival, Identity
from perfd.domain.device import Cause
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Judgement, Outcome, Verdict
from perfd.errors import BadInputError
from perfd.store import SeriesFilter, tables
from perfd.store.pages import Question, Window
from perfd.store.pages.columns import extremes
from perfd.store.records import Written
from perfd.store.writing import AnyRow

ORDER = tuple(WorkloadClass)
SAME = Verdict(Outcome.SAME, "as before", "test/1", 9, effect=0.001, interval=(-0.01, 0.01), bar=0.03, noise=0.01)


def row(world: World) -> AnyRow:
    with world.store.engine.connect() as connection:
        return connection.execute(select(tables.series_latest)).one()


def arrival(revision: str, value: float, minutes: int = 0, **rest: str) -> Arrival:
    at = FIRST_NIGHT + timedelta(minutes=minutes)
    return Arrival(Identity("elsewhere", revision, "load", **rest), done(at, samples(value)), f"key-{revision}")


def test_the_row_follows_every_night(world: World) -> None:
    for number in range(3):
        world.measured_night(1.0 + number)
    found = row(world)

    assert (3.0, 2.0, [1.0, 2.0, 3.0]) == (found.value, found.previous, found.tail)
    assert (None, None, None) == (found.outcome, found.judged_in, found.week_ago)


def test_a_week_and_a_month_ago_are_remembered(world: World) -> None:
    for number in range(35):
        world.measured_night(float(number))

    assert (34.0, 27.0, 4.0) == (row(world).value, row(world).week_ago, row(world).month_ago)


def test_an_older_commit_that_is_measured_late_is_not_the_last(world: World) -> None:
    world.measured_night(1.0, number=5)
    world.measured_night(2.0, number=3)

    assert (1.0, 2.0, [2.0, 1.0]) == (row(world).value, row(world).previous, row(world).tail)


def test_a_commit_that_moves_on_its_branch_moves_the_row(world: World) -> None:
    world.measured_night(1.0)
    world.measured_night(2.0)
    world.store.subjects.record("llama", SubjectKind.ENGINE, "main", [replace(commit(0), ordinal=9)])

    assert (1.0, 2.0) == (row(world).value, row(world).previous)


def test_a_late_verdict_on_an_older_night_does_not_replace_a_newer_one(world: World) -> None:
    for value in (1.0, 2.0):
        world.measured_night(value)
    history = world.store.judgements.history(1)
    world.store.judgements.write(1, night(1), history, Judgement(SAME), world.now)
    world.store.judgements.write(1, night(0), history[:1], Judgement(replace(SAME, outcome=Outcome.UNSURE)), world.now)

    assert (Outcome.SAME, 0.01) == (row(world).outcome, row(world).noise)
    assert SAME == world.store.pages.series_rows()[0].verdict
    assert SAME == getattr(world.store.pages.series_page(1), "verdict", None)


def test_every_write_raises_the_version(world: World) -> None:
    versions = [world.store.pages.version()]
    world.measured_night(1.0)
    versions.append(world.store.pages.version())
    world.store.judgements.write(1, night(0), world.store.judgements.history(1), Judgement(SAME), world.now)
    versions.append(world.store.pages.version())

    assert 3 == len(set(versions))
    assert world.store.pages.version() == world.store.pages.version([1]) == versions[-1]
    assert world.store.pages.snapshot() == world.store.pages.snapshot()


def test_the_columns_of_all_series_are_those_whose_names_are_known_or_none(world: World) -> None:
    pages = world.store.pages
    empty = pages.latest_names()
    assert pages.latest_columns(SeriesFilter()) == pages.latest_of_all(empty)
    world.measured_night(1.0)
    assert pages.latest_of_all(empty) is None
    one = pages.latest_names()
    world.measured_night(2.0)
    assert pages.latest_columns(SeriesFilter()) == pages.latest_of_all(one)
    assert pages.latest_columns(SeriesFilter()) == pages.latest_columns(SeriesFilter(subject="llama"))
    other = arrival("r", 3.0)
    world.store.arrivals.take(other, reduced(other.results), world.now)
    assert pages.latest_of_all(one) is None


def test_a_series_that_was_void_and_came_back_has_a_version_it_never_had(world: World) -> None:
    seen = set()
    for number in range(3):
        world.measured_night(float(number), number=number)
        found = world.store.pages.version([1])
        assert found not in seen
        seen.add(found)
        world.store.devices.quarantine(ENVIRONMENT.device, Cause("it fell ill", FIRST_NIGHT), "ann", world.now)
        assert () == world.store.pages.some_rows([1])
        world.store.devices.release(ENVIRONMENT.device, "ann", "well again", world.now)


def test_two_writers_of_one_series_forget_no_point(world: World) -> None:
    arrivals = [arrival(f"r{number}", float(number), number, branch="main") for number in range(24)]
    first = arrival("first", 99.0)
    world.store.arrivals.take(first, reduced(first.results), world.now)
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda one: world.store.arrivals.take(one, reduced(one.results), world.now), arrivals))

    assert {Written.STORED} == {one.written for one in taken}
    assert sorted([99.0, *map(float, range(24))]) == sorted(row(world).tail)


def test_the_list_is_ordered_counted_and_filtered_in_the_database(world: World) -> None:
    for number in range(5):
        world.store.arrivals.take(arrival(f"r{number}", 1.0, branch=f"b{number}"), reduced(arrival("r", 1.0).results), world.now)
    pages = world.store.pages
    listed = pages.series_order(SeriesFilter(), ORDER)
    chosen = pages.series_order(SeriesFilter(branch="b3", outcome="none"), ORDER)

    assert (5, {WorkloadClass.BATCH: 5}) == (len(listed.ids), listed.counts)
    assert ["b3"] == [one.info.key.branch for one in pages.series_lines(chosen.ids.tolist())]
    assert 0 == len(pages.series_order(SeriesFilter(outcome="same"), ORDER).ids)


def test_a_list_says_of_a_series_what_its_whole_row_says(world: World) -> None:
    for value in (1.0, 2.0):
        world.measured_night(value)
    world.store.judgements.write(1, night(1), world.store.judgements.history(1), Judgement(SAME), world.now)
    [row], [line] = world.store.pages.some_rows([1, 77]), world.store.pages.series_lines([77, 1])

    assert (row.info, row.latest.point.value, row.latest.point.interval) == (line.info, line.value, line.interval)
    assert (row.previous and row.previous.point.value, row.values) == (line.previous, line.values)
    assert row.verdict is not None
    assert (row.verdict.outcome, row.verdict.effect, row.verdict.reason) == (line.outcome, line.effect, line.reason)


def test_results_from_elsewhere_are_taken_once(world: World) -> None:
    one = arrival("r1", 2.5)
    first = world.store.arrivals.take(one, reduced(one.results), world.now)
    again = world.store.arrivals.take(one, reduced(one.results), world.now)
    other = replace(one, results=done(FIRST_NIGHT, samples(3.5)))

    assert (Written.STORED, Written.ALREADY) == (first.written, again.written)
    assert first.run == again.run
    assert Written.REFUSED is world.store.arrivals.take(other, reduced(other.results), world.now).written
    page = world.store.pages.run_page(first.run)
    assert page is not None
    assert (2.5,) == page.samples[0].values
    assert ("elsewhere", "elsewhere", 2.5) == (page.run.subject, page.spec.recipe, page.points["ttft_s"][1].value)


def test_a_build_of_elsewhere_waits_for_no_builder_and_its_revisions_line_up(world: World) -> None:
    for name in ("a", "b", "c"):
        world.store.arrivals.take(arrival(name, 1.0), reduced(arrival(name, 1.0).results), world.now)

    assert world.store.builds.claim("w:1:1", world.now, timedelta(minutes=1)) is None
    assert ["a", "b", "c"] == [one.revision for one in world.store.judgements.history(1)]


def test_what_cannot_be_stored_leaves_nothing(world: World) -> None:
    world.measured_night(1.0)
    wrong = replace(samples(1.0), unit="parsec")
    one = Arrival(Identity("elsewhere", "r", "load"), done(FIRST_NIGHT, wrong), "key")

    with pytest.raises(BadInputError, match="parsec"):
        world.store.arrivals.take(one, {}, world.now)
    with world.store.engine.connect() as connection:
        assert 0 == connection.execute(text("SELECT count(*) FROM subject WHERE name = 'elsewhere'")).scalar()


def test_a_peak_survives_any_decimation() -> None:
    values = np.ones(10_007)
    values[[0, 4321, 9999, 10_006]] = [1.5, 9.0, -9.0, 1.5]
    for most in (2, 3, 10, 1000, 10_006):
        places = extremes(values, most)
        assert {0, 4321, 9999, 10_006} <= set(places.tolist())
        assert sorted(set(places.tolist())) == places.tolist()
        assert len(places) <= most + 4
    assert [0] == extremes(np.ones(1), 2).tolist()


def test_columns_and_charts_hold_the_same_points(world: World) -> None:
    import json

    for number in range(30):
        world.measured_night(float(number), float(number) + 0.5)
    whole = world.store.pages.series_columns(1, Window(most=1000))
    few = world.store.pages.series_columns(1, Window(most=4))
    [chart] = map(json.loads, world.store.pages.charts([1, 77], Window(start=10, stop=20, most=1000)))

    assert (30, 30, list(range(30))) == (whole.total, whole.shown, json.loads(whole.data)[0])
    assert few.shown < 12
    assert {0, 29} <= set(json.loads(few.data)[0])
    assert (list(range(10, 20)), 30) == (chart["data"][0], chart["total"])
    assert json.loads(whole.data)[1][10:20] == chart["data"][1]
    assert commit(29).name == json.loads(whole.points)["revision"][-1]
    assert 0 == world.store.pages.series_columns(1, Window(start=500)).shown


@pytest.mark.parametrize("most", [2, 1000])
def test_a_chart_holds_numbers_that_single_precision_has_no_room_for(world: World, most: int) -> None:
    import json

    values = [0.1, 1e60, 0.0, 1e-60, 0.3]
    for value in values:
        world.measured_night(value)
    [chart] = map(json.loads, world.store.pages.charts([1], Window(most=most)))

    assert [values[place] for place in chart["data"][0]] == chart["data"][1]
    assert len(chart["data"][0]) == len(chart["data"][4]) >= 3


def test_two_nights_lie_apart_by_their_own_bars(world: World) -> None:
    for value in (1.0, 1.1):
        world.measured_night(value)
    world.store.judgements.write(1, night(1), world.store.judgements.history(1), Judgement(SAME), world.now)
    pages = world.store.pages
    base, head, day = pages.side(night(0).name), pages.side(night(1).name), pages.side(f"{night(1).nominal_at:%Y-%m-%d}")
    assert base is not None
    assert head is not None
    found = pages.differing(Question(base, head))

    assert head == day
    assert {"worse": 1} == {word: number for word, number in found.counts.items() if number}
    assert (0.1, 0.01, "worse") == (pytest.approx(found.rows[0].effect), found.rows[0].noise, found.rows[0].word)
    assert found == pages.differing(Question(pages.side(spec(0).digest) or base, pages.side(spec(1).digest) or head))
    assert () == pages.differing(Question(base, head, SeriesFilter(subject="other"))).rows
    assert pages.side("no-such-night") is None


def test_an_effect_is_that_of_the_two_numbers_to_the_last_bit(world: World) -> None:
    base, head = 0.1 + 0.2, 0.7
    for value in (base, head):
        world.measured_night(value)
    pages = world.store.pages
    sides = [pages.side(night(number).name) for number in (0, 1)]
    assert sides[0] is not None
    assert sides[1] is not None

    assert head / base - 1.0 == pages.differing(Question(sides[0], sides[1])).rows[0].effect


def test_spans_count_nights_runs_and_movement(world: World) -> None:
    for number in range(9):
        world.measured_night(1.0 if number < 4 else 2.0)
    world.open(night(9), plan(0, runs=[]))
    world.store.judgements.write(1, night(8), world.store.judgements.history(1), Judgement(SAME), world.now)
    span = world.store.pages.spans({7: night(9).nominal_at - timedelta(days=6, hours=1)})[7]
    week, month = world.store.pages.movements(world.now)

    assert (7, 6) == (span.nights, sum(span.runs.values()))
    assert (0, 1, 0, 0) == (week.better, week.worse, week.within, week.unknown)
    assert 1 == month.unknown
    assert MODEL.name == world.store.pages.series_rows()[0].info.key.model
