"""The short form of `make chaos`, and proof that its books can fail."""

from datetime import timedelta
from pathlib import Path

import pytest
from books import Books, left_open
from chaos import run
from sqlalchemy import Connection, text
from store_world import FIRST_NIGHT, World, done, night, plan, reduced, samples
from town import REQUESTS, WARMUPS, WORKLOADS

from perfd.domain.occasion import OccasionState
from perfd.store import Store


def test_a_few_blows_break_nothing(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("chaos.PAUSE_S", (0.2, 1.5))

    chaos = run(open_folder / "chaos", points=4, seed=5, aa=False, minute_s=2.0)

    assert [] == chaos.violations
    assert "violations = 0" in capsys.readouterr().out


@pytest.fixture
def told_night(store: Store) -> Store:
    """A night with as many done Runs as the town's have, reported."""
    world = World(store)
    (one,) = plan(0).runs
    runs = [
        type(one)(one.build, type(one.workload)(**{**vars(one.workload), "name": name}), one.device_class, one.model)
        for name in WORKLOADS
    ]
    world.open(night(), plan(0, runs=runs))
    world.build()
    for _ in runs:
        results = done(world.now, samples(*[1.0] * (REQUESTS - WARMUPS)))
        store.runs.finish(world.claim(), results, reduced(results), world.now)
    store.occasions.move(night(), OccasionState.PLANNED, OccasionState.JUDGED, world.now)
    store.occasions.close(night(), {"runs": {"done": len(WORKLOADS)}}, world.now)
    return store


def violations(store: Store, *statements: str, due: int = 1) -> list[str]:
    """What the books say after the statements; they are taken back."""
    with store.engine.connect() as connection:
        books = Books()
        books.check(connection, [FIRST_NIGHT])
        for statement in statements:
            connection.execute(text(statement))
        found = books.check(connection, [FIRST_NIGHT + timedelta(days=number) for number in range(due)]) + _open(connection)
        connection.rollback()
    return found


def _open(connection: Connection) -> list[str]:
    return [one for one in left_open(connection) if "lock" not in one]  # the test session's server is not the town's


def test_books_that_balance_say_nothing(told_night: Store) -> None:
    assert [] == violations(told_night)


BACK = "UPDATE run SET state = 'queued', finished_at = NULL WHERE id = (SELECT min(id) FROM run)"
CLAIMED = "claimed_by = 'a:1:1', lease_until = now()"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (BACK, "a Run of a reported occasion has no outcome"),
        (BACK.replace("'queued'", f"'claimed', {CLAIMED}"), "a Run is still claimed"),
        (
            "INSERT INTO sample SELECT run_id, metric_id, place, measured_at - interval '1 second', value FROM sample LIMIT 1",
            "a Sample stands there twice",
        ),
        ("DELETE FROM point", "a done Run of a night lacks Points"),
        ("UPDATE run SET state = 'failed', failure = 'died'", "a Run without a result has Points"),
        ("DELETE FROM sample WHERE place = 0", "a done Run has not one Sample a request"),
        ("UPDATE occasion SET closed_at = now()", "was reported twice"),
        ('UPDATE occasion SET report = \'{"runs": {"done": 1}}\'', "a report counts other Runs than there are"),
        (f"UPDATE build SET state = 'building', artifact_path = NULL, {CLAIMED}", "a Build is still being made"),  # noqa: S608  # ours
    ],
)
def test_books_that_do_not_balance_say_so(told_night: Store, statement: str, told: str) -> None:
    assert any(told in one for one in violations(told_night, statement)), violations(told_night, statement)


def test_a_night_that_was_never_opened_is_missed(told_night: Store) -> None:
    assert ["the night of 2026-11-21 was never opened"] == violations(told_night, due=2)
