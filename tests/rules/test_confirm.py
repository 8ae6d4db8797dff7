from dataclasses import replace

import pytest

from perfd.domain.metric import MetricKind
from perfd.domain.verdict import ChangeKind, Outcome, RegressionState, Reproduced, Verdict
from perfd.rules.confirm import (
    Case,
    ConfirmPolicy,
    Member,
    Pair,
    Tried,
    conclude,
    moves_to,
    narrowed,
    next_pair,
    why_told,
    worth_remeasuring,
)

SLOWER = Member(ChangeKind.STEP, MetricKind.SPEED, 0.05, 0.02, worse=True)
COUNTED = replace(SLOWER, metric_kind=MetricKind.STATIC)
START = replace(SLOWER, steady=False)
SUSPECT = Case(RegressionState.SUSPECT, (SLOWER,))
SHOWN = replace(SUSPECT, state=RegressionState.DETECTED)
YES, NO, UNSURE, IMPOSSIBLE = Reproduced.YES, Reproduced.NO, Reproduced.UNSURE, Reproduced.IMPOSSIBLE
PLACE, OTHER, AROUND = ("7", "8"), ("8", "9"), ("7", "9")
POLICY = ConfirmPolicy()


@pytest.mark.parametrize(
    "case",
    [
        SUSPECT,
        SHOWN,
        replace(SUSPECT, tried=(UNSURE,)),
        replace(SUSPECT, tried=(NO, NO, UNSURE, UNSURE)),
        replace(SHOWN, members=(START,)),
    ],
)
def test_it_is_worth_a_remeasurement(case: Case) -> None:
    assert worth_remeasuring(case, POLICY)


@pytest.mark.parametrize(
    "case",
    [
        replace(SUSPECT, members=(replace(SLOWER, worse=False),)),
        replace(SUSPECT, members=(replace(SLOWER, effect=0.019),)),
        replace(SUSPECT, members=(replace(SLOWER, change_kind=ChangeKind.MODE),)),
        replace(SUSPECT, members=(COUNTED,)),
        replace(SUSPECT, members=(START,)),
        replace(SUSPECT, members=()),
        replace(SUSPECT, tried=(UNSURE, UNSURE, UNSURE)),
        replace(SHOWN, tried=(IMPOSSIBLE,)),
        replace(SUSPECT, state=RegressionState.CONFIRMED),
        replace(SUSPECT, state=RegressionState.NOISE),
        replace(SUSPECT, remeasures=False),
        replace(SHOWN, budget=True),
    ],
)
def test_it_is_not_worth_a_remeasurement(case: Case) -> None:
    assert not worth_remeasuring(case, POLICY)


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (replace(SUSPECT, state=RegressionState.CONFIRMED), "measured again"),
        (replace(SHOWN, tried=(IMPOSSIBLE,)), "could not be measured again"),
        (replace(SHOWN, tried=(UNSURE, UNSURE, UNSURE)), "3 re-measurements stayed unsure"),
        (replace(SHOWN, members=(COUNTED,)), "one night shows it"),
        (replace(SHOWN, remeasures=False), "re-measures nothing"),
        (replace(SHOWN, members=(), budget=True), "many nights"),
    ],
)
def test_a_person_is_told_and_told_why(case: Case, why: str) -> None:
    assert why in (why_told(case, POLICY) or "")


@pytest.mark.parametrize(
    "case",
    [SUSPECT, SHOWN, replace(SUSPECT, tried=(IMPOSSIBLE,)), replace(SHOWN, members=(replace(SLOWER, effect=0.01),))],
)
def test_nobody_is_told_yet(case: Case) -> None:
    assert why_told(case, POLICY) is None


@pytest.mark.parametrize(
    ("outcomes", "pairs", "expected"),
    [
        ((Outcome.WORSE, Outcome.UNSURE), 4, Reproduced.YES),
        ((Outcome.SAME, Outcome.BETTER), 4, Reproduced.NO),
        ((Outcome.SAME, Outcome.UNSURE), 4, Reproduced.UNSURE),
        ((Outcome.NOT_COMPARABLE,), 4, Reproduced.UNSURE),
        ((Outcome.UNSURE,), 0, Reproduced.IMPOSSIBLE),
        ((), 0, Reproduced.IMPOSSIBLE),
    ],
)
def test_what_a_remeasurement_has_shown(outcomes: tuple[Outcome, ...], pairs: int, expected: Reproduced) -> None:
    verdicts = [Verdict(outcome, "", "pairs/1", pairs, effect=0.05) for outcome in outcomes]

    assert expected == conclude(verdicts, pairs)


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        ((), PLACE),
        ((Tried(PLACE, UNSURE),), OTHER),
        ((Tried(PLACE, NO),), OTHER),
        ((Tried(PLACE, NO), Tried(OTHER, UNSURE)), AROUND),
        ((Tried(PLACE, UNSURE), Tried(OTHER, NO), Tried(AROUND, UNSURE)), PLACE),
        ((Tried(PLACE, NO), Tried(OTHER, NO), Tried(AROUND, NO)), None),
        ((Tried(("3", "4"), NO),), PLACE),
    ],
)
def test_the_likeliest_builds_that_were_tried_least_are_next_and_none_that_were_the_same(
    tried: tuple[Tried, ...], expected: Pair | None
) -> None:
    assert expected == next_pair((PLACE, OTHER, AROUND), tried)


@pytest.mark.parametrize(
    ("outcome", "left", "expected"),
    [
        (YES, OTHER, RegressionState.CONFIRMED),
        (YES, None, RegressionState.CONFIRMED),
        (NO, None, RegressionState.NOISE),
        (NO, OTHER, None),
        (UNSURE, None, None),
        (IMPOSSIBLE, None, None),
    ],
)
def test_it_is_noise_only_where_no_other_place_is_left(
    outcome: Reproduced, left: Pair | None, expected: RegressionState | None
) -> None:
    assert expected == moves_to(outcome, left)


@pytest.mark.parametrize(
    ("tried", "expected"),
    [
        ((), ("7", "9")),
        ((Tried(PLACE, NO),), ("8", "9")),
        ((Tried(OTHER, NO),), ("7", "8")),
        ((Tried(PLACE, UNSURE), Tried(OTHER, UNSURE)), ("7", "9")),
        ((Tried(PLACE, NO), Tried(OTHER, NO)), ("7", "9")),
        ((Tried(("5", "6"), NO),), ("7", "9")),
    ],
)
def test_builds_that_are_the_same_as_an_end_are_not_blamed(tried: tuple[Tried, ...], expected: Pair) -> None:
    assert expected == narrowed(AROUND, tried)
