"""The text of a pinned suite: what was lost, once each, and read again as it was."""

import sys
from pathlib import Path

import pytest

from perfd.domain.limit import Limit
from perfd.domain.metric import Better
from perfd.domain.suite import Workload, WorkloadClass
from perfd.errors import BadInputError
from perfd.rules.pinning import Lost, level_between, pinned, suite_text
from perfd.suites import load_suite, suites_for

sys.path.append(str(Path(__file__).parents[1] / "longrun"))  # the task of long Runs serves here too
from fitting import HONEST, write_data
from fitting import suite_text as long_suite

PARAMETERS = {
    "requests": 8,
    "warmup_requests": 1,
    "prompts": "chat",
    "api": "chat",
    "prompt_tokens": 16,
    "output_tokens": 24,
    "system_tokens": 0,
    "temperature": 0.0,
    "ignore_eos": True,
    "rate_rps": 2.5,
    "arrival": "poisson",
}
CHAT = Workload("speed", "chat", WorkloadClass.CHAT, PARAMETERS, 7, "", 60.0, 'Is "chat" fast?\nReally?')
OTHER = Workload("latency", "chat", WorkloadClass.CHAT, {**PARAMETERS, "requests": 9}, 8, "", 60.0, "Slower?")


def lost(workload: Workload = CHAT, metric: str = "tpot_s", before: float = 0.01, after: float = 0.02, unit: str = "s") -> Lost:
    return Lost(workload, metric, unit, "tiny", "smol", "cpu:x:t1", before, after)


def test_a_pinned_suite_is_read_again_with_workloads_and_limits_as_they_were(tmp_path: Path) -> None:
    made = pinned([lost(), lost(metric="ttft_s"), lost(OTHER)])
    path = tmp_path / "regression_7.toml"
    path.write_text(suite_text("Is 7 back?", ["tiny"], made), encoding="utf-8")
    suite = load_suite(path)

    assert (["chat", "latency_chat"], ("tiny",)) == ([one.name for one in suite.workloads], suite.engines)
    first = suite.workloads[0]
    assert (PARAMETERS, 7, 60.0) == (first.parameters, first.seed, first.time_limit_s)
    assert Limit("tpot_s", 0.0141421, "cpu:x:t1", "tiny", "smol") == first.limits[0]
    assert ["tpot_s", "ttft_s"] == [one.metric for one in first.limits]


def test_limits_are_no_part_of_a_workloads_identity() -> None:
    bare, held = CHAT, pinned([lost()])[0]

    assert bare.identity == held.workload.identity


def test_of_two_changes_in_one_series_the_first_is_pinned() -> None:
    (one,) = pinned([lost(), lost(before=0.02, after=0.08)])

    assert [0.0141421] == [round(limit.worst, 7) for limit in one.limits]


@pytest.mark.parametrize(("before", "after", "level"), [(1.0, 4.0, 2.0), (100.0, 81.0, 90.0), (0.0, 3.0, 1.5)])
def test_the_level_lies_between_good_and_lost(before: float, after: float, level: float) -> None:
    assert level == level_between(before, after)


def test_a_limit_is_passed_for_certain_kept_or_neither() -> None:
    limit = Limit("tpot_s", 2.0, "cpu", "tiny")

    assert limit.is_passed(Better.LOWER, 2.5, (2.1, 2.9))
    assert not limit.is_passed(Better.LOWER, 2.5, (1.9, 2.9))
    assert not limit.is_kept(Better.LOWER, 2.5)
    assert limit.is_kept(Better.HIGHER, 2.5)
    assert limit.is_passed(Better.HIGHER, 1.5, None)


def test_a_suite_says_itself_which_engines_run_it_and_a_broken_file_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(suite_text("?", ["tiny"], pinned([lost()])), encoding="utf-8")
    (tmp_path / "b.toml").write_text("engines = [", encoding="utf-8")
    (tmp_path / "c.toml").write_text('engines = "tiny"', encoding="utf-8")

    assert ("a",) == suites_for("tiny", tmp_path)
    assert () == suites_for("other", tmp_path)


def test_mistakes_in_a_limit_are_told_with_their_lines(tmp_path: Path) -> None:
    text = suite_text("?", ["tiny"], pinned([lost()])).replace('unit = "s"', 'unit = "ms"').replace("worst = 0.0141421\n", "")
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadInputError) as told:
        load_suite(path)
    assert 'tpot_s is told in "s", not in "ms"' in told.value.message
    assert 'a limit needs "worst"' in told.value.message


def test_a_long_run_is_held_to_a_metric_that_only_its_scorer_knows(tmp_path: Path) -> None:
    write_data(tmp_path / "data", HONEST)
    (tmp_path / "fits.toml").write_text(long_suite(), encoding="utf-8")
    (fit,) = load_suite(tmp_path / "fits.toml").workloads
    path = tmp_path / "regression_7.toml"
    path.write_text(suite_text("?", ["tiny"], pinned([lost(fit, "squared_error", unit="m²")])), encoding="utf-8")

    (held,) = load_suite(path).workloads

    assert [Limit("squared_error", 0.0141421, "cpu:x:t1", "tiny", "smol")] == list(held.limits)
    path.write_text(
        path.read_text(encoding="utf-8").replace('metric = "squared_error"\nunit', 'metric = "tpot"\nunit'), encoding="utf-8"
    )
    with pytest.raises(BadInputError, match='cannot be "tpot"'):
        load_suite(path)
