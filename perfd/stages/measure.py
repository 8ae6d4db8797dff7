"""measure: one queued Run is measured in a child process, and its results are stored."""

import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from perfd import HARNESS_VERSION
from perfd.bench.runner import run_child
from perfd.builders import fetch_weights
from perfd.domain.job import Job
from perfd.domain.metric import METRICS, Metric, MetricKind
from perfd.domain.results import MetricSamples, Results
from perfd.domain.run import FailureKind, RunState
from perfd.errors import PerfdError
from perfd.rules.judge import reduce_samples
from perfd.stages.beat import LEASE
from perfd.stages.context import Context
from perfd.stages.device import Bench, benches
from perfd.stages.subjects import by_name
from perfd.store.records import ClaimedRun, Reduced, Written


class LostClaimError(PerfdError):
    """Somebody else has this Run now; what was measured here is thrown away."""


def measure(context: Context) -> bool:
    """One Run is finished on one of this machine's devices; False when there is none to measure here now."""
    return any(_measure_on(context, bench) for bench in benches(context.config))


def _measure_on(context: Context, bench: Bench) -> bool:
    with context.store.device_lock(bench.device.host, bench.device.name) as got:
        if not got:
            return False
        claimed = context.store.runs.claim(bench.device.device_class, context.worker, context.now(), LEASE)
        if claimed is None:
            return False
        _tell_progress(context, claimed)
        context.store.workers.seen(context.worker, context.now(), doing=claimed.workload.name, device_class=claimed.device_class)
        results = _run(context, claimed, bench)
    written = context.store.runs.finish(claimed, results, points(results), context.now())
    _tell_outcome(context, claimed, results, written)
    return True


def _run(context: Context, claimed: ClaimedRun, bench: Bench) -> Results:
    """The Run's outcome; whatever could be wrong with it is a result, and the loop goes on."""
    work = context.config.state.absolute() / "runs" / f"{claimed.key[:16]}-{claimed.attempts}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        job = _job(context, claimed, bench, work)
        return run_child(job, work / "results.json", claimed.workload.time_limit_s, lambda: _beat(context, claimed))
    except LostClaimError:
        raise
    except PerfdError as error:
        return _failed(error.message, context.now())
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _failed(sentence: str, now: datetime) -> Results:
    return Results(
        state=RunState.FAILED,
        samples=(),
        started_at=now,
        finished_at=now,
        environment=None,
        failure=FailureKind.HARNESS,
        reason=sentence,
        harness_version=HARNESS_VERSION,
    )


def _beat(context: Context, claimed: ClaimedRun) -> None:
    if not context.store.runs.heartbeat(claimed, context.now() + LEASE):
        raise LostClaimError(f"the Run {claimed.key[:12]} was taken over by another worker", permanent=False)


def _job(context: Context, claimed: ClaimedRun, bench: Bench, work: Path) -> Job:
    engine = by_name(context.config, claimed.spec.subject).engine
    weights = None
    if claimed.model is not None:
        weights = fetch_weights(claimed.model, context.config.state, lambda line: context.tell.say("measure", line))
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
    )


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
    what = f"{claimed.workload.name} on {claimed.spec.subject} {claimed.spec.revision[:12]}"
    context.tell.steps("measure", done, sum(counts.values()), what)


def _tell_outcome(context: Context, claimed: ClaimedRun, results: Results, written: Written) -> None:
    what = f"{claimed.workload.name} on {claimed.spec.subject} {claimed.spec.revision[:12]}"
    if written is Written.STALE:
        context.tell.say("measure", f"{what}: another worker has it, so these results were not stored")
    elif results.state is not RunState.DONE:
        context.tell.say("measure", f"{what}: {results.state}, {results.reason}")
