"""Suites: every mistake is told at once with its line, and identity follows what is measured."""

from pathlib import Path

import pytest

from perfd.domain.metric import METRICS
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.suites import load_suite, load_suites

SUITES = Path(__file__).parents[2] / "suites"
GOOD = """\
question = "How fast?"

[[workloads]]
name = "chat"
class = "chat"
question = "One at a time."
seed = 7

[workloads.parameters]
requests = 10
concurrency = 1
prompt_tokens = 16
output_tokens = 8
"""


def write(folder: Path, text: str, name: str = "speed") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(BadInputError) as caught:
        load_suite(write(folder, text))
    return [line.replace(f"{folder}/", "") for line in caught.value.message.splitlines()]


def test_our_own_suites_answer_the_three_questions() -> None:
    suites = {suite.name: suite for suite in load_suites(SUITES)}

    assert {"throughput", "latency", "accuracy"} <= set(suites)
    assert all(suite.question and workload.question for suite in suites.values() for workload in suite.workloads)


def test_our_own_suites_fit_into_a_night() -> None:
    """At 190 tokens a second in and 80 out: what one thread of a small machine gives with the default engine."""
    seconds = 0.0
    for suite in filter(lambda suite: suite.nightly, load_suites(SUITES)):
        for workload in suite.workloads:
            given = workload.parameters
            if workload.workload_class is not WorkloadClass.ACCURACY:
                each = given["output_tokens"] / 80 + (given["prompt_tokens"] + given.get("growth_tokens", 0)) / 190
                seconds += given["requests"] * each
    assert seconds < 75


def test_a_workload_says_everything_that_decides_it(tmp_path: Path) -> None:
    workload = load_suite(write(tmp_path, GOOD)).workloads[0]

    assert workload.parameters["temperature"] == 0.0
    assert workload.parameters["ignore_eos"] is True
    assert (workload.seed, workload.suite, workload.data_hash) == (7, "speed", "")


@pytest.mark.parametrize(
    ("old", "new"), [("seed = 7", "seed = 8"), ("requests = 10", "requests = 11"), ('name = "chat"', 'name = "talk"')]
)
def test_another_seed_size_or_name_is_another_workload(old: str, new: str, tmp_path: Path) -> None:
    one, other = (load_suite(write(tmp_path, text)).workloads[0] for text in (GOOD, GOOD.replace(old, new)))

    assert one.identity != other.identity


def test_another_question_or_limit_is_the_same_workload(tmp_path: Path) -> None:
    text = GOOD.replace("One at a time.", "Singly.").replace("seed = 7", "seed = 7\ntime_limit_s = 9")
    one, other = (load_suite(write(tmp_path, each)).workloads[0] for each in (GOOD, text))

    assert one.identity == other.identity


def test_changed_data_are_another_workload(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("[workloads.parameters]")].replace('"chat"\nquestion', '"accuracy"\nquestion')
    text += '[workloads.parameters]\nkind = "likelihood"\ndocuments = "texts.json"\n'
    data = tmp_path / "data" / "texts.json"
    data.parent.mkdir()
    hashes = set()
    for content in ("{}", "{} "):
        data.write_text(content)
        hashes.add(load_suite(write(tmp_path, text)).workloads[0].data_hash)

    assert len(hashes) == 2
    assert "" not in hashes


def test_every_mistake_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    text = (
        GOOD.replace('class = "chat"', 'class = "chta"')
        .replace("seed = 7", "seed = -1")
        .replace("requests = 10", 'requests = "ten"')
        .replace("concurrency = 1\n", "concurency = 1\n")
    )

    told = mistakes(tmp_path, text)

    assert [line.split(":")[1] for line in told] == ["5", "7"]
    assert 'did you mean "chat"?' in told[0]


def test_mistakes_of_parameters_are_told_with_their_line(tmp_path: Path) -> None:
    told = mistakes(tmp_path, GOOD.replace("requests = 10", 'requests = "ten"').replace("concurrency = 1\n", "concurency = 1\n"))

    assert [line.split(":")[1] for line in told] == ["9", "10", "11"]
    assert 'did you mean "concurrency"?' in told[2]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("concurrency = 1\n", "", 'a load needs "concurrency"'),
        ("requests = 10\n", "", 'a load needs "requests"'),
        ("concurrency = 1", "concurrency = 1\nwarmup_requests = 10", "every request is warm-up"),
        ('question = "How fast?"\n', "", 'needs "question"'),
        ("[[workloads]]", "[[workload]]", "a suite needs at least one"),
        ("requests = 10", "requests = ", "no valid TOML"),
        ('class = "chat"', 'class = "accuracy"', "unknown key"),
    ],
)
def test_a_mistake_is_told_in_words(old: str, new: str, sentence: str, tmp_path: Path) -> None:
    assert any(sentence in line for line in mistakes(tmp_path, GOOD.replace(old, new)))


def test_two_workloads_of_one_name_are_refused(tmp_path: Path) -> None:
    told = mistakes(tmp_path, GOOD + GOOD[GOOD.index("[[workloads]]") :])

    assert told == ['speed.toml:15: the workload "chat" is there twice; give it another name']


def test_mistakes_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, "question = 1\n", "a")
    write(tmp_path, "nonsense", "b")

    with pytest.raises(BadInputError) as caught:
        load_suites(tmp_path)

    assert "a.toml:1:" in caught.value.message
    assert "b.toml" in caught.value.message


def test_a_missing_folder_or_data_file_is_named(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("[workloads.parameters]")].replace('"chat"\nquestion', '"accuracy"\nquestion')
    text += '[workloads.parameters]\nkind = "likelihood"\ndocuments = "none.json"\n'

    assert any("none.json: the data file cannot be read" in line for line in mistakes(tmp_path, text))
    with pytest.raises(BadInputError, match="there is no such folder"):
        load_suites(tmp_path / "nowhere")


def test_every_metric_that_suites_give_is_in_the_catalogue() -> None:
    given = {"ttft_s", "itl_s", "tpot_s", "e2e_s", "output_tokens_per_s", "failed_requests", "ready_s", "peak_memory_bytes"}

    assert given | {"nll_nats", "outside_top_k", "greedy_agreement"} <= set(METRICS)
