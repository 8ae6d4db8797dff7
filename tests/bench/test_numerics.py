"""Numerics: planted noise is found by its size, equal Builds never; bounds hold; a reference that does not fit is refused."""

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perfd.bench.dialects import Scored
from perfd.bench.engine import EngineError
from perfd.bench.numerics import compare
from perfd.bench.numerics_data import NumericsReference as Reference
from perfd.bench.numerics_data import Positions, pack, positions_of, reference_of, to_document, unpack
from perfd.bench.runner import run_child
from perfd.domain.job import Job
from perfd.domain.metric import METRICS
from perfd.domain.model import Model
from perfd.domain.results import Results
from perfd.domain.run import RunState
from perfd.domain.suite import WorkloadClass
from perfd.domain.verdict import Outcome
from perfd.errors import BadInputError
from perfd.rules.compare_items import decide_documents
from perfd.stats.divergence import RESOLUTION_NATS, bucket_divergence, shift

WORDS = (
    "harbour",
    "tide",
    "rope",
    "anchor",
    "deck",
    "mast",
    "sail",
    "wind",
    "north",
    "crew",
    "watch",
    "bell",
    "hull",
    "keel",
    "chart",
    "lamp",
)
TEXTS = {
    "documents": [
        {"name": f"d{n}", "text": " ".join(WORDS[(n * k * k + k) % 16] + str(k % 9) for k in range(80))} for n in range(5)
    ]
}
WEIGHTS = Model("tiny", "", "", "", hashlib.sha256(b"tiny").hexdigest(), "", "")
ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
PARAMETERS = {"kind": "numerics", "documents": "texts.json", "reference": "reference.json"}
CONFIG = """
[[engines]]
name = "tiny"
recipe = "script"
source = {{ kind = "folder", location = "." }}
models = ["tiny"]
suites = ["accuracy"]

[engines.launch]
command = ["{{python}}", "{engine}", "--port", "{{port}}"]
dialect = "{dialect}"

[[models]]
name = "tiny"
file = "weights"
sha256 = "{sha256}"
quantisation = "none"
licence = "none"
"""


def make_reference(folder: Path, dialect: str = "llamacpp") -> None:
    (folder / "weights").write_bytes(b"tiny")
    (folder / "texts.json").write_text(json.dumps(TEXTS))
    (folder / "perfd.toml").write_text(CONFIG.format(engine=ENGINE, sha256=WEIGHTS.sha256, dialect=dialect))
    options = ["--engine", "tiny", "--artifact", ".", "--weights", "weights", "--revision", "7", "--top-k", "16", "--runs", "3"]
    command = [sys.executable, "-m", "perfd.bench.numerics_reference", "reference.json", "--documents", "texts.json", *options]
    made = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)
    assert made.returncode == 0, made.stderr


@pytest.fixture(scope="module")
def reference_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    make_reference(folder)
    return folder


@pytest.fixture
def score(make_job: Callable[..., Job], reference_folder: Path, tmp_path: Path) -> Callable[..., Results]:
    def run(folder: Path = reference_folder, dialect: str = "llamacpp", **knobs: object) -> Results:
        job = make_job(WorkloadClass.ACCURACY, PARAMETERS, data=folder, **knobs)
        assert job.launch is not None
        job = replace(job, launch=replace(job.launch, dialect=dialect), model=WEIGHTS)
        return run_child(job, tmp_path / "results.json", 60)

    return run


def kl_nats(results: Results) -> tuple[float, ...]:
    assert results.state is RunState.DONE, results.reason
    return next(one.values for one in results.samples if one.name == "kl_nats")


def test_the_same_build_is_never_told_to_have_moved(score: Callable[..., Results]) -> None:
    results = score()

    assert kl_nats(results) == (RESOLUTION_NATS,) * 5
    assert results.extra["numerics"]["against_null"]["moved"] is False
    assert results.extra["numerics"]["nll_difference_nats"]["mean"] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize(("blur", "moved"), [(0.0001, False), (0.01, True), (0.1, True), (1.0, True)])
def test_planted_noise_is_found_by_its_size(score: Callable[..., Results], blur: float, *, moved: bool) -> None:
    """The noise is uniform over +-blur in the logits: a divergence of blur^2 / 6, of which 16 of 256 tokens show a third."""
    results = score(blur=blur)

    assert results.extra["numerics"]["against_null"]["moved"] is moved
    if moved:
        assert blur**2 / 30 < results.extra["numerics"]["kl_nats"]["mean"] < blur**2 / 6


def test_two_builds_are_compared_by_their_documents(score: Callable[..., Results]) -> None:
    base, head = kl_nats(score()), kl_nats(score(blur=0.1))
    tokens = [1] * len(base)

    assert decide_documents(base, head, tokens, METRICS["kl_nats"]).verdict.outcome is Outcome.WORSE
    assert decide_documents(base, base, tokens, METRICS["kl_nats"]).verdict.outcome is Outcome.SAME
    assert decide_documents(head, base, tokens, METRICS["kl_nats"]).verdict.outcome is Outcome.BETTER


@pytest.fixture
def openai_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "openai"
    folder.mkdir()
    make_reference(folder, "openai")
    return folder


def test_the_openai_dialect_is_judged_by_its_candidates_too(score: Callable[..., Results], openai_folder: Path) -> None:
    same, moved = (score(openai_folder, "openai", blur=blur).extra["numerics"] for blur in (0.0, 0.1))

    assert (same["against_null"]["moved"], moved["against_null"]["moved"]) == (False, True)
    assert 0.1**2 / 30 < moved["kl_nats"]["mean"] < 0.1**2 / 6


def test_an_engine_that_tells_only_the_texts_own_tokens_is_judged_by_them() -> None:
    base, head = ([Scored(nll) for nll in values] for values in ((0.5, 2.0, 3.0), (0.6, 2.0, 3.0)))
    same, moved = (compare("a", positions_of(base, 4), positions_of(other, 4)).kl_nats for other in (base, head))

    assert same == 0.0
    assert moved > 1e-4


def test_candidates_that_share_nothing_are_no_agreement() -> None:
    base, head = ([Scored(0.5, top=((token, -0.5),))] * 4 for token in (1, 2))

    with pytest.raises(EngineError, match="4 of 4 positions share no candidate"):
        compare("a", positions_of(base, 4), positions_of(head, 4))


def test_other_texts_than_the_references_are_refused(
    score: Callable[..., Results], reference_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "reference.json").write_text((reference_folder / "reference.json").read_text())
    (folder / "texts.json").write_text(json.dumps({"documents": [{"name": "d0", "text": "other words"}]}))

    assert "the reference was made of other texts" in score(folder).reason


def test_weights_without_a_reference_are_told_how_to_get_one(reference_folder: Path) -> None:
    with pytest.raises(BadInputError) as caught:
        reference_of(json.loads((reference_folder / "reference.json").read_text()), "b" * 64)

    assert "perfd.bench.numerics_reference" in caught.value.message


def test_our_own_reference_has_a_null_of_ten_runs_over_the_fixed_texts() -> None:
    data = Path(__file__).parents[2] / "suites" / "data"
    one = json.loads((data / "numerics_reference.json").read_text())["references"][0]
    reference = reference_of({"references": [one]}, one["weights_sha256"])
    names = [text["name"] for text in json.loads((data / "fixed_texts.json").read_text())["documents"]]

    assert [len(run) for run in reference.null] == [len(names)] * 10
    assert list(reference.documents) == names
    assert sum(len(document.candidates) for document in reference.documents.values()) == 782


def test_a_reference_is_read_as_it_was_written() -> None:
    positions = Positions((((5, -0.5), (70_000, -1.25)), ((0, -0.0),)), (0.5, math.inf))
    made = Reference("w", "e", "r", "t", 2, {"a": positions}, ((1e-7,),))

    assert reference_of(json.loads(json.dumps({"references": [to_document(made)]})), "w") == made


@pytest.mark.parametrize("text", ["", "no base 85 \x00", "c-m7?", pack(np.zeros(3, dtype="<u2"))])
def test_a_damaged_column_is_told(text: str) -> None:
    with pytest.raises(BadInputError, match="make the reference anew"):
        unpack(text, "<f4")


def log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def top(log_p: np.ndarray, k: int) -> list[tuple[int, float]]:
    return [(int(token), float(log_p[token])) for token in np.argsort(-log_p)[:k]]


def test_buckets_never_exceed_the_full_divergence_and_reach_it_with_all_tokens() -> None:
    rng = np.random.default_rng(1)
    for sigma in (0.0, 0.01, 0.3, 3.0):
        logits = rng.normal(0.0, 3.0, 500)
        base, head = log_softmax(logits), log_softmax(logits + rng.normal(0.0, sigma, 500))
        full = float((np.exp(base) * (base - head)).sum())
        for k in (1, 8, 64):
            assert bucket_divergence(top(base, k), top(head, 4 * k)).kl_nats <= full + 1e-9
        assert bucket_divergence(top(base, 500), top(head, 500)).kl_nats == pytest.approx(full, abs=1e-6)


def test_what_the_buckets_miss_stays_below_its_bound() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        logits = rng.normal(0.0, 3.0, 500)
        base, head = log_softmax(logits), log_softmax(logits + rng.uniform(-0.1, 0.1, 500))
        full, found = float((np.exp(base) * (base - head)).sum()), bucket_divergence(top(base, 32), top(head, 128))
        moved = float(np.abs(base - head).max())
        assert full - found.kl_nats <= found.rest * 2 * moved * math.tanh(moved)


def test_equal_and_disjoint_candidates_give_finite_divergences() -> None:
    same = [(1, math.log(0.5)), (2, math.log(0.5))]

    assert bucket_divergence(same, same).kl_nats == 0.0
    assert bucket_divergence([(1, 0.0)], [(2, 0.0)]).kl_nats == 0.0  # nothing is shared, so nothing is known
    assert math.isfinite(bucket_divergence([(1, 0.0)], [(1, -50.0)]).kl_nats)


def runs(rng: np.random.Generator, count: int, sigma: float) -> list[list[float]]:
    """Divergences of `count` builds with logit noise of that size over 8 documents; each run has a luck of its own."""
    luck = np.exp(rng.normal(0.0, 0.05, (count, 1)))
    return (sigma**2 / 4 * luck * np.exp(rng.normal(0.0, 0.15, (count, 8)))).tolist()


def test_build_noise_is_called_moved_as_rarely_as_promised() -> None:
    rng = np.random.default_rng(3)
    alarms = sum(shift(runs(rng, 1, 0.02)[0], runs(rng, 10, 0.02)).moved(0.01) for _ in range(4000))

    assert alarms < 60  # 40 are promised; 60 has a chance below 1 in 500


@pytest.mark.parametrize(("sigma", "least"), [(0.025, 0.9), (0.03, 0.99), (0.04, 0.99)])
def test_a_little_more_than_build_noise_is_found(sigma: float, least: float) -> None:
    rng = np.random.default_rng(4)
    found = sum(shift(runs(rng, 1, sigma)[0], runs(rng, 10, 0.02)).moved(0.01) for _ in range(500))

    assert found >= least * 500


def test_less_than_build_noise_is_not_moved() -> None:
    rng = np.random.default_rng(5)

    assert not shift(runs(rng, 1, 0.01)[0], runs(rng, 10, 0.02)).moved(0.01)


@pytest.mark.parametrize("null", [[], [[1e-5]] * 2, [[1e-5], [1e-5], [1e-5, 1e-5]]])
def test_a_null_that_says_nothing_is_refused(null: list[list[float]]) -> None:
    with pytest.raises(BadInputError, match="expected at least 3"):
        shift([1e-5], null)


def test_a_bound_is_no_exact_value(reference_folder: Path) -> None:
    found: Any = reference_of(json.loads((reference_folder / "reference.json").read_text()), WEIGHTS.sha256)
    nll = [value for document in found.documents.values() for value in document.nll_nats]

    assert 0 < sum(map(math.isinf, nll)) < len(nll)
