"""The detector on planted truth and on negative controls; seeds are fixed, so nothing here is chance."""

import numpy as np
import pytest

from perfd.stats.replay import replay, tonight
from perfd.stats.track import Event, Track

Floats = np.ndarray


def events(values: Floats) -> list[Event]:
    return replay(values[None, :], np.array([len(values)])).tracks[0].events


def noise(nights: int, seed: int) -> Floats:
    return 100 + np.random.default_rng(seed).normal(size=nights)


def test_a_step_is_found_at_its_first_night_and_not_before_the_fourth() -> None:
    values = noise(120, 1)
    values[80:] += 5

    (found,) = events(values)

    assert "step" == found.kind
    assert abs(found.index - 80) <= 1
    assert 83 == found.flagged_at
    assert abs(found.after - found.before - 5) < 1


def test_noise_alone_is_silent_at_about_the_promised_rate() -> None:
    values = 100 + np.random.default_rng(2).normal(size=(200, 120))

    found = replay(values, np.full(200, 120))

    assert sum(len(track.events) for track in found.tracks) <= 4
    assert found.suspect[:, 40:].mean() <= 0.01


@pytest.mark.parametrize("nights", [1, 2, 3])
def test_a_spike_of_up_to_three_nights_is_never_a_step(nights: int) -> None:
    values = noise(100, 3)
    values[60 : 60 + nights] += 8

    assert not [event for event in events(values) if event.kind == "step"]


def test_a_constant_series_shows_one_tick_and_no_blip() -> None:
    tick, blip = np.full(60, 32.0), np.full(60, 32.0)
    tick[40:] = 33
    blip[40] = 33

    assert [("step", 40, 43)] == [(e.kind, e.index, e.flagged_at) for e in events(tick)]
    assert [] == events(blip)


def test_a_series_that_was_constant_for_long_shows_a_tick_on_the_fourth_night() -> None:
    values = np.full(120, 100.0)
    values[100:] = 100.5

    (found,) = events(values)

    assert (100, 103) == (found.index, found.flagged_at)


def test_nothing_is_found_in_a_constant_series() -> None:
    assert [] == events(np.full(300, 7.0))


def test_a_drift_is_one_ticket() -> None:
    values = noise(150, 5) + np.clip((np.arange(150) - 40) * 0.05, 0, 5)

    kinds = [event.kind for event in events(values)]

    assert kinds.count("drift") <= 1
    assert kinds.count("step") <= 1


def test_a_wider_spread_is_told_as_variance_and_not_as_a_step() -> None:
    values = noise(140, 6)
    values[90:] = 100 + (values[90:] - 100) * 3

    found = [event for event in events(values) if event.flagged_at >= 90]

    assert "variance" == found[0].kind


def test_a_machine_that_switches_back_and_forth_is_a_mode_from_the_third_switch_on() -> None:
    values = noise(200, 7)
    for begin in (40, 120):
        values[begin : begin + 40] += 8

    kinds = [event.kind for event in events(values)]

    assert ["step", "step", "mode", "mode"] == kinds


def test_an_old_step_does_not_inflate_todays_noise() -> None:
    values = noise(160, 8)
    values[60:] += 40

    found = replay(values[None, :], np.array([160]))

    assert found.scale[0, -1] < 1.5


def test_a_series_judged_alone_and_among_others_gives_the_same() -> None:
    values = 100 + np.random.default_rng(9).normal(size=(5, 100))
    values[2, 60:] += 4

    together = replay(values, np.full(5, 100))

    assert together.tracks[2].events == events(values[2])


def test_the_past_does_not_change_when_nights_are_added() -> None:
    values = noise(120, 10)
    values[70:] += 4

    early = [event.flagged_at for event in replay(values[None, :90], np.array([90])).tracks[0].events]

    assert early == [event.flagged_at for event in events(values) if event.flagged_at < 90]


def test_two_values_and_none_are_no_error() -> None:
    assert [] == events(np.array([1.0, 2.0]))
    assert [] == replay(np.zeros((1, 4)), np.array([0])).tracks[0].events


def test_going_on_night_by_night_finds_what_the_replay_finds() -> None:
    values = noise(130, 11)
    values[70:] += 4
    values[100:] -= 5

    seen = replay(values[None, :60], np.array([60]), settle=False)
    for night in range(61, 131):
        seen = tonight(values[None, :night], np.array([night]), seen.tracks)

    assert replay(values[None, :], np.array([130]), settle=False).tracks[0].events == seen.tracks[0].events


def test_a_jump_beyond_all_tails_is_a_step_on_the_fourth_night() -> None:
    values = noise(80, 12)
    values[40:] += 1e5

    (found,) = events(values)

    assert ("step", 40, 43) == (found.kind, found.index, found.flagged_at)


@pytest.mark.parametrize("seed", range(13, 20))
def test_a_fast_drift_in_a_young_series_is_not_silent(seed: int) -> None:
    values = noise(48, seed) + 0.4 * np.maximum(np.arange(48) - 15, 0)

    assert {event.kind for event in events(values)} & {"drift", "step"}


def test_the_first_night_of_a_large_step_is_no_wider_spread() -> None:
    values = np.delete(100 + np.random.default_rng(0).normal(size=120), slice(10, 14))
    values[76:] += 6

    (found,) = events(values)

    assert ("step", 76) == (found.kind, found.index)


def test_a_mode_that_was_visited_in_passing_is_known_when_it_is_left_again() -> None:
    values = noise(160, 21)
    values[30:34] += 5
    values[90:120] += 5

    assert ["mode"] == [event.kind for event in events(values) if event.index > 100]


def test_three_nights_far_off_are_no_wider_spread() -> None:
    values = 100 + np.random.default_rng(22).normal(size=(200, 90))
    values[:, 70:73] += 8

    found = replay(values, np.full(200, 90))

    assert 0 == sum(event.flagged_at >= 70 for track in found.tracks for event in track.events)


def test_a_spread_three_times_as_wide_is_told_within_fifteen_nights_of_most_series() -> None:
    values = np.random.default_rng(23).normal(size=(200, 96))
    values[:, 80:] *= 3

    found = replay(100 + values, np.full(200, 96))

    assert sum(any(event.kind == "variance" for event in track.events) for track in found.tracks) >= 150


def test_a_large_step_is_a_suspect_on_its_first_night_whatever_the_scale_happened_to_be() -> None:
    values = 100 + np.random.default_rng(24).normal(size=(300, 81))
    values[:, 80] += 5

    found = replay(values, np.full(300, 81))

    assert found.suspect[:, 80].mean() >= 0.95


def test_a_step_on_a_machine_of_two_states_is_told_within_twelve_nights_of_most_series() -> None:
    rng = np.random.default_rng(25)
    values = 100 + rng.normal(size=(200, 112)) + 4 * (rng.random((200, 112)) < 0.3)
    values[:, 100:] += 3

    found = replay(values, np.full(200, 112))

    assert sum(any(event.kind == "step" and event.index >= 95 for event in track.events) for track in found.tracks) >= 100


def drifting(series: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    begin = rng.integers(20, 51, (series, 1))
    values: Floats = 100 + rng.normal(size=(series, 150)) + np.clip((np.arange(150)[None, :] - begin) * 0.05, 0, 5)
    return values


def test_few_drifts_are_told_as_a_step() -> None:
    found = replay(drifting(200, 26), np.full(200, 150))

    assert sum(any(event.kind == "step" for event in track.events) for track in found.tracks) <= 36


def test_a_small_step_that_looked_like_a_drift_is_told_once_it_has_lasted() -> None:
    values = 100 + np.random.default_rng(27).normal(size=(200, 130))
    values[:, 90:] += 2

    found = replay(values, np.full(200, 130))

    near = [any(event.kind == "step" and abs(event.index - 90) <= 5 for event in track.events) for track in found.tracks]
    assert sum(near) >= 188


def test_a_step_that_comes_with_a_wider_spread_is_told_with_it() -> None:
    values = np.random.default_rng(26).normal(size=(100, 110))
    values[:, 80:] = 3 * values[:, 80:] + 4

    found = replay(100 + values, np.full(100, 110))

    assert sum(any(event.kind == "variance" for event in track.events) for track in found.tracks) >= 70


def test_a_machine_that_stays_in_either_of_two_states_for_days_gives_no_commit_the_blame_later() -> None:
    rng = np.random.default_rng(28)
    state = np.cumsum(rng.random((60, 300)) < 1 / 14, axis=1) % 2

    found = replay(100 + rng.normal(size=(60, 300)) + 4 * state, np.full(60, 300))

    late = [event.kind for track in found.tracks for event in track.events if event.flagged_at >= 100]
    assert 100 < late.count("mode")
    assert late.count("step") <= 6


def test_a_step_on_the_way_of_a_drift_does_not_make_it_another_drift() -> None:
    found = replay(drifting(150, 28), np.full(150, 150))

    assert sum(sum(event.kind == "drift" for event in track.events) > 1 for track in found.tracks) == 0
    assert sum(any(event.kind == "drift" for event in track.events) for track in found.tracks) >= 138


def test_no_step_begins_after_the_nights_that_it_was_told_on() -> None:
    rng = np.random.default_rng(29)
    values = 100 + rng.normal(size=(100, 150)) + 4 * (rng.random((100, 150)) < 0.3)
    values[:, 100:] += 3

    found = replay(values, np.full(100, 150))

    steps = [event for track in found.tracks for event in track.events if event.kind in {"step", "mode"}]
    assert len(steps) >= 95
    assert all(event.index <= event.flagged_at - 3 for event in steps)


def test_a_step_is_told_where_the_drift_before_it_is_no_longer_remembered() -> None:
    values = np.random.default_rng(3).normal(size=120) + 6 * (np.arange(120) >= 100)
    track = Track(drifting=True)

    told = tonight(values[None, :], np.array([120]), [track], np.array([90])).tracks[0]

    assert [event.kind for event in told.events] == ["step"]
    assert not told.drifting
