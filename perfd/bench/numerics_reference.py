"""Make reference log-probabilities: an engine of perfd.toml scores the fixed texts, and scores them again for the null.

`python -m perfd.bench.numerics_reference FILE --documents TEXTS --engine NAME --artifact BUILD --weights WEIGHTS
--revision REVISION [--runs 10]`. FILE holds the view of these weights afterwards, in the place of an older one. Each run starts
the engine anew.
A changed file is another Workload: its Series begins anew.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from perfd.bench.accuracy import read_documents, read_json
from perfd.bench.ask import Asker
from perfd.bench.dialects import dialect
from perfd.bench.engine import EngineError, launched
from perfd.bench.keeper import keep
from perfd.bench.numerics import SPARE, check_positions, compare, texts_sha256
from perfd.bench.numerics_data import NumericsReference, Positions, positions_of, to_document
from perfd.bench.reference import job_of, launch_of, sha256_of
from perfd.bench.reference import parser as greedy_parser
from perfd.errors import PerfdError

RUNS = 10


def main(arguments: list[str]) -> int:
    """FILE holds the reference; the exit code is 3 for bad input and 1 for an engine that did not answer."""
    given = parser().parse_args(arguments)
    return keep(lambda: _make(given), os.getppid())


def parser() -> argparse.ArgumentParser:
    """The command's options: those of the greedy reference, and its own."""
    made = argparse.ArgumentParser(parents=[greedy_parser()], add_help=False, prog="python -m perfd.bench.numerics_reference")
    made.description = "Store an engine's log-probabilities of fixed texts, and the divergence of its reruns."
    made.add_argument("--documents", type=Path, required=True, help="data file with the texts")
    made.add_argument("--top-k", type=int, default=32, help="candidates kept a position (default: 32)")
    made.add_argument("--runs", type=int, default=RUNS, help=f"reruns that make the null (default: {RUNS})")
    return made


def _make(given: argparse.Namespace) -> int:
    try:
        made = reference(given)
        document = read_json(given.file) if given.file.exists() else {"references": []}
        others = [one for one in document["references"] if one["weights_sha256"] != made.weights_sha256]
        document = {**document, "references": [*others, to_document(made)]}
        given.file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except EngineError as error:
        sys.stderr.write(f"{error.sentence}\n")
        return 1
    except PerfdError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_code
    return 0


def reference(given: argparse.Namespace) -> NumericsReference:
    """The first run's view, and every further run's divergence from it."""
    first = score(given)
    check_positions(sum(len(one.candidates) for one in first.values()))
    kept = {name: Positions(tuple(one[: given.top_k] for one in seen.candidates), seen.nll_nats) for name, seen in first.items()}
    made = NumericsReference(
        sha256_of(given.weights), given.engine, given.revision, texts_sha256(given.documents), given.top_k, kept, ()
    )
    null = []
    for number in range(given.runs):
        again = score(given)
        null.append(tuple(compare(name, kept[name], again[name]).kl_nats for name in kept))
        sys.stderr.write(f"rerun {number + 1} of {given.runs}: mean KL {sum(null[-1]) / len(kept):.3g} nats a position\n")
    return replace(made, null=tuple(null))


def score(given: argparse.Namespace) -> dict[str, Positions]:
    """What a newly started engine says of each text."""
    launch = launch_of(given)
    speaks, wanted = dialect(launch.dialect), SPARE * given.top_k
    with tempfile.TemporaryDirectory() as folder, launched(job_of(given, launch, Path(folder))) as server:
        asker = Asker(server.port)
        documents = read_documents(given.documents)
        return {one.name: positions_of(speaks.score(asker, one.text, wanted), wanted) for one in documents}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
