"""Cache accounting: what of each prompt came out of the engine's prefix cache, and what could have.

`account(requests, policy, wants_reuse=…)` is all that a serving Workload calls; docs/witness.md says what each figure means.
"""

from perfd.bench.cache.account import CacheAccount, RequestCache, account
from perfd.bench.cache.policies import Blocks, Policy, Slots
from perfd.bench.cache.regress import TtftFit, fit_ttft
from perfd.bench.cache.requests import Basis, CacheRequest, requests_of

__all__ = [
    "Basis",
    "Blocks",
    "CacheAccount",
    "CacheRequest",
    "Policy",
    "RequestCache",
    "Slots",
    "TtftFit",
    "account",
    "fit_ttft",
    "requests_of",
]
