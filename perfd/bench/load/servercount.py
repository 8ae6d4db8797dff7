"""The server as the model's tokenizer: how many tokens a text has, asked over HTTP before the window."""

import http.client
import json
from typing import Any

from perfd.bench.load.plan import LoadPlan
from perfd.bench.load.surroundings import tls_context
from perfd.bench.load.vocabulary import Tokenize
from perfd.bench.load.wire import Target, target_of
from perfd.errors import PerfdError

TIMEOUT_S = 10.0
PROBE = "one small step"


def server_tokenizer(plan: LoadPlan) -> Tokenize | None:
    """Counts by the server's own /tokenize, as llama.cpp, vLLM or SGLang have it; absent for a server that has none."""
    target = target_of(plan.url, plan.api)
    forms: tuple[dict[str, Any], ...] = (
        {"content": PROBE, "add_special": False},
        {"model": plan.model, "prompt": PROBE, "add_special_tokens": False},
    )
    for form in forms:
        try:
            if not _ask(plan, target, form):
                continue
        except PerfdError:
            continue
        key = "content" if "content" in form else "prompt"
        return lambda text, form=form, key=key: _ask(plan, target, {**form, key: text})  # type: ignore[misc]
    return None


def _ask(plan: LoadPlan, target: Target, body: dict[str, Any]) -> int:
    """Tokens of the text; 0 where the answer tells none. Raises PerfdError where there is no answer."""
    connection = (
        http.client.HTTPSConnection(target.host, target.port, timeout=TIMEOUT_S, context=tls_context(plan))
        if target.tls
        else http.client.HTTPConnection(target.host, target.port, timeout=TIMEOUT_S)
    )
    path = target.path.split("/v1/")[0] + "/tokenize"
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **plan.headers})
        response = connection.getresponse()
        data = response.read()
        found = json.loads(data) if response.status == 200 else {}
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise PerfdError(f"{path} gave no count of tokens ({error})", permanent=False) from None
    finally:
        connection.close()
    return _count(found)


def _count(found: Any) -> int:
    told = found.get("count", found.get("tokens")) if isinstance(found, dict) else None
    if isinstance(told, list):
        return len(told)
    return told if isinstance(told, int) and not isinstance(told, bool) else 0
