import re
from datetime import timedelta
from pathlib import Path

import pytest

from perfd.domain.run import Arm, FailureKind
from perfd.rules.retry import AGAIN, NATURE, Nature, try_again_in
from perfd.store.runs import MOST_ATTEMPTS


def test_every_kind_of_failure_has_a_nature() -> None:
    assert set(FailureKind) == set(NATURE)
    assert set(Nature) == set(AGAIN)


@pytest.mark.parametrize("kind", [kind for kind in FailureKind if NATURE[kind] in {Nature.DETERMINISTIC, Nature.FINAL}])
def test_a_finding_about_the_build_and_a_decision_are_never_tried_again(kind: FailureKind) -> None:
    assert try_again_in(kind, 1) is None


def test_a_sick_device_is_given_time_to_recover() -> None:
    waits = [try_again_in(FailureKind.DEVICE, attempts) for attempts in (1, 2, 3)]

    assert [timedelta(minutes=1), timedelta(minutes=5), None] == waits


def test_a_fault_of_perfd_is_tried_once_more() -> None:
    assert [timedelta(seconds=30), None] == [try_again_in(FailureKind.HARNESS, attempts) for attempts in (1, 2)]


def test_a_run_whose_worker_died_is_tried_again_at_once_and_three_times_in_all() -> None:
    waits = [try_again_in(FailureKind.LOST, attempts) for attempts in range(1, MOST_ATTEMPTS + 1)]

    assert [timedelta(0)] * (MOST_ATTEMPTS - 1) + [None] == waits


def test_a_comparison_plans_another_block_instead_of_trying_a_void_one_again() -> None:
    assert try_again_in(FailureKind.DEVICE, 1, Arm.BASE) is None
    assert try_again_in(FailureKind.LOST, 1, Arm.BASE) == timedelta(0)


def test_the_table_of_the_documentation_is_the_rule() -> None:
    page = (Path(__file__).parents[2] / "docs" / "workers.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| `")]
    told = {
        kind: (nature.split(":")[0].strip(), tries.strip())
        for kinds, nature, tries in rows
        for kind in re.findall(r"`(\w+)`", kinds)
    }

    natures = {kind.value: NATURE[kind] for kind in FailureKind}
    tries = {nature: 0 if nature is Nature.FINAL else 1 + len(AGAIN[nature].waits) for nature in Nature}
    assert {kind: (nature.value, str(tries[nature])) for kind, nature in natures.items()} == told
