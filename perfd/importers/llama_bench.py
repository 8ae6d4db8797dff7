"""llama-bench's JSON, CSV and Markdown: tokens per second of reading a prompt (pp) and of writing (tg)."""

import json
import math
import re
from typing import Any

from perfd.domain.arrival import Arrival
from perfd.domain.identity import Json
from perfd.domain.metric import Better
from perfd.domain.suite import WorkloadClass
from perfd.errors import BadInputError
from perfd.importers.given import Given
from perfd.importers.making import Commit, Machine, Maker, Measured, once
from perfd.importers.source import HEAD, Node, Source, csv_rows, parse
from perfd.importers.units import Quantity

NAME = "llama-bench"
SPEED = Quantity("tokens_per_s", "tokens/s", Better.HIGHER)
LOAD = (
    "n_prompt",
    "n_gen",
    "n_depth",
    "n_batch",
    "n_ubatch",
    "n_threads",
    "n_gpu_layers",
    "type_k",
    "type_v",
    "flash_attn",
    "split_mode",
)
COLUMNS = ("threads", "ngl", "n_batch", "n_ubatch", "fa", "type_k", "type_v")
"""The same in its Markdown."""
REPETITIONS = 5
"""llama-bench's default; its Markdown does not say."""
TABLE = re.compile(r"^\| model .*\| +test \| +t/s \|", re.MULTILINE)
BUILD = re.compile(r"build: (?P<commit>[0-9a-f]{7,40}) \([0-9]+\)")
CELL = re.compile(r"(?P<value>[0-9.]+) ± (?P<sd>[0-9.]+)")


def sniff(text: str) -> bool:
    """Whether it looks so."""
    return ("build_commit" in text and "avg_ts" in text) or TABLE.search(text[:HEAD]) is not None


def read(source: Source, given: Given) -> tuple[Arrival, ...]:
    """Every test of the file."""
    text = source.text()
    if text.lstrip().startswith("|"):
        return _markdown(source, given)
    if text.lstrip().startswith("["):
        rows = list(source.json().each())
    elif text.lstrip().startswith("{"):
        rows = [parse(line, line=number, root=f"line {number}: $") for number, line in source.lines() if line.strip()]
    else:
        head, *body = csv_rows(text) or [[]]
        rows = [Node(_typed(dict(zip(head, row, strict=False))), f"line {number}") for number, row in enumerate(body, 2) if row]
    return once(_arrival(source, given, row) for row in rows)


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    """A row of CSV with its numbers as numbers."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        try:
            number = json.loads(value) if isinstance(value, str) else None
        except ValueError:
            number = None
        found[str(key)] = (
            number
            if isinstance(number, int | float) and not isinstance(number, bool) and key != "build_commit"
            else value or None
        )
    return found


def _arrival(source: Source, given: Given, row: Node) -> Arrival:
    cpu, gpu = row["cpu_info"].word(), row["gpu_info"].word()
    machine = Machine(
        device=gpu,
        device_class=f"gpu:{gpu}" if gpu else f"cpu:{cpu}" if cpu else "",
        hardware={"cpu": cpu, "gpu": gpu},
        software={"backends": row["backends"].word()},
    )
    maker = Maker(NAME, given, given.named("llama.cpp"), machine, source.key)
    samples = row["samples_ts"]
    value, sd = row["avg_ts"].number(), row["stddev_ts"].maybe_number()
    measured = Measured(SPEED, samples.numbers()) if samples and samples.value else _told(value, sd)
    load = {key: row[key].word() for key in LOAD if row[key]}
    commit = Commit(row["build_commit"].word(), row["test_time"].moment())
    name = row["model_filename"].word().rpartition("/")[2] or row["model_type"].name()
    return maker.arrival(
        commit,
        _test(row),
        [measured],
        parameters=load,
        workload_class=WorkloadClass.BATCH,
        model=name,
        extra={"model_type": row["model_type"].word()},
    )


def _test(row: Node) -> str:
    prompt, written, depth = (int(row[key].maybe_number() or 0) for key in ("n_prompt", "n_gen", "n_depth"))
    name = f"pp{prompt}+tg{written}" if prompt and written else f"tg{written}" if written else f"pp{prompt}"
    return f"{name} @ d{depth}" if depth else name


def _told(value: float, sd: float | None) -> Measured:
    """Mean and deviation of five repetitions: the interval of the mean by Student's t with four degrees of freedom."""
    half = None if sd is None else 2.776 * sd / math.sqrt(REPETITIONS)
    return Measured(SPEED, (value,), None if half is None else (value - half, value + half), REPETITIONS)


def _markdown(source: Source, given: Given) -> tuple[Arrival, ...]:
    text = source.text()
    build = BUILD.search(text)
    head: list[str] = []
    made = []
    for number, line in source.short_lines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or set(line) <= set("|-: "):
            continue
        if not head:
            head = cells
            continue
        row = dict(zip(head, cells, strict=False))
        found = CELL.fullmatch(row.get("t/s", ""))
        if found is None or "test" not in row or "model" not in row:
            raise BadInputError(
                f"line {number}: expected a row with model, test and t/s as VALUE ± DEVIATION, saw {line.strip()[:60]!r}"
            )
        maker = Maker(NAME, given, given.named("llama.cpp"), Machine(software={"backends": row.get("backend", "")}), source.key)
        load: dict[str, Json] = {key: row[key] for key in COLUMNS if key in row}
        commit = Commit(build["commit"] if build else "", None)
        made.append(
            maker.arrival(
                commit, row["test"], [_told(float(found["value"]), float(found["sd"]))], parameters=load, model=row["model"]
            )
        )
    return once(made)
