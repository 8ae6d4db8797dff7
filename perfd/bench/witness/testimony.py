"""Witness and testimony: the server read before, during and after a load, and what that says about the Run."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from perfd.bench.engine import Server, command
from perfd.bench.load import LoadReport, RequestOutcome, RequestTrace
from perfd.bench.utilisation import EnergyMeter
from perfd.bench.utilisation.energy import between_j
from perfd.bench.witness.bootlog import BootLog, read_boot_log
from perfd.bench.witness.dictionary import Look, Names, engine_of, look_of
from perfd.bench.witness.external import ask_inferlint
from perfd.bench.witness.facts import ServerFacts, facts_of
from perfd.bench.witness.findings import Effect, Evidence, Finding, Ours, findings_of
from perfd.bench.witness.neighbours import other_engines
from perfd.bench.witness.peek import Answer, body_of, peek
from perfd.bench.witness.poller import EVERY_S, Poller
from perfd.bench.witness.prometheus import parse
from perfd.domain.identity import Json
from perfd.domain.job import Job

PATHS = ("/metrics", "/prometheus/metrics")
"""TensorRT-LLM answers the first with JSON, and has its counters under the second."""
SETTLE_S = 2.0
"""Engines that count when a request ends may do so a moment after its last byte."""


@dataclass(frozen=True)
class Testimony:
    """What the witness says of one Run."""

    facts: ServerFacts
    findings: tuple[Finding, ...]
    looks: tuple[Look, ...]
    cost: Mapping[str, Json]
    inferlint: Mapping[str, Json]
    energy: tuple[float | None, str]
    """(joules of the load, why there are none)."""

    @property
    def why_void(self) -> str:
        """One sentence; "" where nothing that was seen voids the Run."""
        void = [finding.sentence for finding in self.findings if finding.effect is Effect.VOID]
        return "; ".join(void)

    @property
    def sentences(self) -> list[str]:
        """What annotates the Run, for people."""
        return [finding.sentence for finding in self.findings if finding.effect is Effect.ANNOTATE]

    def samples(self) -> dict[str, Sequence[float]]:
        """The KV pool as a Metric, so that its Series shows starts that differ."""
        pool = self.facts.kv_pool_tokens
        return {} if pool is None else {"kv_pool_tokens": [float(pool)]}

    def as_json(self) -> dict[str, Json]:
        """For the results file; the looks as columns."""
        start = self.looks[0].at_ns if self.looks else 0
        return {
            "server": self.facts.as_json(),
            "findings": [finding.as_json() for finding in self.findings],
            "over_time": {
                "at_s": [round((look.at_ns - start) / 1e9, 3) for look in self.looks],
                "running": [look.running for look in self.looks],
                "waiting": [look.waiting for look in self.looks],
                "kv_share": [look.kv_share for look in self.looks],
            },
            "looking": dict(self.cost),
            "inferlint": dict(self.inferlint),
        }


@dataclass
class Witness:
    """Reads the server when the block is entered, about once a second inside it, and when it is left."""

    job: Job
    server: Server
    every_s: float = EVERY_S
    _path: str = PATHS[0]
    _before: Answer | None = None
    _after: Answer | None = None
    _names: Names | None = None
    _facts: ServerFacts = field(default_factory=lambda: ServerFacts("unknown"))
    _log: BootLog = field(default_factory=BootLog)
    _others: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Not yet looking."""
        self._energy = EnergyMeter(self.job.device)
        self._poller: Poller | None = None

    def __enter__(self) -> Self:
        """The server's state before the load is known, and the poller runs."""
        self._others = other_engines(self.server.pids)
        self._path, self._before = self._first()
        text = body_of(self._before.raw) or ""
        scrape = parse(text)
        self._names = engine_of(scrape)
        self._log = read_boot_log(self.server.log)
        self._facts = facts_of(self._names, scrape, self._log, self.server.port)
        known = self._path if self._names is not None else None
        if known or self._energy.source:
            self._poller = Poller(self.server.port, known, self._energy.read_j, self.every_s)
            self._poller.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Nothing looks any more; after a load that ended by itself the counters have settled."""
        if self._poller is not None:
            self._poller.stop()
        if kind is None and self._names is not None:
            self._after = self._settled()

    def _first(self) -> tuple[str, Answer]:
        """The path whose answer is Prometheus text, and that answer; the usual path where none is."""
        answers = {path: peek(self.server.port, path) for path in PATHS}
        good = [path for path, answer in answers.items() if engine_of(parse(body_of(answer.raw) or "")) is not None]
        path = good[0] if good else PATHS[0]
        return path, answers[path]

    def _settled(self) -> Answer:
        """The first answer whose counters equal those of the one before it, or the last within SETTLE_S."""
        end_s = time.monotonic() + SETTLE_S
        last = peek(self.server.port, self._path)
        while time.monotonic() < end_s:
            time.sleep(0.05)
            answer = peek(self.server.port, self._path)
            if self._counts(answer) == self._counts(last):
                return answer
            last = answer
        return last

    def _counts(self, answer: Answer) -> tuple[float | None, ...]:
        look = self._look(answer)
        return () if look is None else (look.prompt_tokens, look.output_tokens, look.running)

    def _look(self, answer: Answer | None) -> Look | None:
        text = body_of(answer.raw) if answer is not None else None
        if text is None or answer is None or self._names is None:
            return None
        return look_of(parse(text), self._names, answer.at_ns, answer.answer_s)

    def testimony(self, report: LoadReport, asked_concurrency: int | None) -> Testimony:
        """What was seen, once the block has been left; reading it all takes place here, after the load."""
        poller = self._poller or Poller(self.server.port, None)
        during = [look for look in map(self._look, poller.answers) if look is not None]
        evidence = Evidence(
            names=self._names,
            facts=self._facts,
            before=self._look(self._before),
            after=self._look(self._after),
            during=during,
            log=self._log,
            command=command(self.job, self.job.launch, self.server.port) if self.job.launch else (),
            ours=ours_of(report.traces, asked_concurrency),
            device=self.job.device.device_class.removeprefix("gpu:") if self.job.device.name != "cpu" else "cpu",
            others=self._others,
        )
        answers = [answer for answer in (self._before, *poller.answers, self._after) if answer is not None]
        theirs, used = ask_inferlint(self._names, answers, self.server.log, self.job.work / "inferlint", asked_concurrency)
        energy = between_j(poller.energy, report.log.head.started_ns, report.log.head.stopped_ns)
        return Testimony(
            facts=self._facts,
            findings=(*findings_of(evidence), *theirs),
            looks=tuple(during),
            cost=poller.cost(),
            inferlint=used,
            energy=(energy, "" if energy is not None else self._energy.why_absent or "the load was shorter than two looks"),
        )


def ours_of(traces: Sequence[RequestTrace], asked_concurrency: int | None) -> Ours:
    """The client's own sums over all requests, warm-up included."""
    outcomes = Counter(trace.outcome for trace in traces)
    done = [trace for trace in traces if trace.outcome is RequestOutcome.DONE]
    prompts, cached = [t.prompt_tokens for t in done], [t.cached_tokens for t in done]
    return Ours(
        requests=len(traces),
        unfinished=len(traces) - outcomes[RequestOutcome.DONE],
        prompt_tokens=None if None in prompts else sum(tokens or 0 for tokens in prompts),
        cached_tokens=None if None in cached else sum(tokens or 0 for tokens in cached),
        output_tokens=sum(trace.generated_tokens for trace in done),
        peak_in_flight=peak_in_flight(traces),
        asked_concurrency=asked_concurrency,
    )


def peak_in_flight(traces: Sequence[RequestTrace]) -> int:
    """The most requests that were open at once, as the client saw it."""
    sent = [trace for trace in traces if trace.sent_ns is not None]
    moves = sorted([(t.sent_ns or 0, 1) for t in sent] + [(t.end_ns, -1) for t in sent])
    now = most = 0
    for _, step in moves:
        now += step
        most = max(most, now)
    return most


def left_behind(extra: Mapping[str, Json], processes: Sequence[str]) -> dict[str, Json]:
    """A Run's `extra`, its witness saying which processes of the engine outlived it; unchanged where none did."""
    if not processes:
        return dict(extra)
    sentence = f"{len(processes)} processes of the engine outlived it and held their memory until perfd ended them"
    finding = Finding("engine_left_behind", Effect.ANNOTATE, sentence, {"processes": list(processes)})
    seen = extra.get("witness", {})
    witness = {**seen, "findings": [*seen.get("findings", []), finding.as_json()]}
    return {**extra, "annotations": [*extra.get("annotations", []), sentence], "witness": witness}
