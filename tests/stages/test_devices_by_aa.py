"""A device that fails its own A/A night after night: taken out, with what it measured since the last one that it passed."""

from pathlib import Path

from store_world import CPU, WORKER
from told_world import Told, told_world

from perfd.domain.environment import Device
from perfd.domain.run import Arm
from perfd.stages.quarantine import quarantine
from perfd.store import Store

HERE = Device(WORKER.partition(":")[0], "cpu", CPU)


def nights(told: Told, count: int, head: float) -> None:
    """Calm nights whose A/A comparison finds its second arm `head` times as slow as its first."""
    told.speed[Arm.HEAD] = head
    for _ in range(count):
        told.night(1.0)
        told.finish()


def test_three_failed_comparisons_with_itself_quarantine_a_device_and_void_its_nights_since_the_last_good_one(
    store: Store, tmp_path: Path
) -> None:
    told = told_world(store, tmp_path, aa=True)
    told.quiet_nights()
    nights(told, 2, 1.0)
    nights(told, 2, 1.2)
    assert not quarantine(told.context)

    nights(told, 1, 1.2)
    assert quarantine(told.context)
    assert not quarantine(told.context)
    (found,) = store.devices.quarantines(HERE)
    assert "A/A" == found.actor
    assert "its last 3 comparisons of a Build with itself were called different" in found.cause.reason
    (row, *_) = store.pages.series_rows()
    assert 10 == len(store.judgements.history(row.info.id))  # three of thirteen nights are void

    store.devices.release(HERE, "ann", "the neighbour moved out", told.context.now())
    assert quarantine(told.context)  # what the nights lost is measured again
    told.speed[Arm.ONLY] = 1.0
    told.finish()
    assert 13 == len(store.judgements.history(row.info.id))
    assert not quarantine(told.context)  # what came before the release counts no more
