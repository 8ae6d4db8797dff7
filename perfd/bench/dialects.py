"""Dialects: what one engine's API says differently from another's. Everything else of a measurement is the same for all.

A dialect knows how to ask for greedy output of a fixed length, and how to score a fixed text: one `Scored` a position, where a
token that is not among the candidates that the engine reports has a bound instead of a value.
"""

import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from perfd.bench.ask import Asker
from perfd.bench.engine import EngineError
from perfd.domain.identity import Json
from perfd.domain.run import FailureKind
from perfd.errors import BadInputError

OPENAI_MOST_CANDIDATES = 20
"""vLLM refuses more unless it was launched otherwise."""
SMALLEST = 1e-12
"""A probability below this is not told apart from zero: the sum of the candidates' probabilities is rounded by more."""


@dataclass(frozen=True)
class Scored:
    """What the engine thought of one token of a fixed text."""

    nll_nats: float
    """-log p of the token where `is_bound` is false, otherwise a number that -log p is not below."""
    is_bound: bool = False
    top: tuple[tuple[int, float], ...] = ()
    """The candidates that the engine reported: (token, log p), likeliest first; empty where it reports none."""


@dataclass(frozen=True)
class Greedy:
    """Greedy output: token ids where the engine tells them, and the text of each token."""

    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    text: str


class Dialect(Protocol):
    """The questions that a measurement asks."""

    @property
    def keep_alive(self) -> bool:
        """Whether a connection carries more than one streamed answer."""

    def load_body(self, parameters: Mapping[str, Json]) -> dict[str, Json]:
        """Further fields for every request of a load."""

    def tokenizer(self, asker: Asker) -> Callable[[str], int] | None:
        """A function that counts a text's tokens without special ones; absent where the engine does not tell them."""

    def score(self, asker: Asker, text: str, top_k: int) -> list[Scored]:
        """One Scored for each token of `text` but the first, each given all tokens before it."""

    def greedy(self, asker: Asker, prompt: str, tokens: int) -> Greedy:
        """Exactly `tokens` greedy tokens after `prompt`, or fewer where the text ended by itself."""


def dialect(name: str) -> Dialect:
    """The dialect of that name; raises BadInputError."""
    known: dict[str, Dialect] = {"llamacpp": LlamaCpp(), "openai": OpenAi()}
    if name not in known:
        raise BadInputError(f'there is no dialect "{name}"; a launch stanza names one of {", ".join(known)}')
    return known[name]


def load_fields(parameters: Mapping[str, Json]) -> dict[str, Json]:
    """What every dialect says the same way."""
    return {"temperature": parameters.get("temperature", 0), "ignore_eos": parameters.get("ignore_eos", True)}


class LlamaCpp:
    """llama-server and servers that embed it: its own /completion takes token ids and tells top-k log-probabilities."""

    # Its HTTP library closes the connection after a streamed answer; a request sent on such a connection is lost and sent again.
    keep_alive = False

    def load_body(self, parameters: Mapping[str, Json]) -> dict[str, Json]:
        """Prefix caching stays on, as users have it; a load that must not profit from it has fresh prompts."""
        return {**load_fields(parameters), "cache_prompt": True}

    def tokenizer(self, asker: Asker) -> Callable[[str], int] | None:
        """By /tokenize."""
        return lambda text: len(self.tokens(asker, text))

    def score(self, asker: Asker, text: str, top_k: int) -> list[Scored]:
        """Teacher-forced: the prompt grows by one token of the text a question, so each costs the engine one token.

        llama-server tells the k likeliest tokens with their log-probabilities over the whole vocabulary, before any sampler
        (post_sampling_probs is false), so a token among the k has its exact value.
        """
        ids = self.tokens(asker, text)
        return [self._score_one(asker, ids[:end], ids[end], top_k) for end in range(1, len(ids))]

    def tokens(self, asker: Asker, text: str) -> list[int]:
        """The text's token ids, without special tokens."""
        ids = asker.post("/tokenize", {"content": text, "add_special": False}).get("tokens")
        if not isinstance(ids, list) or not all(isinstance(token, int) for token in ids):
            raise EngineError(FailureKind.NONSENSE, f"/tokenize answered no list of token ids: {str(ids)[:80]}")
        return ids

    def _score_one(self, asker: Asker, before: list[int], token: int, top_k: int) -> Scored:
        body = {"prompt": before, "n_predict": 1, "n_probs": top_k, "temperature": 0, "cache_prompt": True, "id_slot": 0}
        answer = asker.post("/completion", body)
        return scored_from(token, candidates(answer))

    def greedy(self, asker: Asker, prompt: str, tokens: int) -> Greedy:
        """Without the cache, so that the answer does not depend on what came before it."""
        body = {
            "prompt": prompt,
            "n_predict": tokens,
            "temperature": 0,
            "cache_prompt": False,
            "return_tokens": True,
            "n_probs": 1,
        }
        answer = asker.post("/completion", {**body, "ignore_eos": True})
        steps = answer.get("completion_probabilities")
        if not isinstance(steps, list) or not steps:
            raise EngineError(FailureKind.NONSENSE, f"/completion told no tokens of its answer: {str(answer)[:200]}")
        ids = tuple(_number(step.get("id"), int, "id") for step in steps)
        return Greedy(ids, tuple(str(step.get("token", "")) for step in steps), str(answer.get("content", "")))


class OpenAi:
    """Servers whose /v1/completions scores a prompt: `echo` with `logprobs`, in the legacy form (vLLM, llama_cpp.server)."""

    keep_alive = True

    def load_body(self, parameters: Mapping[str, Json]) -> dict[str, Json]:
        """Nothing of its own."""
        return load_fields(parameters)

    def tokenizer(self, asker: Asker) -> Callable[[str], int] | None:
        """By /tokenize as vLLM has it; absent elsewhere."""
        model = model_name(asker)

        def count(text: str) -> int:
            answer = asker.post("/tokenize", {"model": model, "prompt": text, "add_special_tokens": False})
            return int(_number(answer.get("count"), int, "count"))

        try:
            count("perfd")
        except EngineError:
            return None
        return count

    def score(self, asker: Asker, text: str, top_k: int) -> list[Scored]:
        """Exact log-probabilities of every token of the prompt, in one question; nothing is bounded.

        Candidates come along where the server tells them; tokens are told by their texts here, so a text stands for its token.
        """
        asked = min(top_k, OPENAI_MOST_CANDIDATES)
        body = {"prompt": text, "max_tokens": 1, "temperature": 0, "logprobs": asked, "echo": True}
        answer = asker.post("/v1/completions", {**body, "model": model_name(asker)})
        told = legacy_logprobs(answer)
        values = told.get("token_logprobs")
        if not isinstance(values, list) or len(values) < 2:
            raise EngineError(
                FailureKind.NONSENSE,
                "/v1/completions does not score prompts in the legacy form (token_logprobs is missing); "
                'set the dialect to "llamacpp", or launch the engine with prompt log-probabilities on',
            )
        usage = answer.get("usage")
        generated = usage.get("completion_tokens") if isinstance(usage, dict) else 1
        prompt = values[: len(values) - _number(generated, int, "completion_tokens")]
        tops = told_candidates(told.get("top_logprobs"), len(prompt))
        scored = zip(prompt[1:], tops[1:], strict=True)
        return [Scored(-_number(value, float, "token_logprobs"), top=top) for value, top in scored]

    def greedy(self, asker: Asker, prompt: str, tokens: int) -> Greedy:
        """The tokens' texts come with their log-probabilities; ids are not told."""
        body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "logprobs": 1, "ignore_eos": True}
        answer = asker.post("/v1/completions", {**body, "model": model_name(asker)})
        pieces = legacy_logprobs(answer).get("tokens")
        if not isinstance(pieces, list) or not pieces:
            raise EngineError(FailureKind.NONSENSE, f"/v1/completions told no tokens of its answer: {str(answer)[:200]}")
        return Greedy((), tuple(map(str, pieces)), "".join(map(str, pieces)))


def candidates(answer: Mapping[str, Any]) -> list[tuple[int, float]]:
    """The (token, log p) pairs that llama-server reports for its one token, likeliest first."""
    steps = answer.get("completion_probabilities")
    if not isinstance(steps, list) or not steps or not isinstance(steps[0], dict):
        raise EngineError(FailureKind.NONSENSE, f"/completion told no log-probabilities: {str(answer)[:200]}")
    top = steps[0].get("top_logprobs")
    if not isinstance(top, list) or not top:
        raise EngineError(FailureKind.NONSENSE, f"/completion told no candidates: {str(steps[0])[:200]}")
    return [(_number(one.get("id"), int, "id"), float(_number(one.get("logprob"), float, "logprob"))) for one in top]


def scored_from(token: int, top: Sequence[tuple[int, float]]) -> Scored:
    """The token's exact value where it is a candidate; otherwise the bound that the candidates leave.

    The candidates are the k likeliest, so an absent token is not likelier than the least of them; and it shares the mass that
    they leave with all other absent tokens, so it has at most all of it. Hence -log p >= -log min(p_k, 1 - sum p).
    """
    by_token = dict(top)
    if token in by_token:
        return Scored(-by_token[token], top=tuple(top))
    least = min(math.exp(value) for _, value in top)
    left = 1.0 - math.fsum(math.exp(value) for _, value in top)
    return Scored(-math.log(max(SMALLEST, min(least, left) if left > 0 else least)), is_bound=True, top=tuple(top))


def told_candidates(tops: Any, count: int) -> list[tuple[tuple[int, float], ...]]:
    """The candidates of the first `count` positions, likeliest first, each text as a number; none where none were told."""
    if not isinstance(tops, list) or len(tops) < count:
        return [()] * count
    ranked = (
        sorted(top.items(), key=lambda one: -_number(one[1], float, "logprob")) if isinstance(top, dict) else () for top in tops
    )
    return [tuple((zlib.crc32(text.encode()), float(value)) for text, value in top) for top in ranked][:count]


def legacy_logprobs(answer: Mapping[str, Any]) -> dict[str, Any]:
    """choices[0].logprobs of a completion; {} where there is none."""
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    told = first.get("logprobs")
    return told if isinstance(told, dict) else {}


def model_name(asker: Asker) -> str:
    """The first model that the server lists; "" where it lists none (llama-server does not ask for one)."""
    try:
        listed = asker.text("/v1/models")
    except EngineError:
        return ""
    return first_model(listed)


def first_model(text: str) -> str:
    """data[0].id of a /v1/models answer, or ""."""
    try:
        document = json.loads(text)
        return str(document["data"][0]["id"])
    except (ValueError, KeyError, IndexError, TypeError):
        return ""


def counters(text: str) -> dict[str, float]:
    """Prompt and output tokens since the server's start, from Prometheus text; a counter that it lacks is left out."""
    names = {
        "llamacpp:prompt_tokens_total": "prompt_tokens_computed",
        "llamacpp:prompt_tokens_cached_total": "prompt_tokens_cached",
        "llamacpp:tokens_predicted_total": "output_tokens",
        "vllm:prompt_tokens_total": "prompt_tokens",
        "vllm:generation_tokens_total": "output_tokens",
        "sglang:prompt_tokens_total": "prompt_tokens",
        "sglang:generation_tokens_total": "output_tokens",
    }
    found: dict[str, float] = {}
    for line in text.splitlines():
        name = line.split("{")[0].split(" ")[0]
        if name in names:
            found[names[name]] = found.get(names[name], 0.0) + _metric_value(line)
    return found


def _metric_value(line: str) -> float:
    try:
        value = float(line.rpartition(" ")[2])
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


def _number(value: Any, kind: type, name: str) -> Any:
    """`value` where it is a finite number of that kind; raises EngineError(nonsense)."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not good or (kind is int and not isinstance(value, int)):
        raise EngineError(FailureKind.NONSENSE, f"{name} is {str(value)[:40]!r}, not a number")
    return value
