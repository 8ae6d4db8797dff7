from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfd.domain.occasion import Occasion
from perfd.domain.purpose import HEAD_START, Purpose, purpose_of, ranks_at, why_first
from perfd.domain.run import OccasionKind

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
OCCASIONS = {
    Purpose.CHECKPOINT: Occasion(OccasionKind.CHECKPOINT, NOON, "M3 on vllm day 7"),
    Purpose.BISECT: Occasion(OccasionKind.COMPARE, NOON, "bisect 3 step 2 build 0a1b2c"),
    Purpose.CONFIRM: Occasion(OccasionKind.COMPARE, NOON, "confirm 12"),
    Purpose.PULL_REQUEST: Occasion(OccasionKind.COMPARE, NOON, "pull ours/engine#12 at 0a1b2c"),
    Purpose.ASKED: Occasion(OccasionKind.COMPARE, NOON, "tiny@0a1b2c..3d4e5f"),
    Purpose.NIGHT: Occasion(OccasionKind.NIGHT, NOON),
    Purpose.AA: Occasion(OccasionKind.AA, NOON, "cpu:x:t1"),
    Purpose.BACKFILL: Occasion(OccasionKind.BACKFILL, NOON, "tiny 0a1b2c"),
}


def test_every_occasion_says_what_it_is_for() -> None:
    assert {purpose: purpose for purpose in Purpose} == {purpose: purpose_of(one) for purpose, one in OCCASIONS.items()}
    beside = Occasion(OccasionKind.COMPARE, NOON, "M3 on vllm day 7 beside day 0")
    assert Purpose.CHECKPOINT == purpose_of(beside)


def test_the_order_is_checkpoint_bisect_pull_request_night_aa_backfill() -> None:
    order = (Purpose.CHECKPOINT, Purpose.BISECT, Purpose.PULL_REQUEST, Purpose.NIGHT, Purpose.AA, Purpose.BACKFILL)

    ranks = [ranks_at(OCCASIONS[purpose], NOON) for purpose in order]

    assert sorted(set(ranks)) == ranks


moments = st.integers(0, 14 * 24 * 60).map(lambda minutes: NOON + timedelta(minutes=minutes))
purposes = st.sampled_from(list(Purpose))


@given(purposes, purposes, moments)
def test_nothing_starves(waiting: Purpose, flood: Purpose, queued_at: datetime) -> None:
    longest = max(HEAD_START.values()) - min(HEAD_START.values())
    later = queued_at + longest + timedelta(seconds=1)

    assert ranks_at(OCCASIONS[waiting], queued_at) < ranks_at(OCCASIONS[flood], later)


@given(purposes, moments, purposes, moments)
def test_whoever_goes_first_can_say_why(one: Purpose, at: datetime, other: Purpose, other_at: datetime) -> None:
    first, second = sorted([(one, at), (other, other_at)], key=lambda each: ranks_at(OCCASIONS[each[0]], each[1]))

    why = why_first(OCCASIONS[first[0]], first[1], OCCASIONS[second[0]], second[1])

    assert len(why) > 20
    if ranks_at(OCCASIONS[first[0]], first[1]) < ranks_at(OCCASIONS[second[0]], second[1]):
        with pytest.raises(ValueError, match="is taken before"):
            why_first(OCCASIONS[second[0]], second[1], OCCASIONS[first[0]], first[1])


def test_the_sentence_names_both_and_what_they_waited() -> None:
    pull, night, backfill = (OCCASIONS[one] for one in (Purpose.PULL_REQUEST, Purpose.NIGHT, Purpose.BACKFILL))
    hour = timedelta(hours=1)

    assert why_first(pull, NOON, night, NOON) == "a pull request goes before a night"
    assert why_first(pull, NOON + hour, night, NOON) == "a pull request goes before a night that waits 1 h longer (up to 12 h)"
    aged = why_first(backfill, NOON, night, NOON + 13 * hour)
    assert aged == "a backfill waits for a night up to 12 h, and has waited 13 h longer"
    assert why_first(night, NOON, night, NOON + hour).startswith(
        "both are for a night, and night:2026-11-29T12:00:00Z has waited 1 h"
    )
