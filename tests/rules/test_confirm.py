from dataclasses import replace

import pytest

from perfd.domain.metric import MetricKind
from perfd.domain.verdict import ChangeKind, Outcome, RegressionState, Reproduced, Verdict
from perfd.rules.confirm import Case, ConfirmPolicy, Member, conclude, why_told, worth_remeasuring

SLOWER = Member(ChangeKind.STEP, MetricKind.SPEED, 0.05, 0.02, worse=True)
COUNTED = replace(SLOWER, metric_kind=MetricKind.STATIC)
START = replace(SLOWER, steady=False)
SUSPECT = Case(RegressionState.SUSPECT, (SLOWER,))
SHOWN = replace(SUSPECT, state=RegressionState.DETECTED)
UNSURE, IMPOSSIBLE = Reproduced.UNSURE, Reproduced.IMPOSSIBLE
POLICY = ConfirmPolicy()


@pytest.mark.parametrize("case", [SUSPECT, SHOWN, replace(SUSPECT, tried=(UNSURE,)), replace(SHOWN, members=(START,))])
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
