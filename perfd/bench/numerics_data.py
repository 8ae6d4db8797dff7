"""Reference log-probabilities in a data file: what one Build told of fixed texts, and how far its own reruns were.

Compact: for each document the k likeliest tokens a position and their log-probabilities, as zlib-packed little-endian columns in
base 85 (about 200 bytes a position for k = 32). `python -m perfd.bench.numerics_reference` makes it.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perfd.bench.dialects import Scored
from perfd.domain.identity import Json
from perfd.errors import BadInputError

OWN_TOKEN = 0
"""Stands for the text's own token where an engine tells the probability of no other: two buckets, that token and the rest."""
MOST_UNPACKED_BYTES = 256 * 1024 * 1024
Candidates = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Positions:
    """One document as an engine scored it: an entry a position in each."""

    candidates: tuple[Candidates, ...]
    nll_nats: tuple[float, ...]
    """Of the text's own token; infinite where only a bound is known."""


@dataclass(frozen=True)
class NumericsReference:
    """One engine's view of the documents, and the divergences of its reruns from it."""

    weights_sha256: str
    engine: str
    revision: str
    documents_sha256: str
    top_k: int
    documents: Mapping[str, Positions]
    null: tuple[tuple[float, ...], ...]
    """By rerun of the same Build, in the documents' order: mean KL a position."""


def positions_of(scored: Sequence[Scored], top_k: int) -> Positions:
    """The first `top_k` candidates of each position, as a reference keeps them."""
    candidates = tuple(one.top[:top_k] or ((OWN_TOKEN, -one.nll_nats),) for one in scored)
    return Positions(candidates, tuple(float("inf") if one.is_bound else one.nll_nats for one in scored))


def to_document(reference: NumericsReference) -> dict[str, Json]:
    """The reference as a data file holds it."""
    return {
        "weights_sha256": reference.weights_sha256,
        "engine": reference.engine,
        "revision": reference.revision,
        "documents_sha256": reference.documents_sha256,
        "top_k": reference.top_k,
        "documents": {name: _packed(one) for name, one in reference.documents.items()},
        "null": [list(run) for run in reference.null],
    }


def _packed(positions: Positions) -> dict[str, Json]:
    told = positions.candidates
    return {
        "counts": pack(np.array([len(one) for one in told], dtype="<u2")),
        "tokens": pack(np.array([token for one in told for token, _ in one], dtype="<u4")),
        "log_p": pack(np.array([value for one in told for _, value in one], dtype="<f4")),
        "nll_nats": pack(np.array(positions.nll_nats, dtype="<f4")),
    }


def pack(values: npt.NDArray[Any]) -> str:
    """A column as text; bytes of one significance stand together, which zlib likes."""
    planes = np.frombuffer(values.tobytes(), dtype=np.uint8).reshape(len(values), values.itemsize).T
    return base64.b85encode(zlib.compress(planes.tobytes(), 9)).decode("ascii")


def unpack(text: str, kind: str) -> npt.NDArray[Any]:
    """The column that `pack` made; raises BadInputError."""
    try:
        unpacker = zlib.decompressobj()
        planes = unpacker.decompress(base64.b85decode(text), MOST_UNPACKED_BYTES)
    except (ValueError, zlib.error, binascii.Error) as error:
        raise BadInputError(f"a column of the reference cannot be unpacked ({error}); make the reference anew") from None
    width = np.dtype(kind).itemsize
    if not unpacker.eof or len(planes) % width:
        raise BadInputError("a column of the reference is cut off; make the reference anew")
    return np.frombuffer(np.frombuffer(planes, dtype=np.uint8).reshape(width, -1).T.tobytes(), dtype=kind)


def reference_of(document: Mapping[str, Any], weights_sha256: str) -> NumericsReference:
    """The stored view for these weights; raises BadInputError when there is none: a person must make one."""
    for one in document["references"]:
        if one["weights_sha256"] == weights_sha256:
            return _read(one)
    raise BadInputError(
        f"there are no reference log-probabilities for the weights {weights_sha256[:12] or '(none)'}; "
        "make them with `python -m perfd.bench.numerics_reference` (docs/accuracy.md)",
    )


def _read(one: Mapping[str, Any]) -> NumericsReference:
    return NumericsReference(
        str(one["weights_sha256"]),
        str(one["engine"]),
        str(one["revision"]),
        str(one["documents_sha256"]),
        int(one["top_k"]),
        {str(name): _unpacked(columns) for name, columns in one["documents"].items()},
        tuple(tuple(map(float, run)) for run in one["null"]),
    )


def _unpacked(columns: Mapping[str, Any]) -> Positions:
    counts = unpack(str(columns["counts"]), "<u2").tolist()
    tokens, values = unpack(str(columns["tokens"]), "<u4").tolist(), unpack(str(columns["log_p"]), "<f4").tolist()
    if not len(tokens) == len(values) == sum(counts):
        raise BadInputError("the reference's columns have different lengths; make the reference anew")
    pairs = iter(zip(tokens, values, strict=True))
    candidates = tuple(tuple(next(pairs) for _ in range(count)) for count in counts)
    return Positions(candidates, tuple(unpack(str(columns["nll_nats"]), "<f4").tolist()))
