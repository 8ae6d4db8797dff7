"""Accounts of a load: its cache, what the model needed of the device, and what the server did; each may void the Run."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from perfd.bench.ask import Asker
from perfd.bench.cache import CacheAccount, Policy, account, requests_of
from perfd.bench.cache.ids import engine_ids
from perfd.bench.load import LoadPlan, LoadReport
from perfd.bench.load.prompts import learn_vocabulary, maker_for
from perfd.bench.measured import Measured
from perfd.bench.utilisation import Utilisation, utilisation
from perfd.bench.witness import Testimony, Witness, policy_of
from perfd.domain.job import Job


@dataclass(frozen=True)
class Accounts:
    """All three, of one Run."""

    cache: CacheAccount
    use: Utilisation
    testimony: Testimony

    @property
    def why_void(self) -> str:
        """What of it voids the Run, in sentences; "" where nothing does."""
        return "; ".join(filter(None, (self.testimony.why_void, self.cache.why_void)))

    def added_to(self, measured: Measured) -> Measured:
        """The measurement with these accounts beside it."""
        samples = {**measured.samples, **self.cache.samples(), **self.use.samples(), **self.testimony.samples()}
        extra = {
            "annotations": self.testimony.sentences,
            **measured.extra,
            "cache": self.cache.as_json(),
            "utilisation": self.use.as_json(),
            "witness": self.testimony.as_json(),
        }
        why = "; ".join(filter(None, (measured.why_void, self.why_void)))
        return replace(measured, samples=samples, extra=extra, why_void=why)


@dataclass(frozen=True)
class Driven:
    """A load that is over, and the way to ask its server more."""

    plan: LoadPlan
    report: LoadReport
    asker: Asker
    tokenizer: Callable[[str], int] | None


def accounts(job: Job, load: Driven, witness: Witness) -> Accounts:
    """The accounts of a load, while its server still answers (it is asked for its token ids)."""
    testimony = witness.testimony(load.report, load.plan.concurrency)
    return Accounts(
        cache=cache_account(job, load, policy_of(testimony.facts)),
        use=utilisation(job, load.report.traces, datetime.now(UTC).date(), energy=testimony.energy),
        testimony=testimony,
    )


def cache_account(job: Job, load: Driven, policy: Policy) -> CacheAccount:
    """The cache's account, by the engine's own ids where it tells them."""
    traces, prompts = load.report.traces, load.plan.prompts
    maker = maker_for(load.plan, learn_vocabulary(load.tokenizer), traces)
    ids = engine_ids(job.launch.dialect if job.launch else "", load.asker, load.plan, traces, maker)
    requests, basis = requests_of(traces, maker, ids)
    sent = sum(trace.sent_ns is not None for trace in traces)
    # A later turn begins with the turns before it, whatever else its Workload shares.
    wants_reuse = prompts.reuse_prefix or any(trace.turn > 0 for trace in traces)
    return replace(account(requests, policy, basis, wants_reuse=wants_reuse), left_out=sent - len(requests))
