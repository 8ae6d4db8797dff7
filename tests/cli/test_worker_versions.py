"""A worker of another version, and one that is asked to end."""

import signal
from collections.abc import Iterator

import pytest
from small_night import NEVER_READY, SmallNight
from sqlalchemy import update

from perfd import HARNESS_VERSION
from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.domain.run import RunState
from perfd.stages.context import Context, worker_name
from perfd.stages.night import STAGES, open_night
from perfd.store import Store, make_engine, tables


@pytest.fixture
def planned(small_night: SmallNight) -> Iterator[Context]:
    """A night that is planned and built."""
    engine = make_engine(small_night.environment["PERFD_DATABASE_URL"])
    small_night.write(NEVER_READY)
    config = load_config(small_night.folder / "perfd.toml", {"PERFD_STATE": str(small_night.state)})
    context = Context(config, Store(engine), Silent(), worker_name())
    open_night(context)
    for name in ("watch", "plan", "build"):
        assert STAGES[name](context)
    yield context
    engine.dispose()


def the_run(context: Context) -> tuple[str, int]:
    with context.store.engine.begin() as connection:
        row = connection.execute(tables.run.select()).one()
    return row.state, row.attempts


def test_a_worker_says_that_it_leaves_a_newer_perfds_runs_alone(small_night: SmallNight, planned: Context) -> None:
    with planned.store.engine.begin() as connection:
        connection.execute(update(tables.occasion).values(harness="99.0.0"))
    process = small_night.start("work")
    assert process.stderr is not None

    told = process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)

    sentence = f"perfd 99.0.0 planned runs that this {HARNESS_VERSION} leaves alone: upgrade this worker"
    assert f"measure  {sentence}\n" == told
    assert (RunState.QUEUED, 0) == the_run(planned)


def test_a_worker_that_is_asked_to_end_gives_its_run_back_and_ends_well(small_night: SmallNight, planned: Context) -> None:
    process = small_night.start("work", "--json")
    assert process.stderr is not None
    assert "measure  0/1 chat on tiny" in process.stderr.readline()

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)

    assert 0 == process.returncode
    assert (RunState.QUEUED, 0) == the_run(planned)
    assert [] == list(small_night.state.glob("runs/*"))
