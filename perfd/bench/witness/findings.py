"""Findings: what in a server's behaviour changes what the numbers mean, each a sentence, and whether it voids the Run.

Pure functions from Evidence to Findings. A preemption is the Build's own doing: it annotates. A count that shows that other
requests than ours were served, or that ours were not what we think, voids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from perfd.bench.witness.bootlog import BootLog
from perfd.bench.witness.dictionary import Look, Names
from perfd.bench.witness.facts import ServerFacts
from perfd.domain.identity import Json

DIFFERENT_SHARE = 0.01
"""Token counts of server and client that differ by more void the Run."""
ENOUGH_LOOKS = 10
"""Busy looks from which on the highest number of running requests is believed to be the highest there was."""


class Effect(StrEnum):
    """What a Finding does to its Run."""

    ANNOTATE = "annotate"
    VOID = "void"


@dataclass(frozen=True)
class Finding:
    """One thing that was seen."""

    name: str
    effect: Effect
    sentence: str
    seen: Mapping[str, Json] = field(default_factory=dict)
    """The numbers that it rests on."""

    def as_json(self) -> dict[str, Json]:
        """For the results file."""
        return {**asdict(self), "effect": str(self.effect), "seen": dict(self.seen)}


@dataclass(frozen=True)
class Ours:
    """What the client saw of its own requests, warm-up included."""

    requests: int
    unfinished: int
    """Failed or cancelled: the server may have worked for them without our knowing."""
    prompt_tokens: int | None
    """By each answer's usage; absent where any answer has none."""
    cached_tokens: int | None
    output_tokens: int
    peak_in_flight: int
    asked_concurrency: int | None
    """Absent for a load that is open and uncapped."""


@dataclass(frozen=True)
class Evidence:
    """All that the rules look at."""

    names: Names | None
    facts: ServerFacts
    before: Look | None
    after: Look | None
    during: Sequence[Look]
    log: BootLog
    command: Sequence[str]
    """How the engine was launched."""
    ours: Ours
    device: str
    """ "cpu", or a GPU's name."""
    others: Sequence[str] = ()
    """Engines of other people on this machine: "llama-server (pid 123)"."""


def findings_of(evidence: Evidence) -> list[Finding]:
    """Every Finding, those that void first."""
    rules = (_restarted, _backend, _tokens, _preempted, _concurrency, _settings, _others)
    found = [finding for rule in rules for finding in rule(evidence)]
    return sorted(found, key=lambda finding: finding.effect is not Effect.VOID)


def _restarted(evidence: Evidence) -> list[Finding]:
    before, after = evidence.before, evidence.after
    if before is None or after is None:
        return []
    pairs = {name: (getattr(before, name), getattr(after, name)) for name in ("prompt_tokens", "output_tokens", "preempted")}
    back = {name: pair for name, pair in pairs.items() if None not in pair and pair[1] < pair[0]}
    if not back:
        return []
    name, (was, now) = next(iter(back.items()))
    sentence = f"the server was restarted during the Run: its count of {name.replace('_', ' ')} went from {was:g} to {now:g}"
    return [Finding("server_restarted", Effect.VOID, sentence, {"counter": name, "before": was, "after": now})]


def _backend(evidence: Evidence) -> list[Finding]:
    offloaded = evidence.log.offloaded
    if evidence.device == "cpu" or offloaded is None or offloaded[0] >= offloaded[1]:
        return []
    on_gpu, layers = offloaded
    effect = Effect.VOID if on_gpu == 0 else Effect.ANNOTATE
    sentence = f"the engine put {on_gpu} of {layers} layers on {evidence.device}; the rest ran on the CPU"
    return [Finding("backend_ignored", effect, sentence, {"on_gpu": on_gpu, "layers": layers})]


def _tokens(evidence: Evidence) -> list[Finding]:
    """The server's counts over the Run against ours."""
    ours = evidence.ours
    compared = (
        ("output", _grown(evidence, "output_tokens"), float(ours.output_tokens)),
        ("prompt", _grown(evidence, "prompt_tokens"), _maybe(ours.prompt_tokens)),
        ("cached prompt", _grown(evidence, "cached_tokens"), _maybe(ours.cached_tokens)),
    )
    found = [_differ(what, told, counted, ours) for what, told, counted in compared if told is not None and counted is not None]
    return [finding for finding in found if finding is not None]


def _differ(what: str, told: float, counted: float, ours: Ours) -> Finding | None:
    """A server that counts more may have worked for requests that we gave up; one that counts less has no such excuse."""
    if told == counted or (told > counted and ours.unfinished):
        return None
    share = abs(told - counted) / max(told, counted)
    # Engines count a prompt again that they preempted, so cached tokens may differ without a fault.
    effect = Effect.VOID if share > DIFFERENT_SHARE and what != "cached prompt" else Effect.ANNOTATE
    why = (
        "somebody else used the server, or the client lost answers" if told > counted else "the client counted what was not there"
    )
    sentence = f"the server counted {told:,.0f} {what} tokens and the client {counted:,.0f}" + (
        f": {why}" if effect is Effect.VOID else f" ({share:.2%} apart)"
    )
    return Finding(f"{what.replace(' ', '_')}_tokens_differ", effect, sentence, {"server": told, "client": counted})


def _preempted(evidence: Evidence) -> list[Finding]:
    word = evidence.names.preemption if evidence.names else "preemption"
    count = _grown(evidence, "preempted")
    if count:
        sentence = f"{count:,.0f} {word}s during the Run: those requests were computed again, and no log line says so"
        return [Finding("preemptions", Effect.ANNOTATE, sentence, {"count": count})]
    paused = max((look.paused for look in evidence.during if look.paused is not None), default=0.0)
    if paused:
        sentence = f"up to {paused:,.0f} requests stood paused at once: they were computed again"
        return [Finding("preemptions", Effect.ANNOTATE, sentence, {"most_paused": paused})]
    return []


def _concurrency(evidence: Evidence) -> list[Finding]:
    asked, slots = evidence.ours.asked_concurrency, evidence.facts.slots
    if asked is None:
        return []
    if slots is not None and slots < asked:
        sentence = (
            f"{asked} requests at once were asked, and the server has {slots} slots: the rest waited, and TTFT holds the wait"
        )
        return [Finding("concurrency_not_reached", Effect.ANNOTATE, sentence, {"asked": asked, "slots": slots})]
    busy = [look for look in evidence.during if look.running]
    peak = max((look.running or 0.0 for look in busy), default=0.0)
    held = [look for look in busy if look.waiting and (look.running or 0.0) < asked]
    if not busy or peak >= asked or not (held or len(busy) >= ENOUGH_LOOKS):
        return []
    waited = f", while up to {max(look.waiting or 0.0 for look in held):g} waited" if held else ""
    sentence = f"{asked} requests at once were asked, and at most {peak:g} were seen running in {len(busy)} looks{waited}"
    return [Finding("concurrency_not_reached", Effect.ANNOTATE, sentence, {"asked": asked, "most_running": peak})]


def _settings(evidence: Evidence) -> list[Finding]:
    """Settings of the launch that the server does not have, and lines of the log that admit as much."""
    facts = evidence.facts
    asked_context = asked_for(evidence.command, "--ctx-size", "-c")
    asked_slots = asked_for(evidence.command, "--parallel", "-np")
    found = []
    if asked_context and facts.kv_pool_tokens is not None and facts.kv_pool_tokens < asked_context:
        sentence = f"a context of {asked_context:,} tokens was asked for, and the server has {facts.kv_pool_tokens:,}"
        seen: dict[str, Json] = {"asked": asked_context, "has": facts.kv_pool_tokens}
        found.append(Finding("context_smaller_than_asked", Effect.ANNOTATE, sentence, seen))
    if asked_slots and facts.slots is not None and facts.slots != asked_slots:
        sentence = f"{asked_slots} slots were asked for, and the server has {facts.slots}"
        found.append(Finding("slots_differ", Effect.ANNOTATE, sentence, {"asked": asked_slots, "has": facts.slots}))
    if evidence.log.ignored:
        sentence = f'the boot log admits that settings were not taken as given, first: "{evidence.log.ignored[0]}"'
        found.append(Finding("setting_ignored", Effect.ANNOTATE, sentence, {"lines": list(evidence.log.ignored)}))
    return found


def asked_for(command: Sequence[str], *flags: str) -> int | None:
    """The whole number after (or behind the = of) one of these flags; absent where none is given."""
    for at, flag in enumerate(command):
        name, equals, inner = flag.partition("=")
        text = inner if equals else "".join(command[at + 1 : at + 2])
        if name in flags and text.isdigit():
            return int(text)
    return None


def _others(evidence: Evidence) -> list[Finding]:
    if not evidence.others:
        return []
    shown = ", ".join(evidence.others[:3]) + (" …" if len(evidence.others) > 3 else "")
    sentence = f"other engines ran on this machine at the same time: {shown}"
    return [Finding("other_engines", Effect.ANNOTATE, sentence, {"processes": list(evidence.others)})]


def _grown(evidence: Evidence, name: str) -> float | None:
    """How much a counter grew over the Run; absent where a look lacks it, or it went back."""
    if evidence.before is None or evidence.after is None:
        return None
    was, now = getattr(evidence.before, name), getattr(evidence.after, name)
    return None if was is None or now is None or now < was else now - was


def _maybe(value: int | None) -> float | None:
    return None if value is None else float(value)
