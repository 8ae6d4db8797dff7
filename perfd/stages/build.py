"""build: one queued Build is made, or found where it was made before; a failure is a result with the tail of its log."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from perfd import builders
from perfd.bench.cage.build import enclosure
from perfd.bench.cage.refuse import refusal
from perfd.builders import Enclose
from perfd.domain.build import BuildOutcome
from perfd.domain.subject import brief
from perfd.errors import PerfdError
from perfd.rules.retry import BUILD_WAITS
from perfd.rules.trust import is_untrusted_build
from perfd.stages.beat import beating, every_s, lease
from perfd.stages.context import Context
from perfd.stages.patience import patiently
from perfd.stages.subjects import by_name
from perfd.store.records import ClaimedBuild
from perfd.store.trouble import DATABASE_GONE


def build(context: Context, waits: Sequence[timedelta] = BUILD_WAITS) -> bool:
    """One Build is finished; False when none is queued.

    One that failed for what may pass is tried again after each of `waits`; it is given back where the worker is to end.
    """
    schedule = context.config.schedule
    claimed = context.store.builds.claim(context.worker, context.now(), lease(schedule))
    if claimed is None:
        return False
    try:
        with beating(lambda: _beat(context, claimed), every_s(schedule)):
            outcome = _make_patiently(context, claimed, waits)
    except KeyboardInterrupt:
        with suppress(*DATABASE_GONE):  # whoever looks around next sees that this worker is dead
            context.store.builds.give_back(claimed)
        raise
    if outcome is None:
        patiently(context, lambda: context.store.builds.give_back(claimed))
        return True
    stored = patiently(context, lambda: context.store.builds.finish(claimed, outcome, context.now()))
    context.tell.say("build", _sentence(outcome) + ("" if stored else "; another worker has it, so this was not stored"))
    return True


def _beat(context: Context, claimed: ClaimedBuild) -> None:
    context.store.builds.heartbeat(claimed, context.now() + lease(context.config.schedule))
    context.seen(f"builds {claimed.spec.subject} {brief(claimed.spec.revision)}")


def _make_patiently(context: Context, claimed: ClaimedBuild, waits: Sequence[timedelta]) -> BuildOutcome | None:
    """What came of it in the end; None where the worker is to end before the next try."""
    outcome = _make(context, claimed)
    for number, wait in enumerate(waits, 2):
        if not outcome.passing:
            break
        again = f"; this may pass: try {number} of {len(waits) + 1} in {wait.total_seconds():.0f} s"
        context.tell.say("build", _sentence(outcome) + again)
        if context.over.wait(wait.total_seconds()):
            return None
        outcome = _make(context, claimed)
    return outcome


def _make(context: Context, claimed: ClaimedBuild) -> BuildOutcome:
    spec = claimed.spec
    try:
        subject = by_name(context.config, spec.subject)
        return builders.build(
            spec,
            subject.source,
            subject.options,
            context.config.state,
            lambda line: context.tell.say("build", line),
            enclose=_enclosure(context, claimed),
        )
    except PerfdError as error:
        return BuildOutcome(spec, None, Path(), error.message, 0.0, passing=not error.permanent)


def _enclosure(context: Context, claimed: ClaimedBuild) -> Enclose | None:
    """What puts the Build's steps into a cage; absent for code that somebody vouches for. Raises PerfdError without a cage."""
    if not is_untrusted_build(context.store.builds.wanted_by(claimed)):
        return None
    if refusal():
        raise PerfdError(refusal())
    return enclosure(context.config.state)


def _sentence(outcome: BuildOutcome) -> str:
    what = f"{outcome.spec.subject} {brief(outcome.spec.revision)}"
    if outcome.artifact is None:
        last = outcome.log_tail.strip().splitlines()[-1:] or ["its log is empty"]
        return f"{what} FAILED after {outcome.seconds:.1f} s: {last[0]}"
    return f"{what} found, made earlier" if outcome.cached else f"{what} built in {outcome.seconds:.1f} s"
