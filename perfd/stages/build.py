"""build: one queued Build is made, or found where it was made before; a failure is a result with the tail of its log."""

from contextlib import suppress
from pathlib import Path

from perfd import builders
from perfd.bench.cage.build import enclosure
from perfd.bench.cage.refuse import refusal
from perfd.builders import Enclose
from perfd.domain.build import BuildOutcome, BuildSpec
from perfd.domain.subject import brief
from perfd.errors import PerfdError
from perfd.rules.trust import is_untrusted_build
from perfd.stages.beat import beating, every_s, lease
from perfd.stages.context import Context
from perfd.stages.patience import patiently
from perfd.stages.subjects import by_name
from perfd.store.records import ClaimedBuild
from perfd.store.trouble import DATABASE_GONE


def build(context: Context) -> bool:
    """One Build is finished; False when none is queued."""
    schedule = context.config.schedule
    claimed = context.store.builds.claim(context.worker, context.now(), lease(schedule))
    if claimed is None:
        return False
    try:
        with beating(lambda: _beat(context, claimed), every_s(schedule)):
            outcome = _make(context, claimed)
    except KeyboardInterrupt:
        with suppress(*DATABASE_GONE):  # whoever looks around next sees that this worker is dead
            context.store.builds.give_back(claimed)
        raise
    stored = patiently(context, lambda: context.store.builds.finish(claimed, outcome, context.now()))
    context.tell.say("build", _sentence(outcome) + ("" if stored else "; another worker has it, so this was not stored"))
    return True


def _beat(context: Context, claimed: ClaimedBuild) -> None:
    context.store.builds.heartbeat(claimed, context.now() + lease(context.config.schedule))
    context.seen(f"builds {claimed.spec.subject} {brief(claimed.spec.revision)}")


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
        return _failed(spec, error.message)


def _enclosure(context: Context, claimed: ClaimedBuild) -> Enclose | None:
    """What puts the Build's steps into a cage; absent for code that somebody vouches for. Raises PerfdError without a cage."""
    if not is_untrusted_build(context.store.builds.wanted_by(claimed)):
        return None
    if refusal():
        raise PerfdError(refusal())
    return enclosure(context.config.state)


def _failed(spec: BuildSpec, sentence: str) -> BuildOutcome:
    return BuildOutcome(spec, artifact=None, log=Path(), log_tail=sentence, seconds=0.0)


def _sentence(outcome: BuildOutcome) -> str:
    what = f"{outcome.spec.subject} {brief(outcome.spec.revision)}"
    if outcome.artifact is None:
        last = outcome.log_tail.strip().splitlines()[-1:] or ["its log is empty"]
        return f"{what} FAILED after {outcome.seconds:.1f} s: {last[0]}"
    return f"{what} found, made earlier" if outcome.cached else f"{what} built in {outcome.seconds:.1f} s"
