"""A state folder on a disk that is really full: a Build, and a Run in the middle of a night, end in one sentence each."""

import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from small_night import SERVES, SmallNight
from sqlalchemy import select

from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.domain.build import BuildState
from perfd.domain.run import FailureKind, RunState
from perfd.stages.context import Context, worker_name
from perfd.stages.night import open_night
from perfd.store import Store, make_engine, tables

DISK_BYTES = 4_000_000
FILLS_THE_DISK = ["sh", "-c", "head -c 9000000 /dev/zero > ../filler; exec $0 $*", *SERVES]
STAGE = [sys.executable, "-m", "perfd"]


def small_disk(small_night: SmallNight) -> list[str]:
    return ["bwrap", "--dev-bind", "/", "/", "--size", str(DISK_BYTES), "--tmpfs", str(small_night.state)]


def works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    return (
        subprocess.run(["bwrap", "--dev-bind", "/", "/", "--size", "4096", "--tmpfs", "/mnt", "true"], check=False).returncode
        == 0
    )


pytestmark = pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or may make no file system here")


@pytest.fixture
def its_store(small_night: SmallNight) -> Iterator[Store]:
    small_night.state.mkdir()
    engine = make_engine(small_night.environment["PERFD_DATABASE_URL"])
    yield Store(engine)
    engine.dispose()


def on_a_small_disk(small_night: SmallNight, store: Store, script: str) -> None:
    config = load_config(small_night.folder / "perfd.toml", {"PERFD_STATE": str(small_night.state)})
    open_night(Context(config, store, Silent(), worker_name()))
    command = [*small_disk(small_night), "sh", "-ec", script, "sh", *STAGE]
    subprocess.run(command, cwd=small_night.folder, env=small_night.whole_environment(), check=True, capture_output=True)


def test_a_build_on_a_full_disk_fails_with_one_sentence(small_night: SmallNight, its_store: Store) -> None:
    full = (
        f'"$@" watch --once; "$@" plan --once; head -c {DISK_BYTES} /dev/zero > "$PERFD_STATE/filler" || true; "$@" build --once'
    )

    on_a_small_disk(small_night, its_store, full)

    night = its_store.occasions.last()
    assert night is not None
    (build,) = its_store.pages.occasion(night).builds
    assert BuildState.FAILED is build.state
    assert "the disk is full: free some space, or point PERFD_STATE at a larger disk" in build.log_tail


def test_a_run_that_finds_the_disk_full_is_tried_again_and_blames_no_build(small_night: SmallNight, its_store: Store) -> None:
    small_night.write(FILLS_THE_DISK)

    on_a_small_disk(small_night, its_store, "; ".join(f'"$@" {stage} --once' for stage in ("watch", "plan", "build", "measure")))

    run = tables.run.c
    with its_store.engine.begin() as connection:
        row = connection.execute(select(run.state, run.failure, run.tries)).one()
    assert (RunState.QUEUED, None) == (row.state, row.failure)
    (tried,) = row.tries
    assert FailureKind.HARNESS == tried["failure"]
    assert "the disk is full" in tried["reason"]
