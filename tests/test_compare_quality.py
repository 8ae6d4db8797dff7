"""`perfd compare` weighs quality by items and documents, speed by pairs of Runs, and a re-measured Regression by Runs alone."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from perfd.domain.metric import METRICS
from perfd.domain.results import MetricSamples
from perfd.domain.run import Arm, RunState
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Outcome
from perfd.rules.compare_items import DOCUMENTS_DETECTOR, ITEMS_DETECTOR
from perfd.stages.comparison import Line, lines_of
from perfd.store.records import ArmSamples, RunRow

NOW = datetime(2026, 11, 29, tzinfo=UTC)
ORDER = (Arm.BASE, Arm.HEAD, Arm.HEAD, Arm.BASE)
ITEMS = [1.0, 0.0] * 50
OTHER_ITEMS = [0.0 if index in {0, 2} else value for index, value in enumerate(ITEMS)]


def run(block: int, samples: Mapping[str, Sequence[float]]) -> ArmSamples:
    names = {"occasion": "compare", "subject": "e", "revision": "r", "title": "", "build": "b", "suite": "s", "workload": "w"}
    about = {"model": "m", "quantisation": "", "parallelism": "", "device_class": "cpu", "reason": "", "claimed_by": None}
    row = RunRow(
        id=block,
        key=f"{block:064}",
        **names,
        **about,
        subject_kind=SubjectKind.ENGINE,
        workload_class=WorkloadClass.ACCURACY,
        arm=ORDER[block % 4],
        block=block,
        state=RunState.DONE,
        failure=None,
        attempts=1,
        queued_at=NOW,
        started_at=NOW,
        finished_at=NOW,
    )
    made = tuple(MetricSamples(name, METRICS[name].unit, METRICS[name].better, tuple(values)) for name, values in samples.items())
    return ArmSamples(row, made, "hardware")


def lines(base: Mapping[str, Sequence[float]], head: Mapping[str, Sequence[float]], *, asked: bool = False) -> dict[str, Line]:
    runs = [run(block, base if ORDER[block % 4] is Arm.BASE else head) for block in range(8)]
    wanted = frozenset(("w", "m", name) for name in base) if asked else None
    return {line.metric.name: line for line in lines_of(runs, wanted)}


def test_two_lost_items_of_a_hundred_are_not_sure_however_often_they_are_asked() -> None:
    verdict = lines({"task_accuracy": ITEMS}, {"task_accuracy": OTHER_ITEMS})["task_accuracy"].decision.verdict

    assert (verdict.outcome, verdict.n, verdict.detector) == (Outcome.UNSURE, 100, ITEMS_DETECTOR)
    assert "0 items won and 2 lost of 100" in verdict.reason


def test_documents_are_witnesses_and_their_comparison_wants_no_more_runs() -> None:
    base = [3.0, 3.2, 2.8, 3.1, 2.9]
    line = lines({"nll_nats": base}, {"nll_nats": [value * 1.05 for value in base]})["nll_nats"]

    verdict = line.decision.verdict
    assert (verdict.outcome, verdict.n, verdict.detector) == (Outcome.WORSE, 5, DOCUMENTS_DETECTOR)
    assert not line.decision.more


def test_speed_stays_with_pairs_of_runs() -> None:
    found = lines({"ttft_s": [0.1], "nll_nats": [3.0] * 8}, {"ttft_s": [0.2], "nll_nats": [3.0] * 8})

    assert (found["ttft_s"].decision.verdict.outcome, found["ttft_s"].decision.verdict.n) == (Outcome.WORSE, 4)
    assert found["nll_nats"].decision.verdict.outcome is Outcome.SAME


def test_a_remeasured_regression_is_about_its_runs() -> None:
    found = lines({"task_accuracy": ITEMS}, {"task_accuracy": OTHER_ITEMS}, asked=True)["task_accuracy"].decision.verdict

    assert (found.outcome, found.n) == (Outcome.WORSE, 4)
