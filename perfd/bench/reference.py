"""Make reference output: `python -m perfd.bench.reference JOB FILE` launches the engine of a job and stores its greedy answers.

JOB is the job.json that every Run leaves in its folder; FILE is a data file of suites/data with prompts. The answers of the job's
weights are added to FILE, or replaced there. A changed FILE is another Workload: its Series begins anew.
"""

import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from perfd.bench.accuracy import read_json
from perfd.bench.ask import Asker
from perfd.bench.dialects import Greedy, dialect
from perfd.bench.engine import EngineError, launched
from perfd.bench.keeper import keep
from perfd.domain.codec import from_json
from perfd.domain.job import Job
from perfd.errors import BadInputError, PerfdError

DEFAULT_TOKENS = 32


def main(arguments: list[str]) -> int:
    """FILE holds the answers; the exit code is 3 for bad use and 1 for an engine that did not answer."""
    if len(arguments) != 2:
        sys.stderr.write("usage: python -m perfd.bench.reference JOB FILE\n")
        return 3
    job_path, data_path = map(Path, arguments)
    return keep(lambda: _make(job_path, data_path), os.getppid())


def _make(job_path: Path, data_path: Path) -> int:
    try:
        document = read_json(data_path)
        job = from_json(Job, read_json(job_path))
        data_path.write_text(text_of(with_reference(document, job)), encoding="utf-8")
    except EngineError as error:
        sys.stderr.write(f"{error.sentence}\n")
        return 1
    except PerfdError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_code
    return 0


def with_reference(document: dict[str, Any], job: Job) -> dict[str, Any]:
    """The document with this job's answers in the place of older ones of the same weights."""
    if job.model is None or job.launch is None:
        raise BadInputError("the job has no model or no launch stanza; take the job.json of a serving or accuracy Run")
    count = int(job.workload.parameters.get("output_tokens", DEFAULT_TOKENS))
    answers = _ask(job, job.launch.dialect, [str(prompt) for prompt in document["prompts"]], count)
    made = {
        "model": job.model.name,
        "weights_sha256": job.model.sha256,
        "engine": job.subject,
        "revision": job.revision,
        "ids": [answer.ids for answer in answers],
        "pieces": [answer.pieces for answer in answers],
    }
    others = [one for one in document["references"] if one["weights_sha256"] != job.model.sha256]
    return {**document, "references": [*others, made]}


def _ask(job: Job, speaks: str, prompts: list[str], count: int) -> list[Greedy]:
    with tempfile.TemporaryDirectory() as folder, launched(replace(job, work=Path(folder))) as server:
        asker = Asker(server.port)
        return [dialect(speaks).greedy(asker, prompt, count) for prompt in prompts]


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
