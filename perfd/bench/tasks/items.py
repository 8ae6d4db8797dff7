"""Items of a task: a question, how to ask it, and a check that says whether an answer is right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfd.bench.ask import Asker
from perfd.bench.engine import EngineError
from perfd.domain.identity import Json
from perfd.domain.run import FailureKind


@dataclass(frozen=True)
class Answer:
    """What the engine said."""

    text: str
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    """As the chat API tells them, where tools were given."""


@dataclass(frozen=True)
class Item:
    """One question. Its id is the same in every Run, so that two Builds are compared item by item."""

    id: str
    prompt: str
    check: Callable[[Answer], bool]
    system: str = ""
    chat: bool = True
    """False continues the prompt as plain text."""
    stop: tuple[str, ...] = ()
    tools: tuple[Json, ...] = ()


@dataclass(frozen=True)
class TaskItems:
    """A task's items in their order, and what a reader should know of them."""

    items: tuple[Item, ...]
    data_sha256: str = ""
    """Over the files that were read; "" where the items were made."""
    about: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where a task finds what it needs."""

    folder: Path | None
    """The folder of evaluation data; absent where none was named."""
    work: Path
    """A folder of the Run's own."""


def ask(asker: Asker, model: str, item: Item, output_tokens: int) -> Answer:
    """The engine's greedy answer; raises EngineError where it gives none."""
    body: dict[str, Json] = {"model": model, "max_tokens": output_tokens, "temperature": 0}
    if item.stop:
        body["stop"] = list(item.stop)
    if not item.chat:
        return _answer(asker.post("/v1/completions", {**body, "prompt": item.prompt}), "text")
    system = [{"role": "system", "content": item.system}] if item.system else []
    body["messages"] = [*system, {"role": "user", "content": item.prompt}]
    if item.tools:
        body["tools"] = list(item.tools)
    return _answer(asker.post("/v1/chat/completions", body), "message")


def _answer(told: Mapping[str, Any], key: str) -> Answer:
    choices = told.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    said = first.get(key)
    if isinstance(said, str):
        return Answer(said)
    if not isinstance(said, dict):
        raise EngineError(FailureKind.NONSENSE, f"the engine answered without a {key}: {str(told)[:200]}")
    calls = said.get("tool_calls")
    good = [one["function"] for one in calls if _is_call(one)] if isinstance(calls, list) else []
    return Answer(str(said.get("content") or ""), tuple(good))


def _is_call(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("function"), dict)
