"""Whether an engine can do a Workload at all: what it says of its context and of pictures, read before the load."""

import json
from typing import Any

from perfd.bench.ask import Asker
from perfd.bench.engine import EngineError
from perfd.bench.load import LoadPlan, PromptKind
from perfd.bench.load.sizes import session_size

TEMPLATE_TOKENS = 64
"""What a chat template may add to a prompt."""
MOST_SESSIONS = 200


def why_unable(asker: Asker, plan: LoadPlan) -> str:
    """One sentence; "" for an engine that can, or that does not tell."""
    properties = _asked(asker, "/props")
    return _pictures(properties, plan) or _context(properties, _asked(asker, "/v1/models"), plan)


def _pictures(properties: dict[str, Any], plan: LoadPlan) -> str:
    modalities = properties.get("modalities")
    if plan.prompts.kind is not PromptKind.MULTIMODAL or not isinstance(modalities, dict) or modalities.get("vision"):
        return ""
    return "this engine sees no pictures with this model (its /props says so): the Workload cannot be measured on it"


def _context(properties: dict[str, Any], models: dict[str, Any], plan: LoadPlan) -> str:
    room = _llamacpp_context(properties) or _vllm_context(models)
    need = longest_tokens(plan) + TEMPLATE_TOKENS
    if room is None or need <= room:
        return ""
    return (
        f"a request of this Workload may need {need:,} tokens of context, and the engine has {room:,} for each: "
        "the Workload cannot be measured on it; launch it with a longer context, or leave the suite out"
    )


def longest_tokens(plan: LoadPlan) -> int:
    """The longest prompt of the load and its answer, among its first sessions."""
    prompts = plan.prompts
    sessions = min(MOST_SESSIONS, -(-(plan.requests or MOST_SESSIONS) // prompts.turns))
    sizes = [session_size(prompts, index) for index in range(sessions)]
    return max(
        sum(turn.new_tokens for turn in size.turns[: at + 1]) + turn.answer_tokens
        for size in sizes
        for at, turn in enumerate(size.turns)
    )


def _llamacpp_context(properties: dict[str, Any]) -> int | None:
    settings = properties.get("default_generation_settings")
    return _whole(settings.get("n_ctx")) if isinstance(settings, dict) else None


def _vllm_context(models: dict[str, Any]) -> int | None:
    listed = models.get("data")
    first = listed[0] if isinstance(listed, list) and listed and isinstance(listed[0], dict) else {}
    return _whole(first.get("max_model_len"))


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _asked(asker: Asker, path: str) -> dict[str, Any]:
    """The JSON object at a path; {} where there is none."""
    try:
        found = json.loads(asker.text(path))
    except (EngineError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
