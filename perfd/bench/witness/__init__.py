"""The witness: what the server did while it was measured, by its own counters, gauges and boot log. docs/witness.md explains.

A serving Workload drives its load inside `with Witness(job, server) as witness:` and asks `witness.testimony(…)` afterwards.
"""

from perfd.bench.witness.facts import ServerFacts, policy_of
from perfd.bench.witness.findings import Effect, Evidence, Finding, findings_of
from perfd.bench.witness.poller import EVERY_S, Poller
from perfd.bench.witness.testimony import Testimony, Witness, left_behind

__all__ = [
    "EVERY_S",
    "Effect",
    "Evidence",
    "Finding",
    "Poller",
    "ServerFacts",
    "Testimony",
    "Witness",
    "findings_of",
    "left_behind",
    "policy_of",
]
