"""Make reference output: launch an engine of perfd.toml on given weights and store its greedy answers in a data file of suites.

`python -m perfd.bench.reference FILE --engine NAME --artifact BUILD --weights WEIGHTS --revision REVISION`, where FILE is
suites/data/greedy_reference.json, adds the answers of these weights to it, or replaces them. A changed file is another Workload:
its Series begins anew.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from perfd.bench.accuracy import read_json
from perfd.bench.ask import Asker
from perfd.bench.dialects import Greedy, dialect
from perfd.bench.engine import EngineError, launched
from perfd.bench.keeper import keep
from perfd.config import load_config
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload, WorkloadClass
from perfd.errors import BadInputError, PerfdError


def main(arguments: list[str]) -> int:
    """FILE holds the answers; the exit code is 3 for bad input and 1 for an engine that did not answer."""
    given = parser().parse_args(arguments)
    return keep(lambda: _make(given), os.getppid())


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    made = argparse.ArgumentParser(prog="python -m perfd.bench.reference", description="Store an engine's greedy answers.")
    made.add_argument("file", type=Path, help="data file with prompts and references")
    made.add_argument("--engine", required=True, help="name of an engine in perfd.toml")
    made.add_argument("--artifact", type=Path, required=True, help="folder of its Build")
    made.add_argument("--weights", type=Path, required=True, help="the model's file")
    made.add_argument("--revision", required=True, help="the Build's Revision, kept beside the answers")
    made.add_argument("--config", type=Path, help="perfd.toml (default: the one of the current folder, or perfd's own)")
    made.add_argument("--threads", type=int, default=1, help="threads that the engine uses (default: 1)")
    made.add_argument("--output-tokens", type=int, default=24, help="tokens of each answer (default: 24)")
    return made


def _make(given: argparse.Namespace) -> int:
    try:
        document = read_json(given.file)
        answers = _ask(given, [str(prompt) for prompt in document["prompts"]])
        given.file.write_text(text_of(with_reference(document, given, answers)), encoding="utf-8")
    except EngineError as error:
        sys.stderr.write(f"{error.sentence}\n")
        return 1
    except PerfdError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_code
    return 0


def with_reference(document: dict[str, Any], given: argparse.Namespace, answers: list[Greedy]) -> dict[str, Any]:
    """The document with these answers in the place of older ones of the same weights."""
    sha256 = sha256_of(given.weights)
    made = {
        "weights_sha256": sha256,
        "engine": given.engine,
        "revision": given.revision,
        "ids": [answer.ids for answer in answers],
        "pieces": [answer.pieces for answer in answers],
    }
    others = [one for one in document["references"] if one["weights_sha256"] != sha256]
    return {**document, "references": [*others, made]}


def sha256_of(path: Path) -> str:
    """The hash of a file; raises BadInputError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadInputError(f"{path}: the weights cannot be read ({error.strerror})") from None


def _ask(given: argparse.Namespace, prompts: list[str]) -> list[Greedy]:
    launch = launch_of(given)
    speaks = dialect(launch.dialect)
    with tempfile.TemporaryDirectory() as folder, launched(job_of(given, launch, Path(folder))) as server:
        asker = Asker(server.port)
        return [speaks.greedy(asker, prompt, given.output_tokens) for prompt in prompts]


def launch_of(given: argparse.Namespace) -> Launch:
    """The engine's launch stanza; raises BadInputError that lists the engines there are."""
    config = load_config(given.config, os.environ)
    for engine in config.engines:
        if engine.name == given.engine:
            return engine.launch
    there = ", ".join(engine.name for engine in config.engines)
    raise BadInputError(f'there is no engine "{given.engine}" in the configuration; give --engine one of {there}')


def job_of(given: argparse.Namespace, launch: Launch, work: Path) -> Job:
    """What a launch needs; nothing is measured, so the rest stays empty."""
    workload = Workload("", "reference", WorkloadClass.ACCURACY, {}, 0, "")
    return Job(
        subject=given.engine,
        revision=given.revision,
        build="",
        artifact=given.artifact.absolute(),
        workload=workload,
        device=Device("", "cpu", ""),
        occasion="",
        run="",
        work=work,
        threads=given.threads,
        launch=launch,
        weights=given.weights.absolute(),
    )


def text_of(document: dict[str, Any]) -> str:
    """JSON with one answer a line, so that a changed token shows as one changed line."""
    head = {key: value for key, value in document.items() if key != "references"}
    lines = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    references = ",\n".join(_reference_text(one) for one in document["references"])
    return f'{lines},\n "references": [\n{references}\n ]\n}}\n'


def _reference_text(one: dict[str, Any]) -> str:
    fields = [f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in one.items() if key not in {"ids", "pieces"}]
    for key in ("ids", "pieces"):
        answers = ",\n".join("    " + json.dumps(answer, ensure_ascii=False) for answer in one[key])
        fields.append(f"   {json.dumps(key)}: [\n{answers}\n   ]")
    return "  {\n" + ",\n".join(fields) + "\n  }"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
