"""Which blocks of a comparison make pairs."""

from datetime import UTC, datetime

import pytest

from perfd.domain.metric import Better
from perfd.domain.results import MetricSamples
from perfd.domain.run import Arm, RunState
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import WorkloadClass
from perfd.stages.comparison import has_both_arms, pairs_of
from perfd.store.records import ArmSamples, RunRow


def block(place: int, arm: Arm, value: float, state: RunState = RunState.DONE) -> ArmSamples:
    run = RunRow(
        id=place,
        key=str(place),
        occasion="compare:2026-01-01T00:00:00Z",
        subject="tiny",
        subject_kind=SubjectKind.ENGINE,
        revision="1",
        title="",
        build=arm.value,
        suite="speed",
        workload="chat",
        workload_class=WorkloadClass.CHAT,
        model="",
        quantisation="",
        parallelism="",
        device_class="cpu",
        arm=arm,
        block=place,
        state=state,
        failure=None,
        reason="",
        attempts=1,
        claimed_by=None,
        queued_at=datetime(2026, 1, 1, tzinfo=UTC),
        started_at=None,
        finished_at=None,
    )
    return ArmSamples(run, (MetricSamples("itl_s", "s", Better.LOWER, (value,)),), "same hardware")


def test_neighbours_make_a_pair_and_the_order_tells_which_came_first() -> None:
    runs = [block(0, Arm.BASE, 1.0), block(1, Arm.HEAD, 2.0), block(2, Arm.HEAD, 3.0), block(3, Arm.BASE, 4.0)]

    assert [((1.0, 2.0), 1), ((4.0, 3.0), -1)] == list(pairs_of(runs, "itl_s"))


@pytest.mark.parametrize("state", [RunState.VOID, RunState.FAILED, RunState.QUEUED, RunState.CLAIMED])
def test_a_block_that_is_not_done_takes_its_pair_with_it(state: RunState) -> None:
    runs = [block(0, Arm.BASE, 1.0, state), block(1, Arm.HEAD, 2.0), block(2, Arm.HEAD, 3.0), block(3, Arm.BASE, 4.0)]

    assert [((4.0, 3.0), -1)] == list(pairs_of(runs, "itl_s"))


@pytest.mark.parametrize("state", [RunState.VOID, RunState.FAILED])
def test_an_arm_that_gave_nothing_in_the_last_block_ends_the_comparison(state: RunState) -> None:
    good = [block(0, Arm.BASE, 1.0), block(1, Arm.HEAD, 2.0), block(2, Arm.HEAD, 3.0), block(3, Arm.BASE, 4.0)]
    one_armed = [block(4, Arm.HEAD, 1.0), block(5, Arm.BASE, 1.0, state), block(6, Arm.BASE, 1.0, state), block(7, Arm.HEAD, 1.0)]

    assert has_both_arms(good)
    assert not has_both_arms([*good, *one_armed])
