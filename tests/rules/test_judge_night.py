"""A night judged in one pass: the same answers as Series by Series, from a window and a track, with q among all of them."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from perfd.domain.identity import Json
from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.verdict import ChangeKind, ChangeStatus, Outcome
from perfd.rules.judge import judge_series
from perfd.rules.night import Judged, Touched, judge_night

TPOT = METRICS["tpot_s"]


def points(values: Sequence[float]) -> list[Point]:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        Point(f"r{n}", f"b{n}", f"rev{n}", n, f"night:{n}", began + timedelta(days=n), float(v), None, 1, "h")
        for n, v in enumerate(values)
    ]


def stepped(nights: int, at: int, size: float, seed: int) -> list[Point]:
    values = 0.02 * (1 + 0.01 * np.random.default_rng(seed).normal(size=nights))
    values[at:] *= 1 + size
    return points(values.tolist())


def night_by_night(series: Sequence[Point], first: int, window: int = 200) -> list[Judged]:
    track, out = None, []
    for end in range(first, len(series) + 1):
        seen = series[max(end - window, 0) : end]
        judged = judge_night({"one": Touched(seen, TPOT, track=track)})["one"]
        track = json.loads(json.dumps(judged.track))
        out.append(judged)
    return out


def test_going_on_from_tracks_says_what_judging_the_whole_history_says() -> None:
    series = stepped(120, 80, 0.05, 1)
    series[100] = points([0.03] * 101)[100]

    for end, judged in zip(range(60, 121), night_by_night(series, 60), strict=True):
        assert judge_series(series[:end], TPOT) == judged.judgement


def test_a_window_and_a_track_find_the_same_builds_as_the_whole_history() -> None:
    series = stepped(420, 300, 0.05, 2)

    judged = night_by_night(series, 200)[-1].judgement

    whole = [series[c.index].build for c in judge_series(series, TPOT).changes if c.status is ChangeStatus.DETECTED]
    told = [series[220:][c.index].build for c in judged.changes if c.status is ChangeStatus.DETECTED]
    assert whole == told == ["b300"]


def test_a_track_that_does_not_fit_is_replayed() -> None:
    series = stepped(100, 60, 0.05, 3)
    track = judge_night({"a": Touched(series[:90], TPOT)})["a"].track
    other = stepped(100, 50, 0.05, 4)

    judged = judge_night({"a": Touched(other, TPOT, track=track)})["a"].judgement

    assert judge_series(other, TPOT) == judged


def test_a_step_that_is_not_beyond_chance_waits_and_is_told_when_more_nights_show_it() -> None:
    series = stepped(125, 100, 0.03, 5)
    alone = next(end for end in range(100, 126) if _told(judge_night({-1: Touched(series[:end], TPOT)})[-1]))

    track, outcomes = None, []
    for end in range(99, 126):
        judged = judge_night({-1: Touched(series[:end], TPOT, track=track)}, level=1e-8)[-1]
        track = judged.track
        outcomes.append(_told(judged))

    assert 1 == sum(outcomes)
    assert alone < 99 + outcomes.index(True) <= alone + 10
    assert ["b100"] == [series[c.index].build for c in judged.judgement.changes if c.status is ChangeStatus.DETECTED]


def _told(judged: Judged) -> bool:
    return judged.judgement.verdict.outcome is Outcome.WORSE


def test_too_few_points_and_none_are_unsure_and_keep_nothing() -> None:
    judged = judge_night({"few": Touched(stepped(3, 9, 0, 6), TPOT), "none": Touched((), TPOT)})

    assert [Outcome.UNSURE, Outcome.UNSURE] == [one.judgement.verdict.outcome for one in judged.values()]
    assert {} == judge_night({})


def test_a_change_of_spread_that_waits_is_not_given_the_evidence_of_a_step() -> None:
    noise = np.random.default_rng(21).normal(size=90)
    values = list(100 + noise * np.where(np.arange(90) < 70, 1.0, 4.0))
    track: Mapping[str, Json] | None = None
    seen = []
    for night in range(60, 91):
        touched = Touched(points(values[:night]), METRICS["output_tokens_per_s"], track=track)
        judged = judge_night({1: touched}, level=1e-4)[1]
        track = judged.track
        seen += [(one.status, one.q) for one in judged.judgement.changes if one.kind is ChangeKind.VARIANCE]

    assert len(seen) >= 5
    assert {status for status, _ in seen} == {ChangeStatus.SUSPECT}
    assert len({q for _, q in seen}) == 1
