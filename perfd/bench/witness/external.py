"""inferlint: what it finds in the witness's own recording of vLLM, SGLang and TensorRT-LLM.

It is called as a program, after the load, on files that the witness wrote: so it needs no place in our environment and cannot
disturb the measurement. Where it is not there, that is said, and our own rules remain.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perfd.bench.witness.dictionary import LLAMACPP, Names, look_of
from perfd.bench.witness.findings import Effect, Finding
from perfd.bench.witness.peek import Answer, body_of
from perfd.bench.witness.prometheus import parse
from perfd.domain.identity import Json

PROGRAM = "inferlint"
LIMIT_S = 60.0
_KEYS = {"vLLM": "vllm", "SGLang": "sglang", "TensorRT-LLM": "trtllm"}
_OURS = frozenset({"T1", "T8", "T15"})
"""Preemptions, concurrency and counts have a rule of our own; the same thing is not told twice."""
_STATUSES = {"fail", "warn"}


def program() -> str | None:
    """The inferlint beside our interpreter, or on the PATH; absent where neither has it."""
    beside = Path(sys.executable).with_name(PROGRAM)
    return str(beside) if os.access(beside, os.X_OK) else shutil.which(PROGRAM)


def ask_inferlint(
    names: Names | None, answers: Sequence[Answer], log: Path, folder: Path, asked_concurrency: int | None
) -> tuple[list[Finding], dict[str, Json]]:
    """(its findings, how it was used): nothing, and why, where it does not serve this engine or is not installed."""
    if names is None or names is LLAMACPP:
        return [], {"used": False, "why": "inferlint reads vLLM, SGLang and TensorRT-LLM; this engine is read by perfd itself"}
    path = program()
    if path is None:
        return [], {"used": False, "why": "inferlint is not installed (pip install inferlint, in an environment of its own)"}
    whole = [answer for answer in answers if body_of(answer.raw)]
    if len(whole) < 2:
        return [], {"used": False, "why": "the server's metrics answered fewer than twice"}
    recording = write_recording(names, whole, log, folder)
    options = [] if asked_concurrency is None else ["--requested", str(asked_concurrency)]
    return run(path, [*recording, *options, "-o", str(folder / "inferlint.html")], folder)


def write_recording(names: Names, answers: Sequence[Answer], log: Path, folder: Path) -> list[str]:
    """The options of inferlint that name the recording: two snapshots, a series of gauges and the log, in its own formats."""
    folder.mkdir(parents=True, exist_ok=True)
    before, after, series = folder / "before.json", folder / "after.json", folder / "run.series.jsonl"
    before.write_text(json.dumps(_snapshot(answers[0])), encoding="utf-8")
    after.write_text(json.dumps(_snapshot(answers[-1])), encoding="utf-8")
    head = {"schema": "inferlint.series/1", "url": "recorded by perfd", "engine": _KEYS[names.engine]}
    rows = [head, *(_row(names, answer) for answer in answers)]
    series.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = ["--before", str(before), "--after", str(after), "--series", str(series)]
    return [*options, "--boot-log", str(log)] if log.exists() else options


def _snapshot(answer: Answer) -> dict[str, Json]:
    return {
        "schema": "inferlint.snapshot/1",
        "url": "recorded by perfd",
        "t_wall": answer.wall_s,
        "t_mono_ns": (answer.asked_ns + answer.at_ns) // 2,
        "latency_s": answer.answer_s,
        "text": body_of(answer.raw) or "",
    }


def _row(names: Names, answer: Answer) -> dict[str, Json]:
    look = look_of(parse(body_of(answer.raw) or ""), names, answer.at_ns, answer.answer_s)
    return {
        "t_wall": answer.wall_s,
        "t_mono_ns": look.at_ns,
        "running": look.running,
        "waiting": look.waiting,
        "kv_usage": look.kv_share,
        "preemptions": look.preempted,
        "generation_tokens": look.output_tokens,
        "prompt_tokens": look.prompt_tokens,
        "paused": look.paused,
    }


def run(path: str, options: Sequence[str], folder: Path) -> tuple[list[Finding], dict[str, Json]]:
    """What the program answered; its own failure is told and fails nothing."""
    try:
        ended = subprocess.run(
            [path, "report", "--json", *options], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [], {"used": False, "why": f"inferlint could not be run ({type(error).__name__})"}
    try:
        told = json.loads(ended.stdout)
    except ValueError:
        said = (ended.stderr or ended.stdout).strip()[-200:]
        return [], {"used": False, "why": f"inferlint answered no JSON (exit code {ended.returncode}): {said}"}
    checks = [check for check in (told if isinstance(told, list) else []) if isinstance(check, dict)]
    verdicts: Json = {str(check.get("tripwire")): str(check.get("status")) for check in checks}
    return findings_from(checks), {"used": True, "verdicts": verdicts}


def findings_from(checks: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Warnings and failures as annotations, in its words."""
    return [
        Finding(
            f"inferlint_{check.get('tripwire')}",
            Effect.ANNOTATE,
            f"inferlint {check.get('tripwire')}: {str(check.get('message'))[:400]}",
            {"status": str(check.get("status"))},
        )
        for check in checks
        if check.get("status") in _STATUSES and check.get("tripwire") not in _OURS
    ]
