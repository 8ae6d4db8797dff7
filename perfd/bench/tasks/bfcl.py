"""BFCL: given functions and a request, the engine must call the right ones with the right arguments; matched by syntax tree.

The categories with one turn: `simple_python`, `live_simple`, `multiple` (one call), `parallel` (several, in any order) and
`irrelevance` (none is right). The prompt is our own and the match follows BFCL's rules: an argument's value is one of those
listed, "" among them means that it may be left out, and texts are compared without case, spaces and punctuation.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfd.bench.tasks.folder import check_pinned, read_rows, taken, text_of
from perfd.bench.tasks.items import Answer, Item, Place, TaskItems
from perfd.domain.identity import Json
from perfd.errors import BadInputError

CATEGORIES = ("simple_python", "live_simple", "multiple", "parallel", "irrelevance")
WITHOUT_ANSWERS = "irrelevance"
LIST = re.compile(r"\[.*\]", re.DOTALL)
IGNORED = re.compile(r"[ ,./\-_*^]")
SYSTEM = """You can call functions. These are all of them, as JSON:
{functions}
Answer with nothing but a list of calls, with named arguments, like [name(first=1, second="two"), other(third=[3])].
If none of the functions serves the request, answer that none does."""
TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}
"""BFCL names types as Python does; tools of the chat API as JSON Schema does."""


@dataclass(frozen=True)
class Call:
    """A function's name and its named arguments."""

    name: str
    arguments: Mapping[str, Any]


def load(parameters: Mapping[str, Json], place: Place, seed: int) -> TaskItems:  # noqa: ARG001 - every loader takes the same
    """The first items of a category; raises BadInputError."""
    category = str(parameters["category"])
    if category not in CATEGORIES:
        raise BadInputError(f'there is no BFCL category "{category}" here; there is {", ".join(CATEGORIES)}')
    name = f"bfcl/BFCL_v4_{category}.json"
    rows, sha256 = read_rows(place.folder, name, "BFCL")
    expected, hashes = {}, [sha256]
    if category != WITHOUT_ANSWERS:
        answers, answers_sha256 = read_rows(place.folder, f"bfcl/answers_BFCL_v4_{category}.json", "BFCL")
        expected, hashes = {str(one["id"]): one["ground_truth"] for one in answers}, [sha256, answers_sha256]
    pinned = check_pinned(str(parameters.get("data_sha256", "")), hashes, "BFCL")
    native = bool(parameters.get("native_tools"))
    items = tuple(_item(row, expected, native=native) for row in taken(rows, int(parameters["items"])))
    return TaskItems(items, pinned, {"category": category, "native_tools": native})


def _item(row: Mapping[str, Any], expected: Mapping[str, Any], *, native: bool) -> Item:
    name, functions = text_of(row, "id", "BFCL"), list(row["function"])
    wanted = expected.get(name, [])
    check_form(name, wanted, functions)
    said = "\n".join(str(message["content"]) for message in row["question"][0])
    if native:
        return Item(name, said, lambda answer: matches(answer, wanted, functions), tools=tuple(map(tool, functions)))
    system = SYSTEM.format(functions=json.dumps(functions))
    return Item(name, said, lambda answer: matches(answer, wanted, functions), system)


def check_form(name: str, wanted: Any, functions: Any) -> None:
    """Raise BadInputError where an item has not the form that matching relies on, before anything is asked."""
    good = all(isinstance(one, dict) and isinstance(one.get("parameters", {}), dict) and "name" in one for one in functions)
    good &= isinstance(wanted, list) and all(
        isinstance(each, dict)
        and len(each) == 1
        and all(
            isinstance(arguments, dict) and all(isinstance(one, list) for one in arguments.values())
            for arguments in each.values()
        )
        for each in wanted
    )
    if not good:
        raise BadInputError(
            f"the item {name} of BFCL has not the form of version 4: a function with listed values for each argument"
        )


def matches(answer: Answer, wanted: Sequence[Mapping[str, Any]], functions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the answer's calls are the wanted ones, in any order and no more."""
    described = {str(one["name"]): one.get("parameters", {}) for one in functions}
    left = list(calls(answer))
    if len(left) != len(wanted):
        return False
    for each in wanted:
        (name, arguments), *_ = each.items()
        found = next((call for call in left if is_call(call, name, arguments, described.get(name, {}))), None)
        if found is None:
            return False
        left.remove(found)
    return True


def calls(answer: Answer) -> list[Call]:
    """The calls of an answer, as the API tells them or as its text writes them; none where it is no list of calls."""
    if answer.tool_calls:
        return [_told_call(one) for one in answer.tool_calls]
    for text in (answer.text.strip().strip("`"), *LIST.findall(answer.text)):
        found = _written_calls(text.removeprefix("python").strip())
        if found:
            return found
    return []


def _told_call(one: Mapping[str, Any]) -> Call:
    try:
        arguments = json.loads(one.get("arguments") or "{}")
    except (ValueError, TypeError):
        arguments = None
    return Call(str(one.get("name")), arguments if isinstance(arguments, dict) else {"": None})


def _written_calls(text: str) -> list[Call]:
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = tree.elts if isinstance(tree, ast.List) else [tree]
    found = [_call(node) for node in nodes]
    return [one for one in found if one is not None] if all(found) else []


def _call(node: ast.expr) -> Call | None:
    if not isinstance(node, ast.Call) or node.args or any(one.arg is None for one in node.keywords):
        return None
    return Call(ast.unparse(node.func), {str(one.arg): _value(one.value) for one in node.keywords})


def _value(node: ast.expr) -> Any:
    """A literal's value; anything else as it is written."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return ast.unparse(node)


def is_call(call: Call, name: str, arguments: Mapping[str, Sequence[Any]], described: Mapping[str, Any]) -> bool:
    """Whether the call is of that function, with a listed value for each argument and none left out that must be there."""
    if call.name.replace(".", "_") != name.replace(".", "_"):
        return False
    types, required = described.get("properties", {}), set(described.get("required", ()))
    if any(not fits(value, types.get(key, {})) for key, value in call.arguments.items()):
        return False
    if not call.arguments.keys() <= arguments.keys() or not required & arguments.keys() <= call.arguments.keys():
        return False
    missing = arguments.keys() - call.arguments.keys()
    return all("" in arguments[key] for key in missing) and all(
        any(same(value, option) for option in arguments[key] or [[]]) for key, value in call.arguments.items()
    )


def fits(value: Any, described: Mapping[str, Any]) -> bool:
    """False for 5.0 where a whole number is wanted, and for a tuple where a list is; the other way round BFCL forgives."""
    kind = described.get("type")
    if isinstance(value, tuple) and kind == "array":
        return False
    if isinstance(value, list | tuple):
        return all(fits(one, described.get("items", {})) for one in value)
    return kind != "integer" or not isinstance(value, float)


def same(value: Any, option: Any) -> bool:
    """Whether two values are equal as BFCL has it: True is not 1, and texts are compared by their letters."""
    if isinstance(value, bool) or isinstance(option, bool):
        return value is option
    if isinstance(value, str) and isinstance(option, str):
        return plain(value) == plain(option)
    if isinstance(value, list | tuple) and isinstance(option, list | tuple):
        return len(value) == len(option) and all(same(one, other) for one, other in zip(value, option, strict=True))
    if isinstance(value, dict) and isinstance(option, dict):
        return same_object(value, option)
    return bool(value == option)


def same_object(value: Mapping[str, Any], option: Mapping[str, Any]) -> bool:
    """Each key's value is one of those listed for it."""
    lists = {key: one if isinstance(one, list) else [one] for key, one in option.items()}
    if not value.keys() <= lists.keys():
        return False
    left_out = lists.keys() - value.keys()
    return all("" in lists[key] for key in left_out) and all(any(same(value[key], one) for one in lists[key]) for key in value)


def plain(text: str) -> str:
    """A text without case, spaces and the punctuation that BFCL ignores."""
    return IGNORED.sub("", text).lower().replace("'", '"')


def tool(function: Mapping[str, Any]) -> Json:
    """The function as the chat API wants it: dots are not allowed in its name."""
    return {"type": "function", "function": _schema({**function, "name": str(function["name"]).replace(".", "_")})}


def _schema(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: TYPES.get(one, one) if key == "type" and isinstance(one, str) else _schema(one) for key, one in value.items()
        }
    return [_schema(one) for one in value] if isinstance(value, list) else value
