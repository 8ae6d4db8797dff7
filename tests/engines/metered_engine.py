"""The tiny engine with vLLM's metrics: running and waiting requests, preemptions, cache hits and a KV pool, all with known truth.

Knobs for what a witness must see come from the environment (`METERED_SLOTS=1` …); those of the tiny engine still work.
"""

import os
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import tiny_engine

SLOTS = int(os.environ.get("METERED_SLOTS", "64"))
"""Requests that run at once; the others wait."""
PREEMPTIONS = int(os.environ.get("METERED_PREEMPTIONS", "0"))
"""Counted once, with the first request."""
STRANGERS = int(os.environ.get("METERED_STRANGERS", "0"))
"""Output tokens counted for a request that nobody here sent."""
CACHED = float(os.environ.get("METERED_CACHED", "0"))
"""Share of every prompt that came out of a warm cache."""
BLIND = bool(os.environ.get("METERED_BLIND"))
"""Serves no metrics at all."""
BLOCKS = int(os.environ.get("METERED_BLOCKS", "1001"))


class Meter:
    """What /metrics shows."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.places = threading.Semaphore(SLOTS)
        self.running = self.waiting = self.cached = 0

    def text(self, tokens: dict[str, int], requests: int) -> str:
        """Prometheus text as vLLM 0.3x writes it."""
        begun = bool(requests)
        return (
            f'vllm:cache_config_info{{block_size="16",enable_prefix_caching="True",num_gpu_blocks="{BLOCKS}"}} 1.0\n'
            f'vllm:num_requests_running{{engine="0"}} {self.running}\n'
            f'vllm:num_requests_waiting{{engine="0"}} {self.waiting}\n'
            f'vllm:kv_cache_usage_perc{{engine="0"}} 0.25\n'
            f'vllm:num_preemptions_total{{engine="0"}} {PREEMPTIONS * begun}\n'
            f'vllm:prompt_tokens_total{{engine="0"}} {tokens["prompt_tokens"]}\n'
            f'vllm:prefix_cache_hits_total{{engine="0"}} {self.cached}\n'
            f'vllm:generation_tokens_total{{engine="0"}} {tokens["generation_tokens"] + STRANGERS * begun}\n'
        )


METER = Meter()


class Handler(tiny_engine.Handler):
    """Admission and metrics around the tiny engine's answers."""

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        """The metrics, or what the tiny engine has."""
        if self.path != "/metrics":
            super().do_GET()
        elif BLIND:
            self.send_json({"error": {"message": "no such path"}}, 404)
        else:
            self.send_text(METER.text(self.server.tokens, self.server.requests), "text/plain")

    def complete(self, body: dict[str, Any], arrived: float, *, chat: bool) -> None:
        """Wait for a place, then answer."""
        with METER.lock:
            METER.waiting += 1
        with METER.places:
            with METER.lock:
                METER.waiting -= 1
                METER.running += 1
            try:
                super().complete(body, arrived, chat=chat)
            finally:
                with METER.lock:
                    METER.running -= 1


def usage(prompt: str, count: int) -> dict[str, Any]:
    """The tiny engine's usage, with the cached share."""
    told = tiny_usage(prompt, count)
    cached = int(CACHED * told["prompt_tokens"])
    with METER.lock:
        METER.cached += cached
    return {**told, "prompt_tokens_details": {"cached_tokens": cached}}


tiny_usage = tiny_engine.usage
tiny_engine.usage = usage
tiny_engine.Handler = Handler  # type: ignore[misc]

if __name__ == "__main__":
    tiny_engine.main()
