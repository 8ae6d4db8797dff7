"""Numerics: how far this Build's probabilities are from stored ones of the same weights, against the noise of equal Builds.

Each position of fixed texts is scored, and its candidates are held against the reference's (`stats/divergence.py`: buckets for
the shared tokens and one for the rest, a lower bound of the KL divergence). One Sample a document: its tokens err together.
Two answers follow. *Moved*: the mean log divergence is outside what reruns of the reference Build gave. *Worse*: the text's own
tokens became less likely, by the mean log-likelihood difference with its interval over documents. Moved does not mean worse.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from perfd.bench.accuracy import LEAST_POSITIONS, read_documents, read_json
from perfd.bench.ask import Asker
from perfd.bench.dialects import Dialect
from perfd.bench.engine import EngineError
from perfd.bench.measured import Measured
from perfd.bench.numerics_data import Candidates, NumericsReference, Positions, positions_of, reference_of
from perfd.domain.identity import Json
from perfd.domain.job import Job
from perfd.domain.run import FailureKind
from perfd.errors import BadInputError
from perfd.stats.clusters import clustered_mean
from perfd.stats.divergence import LEAST_RUNS, RESOLUTION_NATS, bucket_divergence, shift

ALPHA = 0.01
SPARE = 4
"""The engine is asked for so many times the reference's candidates: a token that fell in rank is still told."""


@dataclass(frozen=True)
class Compared:
    """One document against its reference."""

    kl_nats: float
    """Mean over positions."""
    rest: float
    """Mean mass of the reference that the shared tokens leave."""
    nll_difference: tuple[float, ...]
    """Nats by which the text's own tokens became less likely, where both sides tell them exactly."""
    positions: int


def measure(job: Job, data: Path, speaks: Dialect, asker: Asker) -> Measured:
    """Samples of `kl_nats`, one a document; raises BadInputError where the weights have no reference."""
    given = job.workload.parameters
    reference = reference_of(read_json(data / str(given["reference"])), job.model.sha256 if job.model else "")
    texts = data / str(given["documents"])
    check_texts(texts, reference)
    found = look(texts, reference, speaks, asker)
    check_positions(sum(one.positions for one in found.values()))
    samples = [max(one.kl_nats, RESOLUTION_NATS) for one in found.values()]
    return Measured({"kl_nats": samples}, {"numerics": told(found, reference)})


def check_texts(path: Path, reference: NumericsReference) -> None:
    """Raise BadInputError where the texts are not those that the reference was made of."""
    if texts_sha256(path) != reference.documents_sha256:
        raise BadInputError(f"{path}: the reference was made of other texts; make it anew (docs/accuracy.md)")


def check_positions(count: int) -> None:
    """Raise BadInputError for fewer positions than say anything."""
    if count < LEAST_POSITIONS:
        raise BadInputError(f"{count} positions were scored and {LEAST_POSITIONS} are needed; give longer documents")


def texts_sha256(path: Path) -> str:
    """Over what is scored: names and texts in order."""
    documents = read_documents(path)
    return hashlib.sha256("\0".join(f"{one.name}\0{one.text}" for one in documents).encode()).hexdigest()


def look(texts: Path, reference: NumericsReference, speaks: Dialect, asker: Asker) -> dict[str, Compared]:
    """Every document of the reference against what the engine says now."""
    found = {}
    for document in read_documents(texts):
        scored = speaks.score(asker, document.text, SPARE * reference.top_k)
        now = positions_of(scored, SPARE * reference.top_k)
        found[document.name] = compare(document.name, reference.documents[document.name], now)
    return found


def compare(name: str, before: Positions, now: Positions) -> Compared:
    """One document's divergence; raises EngineError where it was cut into other tokens."""
    if len(before.candidates) != len(now.candidates):
        counts = f"{len(now.candidates)} positions, the reference has {len(before.candidates)}"
        raise EngineError(FailureKind.NONSENSE, f"the text {name} has {counts}: the tokenizer is another one")
    both = list(zip(before.candidates, now.candidates, strict=True))
    check_shared(name, both)
    each = [bucket_divergence(was, told) for was, told in both]
    pairs = zip(before.nll_nats, now.nll_nats, strict=True)
    gaps = tuple(after - was for was, after in pairs if np.isfinite(was) and np.isfinite(after))
    mean = [float(np.mean([getattr(one, field) for one in each])) for field in ("kl_nats", "rest")]
    return Compared(mean[0], mean[1], gaps, len(each))


def check_shared(name: str, both: Sequence[tuple[Candidates, Candidates]]) -> None:
    """Raise EngineError where most positions have no candidate in common: a bound of zero must not pass for agreement."""
    apart = sum(not dict(was).keys() & dict(told).keys() for was, told in both)
    if 2 * apart > len(both):
        seen = f"{apart} of {len(both)} positions share no candidate with the reference"
        raise EngineError(FailureKind.NONSENSE, f"the text {name}: {seen}; make it anew, or look at what the engine tells")


def told(found: Mapping[str, Compared], reference: NumericsReference) -> Json:
    """What a reader wants beside the Samples."""
    compared = list(found.values())
    counts = np.array([float(one.positions) for one in compared])
    mean = clustered_mean(np.array([one.kl_nats for one in compared]) * counts, counts)
    return {
        "reference_engine": reference.engine,
        "reference_revision": reference.revision,
        "positions": int(counts.sum()),
        "documents": {
            name: {"kl_nats": one.kl_nats, "rest": one.rest, "positions": one.positions} for name, one in found.items()
        },
        "kl_nats": {"mean": mean.mean, "interval_95": list(mean.interval(0.95))},
        "against_null": against_null([one.kl_nats for one in compared], reference),
        "nll_difference_nats": likelihood_change(compared),
    }


def against_null(kl_nats: Sequence[float], reference: NumericsReference) -> Json:
    """Whether numerics moved beyond the reruns of the reference Build; absent where fewer than three were made."""
    if len(reference.null) < LEAST_RUNS:
        return None
    found = shift(kl_nats, reference.null)
    return {**asdict(found), "runs": len(reference.null), "moved": found.moved(ALPHA)}


def likelihood_change(compared: Sequence[Compared]) -> Json:
    """By how many nats a token the texts became less likely, its 99 % interval over documents, and p; positive is worse."""
    exact = [one.nll_difference for one in compared if one.nll_difference]
    if not exact:
        return None
    sums, counts = np.array([sum(one) for one in exact]), np.array([float(len(one)) for one in exact])
    found = clustered_mean(sums, counts)
    low, high = found.interval(0.99)
    interval = [low, high] if np.isfinite(low) else None
    return {"mean": found.mean, "interval_99": interval, "p": found.p, "positions": int(counts.sum())}
