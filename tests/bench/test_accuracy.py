"""Accuracy: bounds that hold, references that fit, and numbers that move when the engine's numerics do."""

import hashlib
import json
import math
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfd.bench.accuracy import agreement, first_difference, read_documents, reference_for
from perfd.bench.dialects import Greedy, Scored, candidates, counters, dialect, scored_from
from perfd.bench.engine import EngineError
from perfd.bench.runner import run_child
from perfd.domain.job import Job
from perfd.domain.model import Model
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.stages.measure import is_hopeless

JobMaker = Callable[..., Job]
TEXTS = {"documents": [{"name": "a", "text": "steady as she goes " * 40}, {"name": "b", "text": "all hands on deck " * 40}]}
LIKELIHOOD = {"kind": "likelihood", "documents": "texts.json", "top_k": 48}
GREEDY = {"kind": "greedy_agreement", "reference": "reference.json", "output_tokens": 6}
WEIGHTS = Model("tiny", "", "", "", hashlib.sha256(b"tiny").hexdigest(), "", "")
ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"


def samples(results: Results) -> dict[str, tuple[float, ...]]:
    assert results.state is RunState.DONE, results.reason
    return {one.name: one.values for one in results.samples}


@pytest.fixture
def score(make_job: JobMaker, tmp_path: Path) -> Callable[..., Results]:
    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))

    def run(dialect: str = "llamacpp", parameters: Mapping[str, Any] = LIKELIHOOD, **knobs: object) -> Results:
        job = make_job(WorkloadClass.ACCURACY, parameters, data=tmp_path, **knobs)
        assert job.launch is not None
        job = replace(job, launch=replace(job.launch, dialect=dialect), model=WEIGHTS)
        return run_child(job, tmp_path / "results.json", 60)

    return run


def test_a_token_among_the_candidates_has_its_exact_value() -> None:
    assert scored_from(7, [(3, -0.5), (7, -2.0)]) == Scored(2.0, is_bound=False, top=((3, -0.5), (7, -2.0)))


def test_the_bound_of_a_token_outside_the_candidates_holds() -> None:
    chance = random.Random(1)
    for _ in range(200):
        weights = [chance.random() ** 4 for _ in range(40)]
        probabilities = sorted((weight / sum(weights) for weight in weights), reverse=True)
        top = [(token, math.log(value)) for token, value in enumerate(probabilities[:10])]
        for token in range(10, 40):
            bound = scored_from(token, top)
            assert bound.is_bound
            assert bound.nll_nats <= -math.log(probabilities[token]) + 1e-12


def test_the_bound_is_never_above_the_least_candidates_value() -> None:
    top = [(0, math.log(0.5)), (1, math.log(0.4))]

    assert math.isclose(scored_from(9, top).nll_nats, -math.log(0.1))


def test_candidates_that_sum_to_one_still_give_a_finite_bound() -> None:
    assert math.isfinite(scored_from(9, [(0, 0.0)]).nll_nats)


@pytest.mark.parametrize(
    "answer",
    [{}, {"completion_probabilities": []}, {"completion_probabilities": [{"top_logprobs": [{"id": "x", "logprob": 0}]}]}],
)
def test_an_answer_without_candidates_is_nonsense(answer: dict[str, Any]) -> None:
    with pytest.raises(EngineError) as caught:
        candidates(answer)

    assert caught.value.failure is FailureKind.NONSENSE


def test_likelihood_has_one_sample_a_document_and_counts_its_bounds(score: Callable[..., Results]) -> None:
    results = score()
    found = samples(results)

    assert len(found["nll_nats"]) == 2
    told = results.extra["likelihood"]
    assert told["positions"] == 318
    assert found["outside_top_k"][0] == sum(one["outside_top_k"] for one in told["documents"].values())


def test_scoring_twice_gives_the_same_and_other_numerics_do_not(score: Callable[..., Results]) -> None:
    first, again, blurred = (samples(score(**knobs))["nll_nats"] for knobs in ({}, {}, {"blur": 3.0}))

    assert first == again
    assert first != blurred


def test_the_two_dialects_agree_where_nothing_is_bounded(score: Callable[..., Results]) -> None:
    whole = {**LIKELIHOOD, "top_k": 256}
    forced = samples(score("llamacpp", whole))
    echoed = samples(score("openai", whole))

    assert forced["outside_top_k"] == echoed["outside_top_k"] == (0.0,)
    assert echoed["nll_nats"] == pytest.approx(forced["nll_nats"], rel=1e-9)


def test_an_engine_that_scores_no_prompts_is_told_what_to_do(score: Callable[..., Results]) -> None:
    results = score("openai", no_logprobs=1)

    assert (results.state, results.failure) == (RunState.FAILED, FailureKind.NONSENSE)
    assert 'set the dialect to "llamacpp"' in results.reason


def test_too_few_positions_are_refused(score: Callable[..., Results], tmp_path: Path) -> None:
    (tmp_path / "texts.json").write_text(json.dumps({"documents": [{"name": "a", "text": "too short"}]}))
    results = score()

    assert results.state is RunState.FAILED
    assert "256 are needed" in results.reason


CONFIG = """
[[engines]]
name = "tiny"
recipe = "script"
source = {{ kind = "folder", location = "." }}
models = ["tiny"]
suites = ["accuracy"]

[engines.launch]
command = ["{{python}}", "{engine}", "--port", "{{port}}"]
dialect = "llamacpp"

[[models]]
name = "tiny"
file = "weights"
sha256 = "{sha256}"
quantisation = "none"
licence = "none"
"""


def make_reference(folder: Path, data: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    weights = folder / "weights"
    weights.write_bytes(b"tiny")
    (folder / "perfd.toml").write_text(CONFIG.format(engine=ENGINE, sha256=WEIGHTS.sha256))
    options = ["--engine", "tiny", "--artifact", folder, "--weights", weights, "--revision", "7", "--output-tokens", "6", *more]
    command = [sys.executable, "-m", "perfd.bench.reference", data, *options]
    return subprocess.run(list(map(str, command)), check=False, capture_output=True, text=True, cwd=folder)


def test_a_reference_is_made_by_a_real_run_and_agrees_with_itself_only(score: Callable[..., Results], tmp_path: Path) -> None:
    data = tmp_path / "reference.json"
    data.write_text(json.dumps({"prompts": ["one two", "three four five"], "references": []}))
    made = make_reference(tmp_path, data)
    assert made.returncode == 0, made.stderr

    same = samples(score(parameters=GREEDY))["greedy_agreement"]
    other = samples(score(parameters=GREEDY, blur=6.0))["greedy_agreement"]

    assert same == (1.0, 1.0)
    assert min(other) < 1.0


def test_a_reference_made_again_replaces_the_one_of_its_weights(tmp_path: Path) -> None:
    data = tmp_path / "reference.json"
    data.write_text(json.dumps({"prompts": ["one two"], "references": []}))
    texts = [(make_reference(tmp_path, data).returncode, data.read_text()) for _ in range(2)]

    assert texts[0] == texts[1]
    assert len(json.loads(data.read_text())["references"]) == 1


def test_a_reference_of_an_unknown_engine_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "reference.json"
    data.write_text(json.dumps({"prompts": [], "references": []}))
    made = make_reference(tmp_path, data, "--engine", "other")

    assert (made.returncode, made.stderr) == (3, 'there is no engine "other" in the configuration; give --engine one of tiny\n')


def test_other_weights_have_no_reference() -> None:
    with pytest.raises(BadInputError) as caught:
        reference_for({"references": []}, "b" * 64)

    assert "perfd.bench.reference" in caught.value.message


def test_a_run_without_a_reference_would_end_the_same_again(score: Callable[..., Results], tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text(json.dumps({"prompts": ["one two"], "references": []}))

    results = score(parameters=GREEDY)

    assert results.failure is FailureKind.HARNESS
    assert "there is no reference output" in results.reason
    assert is_hopeless(results)


def test_agreement_is_counted_place_by_place() -> None:
    document = {
        "references": [
            {"weights_sha256": "w", "engine": "e", "revision": "r", "ids": [[1, 2, 3, 4]], "pieces": [["a", "b", "c", "d"]]}
        ]
    }
    reference = reference_for(document, "w")
    by_id, by_text = Greedy((1, 9, 3), ("?", "?", "?"), ""), Greedy((), ("a", "b", "x", "d"), "")

    assert (agreement(by_id, reference, 0, 4), first_difference(by_id, reference, 0)) == (0.5, 1)
    assert (agreement(by_text, reference, 0, 4), first_difference(by_text, reference, 0)) == (0.75, 2)


def test_documents_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"none\.json: the data file cannot be read"):
        read_documents(tmp_path / "none.json")


def test_counters_of_known_servers_are_summed_over_their_labels() -> None:
    text = '# HELP x\nvllm:generation_tokens_total{model="a"} 3\nvllm:generation_tokens_total{model="b"} 4.0\nother 9\n'

    assert counters(text) == {"output_tokens": 7.0}


def test_an_unknown_dialect_lists_the_known_ones() -> None:
    with pytest.raises(BadInputError, match="llamacpp, openai"):
        dialect("vllm")
