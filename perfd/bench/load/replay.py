"""Recorded loads, read from a path: Mooncake's JSONL, Azure's CSV, SWE-agent's trajectories. None of them is part of perfd."""

import csv
import gzip
import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from perfd.bench.load.messages import Call, Message
from perfd.domain.identity import Json
from perfd.errors import BadInputError

MOST_TRACE_CHARACTERS = 1_000_000_000
AZURE_FIELDS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


@dataclass(frozen=True)
class Due:
    """One line of a trace: when, and how long prompt and answer are."""

    at_s: float
    prompt_tokens: int | None = None
    max_tokens: int | None = None
    blocks: tuple[int, ...] = ()
    """Names of the prompt's blocks, where the trace tells them: equal names are equal text."""


@dataclass(frozen=True)
class Recorded:
    """One recorded session."""

    name: str
    messages: tuple[Message, ...]

    @property
    def turns(self) -> int:
        """Requests: one for each assistant message."""
        return sum(message.role == "assistant" for message in self.messages)


def read_trace(path: Path, speed: float = 1.0) -> list[Due]:
    """The requests of a trace (gzipped or not), `speed` times as fast; raises BadInputError with the line.

    A line of JSONL is an object with `timestamp` in ms (Mooncake) or `at_s` in s, and if known `input_length` or `prompt_tokens`,
    `output_length` or `max_tokens`, and `hash_ids`. CSV has Azure's columns.
    """
    lines = _text(path).splitlines()
    azure = bool(lines) and lines[0].lstrip("\ufeff").startswith(AZURE_FIELDS[0])
    made = _azure(path, lines) if azure else (_due(path, number, line) for number, line in enumerate(lines, 1) if line.strip())
    dues = sorted(made, key=lambda due: due.at_s)
    if not dues:
        raise BadInputError(f"{path}: the trace holds no request")
    first = dues[0].at_s
    return [Due((due.at_s - first) / speed, due.prompt_tokens, due.max_tokens, due.blocks) for due in dues]


def _text(path: Path) -> str:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            return file.read(MOST_TRACE_CHARACTERS)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadInputError(f"{path}: the trace cannot be read ({error})") from None


def _azure(path: Path, lines: list[str]) -> Iterator[Due]:
    for number, row in enumerate(csv.DictReader(lines), start=2):
        try:
            at, prompt, answer = (row[name] for name in AZURE_FIELDS)
            # Seven digits of a second: Python reads six.
            yield Due(datetime.fromisoformat(at[:26]).timestamp(), max(1, int(prompt)), max(1, int(answer)))
        except (KeyError, TypeError, ValueError):
            raise BadInputError(f"{path}, line {number}: expected {','.join(AZURE_FIELDS)}, saw {str(row)[:80]}") from None


def _due(path: Path, number: int, line: str) -> Due:
    place = f"{path}, line {number}"
    try:
        body = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInputError(f"{place}: not JSON ({error.msg})") from None
    if not isinstance(body, dict):
        raise BadInputError(f"{place}: expected an object with timestamp (ms) or at_s (s)")
    at_s = _number(place, body, "at_s", 1.0)
    if at_s is None:
        at_s = _number(place, body, "timestamp", 0.001)
    if at_s is None:
        raise BadInputError(f"{place}: expected timestamp (ms) or at_s (s), saw neither")
    blocks = body.get("hash_ids", [])
    if not isinstance(blocks, list) or not all(isinstance(block, int) for block in blocks):
        raise BadInputError(f"{place}: hash_ids is no list of whole numbers")
    return Due(
        at_s,
        _tokens(place, body, "input_length", "prompt_tokens"),
        _tokens(place, body, "output_length", "max_tokens"),
        tuple(blocks),
    )


def _number(place: str, body: dict[str, Json], name: str, scale: float) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInputError(f"{place}: {name} is {value!r}, not a number")
    return float(value) * scale


def _tokens(place: str, body: dict[str, Json], *names: str) -> int | None:
    for name in names:
        value = _number(place, body, name, 1.0)
        if value is not None:
            return max(1, int(value))
    return None


@lru_cache(maxsize=4)
def read_sessions(path: Path) -> tuple[Recorded, ...]:
    """The session of a trajectory file, or of each `.traj` file of a folder, by name; raises BadInputError with the file."""
    files = sorted(path.glob("*.traj")) if path.is_dir() else [path]
    sessions = tuple(_recorded(file) for file in files)
    if not sessions:
        raise BadInputError(f"{path}: holds no .traj file; give a SWE-agent trajectory, or a folder of them")
    return sessions


def _recorded(path: Path) -> Recorded:
    try:
        document = json.loads(_text(path))
    except json.JSONDecodeError as error:
        raise BadInputError(f"{path}: not JSON ({error.msg})") from None
    history = document.get("history") if isinstance(document, dict) else None
    if not isinstance(history, list):
        raise BadInputError(f'{path}: expected an object with "history", as SWE-agent writes it')
    messages = tuple(_message(path, at, one) for at, one in enumerate(history))
    if not messages or messages[0].role == "assistant" or all(message.role != "assistant" for message in messages):
        raise BadInputError(f"{path}: its history holds no assistant message after another one")
    return Recorded(path.stem, messages)


def _message(path: Path, at: int, one: Any) -> Message:
    role = one.get("role") if isinstance(one, dict) else None
    if role not in {"system", "user", "assistant", "tool"}:
        raise BadInputError(
            f"{path}: message {at} of its history has the role {role!r}; expected system, user, assistant or tool"
        )
    ids = one.get("tool_call_ids") or [""]
    calls = tuple(_call(call) for call in one.get("tool_calls") or [] if isinstance(call, dict))
    return Message(role, _content(one.get("content")), calls, str(ids[0]) if role == "tool" else "")


def _content(content: Any) -> str:
    """A message's text; of a list of parts, the texts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _call(call: dict[str, Any]) -> Call:
    function = call.get("function")
    named: dict[str, Any] = function if isinstance(function, dict) else {}
    arguments = named.get("arguments", "{}")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Call(str(call.get("id", "")), str(named.get("name", "")), text)
