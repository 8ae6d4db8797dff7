"""Paired answers and clustered differences: exact values, levels, and what cannot be known."""

import math

import numpy as np
import pytest

from perfd.errors import BadInputError
from perfd.stats.clusters import bootstrap_interval, clustered_mean, clusters_needed
from perfd.stats.paired_items import (
    Discordance,
    difference_interval,
    discordance,
    items_needed,
    mcnemar_exact,
    mcnemar_mid_p,
    running_interval,
    split_evidence,
)


def test_only_items_answered_differently_speak() -> None:
    split = discordance([True, True, False, False, True], [True, False, True, False, False])

    assert Discordance(5, lost=2, won=1) == split
    assert split.difference == pytest.approx(-0.2)
    assert split.discordant == pytest.approx(0.6)


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(BadInputError, match="2 answers of the base and 1 of the head"):
        discordance([True, False], [True])


def test_mcnemar_is_the_binomial_test() -> None:
    # 2 * (1 + 10 + 45) / 1024 and the same less 45 / 1024: two of ten, by hand.
    assert mcnemar_exact(2, 8) == pytest.approx(112 / 1024)
    assert mcnemar_mid_p(8, 2) == pytest.approx(67 / 1024)
    assert mcnemar_exact(0, 0) == mcnemar_mid_p(0, 0) == mcnemar_exact(3, 3) == mcnemar_mid_p(3, 3) == 1.0


def test_mcnemar_with_thousands_of_items_is_finite() -> None:
    assert 0.0 < mcnemar_exact(4900, 5100) < 0.06


def score(split: Discordance, delta: float) -> float:
    """The score statistic with the nuisance parameter found by brute force, as Tango defines it."""
    q = np.linspace(max(0.0, -delta) + 1e-9, (1.0 - delta) / 2.0 - 1e-9, 200_001)
    agree = split.n - split.won - split.lost
    likely = split.won * np.log(q + delta) + split.lost * np.log(q) + agree * np.log(1.0 - 2.0 * q - delta)
    best = float(q[np.argmax(likely)])
    return (split.won - split.lost - split.n * delta) / math.sqrt(split.n * (2.0 * best + delta * (1.0 - delta)))


@pytest.mark.parametrize("split", [Discordance(54, 1, 0), Discordance(300, 12, 5), Discordance(40, 3, 9)])
def test_the_ends_of_the_interval_are_just_not_refuted(split: Discordance) -> None:
    low, high = difference_interval(split, 0.95)

    assert score(split, low) == pytest.approx(1.96, abs=0.01)
    assert score(split, high) == pytest.approx(-1.96, abs=0.01)


def test_an_interval_without_discordant_items_has_a_width() -> None:
    low, high = difference_interval(Discordance(100, 0, 0), 0.95)

    assert low == pytest.approx(-0.037, abs=0.002)
    assert high == pytest.approx(0.037, abs=0.002)
    assert difference_interval(Discordance(0, 0, 0), 0.95) == (-1.0, 1.0)


def test_tangos_interval_covers() -> None:
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(2000):
        lost, won, _ = rng.multinomial(300, [0.03, 0.01, 0.96])
        low, high = difference_interval(Discordance(300, int(lost), int(won)), 0.95)
        missed += not low <= -0.02 <= high

    assert 0.03 < missed / 2000 < 0.075


def test_evidence_may_be_looked_at_after_every_item() -> None:
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(1000):
        lost = np.cumsum(rng.random(200) < 0.5)
        alarms += any(split_evidence(int(k), m - int(k)) >= 20.0 for m, k in enumerate(lost, 1))

    assert alarms / 1000 <= 0.05


def test_evidence_grows_with_an_uneven_split_and_bears_thousands() -> None:
    assert split_evidence(0, 0) == pytest.approx(1.0)
    assert split_evidence(15, 1) > 100.0
    assert math.isfinite(split_evidence(100_000, 0))


def test_the_running_interval_holds_at_every_moment() -> None:
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(60):
        values = rng.choice([-1.0, 0.0, 1.0], size=400, p=[0.03, 0.95, 0.02])
        low, high = running_interval(values, 0.05, points=401)
        missed += not low <= -0.01 <= high

    assert missed <= 6


def test_the_running_interval_shrinks_around_the_truth() -> None:
    values = np.zeros(3000)
    low, high = running_interval(values, 0.05, points=401)

    assert low <= 0.0 <= high
    assert high - low < 0.05


def test_the_number_of_items_is_that_of_the_tables() -> None:
    # One-sided 1 %, power 80 %: 2 % and 4 % discordant for a point.
    assert items_needed(0.01, 0.02, 0.01, 0.8, sides=1) == pytest.approx(2005, abs=2)
    assert items_needed(0.01, 0.04, 0.01, 0.8, sides=1) == pytest.approx(4012, abs=3)
    with pytest.raises(BadInputError, match="discordant"):
        items_needed(0.05, 0.02)


def test_a_document_is_one_witness() -> None:
    rng = np.random.default_rng(4)
    alarms = {"clustered": 0, "tokens": 0}
    for _ in range(400):
        counts = rng.integers(50, 200, 20).astype(np.float64)
        shared = 0.02 * rng.normal(size=20)
        sums = counts * shared + np.sqrt(counts) * 0.05 * rng.normal(size=20)
        alarms["clustered"] += clustered_mean(sums, counts).p < 0.05
        alarms["tokens"] += abs(sums.sum()) > 1.96 * 0.054 * math.sqrt(counts.sum())

    assert alarms["clustered"] < 0.09 * 400
    assert alarms["tokens"] > 0.3 * 400


def test_longer_documents_weigh_more() -> None:
    found = clustered_mean(np.array([10.0, 0.0]), np.array([10.0, 30.0]))

    assert found.mean == pytest.approx(0.25)


def test_one_document_tells_nothing() -> None:
    found = clustered_mean(np.array([1.0]), np.array([4.0]))

    assert (found.p, found.interval(0.95)) == (1.0, (-math.inf, math.inf))


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadInputError, match="2 sums and 1 counts"):
        clustered_mean(np.ones(2), np.ones(1))
    with pytest.raises(BadInputError, match="counts above zero"):
        clustered_mean(np.ones(2), np.array([1.0, 0.0]))


def test_the_bootstrap_agrees_with_student_on_even_documents() -> None:
    sums = np.random.default_rng(5).normal(1.0, 1.0, 40)
    counts = np.ones(40)

    low, high = bootstrap_interval(sums, counts, 0.95, seed=1)

    assert (low, high) == bootstrap_interval(sums, counts, 0.95, seed=1)
    assert (low, high) == pytest.approx(clustered_mean(sums, counts).interval(0.95), abs=0.1)


def test_the_number_of_documents_grows_with_the_square_of_the_noise() -> None:
    assert clusters_needed(0.01, 0.02) < clusters_needed(0.01, 0.04)
    assert clusters_needed(0.01, 0.04) == pytest.approx(16 * 11.68, rel=0.05)
    assert clusters_needed(1.0, 0.0) == 3
    with pytest.raises(BadInputError, match="other than zero"):
        clusters_needed(0.0, 1.0)
