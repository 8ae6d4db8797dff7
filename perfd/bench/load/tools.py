"""Tools that a made agent has: schemas of the kind that coding agents send, calls of them, and what both cost in tokens."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from perfd.bench.load.messages import Call
from perfd.domain.identity import Json

ACTIONS = ("read", "write", "search", "run", "list", "edit", "open", "delete", "move", "test", "fetch", "compare")
OBJECTS = ("file", "folder", "command", "page", "branch", "log", "note", "table", "image", "job")
DESCRIPTION_WORDS = 24
ARGUMENT_WORDS = 4


@dataclass(frozen=True)
class ToolBox:
    """The tools of a session: equal in all its requests, and so part of the prefix that is reused."""

    schemas: tuple[Json, ...]
    tokens: int
    """Of the schemas, as JSON; a chat template writes them in its own way, which only the engine knows."""

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the schemas."""
        return tuple(schema["function"]["name"] for schema in self.schemas)


EMPTY = ToolBox((), 0)


def tool_names(count: int) -> list[str]:
    """`count` different names: read_file, write_file and so on."""
    names = [f"{action}_{thing}" for thing in OBJECTS for action in ACTIONS]
    return [names[at % len(names)] + (f"_{at // len(names)}" if at >= len(names) else "") for at in range(count)]


def schema(name: str, description: str) -> Json:
    """One tool as the chat API takes it."""
    fields = {
        "target": {"type": "string", "description": "What it is done to."},
        "detail": {"type": "string", "description": "How it is done."},
        "limit": {"type": "integer", "description": "Lines at the most."},
    }
    parameters = {"type": "object", "properties": fields, "required": ["target"]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def call(name: str, call_id: str, words: Sequence[str]) -> Call:
    """One call whose arguments hold these words, each between spaces, so that calls of one tool are equally long."""
    return Call(call_id, name, json.dumps({"target": " ".join(("at", *words, "now")), "limit": 200}))
