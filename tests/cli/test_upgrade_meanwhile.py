"""The database is upgraded while a worker of the older perfd measures."""

import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from small_night import SmallNight
from sqlalchemy import text

from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.domain.run import RunState
from perfd.stages.context import Context, worker_name
from perfd.stages.night import STAGES, open_night
from perfd.store import Store, make_engine, migrate

TOMORROW = '''"""What tomorrow's perfd adds."""

from alembic import op

revision = "9999"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """New tables and columns; yesterday's code still runs."""
    op.execute("CREATE TABLE tomorrow (id bigint PRIMARY KEY)")
    for table in ("run", "build", "worker", "point", "occasion"):
        op.execute(f"ALTER TABLE {{table}} ADD COLUMN tomorrow text NOT NULL DEFAULT \'\'")
'''


def wait_until(asked: Callable[[], bool], most_s: float = 40.0) -> None:
    ends = time.monotonic() + most_s
    while not asked():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_a_worker_goes_on_while_the_database_is_upgraded_and_is_refused_once_it_starts_anew(
    small_night: SmallNight, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = small_night.environment["PERFD_DATABASE_URL"]
    engine = make_engine(url)
    config = load_config(small_night.folder / "perfd.toml", {"PERFD_STATE": str(small_night.state)})
    context = Context(config, Store(engine), Silent(), worker_name())
    night = open_night(context)
    for name in ("watch", "plan", "build"):
        assert STAGES[name](context)
    scripts = shutil.copytree(migrate.SCRIPTS, tmp_path / "db")
    (scripts / "versions" / "9999_tomorrow.py").write_text(TOMORROW.format(head=migrate.head()), encoding="utf-8")

    worker = small_night.start("work")
    wait_until(lambda: context.store.runs.counts(night)[RunState.CLAIMED] == 1)
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "SCRIPTS", scripts)
        migrate.upgrade(url)
    measuring = context.store.runs.counts(night)[RunState.CLAIMED]
    wait_until(lambda: context.store.runs.counts(night)[RunState.DONE] == 1)
    worker.send_signal(signal.SIGTERM)
    _, told = worker.communicate(timeout=30)
    again = small_night.run("work")

    assert 1 == measuring  # the upgrade came in the middle of the Run
    assert "Traceback" not in told
    with engine.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM point")).scalar_one() > 0
    assert 4 == again.returncode
    assert "a newer perfd" in again.stderr
    assert 1 == len(again.stderr.splitlines())
    engine.dispose()
