"""Nights judged from tracks: the same words as from the whole history, and the same again after a crash."""

from pathlib import Path

import pytest
from told_world import Told, told_world

from perfd.domain.occasion import OccasionState
from perfd.domain.verdict import Outcome
from perfd.rules.judge import judge_series
from perfd.stages.judge import judge
from perfd.store import Store


@pytest.fixture
def told(store: Store, tmp_path: Path) -> Told:
    told = told_world(store, tmp_path, minutes=0.0)
    told.quiet_nights()
    return told


def test_a_night_judged_from_its_track_says_what_the_whole_history_says(told: Told) -> None:
    for value in (1.001, 1.1, 1.101, 1.1, 1.099):
        night = told.night(value)
        told.finish()

        points = told.store.judgements.history(1)
        (series,) = told.store.judgements.touched(night)
        assert judge_series(points, series.metric).verdict == told.store.judgements.verdict(1, night)

    assert Outcome.WORSE == judge_series(points, series.metric).verdict.outcome
    assert told.store.judgements.tracks(told.night(1.1), [1])[1]["newest"] == points[-1].run


def test_a_night_judged_twice_after_a_crash_says_the_same(told: Told) -> None:
    for value in (1.1, 1.101, 1.1):
        told.night(value)
        told.finish()
    night = told.night(1.099)
    assert judge(told.context)
    first = told.store.judgements.verdict(1, night), told.store.judgements.changes(1), told.regressions()

    told.store.occasions.move(night, OccasionState.JUDGED, OccasionState.PLANNED, told.world.now)
    assert judge(told.context)

    assert first == (told.store.judgements.verdict(1, night), told.store.judgements.changes(1), told.regressions())
