"""Accuracy Workloads: mean negative log-likelihood of fixed texts, and agreement of greedy output with a stored reference.

Both are deterministic on one device and one Build, so a step in their Series is a change of numerics, not noise.
Samples are one a document and one a prompt: tokens of one document are not independent, so the uncertainty is the one
between documents.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfd.bench.ask import Asker
from perfd.bench.dialects import Dialect, Greedy, Scored, dialect
from perfd.bench.engine import Server
from perfd.bench.measured import Measured
from perfd.domain.identity import Json
from perfd.domain.job import Job
from perfd.errors import BadInputError

LEAST_POSITIONS = 256


@dataclass(frozen=True)
class Document:
    """A fixed text with a name."""

    name: str
    text: str


@dataclass(frozen=True)
class Reference:
    """Greedy output of one engine at one Revision with one set of weights."""

    weights_sha256: str
    engine: str
    revision: str
    ids: tuple[tuple[int, ...], ...]
    pieces: tuple[tuple[str, ...], ...]


def measure(job: Job, server: Server) -> Measured:
    """Samples of the Metrics that the Workload's `kind` gives; raises EngineError for an engine that cannot be scored."""
    launch = job.launch
    if launch is None or job.data is None:
        raise BadInputError("an accuracy Workload needs an engine's launch stanza and the folder with the suites' data")
    speaks = dialect(launch.dialect)
    asker = Asker(server.port)
    try:
        if job.workload.parameters.get("kind") == "greedy_agreement":
            return _agreement(job, job.data, speaks, asker)
        return _likelihood(job, job.data, speaks, asker)
    finally:
        asker.close()


def _likelihood(job: Job, data: Path, speaks: Dialect, asker: Asker) -> Measured:
    parameters = job.workload.parameters
    top_k = int(parameters["top_k"])
    documents = read_documents(data / str(parameters["documents"]))
    scored = {document.name: speaks.score(asker, document.text, top_k) for document in documents}
    positions = sum(map(len, scored.values()))
    if positions < LEAST_POSITIONS:
        raise BadInputError(f"{positions} positions were scored and {LEAST_POSITIONS} are needed; give longer documents")
    outside = sum(one.is_bound for many in scored.values() for one in many)
    return Measured(
        {"nll_nats": [mean_nll(many) for many in scored.values()], "outside_top_k": [float(outside)]},
        {"likelihood": {"positions": positions, "top_k": top_k, "documents": _by_document(scored)}},
    )


def mean_nll(scored: Sequence[Scored]) -> float:
    """Mean over a document's positions; a bounded position counts with its bound, so the mean is a lower bound too."""
    return sum(one.nll_nats for one in scored) / len(scored)


def _by_document(scored: Mapping[str, Sequence[Scored]]) -> Json:
    return {
        name: {"positions": len(many), "outside_top_k": sum(one.is_bound for one in many), "nll_nats": mean_nll(many)}
        for name, many in scored.items()
    }


def _agreement(job: Job, data: Path, speaks: Dialect, asker: Asker) -> Measured:
    document = read_json(data / str(job.workload.parameters["reference"]))
    prompts = [str(prompt) for prompt in document["prompts"]]
    reference = reference_for(document, job.model.sha256 if job.model else "")
    count = int(job.workload.parameters["output_tokens"])
    answers = [speaks.greedy(asker, prompt, count) for prompt in prompts]
    samples = [agreement(answer, reference, index, count) for index, answer in enumerate(answers)]
    first = [first_difference(answer, reference, index) for index, answer in enumerate(answers)]
    beside = {"reference_engine": reference.engine, "reference_revision": reference.revision, "first_difference": first}
    return Measured({"greedy_agreement": samples}, {"greedy": {**beside, "outputs": [answer.text for answer in answers]}})


def agreement(answer: Greedy, reference: Reference, index: int, count: int) -> float:
    """Share of the first `count` tokens that are equal, place by place; a missing token is not equal."""
    given, wanted = _comparable(answer, reference, index)
    return sum(one == other for one, other in zip(given[:count], wanted[:count], strict=False)) / min(count, len(wanted))


def first_difference(answer: Greedy, reference: Reference, index: int) -> int | None:
    """The place of the first token that differs; absent when none does."""
    given, wanted = _comparable(answer, reference, index)
    pairs = zip(given, wanted, strict=False)
    return next((place for place, (one, other) in enumerate(pairs) if one != other), None)


def _comparable(answer: Greedy, reference: Reference, index: int) -> tuple[Sequence[int | str], Sequence[int | str]]:
    """Both sides as token ids where the engine tells them, else as the tokens' texts."""
    if answer.ids:
        return answer.ids, reference.ids[index]
    return answer.pieces, reference.pieces[index]


def reference_for(document: Mapping[str, Any], weights_sha256: str) -> Reference:
    """The stored output for these weights; raises BadInputError when there is none: a person must make one."""
    for one in document["references"]:
        if one["weights_sha256"] == weights_sha256:
            ids = tuple(tuple(answer) for answer in one["ids"])
            pieces = tuple(tuple(answer) for answer in one["pieces"])
            return Reference(weights_sha256, str(one["engine"]), str(one["revision"]), ids, pieces)
    raise BadInputError(
        f"there is no reference output for the weights {weights_sha256[:12] or '(none)'}; "
        "make one with `python -m perfd.bench.reference` (docs/suites.md)",
    )


def read_documents(path: Path) -> list[Document]:
    """The documents in a data file; raises BadInputError."""
    return [Document(str(one["name"]), str(one["text"])) for one in read_json(path)["documents"]]


def read_json(path: Path) -> dict[str, Any]:
    """A data file's JSON object; raises BadInputError that names the file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInputError(f"{path}: the data file cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise BadInputError(f"{path}: the data file is not JSON ({error})") from None
    if not isinstance(document, dict):
        raise BadInputError(f"{path}: the data file holds no JSON object")
    return document
