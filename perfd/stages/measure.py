"""measure: one queued Run is measured in a child process, and its results are stored."""

import errno
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from perfd import HARNESS_VERSION, builders
from perfd.bench.cage.refuse import refusal
from perfd.bench.runner import run_child
from perfd.bench.taken import taken
from perfd.domain.job import Job
from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.model import Model
from perfd.domain.results import HOPELESS, MetricSamples, Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import brief
from perfd.errors import PerfdError
from perfd.rules.judge import reduce_samples
from perfd.rules.retry import try_again_in
from perfd.rules.trust import is_untrusted
from perfd.stages import flight
from perfd.stages.about import about
from perfd.stages.beat import every_s, lease
from perfd.stages.context import Context
from perfd.stages.device import Bench, benches
from perfd.stages.handed_in import HandedIn
from perfd.stages.night_budget import keep_to_budget
from perfd.stages.patience import patiently
from perfd.stages.subjects import by_name
from perfd.stages.workplace import workplace
from perfd.store.records import ClaimedRun, Reduced, Written
from perfd.store.trouble import DATABASE_GONE

ROOM_BYTES = 1_000_000
"""With less left on its disk, no child can write its results file."""
TAKEN = "another worker has it, so these results were not stored"


class LostClaimError(PerfdError):
    """Somebody else has this Run now; what was measured here is thrown away."""


class StoppedError(PerfdError):
    """This process was told to end in the middle of a Run."""


def measure(context: Context) -> bool:
    """One Run is finished on one of this machine's devices; False when there is none to measure here now."""
    keep_to_budget(context)
    context.passed_over.clear()
    return any(_measure_on(context, bench) for bench in benches(context.config))


def _measure_on(context: Context, bench: Bench) -> bool:
    """One Run is finished, or queued again; the device is this process's own on its host, and its host's own in the database."""
    device = bench.device
    with taken(device.name) as lock:
        if lock is None:
            context.passed_over.add(device.name)
            return False
        with context.store.device_lock(device.host, device.name) as got:
            if not got:
                context.passed_over.add(device.name)
            claimed = _claim(context, bench) if got and flight.may_begin(context, bench) else None
            if claimed is None:
                return False
            with about(run=claimed.key, occasion=claimed.occasion.name):
                results = _run_or_give_back(context, claimed, bench, lock)
    if results is not None:
        found = results
        with about(run=claimed.key, occasion=claimed.occasion.name):
            _hand_in(context, claimed, patiently(context, lambda: flight.after(context, bench, claimed, found)))
    return True


def _claim(context: Context, bench: Bench) -> ClaimedRun | None:
    device, held = bench.device, lease(context.config.schedule)
    return context.store.runs.claim(device.device_class, context.worker, context.now(), held, device=device)


def _hand_in(context: Context, claimed: ClaimedRun, results: Results) -> None:
    """The results are stored, or the Run is queued again where its failure says nothing of the Build."""
    wait = None if results.failure is None else try_again_in(results.failure, claimed.attempts, claimed.arm)
    if results.failure is not None and wait is not None and not is_hopeless(results):
        kind, later = results.failure, context.now() + wait
        put = patiently(context, lambda: context.store.runs.put_back(claimed, results.reason, later, context.now(), kind))
        context.tell.say("measure", f"{_what(claimed)}: {results.reason}; {_again(wait) if put else TAKEN}")
        return
    reduced = points(results)
    written = patiently(context, lambda: context.store.runs.finish(claimed, results, reduced, context.now()))
    _tell_outcome(context, claimed, results, written)


def _again(wait: timedelta) -> str:
    return f"tried again in {wait.total_seconds():.0f} s" if wait else "tried again"


def _run_or_give_back(context: Context, claimed: ClaimedRun, bench: Bench, lock: int) -> Results | None:
    """The Run's outcome; absent when it is another worker's now. Whoever stops us finds the Run queued again, and not counted."""
    try:
        _tell_progress(context, claimed)
        context.seen(claimed.workload.name, claimed.device_class)
        return _run(context, claimed, bench, lock)
    except LostClaimError as lost:
        context.tell.say("measure", lost.message)
    except StoppedError:
        _give_back(context, claimed)
    except KeyboardInterrupt:
        _give_back(context, claimed)
        raise
    return None


def _give_back(context: Context, claimed: ClaimedRun) -> None:
    with suppress(*DATABASE_GONE):  # whoever looks around next sees that this worker is dead, and queues the Run again
        context.store.runs.give_back(claimed)


def _run(context: Context, claimed: ClaimedRun, bench: Bench, lock: int) -> Results:
    """The Run's outcome; whatever could be wrong with it is a result, and the loop goes on."""
    try:
        with workplace(context, claimed) as work:
            job = _job(context, claimed, bench, work)
            handed_in = HandedIn(context, claimed, work)
            beat, pause_s = partial(_beat, context, claimed, handed_in), every_s(context.config.schedule)
            limit_s = claimed.workload.time_limit_s
            try:
                found = run_child(job, work / "results.json", limit_s, beat, pause_s, held=(lock,))
            finally:
                handed_in.look()  # what an interrupted try had handed in is kept too
            handed_in.conclude()
            return _blamed(found, shutil.disk_usage(work).free, work)
    except (LostClaimError, StoppedError):
        raise
    except OSError as error:
        return _failed(builders.os_sentence(error), context.now())
    except PerfdError as error:
        return _failed(error.message, context.now(), hopeless=error.permanent)


def _blamed(results: Results, free_bytes: int, work: Path) -> Results:
    """The same, but a Run that failed while its disk was full is no finding about the Build."""
    if results.state is not RunState.FAILED or free_bytes >= ROOM_BYTES:
        return results
    full = builders.os_sentence(OSError(errno.ENOSPC, "", str(work)))
    return replace(results, failure=FailureKind.HARNESS, reason=f"{full}; {results.reason}")


def is_hopeless(results: Results) -> bool:
    """Whether trying again would end the same: a permanent error of perfd's, which a person must mend first."""
    return bool(results.extra.get(HOPELESS))


def _failed(sentence: str, now: datetime, *, hopeless: bool = False) -> Results:
    return Results(
        state=RunState.FAILED,
        samples=(),
        started_at=now,
        finished_at=now,
        environment=None,
        failure=FailureKind.HARNESS,
        reason=sentence,
        harness_version=HARNESS_VERSION,
        extra={HOPELESS: True} if hopeless else {},
    )


def _beat(context: Context, claimed: ClaimedRun, handed_in: HandedIn) -> None:
    handed_in.look()
    if context.over.is_set():
        raise StoppedError("told to end", permanent=False)
    try:
        ours = context.store.runs.heartbeat(claimed, context.now() + lease(context.config.schedule))
        context.seen(claimed.workload.name, claimed.device_class)
    except DATABASE_GONE:
        return  # nobody can take the Run from us meanwhile, and whose it is shows when its results are stored
    if not ours:
        raise LostClaimError(f"the Run {claimed.key[:12]} was taken over by another worker", permanent=False)


def _job(context: Context, claimed: ClaimedRun, bench: Bench, work: Path) -> Job:
    engine = by_name(context.config, claimed.spec.subject).engine
    weights = None
    if claimed.model is not None:
        weights = builders.fetch_weights(
            _as_configured(context, claimed.model), context.config.state, lambda line: context.tell.say("measure", line)
        )
    return Job(
        subject=claimed.spec.subject,
        revision=claimed.spec.revision,
        build=claimed.spec.digest,
        artifact=claimed.artifact,
        workload=claimed.workload,
        device=bench.device,
        occasion=claimed.occasion.name,
        run=claimed.key,
        work=work,
        threads=bench.threads,
        launch=None if engine is None else engine.launch,
        model=claimed.model,
        weights=weights,
        data=(context.config.suites_folder / "data").absolute(),
        software={**claimed.spec.toolchain, **claimed.spec.dependencies},
        caged=_is_caged(claimed),
    )


def _is_caged(claimed: ClaimedRun) -> bool:
    """Whether the Run's code is kept apart from this host; raises PerfdError where it has to be, and cannot."""
    untrusted = is_untrusted(claimed.occasion)
    if untrusted and refusal():
        raise PerfdError(refusal())
    return untrusted


def _as_configured(context: Context, model: Model) -> Model:
    """The same weights where this machine has them: the database keeps the place that the first configuration named."""
    return next((one for one in context.config.models if (one.name, one.sha256) == (model.name, model.sha256)), model)


def points(results: Results) -> Mapping[str, Reduced]:
    """Each Metric's Samples reduced to a value, its interval and n; nothing unless the Run is done."""
    if results.state is not RunState.DONE:
        return {}
    return {one.name: reduce_samples(one.values, _metric(one)) for one in results.samples if one.values}


def _metric(samples: MetricSamples) -> Metric:
    """The catalogue's definition, or what the file says of a Metric that perfd does not know."""
    known = METRICS.get(samples.name)
    return known or Metric(samples.name, samples.unit, samples.better, MetricKind.SPEED, "As its results file defines it.")


def _tell_progress(context: Context, claimed: ClaimedRun) -> None:
    counts = context.store.runs.counts(claimed.occasion)
    done = sum(counts[state] for state in (RunState.DONE, RunState.FAILED, RunState.VOID))
    context.tell.steps("measure", done, sum(counts.values()), _what(claimed))


def _what(claimed: ClaimedRun) -> str:
    return f"{claimed.workload.name} on {claimed.spec.subject} {brief(claimed.spec.revision)}"


def _tell_outcome(context: Context, claimed: ClaimedRun, results: Results, written: Written) -> None:
    what = _what(claimed)
    if written is Written.STALE:
        context.tell.say("measure", f"{what}: {TAKEN}")
    elif written is Written.REFUSED:
        context.tell.say("measure", f"{what}: failed, since its results cannot be stored; its page says why")
    elif results.state is not RunState.DONE:
        context.tell.say("measure", f"{what}: {results.state}, {results.reason}")
