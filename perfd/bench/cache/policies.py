"""Prefix caches as simulators: how many tokens of each prompt would have been found in a cache of a given make and size.

Three of them, all fed with requests in the order they were sent:
`infinite` forgets nothing; `Blocks` is the hash-addressed LRU of vLLM, SGLang (page size) and TensorRT-LLM; `Slots` is
llama.cpp, where each slot remembers its last sequence and nothing else.
"""

import hashlib
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from perfd.bench.cache.requests import CacheRequest, Ids

SIMILARITY = 0.1
"""llama.cpp's default of --slot-prompt-similarity."""


@dataclass(frozen=True)
class Blocks:
    """Whole blocks of tokens, found by the hash of all tokens up to their end; the least recently used one goes first.

    Source: vLLM's design page on automatic prefix caching; SGLang's radix cache is the same with its page size as block.
    """

    block_tokens: int
    capacity_blocks: int | None
    """Absent where the engine does not tell it: then nothing can be said of its capacity."""

    @property
    def words(self) -> str:
        """For people."""
        size = "unknown capacity" if self.capacity_blocks is None else f"{self.capacity_blocks:,} blocks"
        return f"blocks: LRU over blocks of {self.block_tokens} tokens, {size}"

    def whole(self, tokens: int) -> int:
        """Of so many equal leading tokens, how many stand in whole blocks."""
        return tokens // self.block_tokens * self.block_tokens

    def simulate(self, requests: Sequence[CacheRequest]) -> list[int] | None:
        """Cacheable tokens of each request at this capacity; absent where the capacity is unknown."""
        if self.capacity_blocks is None:
            return None
        cache = _Lru(self.block_tokens, self.capacity_blocks)
        return [cache.serve(request) for request in requests]


@dataclass(frozen=True)
class Slots:
    """llama.cpp's slots: each remembers its last sequence, and what it held beyond the prefix of the next one is lost.

    A prompt goes to the idle slot that shares the longest prefix with it, if that is more than `similarity` of the prompt, else
    to the idle slot that was used longest ago.
    Source: get_available_slot and update_slots of tools/server/server-context.cpp. A host-side prompt cache (--cache-ram), chunk
    shifting (--cache-reuse) and checkpoints of recurrent models are not modelled: an engine with them can find more than this.
    """

    count: int
    similarity: float = SIMILARITY

    @property
    def words(self) -> str:
        """For people."""
        return f"slots: {self.count} slots, each with its last sequence (llama.cpp)"

    def whole(self, tokens: int) -> int:
        """Every token counts."""
        return tokens

    def simulate(self, requests: Sequence[CacheRequest]) -> list[int] | None:
        """Cacheable tokens of each request, given which slots were busy when it came."""
        server = _SlotServer(self.count, self.similarity)
        return [server.serve(request) for request in requests]


Policy: TypeAlias = Blocks | Slots


def infinite(requests: Sequence[CacheRequest], policy: Policy) -> list[int]:
    """Tokens of each prompt that some earlier request began with too, in the policy's grain; at least one token is computed.

    Sorted by their tokens, the longest common prefix of a sequence with all others is with a neighbour. Cost: n log n
    comparisons and the memory of all prompts.
    """
    seen: list[bytes] = []
    found = []
    for request in requests:
        place = bisect_left(seen, _key(request.ids))
        shared = max((common_prefix(request.ids, _ids(seen[at])) for at in (place - 1, place) if 0 <= at < len(seen)), default=0)
        found.append(policy.whole(min(shared, _most(request))))
        insort(seen, _key(request.held_ids))
    return found


def _key(ids: Ids) -> bytes:
    """Bytes that sort as the tokens do."""
    return ids.astype(">i4").tobytes()


def common_prefix(a: Ids, b: Ids) -> int:
    """How many leading tokens are equal."""
    size = min(len(a), len(b))
    differs = np.flatnonzero(a[:size] != b[:size])
    return int(differs[0]) if len(differs) else size


def _ids(key: bytes) -> Ids:
    return np.frombuffer(key, dtype=">i4").astype(np.int32)


def _most(request: CacheRequest) -> int:
    """Engines compute at least the last token of a prompt: its logits are wanted."""
    return max(0, len(request.ids) - 1)


class _Lru:
    """Blocks by the hash of everything up to their end, the most recently used last."""

    def __init__(self, block_tokens: int, capacity: int) -> None:
        self._block, self._capacity = block_tokens, capacity
        self._held: OrderedDict[bytes, None] = OrderedDict()

    def serve(self, request: CacheRequest) -> int:
        """Tokens found; afterwards the prompt's and the answer's blocks are held, the last of them first to go."""
        hashes = block_hashes(request.held_ids, self._block)
        usable = _most(request) // self._block
        hit = 0
        while hit < usable and hashes[hit] in self._held:
            hit += 1
        answer = max(0, (len(request.ids) + request.output_tokens) // self._block - len(hashes))
        own = [f"{request.index}/{place}".encode() for place in range(answer)]
        for name in reversed(hashes + own):
            self._held[name] = None
            self._held.move_to_end(name)
        while len(self._held) > self._capacity:
            self._held.popitem(last=False)
        return hit * self._block


def block_hashes(ids: Ids, block_tokens: int) -> list[bytes]:
    """A hash for each whole block, over its tokens and the hash before it, so that equal hashes are equal prefixes."""
    hashes: list[bytes] = []
    before = b""
    for start in range(0, len(ids) - block_tokens + 1, block_tokens):
        before = hashlib.blake2b(before + ids[start : start + block_tokens].tobytes(), digest_size=16).digest()
        hashes.append(before)
    return hashes


@dataclass
class _Slot:
    ids: Ids = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    free_ns: int = 0


class _SlotServer:
    """llama.cpp's slots over time; a request that finds none idle waits for the first to end."""

    def __init__(self, count: int, similarity: float) -> None:
        self._slots = [_Slot() for _ in range(max(1, count))]
        self._similarity = similarity

    def serve(self, request: CacheRequest) -> int:
        """Tokens found in the slot that the request got."""
        now_ns = max(request.sent_ns, min(slot.free_ns for slot in self._slots))
        idle = [slot for slot in self._slots if slot.free_ns <= now_ns]
        shared = [common_prefix(request.ids, slot.ids) for slot in idle]
        best = max(range(len(idle)), key=lambda at: shared[at])
        if shared[best] <= self._similarity * len(request.ids):
            best = min(range(len(idle)), key=lambda at: idle[at].free_ns)
        slot = idle[best]
        slot.ids, slot.free_ns = request.held_ids, max(request.end_ns, now_ns)
        return min(shared[best], _most(request))
