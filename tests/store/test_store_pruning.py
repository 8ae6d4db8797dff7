from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text, update
from store_world import World, commit, done, plan, reduced, samples

from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.errors import PerfdError
from perfd.store import tables
from perfd.store.pruning import first_kept, old_months, prune

OLD = datetime(2025, 3, 10, 2, tzinfo=UTC)
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
BEFORE = first_kept(NOW, 13)


def measured(world: World, at: datetime, number: int, *values: float, reported: bool = True) -> str:
    """A night at that time; the key of its Run."""
    world.now = at
    world.open(Occasion(OccasionKind.NIGHT, at), plan(number))
    if world.store.pages.status().builds_queued:
        world.build()
    claimed, results = world.claim(), done(at, samples(*values))
    world.store.runs.finish(claimed, results, reduced(results), at)
    if reported:
        with world.store.engine.begin() as connection:
            moved = {"state": OccasionState.REPORTED.value, "closed_at": at}
            connection.execute(update(tables.occasion).where(tables.occasion.c.nominal_at == at).values(**moved))
    return claimed.key


def values(world: World, run: str) -> tuple[float, ...]:
    page = world.store.pages.run_page(run)
    assert page is not None
    return page.samples[0].values if page.samples else ()


def partitions(world: World) -> list[str]:
    with world.store.engine.begin() as connection:
        asked = "SELECT relname FROM pg_class WHERE relname LIKE 'sample\\_2%' AND relkind = 'r' ORDER BY 1"
        return list(connection.execute(text(asked)).scalars())


@pytest.mark.parametrize(
    ("months", "expected"),
    [(1, (2026, 11)), (2, (2026, 10)), (11, (2026, 1)), (12, (2025, 12)), (13, (2025, 11)), (24, (2024, 12))],
)
def test_so_many_months_are_kept_with_the_current_one(months: int, expected: tuple[int, int]) -> None:
    assert datetime(*expected, 1, tzinfo=UTC) == first_kept(NOW, months)


def test_an_old_month_goes_and_its_points_stay(world: World) -> None:
    old = measured(world, OLD, 0, 1.0, 2.0, 3.0)
    young = measured(world, NOW - timedelta(days=3), 1, 4.0)

    (seen,) = old_months(world.store.engine, BEFORE)
    assert ("2025-03", 3, 0) == (seen.month, seen.samples, seen.needed)
    assert (1.0, 2.0, 3.0) == values(world, old)  # only looked at

    assert [seen] == list(prune(world.store.engine, BEFORE))

    assert ["sample_2026_11"] == partitions(world)
    assert ((), (4.0,)) == (values(world, old), values(world, young))
    with world.store.engine.begin() as connection:
        asked = select(tables.point.c.value).order_by(tables.point.c.measured_at)
        assert [2.0, 4.0] == list(connection.execute(asked).scalars())
    assert [] == list(prune(world.store.engine, BEFORE))


def test_the_same_results_after_pruning_still_change_nothing(world: World) -> None:
    measured(world, OLD, 0, 1.0)
    list(prune(world.store.engine, BEFORE))

    world.store.occasions.open(Occasion(OccasionKind.NIGHT, OLD), OLD, OccasionState.WATCHED)
    assert world.store.runs.claim("cpu:x:t1", "w", NOW, timedelta(minutes=1)) is None


def test_what_an_open_regression_needs_stays_until_it_is_answered(world: World) -> None:
    old = measured(world, OLD, 0, 1.0, 2.0)
    with world.store.engine.begin() as connection:
        run = connection.execute(select(tables.run)).one()
        series = connection.execute(select(tables.series.c.id)).scalar_one()
        change = connection.execute(
            tables.change.insert()
            .values(
                series_id=series,
                build_id=run.build_id,
                run_id=run.id,
                kind="step",
                status="detected",
                before=1.0,
                after=2.0,
                effect=1.0,
                found_in=run.occasion_id,
                seen_in=run.occasion_id,
                detected_at=OLD,
                worse=True,
            )
            .returning(tables.change.c.id)
        ).scalar_one()
    regression = world.store.regressions.open(
        Occasion(OccasionKind.NIGHT, OLD), [change], "slower", actor="rule", reason="seen", now=OLD
    )
    assert regression is not None

    assert [] == list(prune(world.store.engine, BEFORE))
    assert (1.0, 2.0) == values(world, old)

    with world.store.engine.begin() as connection:
        connection.execute(update(tables.regression).values(state="accepted"))
    assert ["2025-03"] == [one.month for one in prune(world.store.engine, BEFORE)]


def test_a_pinned_release_stays_and_the_rest_of_its_month_goes(world: World) -> None:
    pinned = measured(world, OLD, 0, 1.0, 2.0)
    other = measured(world, OLD + timedelta(days=1), 1, 3.0)

    gone = list(prune(world.store.engine, BEFORE, [("llama", commit(0).name)]))

    assert [("2025-03", 1, 2)] == [(one.month, one.samples, one.needed) for one in gone]
    assert ((1.0, 2.0), ()) == (values(world, pinned), values(world, other))
    assert [] == list(prune(world.store.engine, BEFORE, [("llama", commit(0).name)]))


def test_a_pin_is_read_as_text_and_of_its_own_engine(world: World) -> None:
    measured(world, OLD, 0, 1.0)

    assert 1 == len(old_months(world.store.engine, BEFORE, [("llama", "%"), ("vllm", commit(0).name)]))


def test_what_is_not_reported_stays(world: World) -> None:
    measured(world, OLD, 0, 1.0, reported=False)

    assert [] == list(prune(world.store.engine, BEFORE))


def test_a_reader_keeps_a_month_for_the_next_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perfd.store.pruning.WAIT_S", 1)
    measured(world, OLD, 0, 1.0)
    with world.store.engine.connect() as reader:
        reader.execute(text("SELECT count(*) FROM sample"))
        with pytest.raises(PerfdError, match="2025-03: somebody has read or written Samples for 1 s"):
            list(prune(world.store.engine, BEFORE))

    assert ["2025-03"] == [one.month for one in prune(world.store.engine, BEFORE)]
