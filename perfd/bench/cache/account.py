"""The account of a Run's cache: per request what was cached, computed and cacheable; what was unexpected; what was wasted."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perfd.bench.cache.policies import Policy, Slots, infinite
from perfd.bench.cache.regress import TtftFit, fit_ttft
from perfd.bench.cache.requests import Basis, CacheRequest
from perfd.domain.identity import Json

UNEXPECTED_SHARE = 0.01
"""A Run of whose prompt tokens a larger share was cached without being wanted to measures a warm cache: it is void."""
UNEXPECTED_SHARE_ESTIMATED = 0.10
"""The bound where token ids are an estimate: some tokens are then expected at the wrong place."""
TOKEN = Slots(1)
"""The grain of single tokens."""
COLUMNS = (
    "index",
    "turn",
    "measured",
    "prompt_tokens",
    "cached_tokens",
    "computed_tokens",
    "ideal_tokens",
    "capacity_tokens",
    "expected_tokens",
)
"""What of each request stands in the results file, column by column: a Run may have thousands."""


@dataclass(frozen=True)
class RequestCache:
    """One request's account, in tokens of its prompt."""

    index: int
    session: int
    turn: int
    measured: bool
    prompt_tokens: int
    cached_tokens: int | None
    """As the server says; absent where it says nothing."""
    computed_tokens: int | None
    ideal_tokens: int
    """In an infinite cache that holds this Run's earlier prompts."""
    capacity_tokens: int | None
    """In a cache of the engine's make and size; absent where that is unknown."""
    expected_tokens: int
    """What may be cached without spoiling the Run."""

    @property
    def unexpected_tokens(self) -> int:
        """Cached, and not out of this Run as its Workload wants."""
        return max(0, (self.cached_tokens or 0) - self.expected_tokens)

    @property
    def recomputed_tokens(self) -> int:
        """Computed, although a cache of the same capacity would have held them."""
        if self.cached_tokens is None or self.capacity_tokens is None:
            return 0
        return max(0, self.capacity_tokens - self.cached_tokens)


@dataclass(frozen=True)
class CacheAccount:
    """All requests' accounts, and what follows from them."""

    policy: str
    basis: Basis
    requests: tuple[RequestCache, ...]
    wants_reuse: bool
    broken: tuple[str, ...]
    """One sentence for each request whose cached and computed tokens are not its prompt's."""
    ttft: TtftFit | str
    """The line, or why there is none."""
    left_out: int = 0
    """Requests that were sent and are not accounted for: their prompts are too long together, or cannot be made again."""

    @property
    def known(self) -> list[RequestCache]:
        """Measured requests of which the server told the cached tokens."""
        return [one for one in self.requests if one.measured and one.cached_tokens is not None]

    @property
    def unexpected_share(self) -> float:
        """Unexpectedly cached tokens, of all prompt tokens; 0 where nothing is known."""
        return _share(sum(one.unexpected_tokens for one in self.known), sum(one.prompt_tokens for one in self.known))

    @property
    def recomputed_share(self) -> float | None:
        """Tokens that an equally large cache would have saved, of all prompt tokens; absent where capacity is unknown."""
        told = [one for one in self.known if one.capacity_tokens is not None]
        return _share(sum(o.recomputed_tokens for o in told), sum(o.prompt_tokens for o in told)) if told else None

    @property
    def hit_share(self) -> float | None:
        """Cached tokens of all prompt tokens; absent where the server tells none."""
        return _share(_cached(self.known), sum(one.prompt_tokens for one in self.known)) if self.known else None

    @property
    def why_void(self) -> str:
        """One sentence; "" for a cache that did what the Workload wants."""
        if self.broken:
            return f"cached and computed prompt tokens do not add up in {len(self.broken)} requests: {self.broken[0]}"
        bound = UNEXPECTED_SHARE_ESTIMATED if self.basis is Basis.ESTIMATE else UNEXPECTED_SHARE
        if self.unexpected_share < bound:
            return ""
        wanted = "that no prompt of this Run had put there" if self.wants_reuse else "although every prompt is fresh"
        return (
            f"{self.unexpected_share:.1%} of the prompt tokens came out of the engine's cache {wanted} "
            f"(allowed: under {bound:.0%}); restart the engine between Runs"
        )

    def samples(self) -> dict[str, Sequence[float]]:
        """The Metrics of the account: shares only where the Workload wants reuse."""
        found: dict[str, Sequence[float]] = {}
        if isinstance(self.ttft, TtftFit):
            found["ttft_per_1k_uncached_s"] = [self.ttft.per_1k_uncached_s]
        if self.wants_reuse and self.hit_share is not None:
            found["cache_hit_share"] = [self.hit_share]
        if self.wants_reuse and self.recomputed_share is not None:
            found["recomputed_share"] = [self.recomputed_share]
        return found

    def as_json(self) -> dict[str, Json]:
        """For the results file: sums over the measured requests, hit rates by turn, and every request."""
        known = self.known
        told = bool(known)
        capacity = [one.capacity_tokens for one in known if one.capacity_tokens is not None]
        return {
            "policy": self.policy,
            "token_ids": str(self.basis),
            "wants_reuse": self.wants_reuse,
            "left_out": self.left_out,
            "measured": {
                "requests": len(known),
                "prompt_tokens": sum(one.prompt_tokens for one in known),
                "cached_tokens": _cached(known) if told else None,
                "cacheable_infinite_tokens": sum(one.ideal_tokens for one in known),
                "cacheable_at_capacity_tokens": sum(capacity) if len(capacity) == len(known) and told else None,
                "unexpected_tokens": sum(one.unexpected_tokens for one in known),
                "recomputed_tokens": sum(one.recomputed_tokens for one in known) if capacity else None,
            },
            "identity_holds": not self.broken,
            "identity_broken": list(self.broken[:5]),
            "hit_rate_by_turn": hit_rate_by_turn(known),
            "ttft_on_uncached": self.ttft.as_json() if isinstance(self.ttft, TtftFit) else {"none_because": self.ttft},
            "requests": {name: [getattr(one, name) for one in self.requests] for name in COLUMNS},
        }


def account(requests: Sequence[CacheRequest], policy: Policy, basis: Basis, *, wants_reuse: bool) -> CacheAccount:
    """The account of requests in the order they were sent, warm-up among them (it fills the cache too).

    With `wants_reuse` a token is expected in the cache when an earlier prompt of this Run began with it; without, only the
    tokens that the chat template adds are.
    """
    shared = infinite(requests, TOKEN)
    ideal = [policy.whole(tokens) for tokens in shared]
    at_capacity = policy.simulate(requests)
    made = tuple(
        _one(
            request, ideal[at], at_capacity[at] if at_capacity else None, _expected(request, shared[at], wants_reuse=wants_reuse)
        )
        for at, request in enumerate(requests)
    )
    broken = tuple(filter(None, map(_why_broken, requests)))
    return CacheAccount(policy.words, basis, made, wants_reuse, broken, _line(requests))


def _expected(request: CacheRequest, shared: int, *, wants_reuse: bool) -> int:
    size = len(request.ids) if request.prompt_tokens is None else request.prompt_tokens
    template = max(0, size - request.own_tokens)
    return max(shared, template) if wants_reuse else template


def _one(request: CacheRequest, ideal: int, capacity: int | None, expected: int) -> RequestCache:
    size = len(request.ids) if request.prompt_tokens is None else request.prompt_tokens
    computed = request.computed_tokens
    if computed is None and request.cached_tokens is not None:
        computed = size - request.cached_tokens
    return RequestCache(
        request.index,
        request.session,
        request.turn,
        request.measured,
        size,
        request.cached_tokens,
        computed,
        ideal,
        capacity,
        expected,
    )


def _why_broken(request: CacheRequest) -> str:
    """Why cached + computed is not the prompt; "" where it is, or where the server tells too little to know."""
    prompt, cached, computed = request.prompt_tokens, request.cached_tokens, request.computed_tokens
    if prompt is None or cached is None:
        return ""
    if not 0 <= cached <= prompt:
        return f"request {request.index} has {prompt} prompt tokens, and the server says that {cached} were cached"
    if computed is not None and cached + computed != prompt:
        return f"request {request.index}: {cached} cached and {computed} computed of {prompt} prompt tokens"
    return ""


def _line(requests: Iterable[CacheRequest]) -> TtftFit | str:
    points = [
        (r.prompt_tokens - r.cached_tokens, r.ttft_s)
        for r in requests
        if r.measured and r.ttft_s is not None and r.prompt_tokens is not None and r.cached_tokens is not None
    ]
    return fit_ttft([float(uncached) for uncached, _ in points], [ttft for _, ttft in points])


def hit_rate_by_turn(known: Iterable[RequestCache]) -> dict[str, Json]:
    """Turn (from 0) → how many requests, what share of their prompt tokens was cached, and what share could have been."""
    turns: dict[int, list[RequestCache]] = defaultdict(list)
    for one in known:
        turns[one.turn].append(one)
    return {
        str(turn): {
            "requests": len(ones),
            "cached": _share(_cached(ones), sum(one.prompt_tokens for one in ones)),
            "cacheable": _share(sum(one.ideal_tokens for one in ones), sum(one.prompt_tokens for one in ones)),
        }
        for turn, ones in sorted(turns.items())
    }


def _cached(ones: Iterable[RequestCache]) -> int:
    return sum(one.cached_tokens or 0 for one in ones)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
