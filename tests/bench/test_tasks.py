"""Tasks: a server whose right answers are known gets exactly those, item by item, and items that cannot be had are told."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from perfd.bench.runner import run_child
from perfd.bench.tasks import gsm8k, retrieval
from perfd.bench.tasks.folder import evals_folder
from perfd.bench.tasks.gsm8k import final_number
from perfd.bench.tasks.items import Answer, Place
from perfd.bench.tasks.sandbox import check_sandbox
from perfd.domain.job import Job
from perfd.domain.metric import METRICS, Metric
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import Launch
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.rules.compare_items import decide_items
from perfd.stats.paired_items import items_needed

ENGINE = Path(__file__).parents[1] / "engines" / "scripted_engine.py"
ACCURACY: Metric = METRICS["task_accuracy"]
GSM8K = {"kind": "task", "task": "gsm8k", "items": 0, "shots": 1, "output_tokens": 16, "data_sha256": "", "concurrency": 4}
HUMANEVAL = {"kind": "task", "task": "humaneval", "items": 0, "output_tokens": 16, "data_sha256": ""}
BFCL = {"kind": "task", "task": "bfcl", "category": "multiple", "items": 0, "output_tokens": 16, "data_sha256": ""}
NEEDLE = {"kind": "task", "task": "retrieval", "items": 20, "context_tokens": 400, "keys": 3, "output_tokens": 16}

Score = Callable[..., Results]


@pytest.fixture
def score(make_job: Callable[..., Job], tmp_path: Path) -> Score:
    def run(parameters: Mapping[str, Any], script: Mapping[str, Any]) -> Results:
        (tmp_path / "script.json").write_text(json.dumps(script))
        command = (sys.executable, str(ENGINE), "--port", "{port}")
        launch = Launch(command, "llamacpp", ready_timeout_s=20.0, environment={"SCRIPT": str(tmp_path / "script.json")})
        job = make_job(WorkloadClass.ACCURACY, {"path": str(tmp_path), **parameters}, launch=launch, data=tmp_path)
        return run_child(job, tmp_path / "results.json", 60)

    return run


def right(results: Results) -> tuple[float, ...]:
    assert results.state is RunState.DONE, results.reason
    return next(one.values for one in results.samples if one.name == "task_accuracy")


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))


def problems(folder: Path, count: int) -> list[dict[str, str]]:
    write_rows(folder / "gsm8k_train_first400.jsonl", [{"question": "How many is one?", "answer": "One.\n#### 1"}])
    made = [{"question": f"How many are {n} and {n}?", "answer": f"Twice.\n#### {2 * n:,}"} for n in range(1000, 1000 + count)]
    write_rows(folder / "gsm8k_test.jsonl", made)
    return made


def says(rows: list[dict[str, str]], known: Callable[[int], bool]) -> list[dict[str, str]]:
    return [
        {"has": row["question"], "says": row["answer"] if known(index) else "It is 7, I think."} for index, row in enumerate(rows)
    ]


def test_exactly_the_planted_answers_are_right_in_item_order(score: Score, tmp_path: Path) -> None:
    rows = problems(tmp_path, 40)
    results = score(GSM8K, {"answers": says(rows, lambda index: index % 3 == 0)})

    assert right(results) == tuple(float(index % 3 == 0) for index in range(40))
    told = results.extra["task"]
    assert (told["right"], told["items"], told["without_answer"]) == (14, 40, 0)
    assert told["share_interval_95"] == pytest.approx([0.221, 0.505], abs=0.001)
    assert told["rows"][1] == {"id": "gsm8k/1", "right": False, "answer": "It is 7, I think.", "error": ""}


def test_a_planted_loss_is_found_item_by_item_and_the_same_build_is_the_same(score: Score, tmp_path: Path) -> None:
    rows = problems(tmp_path, 200)
    base = right(score(GSM8K, {"answers": says(rows, lambda index: index % 10 != 0)}))
    head = right(score(GSM8K, {"answers": says(rows, lambda index: index % 10 not in {0, 1})}))

    worse = decide_items([value == 1.0 for value in base], [value == 1.0 for value in head], ACCURACY).verdict
    same = decide_items([value == 1.0 for value in base], [value == 1.0 for value in base], ACCURACY).verdict

    assert (worse.outcome, same.outcome) == (Outcome.WORSE, Outcome.UNSURE)
    assert "0 items won and 20 lost of 200" in worse.reason
    assert "items" in same.reason  # 200 items are too few to say "the same" within 2 %


def test_items_without_an_answer_are_wrong_and_counted(score: Score, tmp_path: Path) -> None:
    rows = problems(tmp_path, 10)
    results = score(GSM8K, {"answers": says(rows[:7], lambda _: True)})

    assert right(results) == (1.0,) * 7 + (0.0,) * 3
    assert results.extra["task"]["without_answer"] == 3
    assert "HTTP 400" in results.extra["task"]["rows"][9]["error"]


def test_an_engine_without_answers_to_most_items_fails_the_run(score: Score, tmp_path: Path) -> None:
    problems(tmp_path, 10)
    results = score(GSM8K, {"answers": []})

    assert (results.state, results.failure) == (RunState.FAILED, FailureKind.NONSENSE)
    assert "10 of 10 items had no answer" in results.reason


def test_other_items_than_the_suite_pins_are_refused(tmp_path: Path) -> None:
    problems(tmp_path, 4)

    with pytest.raises(BadInputError, match="the items of GSM8K are others than the suite pins"):
        gsm8k.load({**GSM8K, "data_sha256": "0" * 64}, Place(tmp_path, tmp_path), 0)


def test_a_missing_folder_is_one_sentence(score: Score, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERFD_EVALS", raising=False)
    results = score({**GSM8K, "path": ""}, {"otherwise": "1"})
    assert results.reason == ("the items of GSM8K are not part of perfd: set PERFD_EVALS to a folder that holds gsm8k_test.jsonl")

    monkeypatch.setenv("PERFD_EVALS", str(tmp_path / "nowhere"))
    results = score({**GSM8K, "path": ""}, {"otherwise": "1"})
    assert results.reason.startswith(
        f"{tmp_path}/nowhere/gsm8k_test.jsonl: there is no such file, packed (.gz) or not; PERFD_EVALS"
    )


def test_the_workload_names_its_folder_before_the_environment_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFD_EVALS", "/there")

    assert (evals_folder({"path": "/here"}), evals_folder({"path": ""})) == (Path("/here"), Path("/there"))


@pytest.mark.parametrize(
    "content", ["", "no json", "[1]", '{"question": 7, "answer": "#### 1"}', '{"question": "?", "answer": "none"}']
)
def test_broken_items_are_told_and_not_scored(tmp_path: Path, content: str) -> None:
    problems(tmp_path, 1)
    (tmp_path / "gsm8k_test.jsonl").write_text(content)

    with pytest.raises(BadInputError, match=r"gsm8k_test\.jsonl|item(| 0) of GSM8K"):
        gsm8k.load(GSM8K, Place(tmp_path, tmp_path), 0)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("#### 18", 18.0),
        ("so 3 + 4 = 7\n#### $1,234.50 dollars", 1234.5),
        ("first #### 3 then #### -4", -4.0),
        ("That makes 12 eggs, so she earns $24.", 24.0),
        ("none at all", None),
        ("####", None),
    ],
)
def test_the_final_number_is_the_marked_one_or_the_last(text: str, number: float | None) -> None:
    assert final_number(text) == number


def test_programs_that_pass_their_tests_are_right(score: Score, tmp_path: Path) -> None:
    try:
        check_sandbox(tmp_path)
    except BadInputError as error:
        pytest.skip(error.message)
    tests = "def check(candidate):\n    assert candidate(2, 3) == 5\n    assert candidate(-1, 1) == 0\n"
    row = {"test": tests, "canonical_solution": ""}
    write_rows(
        tmp_path / "HumanEval.jsonl",
        [{**row, "task_id": f"t/{n}", "entry_point": f"add{n}", "prompt": f"def add{n}(a, b):\n"} for n in range(4)],
    )
    bodies = ["    return a + b\n", "    return a - b\n", "    import os\n    os._exit(0)\n", "    return (\n"]
    answers = [{"has": f"add{n}(", "says": body} for n, body in enumerate(bodies)]
    results = score(HUMANEVAL, {"answers": answers})

    assert right(results) == (1.0, 0.0, 0.0, 0.0)


FUNCTION = {
    "name": "math.area",
    "description": "",
    "parameters": {
        "type": "dict",
        "properties": {
            "base": {"type": "float"},
            "unit": {"type": "string"},
            "sides": {"type": "integer"},
            "corners": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["base"],
    },
}


def test_tool_calls_are_matched_by_their_syntax_tree(score: Score, tmp_path: Path) -> None:
    says_right = {
        "[math.area(base=10, unit='square metres')]": True,
        "Sure:\n```python\n[math.area(base=10.0)]\n```": True,
        "math.area(unit='Square-Metres', base=10)": True,
        "[math.area(10)]": False,
        "[math.area(base='10')]": False,
        "[math.area(base=10, sides=3.0)]": False,
        "[math.area(base=10, sides=3, corners=[1, 2])]": True,
        "[math.area(base=10, corners=(1, 2))]": False,
        "[math.area(base=11)]": False,
        "[math.area(unit='square metres')]": False,
        "[math.area(base=10, height=2)]": False,
        "[math.area(base=10), math.area(base=10)]": False,
        "[math.volume(base=10)]": False,
        "10": False,
        "[" * 500: False,
    }
    ids = [f"m_{n}" for n in range(len(says_right))]
    asked = [{"id": one, "question": [[{"role": "user", "content": f"Question {one}."}]], "function": [FUNCTION]} for one in ids]
    values = {"base": [10], "unit": ["square metres", ""], "sides": [3, ""], "corners": [[1, 2], ""]}
    truth = [{"id": one, "ground_truth": [{"math.area": values}]} for one in ids]
    write_rows(tmp_path / "bfcl" / "BFCL_v4_multiple.json", asked)
    write_rows(tmp_path / "bfcl" / "answers_BFCL_v4_multiple.json", truth)
    script = {"answers": [{"has": f"Question {one}.", "says": text} for one, text in zip(ids, says_right, strict=True)]}

    assert right(score(BFCL, script)) == tuple(map(float, says_right.values()))


@pytest.mark.parametrize(
    ("row", "truth"),
    [
        ({"function": [FUNCTION], "question": [[{"role": "user"}]]}, [{"math.area": {"base": [10]}}]),
        ({"function": [FUNCTION], "question": []}, [{"math.area": {"base": [10]}}]),
        ({"function": ["math.area"], "question": [[]]}, [{"math.area": {"base": [10]}}]),
        ({"function": [FUNCTION], "question": [[]]}, [{"math.area": {"base": 10}}]),
        ({"function": [FUNCTION], "question": [[]]}, ["math.area(base=10)"]),
    ],
)
def test_tool_calls_of_another_form_are_told(score: Score, tmp_path: Path, row: dict[str, Any], truth: list[Any]) -> None:
    write_rows(tmp_path / "bfcl" / "BFCL_v4_multiple.json", [{"id": "m", **row}])
    write_rows(tmp_path / "bfcl" / "answers_BFCL_v4_multiple.json", [{"id": "m", "ground_truth": truth}])
    results = score(BFCL, {"otherwise": "[]"})

    assert (results.state, results.failure) == (RunState.FAILED, FailureKind.HARNESS)
    assert "the form of" in results.reason


def test_a_blind_half_of_the_context_shows_as_its_items(score: Score) -> None:
    results = score(NEEDLE, {"finds_before": 0.5})

    assert right(results) == (1.0,) * 5 + (0.0,) * 5 + (1.0,) * 5 + (0.0,) * 5
    told = results.extra["task"]
    assert (told["tokens_short_of_it"], told["estimated"]) == (0, False)


@pytest.mark.parametrize(("tokens", "keys"), [(100, 1), (1823, 4), (4096, 8)])
def test_a_haystack_has_exactly_the_tokens_and_all_of_its_needles(tokens: int, keys: int) -> None:
    def count(text: str) -> int:
        return len(text.split()) + text.count(".")

    made = retrieval.load({"context_tokens": tokens, "keys": keys, "items": 10}, count, seed=1)
    again = retrieval.load({"context_tokens": tokens, "keys": keys, "items": 10}, count, seed=1)
    other = retrieval.load({"context_tokens": tokens, "keys": keys, "items": 10}, count, seed=2)

    assert [count(item.prompt) for item in made.items] == [tokens] * 10
    assert all(item.prompt.count("The number of the") == keys for item in made.items)
    assert [item.prompt for item in made.items] == [item.prompt for item in again.items]
    assert made.items[0].prompt != other.items[0].prompt


def test_another_keys_number_is_not_the_answer() -> None:
    item = retrieval.load({"context_tokens": 600, "keys": 4, "items": 1}, None, seed=1).items[0]
    key = item.prompt.rsplit("number of the ", 1)[1].split("?")[0]
    numbers = {line.split(" is ")[0]: line.split(" is ")[1][:7] for line in item.prompt.split("The number of the ")[1:]}

    assert [item.check(Answer(f"{number}.")) for name, number in numbers.items()] == [name == key for name in numbers]


@pytest.mark.parametrize(("told", "loss"), [("0.5 points", 0.005), ("1 point", 0.01), ("2 points", 0.02)])
def test_the_items_that_a_loss_needs_are_those_of_the_page(told: str, loss: float) -> None:
    page = (Path(__file__).parents[2] / "docs" / "accuracy.md").read_text(encoding="utf-8")
    cells = " | ".join(f"{items_needed(loss, discordant):,}" for discordant in (0.02, 0.04, 0.08, 0.15))

    assert f"| {told} | {cells} |" in page
