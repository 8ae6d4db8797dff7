"""The results file `perfd.results/1`: what a measuring child writes, and what any other program may write.

It is read as hostile data: everything is checked, sizes are bounded, and a mistake is told with its place.
"""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from perfd.domain.codec import from_json, to_json
from perfd.domain.environment import DeviceState, Environment
from perfd.domain.identity import Json
from perfd.domain.metric import DEFINITIONS_VERSION, Better
from perfd.domain.run import FailureKind, RunState
from perfd.errors import BadInputError

FORMAT = "perfd.results/1"
MOST_BYTES = 64 * 1024 * 1024
MOST_SAMPLES = 5_000_000
MOST_METRICS = 500
MOST_DEPTH = 32
MOST_CONTAINERS = 1_000_000
"""Lists and objects in a document: each costs a reader fifty times the two bytes that write it."""
MOST_COMMAS = MOST_SAMPLES + MOST_CONTAINERS
MOST_CHARACTERS = 1_000_000
"""Of one text in it."""
MOST_NAME_CHARACTERS = 200
LARGEST_WHOLE = 2**63 - 1
FARTHEST = 1e100
"""From zero, of a Sample: nobody measures more, and squares of more would overflow in whoever judges."""
LOG_TAIL_CHARACTERS = 8_000
HOPELESS = "hopeless"
"""Among `extra`, true where trying again would end the same: a permanent error of perfd's, which a person must mend first."""


@dataclass(frozen=True)
class MetricSamples:
    """All Samples of one Metric in one Run, in the order they were measured."""

    name: str
    unit: str
    better: Better
    values: tuple[float, ...]


@dataclass(frozen=True)
class Results:
    """One Run's outcome. A Run that is not done has no Samples."""

    state: RunState
    """`done`, `failed` or `void`."""
    samples: tuple[MetricSamples, ...]
    started_at: datetime
    finished_at: datetime
    environment: Environment | None
    """Absent only when the Run failed before the machine was looked at."""
    device_states: tuple[DeviceState, ...] = ()
    failure: FailureKind | None = None
    """Present exactly when the Run is not done."""
    reason: str = ""
    """One sentence on a failure or a void; "" for a done Run."""
    log_tail: str = ""
    harness_version: str = ""
    definitions_version: str = DEFINITIONS_VERSION
    run: Mapping[str, Json] = field(default_factory=dict)
    """Identity as the writer knows it (engine, revision, build, suite, workload, model, occasion …)."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """What a reader may want and no table holds: offered load, client calibration, token counts."""

    def __post_init__(self) -> None:
        if self.state not in {RunState.DONE, RunState.FAILED, RunState.VOID}:
            raise ValueError(f"results of a Run are done, failed or void, not {self.state}")
        if self.state is RunState.DONE and self.failure is not None:
            raise ValueError("a done Run has no failure")
        if self.state is not RunState.DONE and self.failure is None:
            raise ValueError(f"a {self.state} Run says which kind of failure it was")
        if self.state is RunState.FAILED and self.samples:
            raise ValueError("a failed Run has no Samples")


def dump(results: Results) -> str:
    """The results file's text: one JSON document."""
    document = {"format": FORMAT, **to_json(results)}
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def write(results: Results, path: Path) -> None:
    """`path` holds the results, whole or not at all (written beside it, then renamed)."""
    beside = path.with_name(path.name + ".part")
    with beside.open("w", encoding="utf-8") as file:
        file.write(dump(results))
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def read(path: Path) -> Results:
    """The results in `path`; raises BadInputError that names the file and the place of the mistake."""
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise BadInputError(f"{path}: the results file has {size:,} bytes, and at most {MOST_BYTES:,} are read")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: is not UTF-8 at byte {error.start}") from None
    try:
        return parse(text)
    except BadInputError as error:
        raise BadInputError(f"{path}: {error.message}") from None


def parse(text: str) -> Results:
    """The results in a document's text; raises BadInputError."""
    check_text(text)
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadInputError(f"line {error.lineno}: not JSON ({error.msg})") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise BadInputError("a number in the document is too long") from None
    except RecursionError:
        raise BadInputError("the document is nested too deeply to be a results file") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInputError(f'expected an object with "format": "{FORMAT}", as docs/results.md describes')
    _check_sizes(document)
    _check_values(document)
    try:
        results = from_json(Results, {key: value for key, value in document.items() if key != "format"})
    except OverflowError:
        raise BadInputError("samples: a value is larger than any floating-point number") from None
    for samples in results.samples:
        if not all(map(math.isfinite, samples.values)):
            raise BadInputError(f"samples of {samples.name}: every value is a finite number")
        far = next((value for value in samples.values if abs(value) > FARTHEST), None)
        if far is not None:
            raise BadInputError(f"samples of {samples.name}: {far:g} is beyond {FARTHEST:g}")
    return results


def _refuse_constant(name: str) -> float:
    raise BadInputError(f"{name} is not a number in JSON; leave the Sample out and say so in the outcome")


def check_text(text: str) -> None:
    """Raise BadInputError before a document is parsed that would take far more memory than its text."""
    containers = text.count("[") + text.count("{")
    if containers > MOST_CONTAINERS:
        raise BadInputError(f"the document has {containers:,} lists and objects, and at most {MOST_CONTAINERS:,} are read")
    commas = text.count(",")
    if commas > MOST_COMMAS:
        raise BadInputError(f"the document has {commas:,} commas, and at most {MOST_COMMAS:,} are read")


def _check_values(document: dict[str, Any]) -> None:
    """Raise BadInputError for nesting, texts and numbers that nobody measures; Samples have checks of their own."""
    level: list[Any] = [value for key, value in document.items() if key != "samples"]
    for _ in range(MOST_DEPTH):
        for value in level:
            _check_value(value)
        level = [item for value in level for item in _inside(value)]
        if not level:
            return
    raise BadInputError(f"the document is nested more than {MOST_DEPTH} levels deep")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _check_value(value: Any) -> None:
    if isinstance(value, str) and len(value) > MOST_CHARACTERS:
        raise BadInputError(f"a text has {len(value):,} characters, and at most {MOST_CHARACTERS:,} are read: {value[:40]!r}…")
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInputError("a number is larger than any floating-point number")
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        raise BadInputError(f"a whole number is beyond {LARGEST_WHOLE:,}")


def _check_sizes(document: dict[str, Any]) -> None:
    samples = document.get("samples", [])
    if not isinstance(samples, list):
        return
    if len(samples) > MOST_METRICS:
        raise BadInputError(f"samples: {len(samples)} Metrics, and at most {MOST_METRICS} are read")
    count = sum(len(one.get("values", ())) for one in samples if isinstance(one, dict) and isinstance(one.get("values"), list))
    if count > MOST_SAMPLES:
        raise BadInputError(f"samples: {count:,} values, and at most {MOST_SAMPLES:,} are read")
    names = [one.get("name") for one in samples if isinstance(one, dict)]
    long = next(
        (text for one in samples if isinstance(one, dict) for text in _texts(one) if len(text) > MOST_NAME_CHARACTERS), ""
    )
    if long:
        raise BadInputError(
            f"samples: a name or a unit has {len(long):,} characters, and at most {MOST_NAME_CHARACTERS} are read"
        )
    for name in names:
        if names.count(name) > 1:
            raise BadInputError(f"samples: the Metric {name!r} stands there twice")


def _texts(samples: dict[str, Any]) -> list[str]:
    return [text for text in (samples.get("name"), samples.get("unit")) if isinstance(text, str)]
