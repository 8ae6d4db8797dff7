"""Token ids of prompts as the engine makes them: its chat template, then its tokenizer, asked after the load."""

from collections.abc import Callable, Sequence

from perfd.bench.ask import Asker
from perfd.bench.engine import EngineError
from perfd.bench.load import Api, LoadPlan, RequestOutcome, RequestTrace
from perfd.bench.load.prompts import Prompt, PromptMaker
from perfd.domain.identity import Json

MOST_TOKENS, MOST_REQUESTS = 500_000, 2_000
"""Beyond these, prompts are not sent to the tokenizer a second time (it would take seconds): words stand for tokens then."""
Ids = Callable[[Prompt], Sequence[int]]


def engine_ids(dialect: str, asker: Asker, plan: LoadPlan, traces: Sequence[RequestTrace], maker: PromptMaker) -> Ids | None:
    """A function that asks this engine for a prompt's ids; absent where it tells none, or others than it counted.

    The first answered prompt is asked for and held against the engine's own count of it, so a template or a special token that
    is missing here is noticed.
    """
    done = [trace for trace in traces if trace.outcome is RequestOutcome.DONE and trace.prompt_tokens]
    tokens = sum(trace.prompt_tokens or 0 for trace in traces)
    if not done or tokens > MOST_TOKENS or len(traces) > MOST_REQUESTS:
        return None
    ask = llamacpp_ids(asker, plan.api) if dialect == "llamacpp" else openai_ids(asker, plan.model, plan.api)
    first = done[0]
    try:
        prompt = maker.chain(first.session)[first.turn]
        return ask if len(ask(prompt)) == first.prompt_tokens else None
    except (EngineError, IndexError):
        return None


def llamacpp_ids(asker: Asker, api: Api) -> Ids:
    """By /apply-template (for chats) and /tokenize."""

    def ask(prompt: Prompt) -> Sequence[int]:
        text = prompt.text
        if api is Api.CHAT:
            text = str(asker.post("/apply-template", _asked(prompt)).get("prompt", ""))
        return _list(asker.post("/tokenize", {"content": text, "add_special": True, "parse_special": True}).get("tokens"))

    return ask


def openai_ids(asker: Asker, model: str, api: Api) -> Ids:
    """By vLLM's /tokenize, which takes a chat or a text."""

    def ask(prompt: Prompt) -> Sequence[int]:
        what = {**_asked(prompt), "add_generation_prompt": True} if api is Api.CHAT else {"prompt": prompt.text}
        return _list(asker.post("/tokenize", {"model": model, **what}).get("tokens"))

    return ask


def _asked(prompt: Prompt) -> dict[str, Json]:
    """Messages and tools, as the load sent them: the template writes both."""
    tools = {"tools": list(prompt.tools)} if prompt.tools else {}
    return {"messages": [part.json() for part in prompt.parts], **tools}


def _list(tokens: object) -> Sequence[int]:
    return [token for token in tokens if isinstance(token, int)] if isinstance(tokens, list) else []
