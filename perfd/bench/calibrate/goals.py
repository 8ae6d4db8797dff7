"""The client's goals, measured: `python -m perfd.bench.calibrate.goals`, with the paths of two other clients beside it if wanted.

Every figure is the client's minus what the calibration server logged. On a host that is not quiet nothing is measured, and it
says so.
Exit code 0: all goals were met; 1: one was missed; 2: not measured.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perfd.bench.calibrate import quiet
from perfd.bench.calibrate.measure import calibrate, calibration_server, pairs_of, read_truth
from perfd.bench.calibrate.rivals import Rival, rivals
from perfd.bench.calibrate.shapes import Shape, StreamPlan
from perfd.bench.load import metrics
from perfd.bench.load.client import run_load
from perfd.bench.load.plan import Arrival, LoadPlan, PromptPlan

SECONDS = 8.0
LARGE_PROMPTS = 64
LARGE_TOKENS = 700_000
"""Words of the prompt; as JSON about 4 MB, which a prompt of a million tokens has."""
SMALL_RPS = 50
MS = 1e3


@dataclass(frozen=True)
class Goal:
    """One figure held against its limit."""

    name: str
    value: float | None
    limit: float
    unit: str
    stretch: bool = False
    """A stretch goal is shown, and does not decide."""

    @property
    def met(self) -> bool:
        """Whether the figure is there and within its limit."""
        return self.value is not None and abs(self.value) <= self.limit

    def line(self) -> str:
        """The goal as a person reads it."""
        seen = "none" if self.value is None else f"{self.value:+.3f} {self.unit}"
        word = "met" if self.met else ("not reached (stretch)" if self.stretch else "MISSED")
        return f"{self.name:<58} {seen:>14}   goal {self.limit:g} {self.unit:<3} {word}"


def say(line: str) -> None:
    """A line on standard output, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def plan_at(rate_rps: float, *, realtime: bool) -> LoadPlan:
    """An open load of 64-token answers; the URL is filled in by the calibration."""
    prompts = PromptPlan(prompt_tokens=256, max_tokens=64)
    return LoadPlan("http://127.0.0.1:9", "truth", duration_s=SECONDS, rate_rps=rate_rps, prompts=prompts, realtime=realtime)


def at_rate(rate_rps: float, *, stretch: bool, realtime: bool) -> Iterator[Goal]:
    """Bias, offered load and lag at one rate."""
    found = calibrate(plan_at(rate_rps, realtime=realtime), SECONDS, StreamPlan(tokens=64))
    name = f"{rate_rps:g}/s ({found.tokens_per_s:,.0f} tokens/s)"
    yield Goal(f"{name}: TTFT bias p50", found.ttft_bias_s["p50"] * MS, 0.2, "ms", stretch)
    yield Goal(f"{name}: TTFT bias p99", found.ttft_bias_s["p99"] * MS, 1.0, "ms", stretch)
    offered = None if found.offered_error is None else found.offered_error * 100
    yield Goal(f"{name}: offered against drawn", offered, 1.0, "%", stretch)
    yield Goal(f"{name}: send lag p99", found.send_lag_s["p99"] * MS, 1.0, "ms", stretch)
    late = found.server_lateness_s["p99"] * MS
    say(f"  (server late by {late:.2f} ms at p99; client CPU {found.client_cpu_s:.1f} s; {found.scheduler})")


def at_shape(shape: Shape, *, realtime: bool) -> Iterator[Goal]:
    """The gaps' error on one stream shape."""
    found = calibrate(plan_at(400, realtime=realtime), SECONDS, StreamPlan(shape, tokens=64))
    for place in ("p50", "p99"):
        yield Goal(f"{shape}: ITL error {place}", found.itl_error[place] * 100, 0.5, "%")


def start_up(*, realtime: bool) -> Iterator[Goal]:
    """From the call to the first request, at 400 requests/s."""
    with calibration_server(StreamPlan(tokens=8, gap_s=0.001)) as port:
        report = run_load(replace(plan_at(400, realtime=realtime), url=f"http://127.0.0.1:{port}"))
    yield Goal("first request after the start", report.log.head.prepared_s, 0.5, "s")


def large_prompts(*, realtime: bool) -> Iterator[Goal]:
    """How far the TTFT bias of small requests moves when 64 bodies of 4 MB are sent among them."""
    alone = _small_bias(0, realtime=realtime)
    among = _small_bias(LARGE_PROMPTS, realtime=realtime)
    for place in ("p50", "p99"):
        yield Goal(f"TTFT of other streams beside 64 x 4 MB: {place} moved", (among[place] - alone[place]) * MS, 1.0, "ms")


def _small_bias(large: int, *, realtime: bool) -> dict[str, float]:
    small = [{"at_s": index / SMALL_RPS, "prompt_tokens": 64} for index in range(int(SECONDS * SMALL_RPS))]
    big = [{"at_s": (index + 0.5) * SECONDS / max(1, large), "prompt_tokens": LARGE_TOKENS} for index in range(large)]
    with tempfile.TemporaryDirectory() as folder, calibration_server(StreamPlan(tokens=64)) as port:
        trace = Path(folder) / "trace.jsonl"
        trace.write_text("".join(json.dumps(due) + "\n" for due in [*small, *big]), encoding="utf-8")
        plan = replace(
            plan_at(1, realtime=realtime), url=f"http://127.0.0.1:{port}", rate_rps=None, arrival=Arrival.TRACE, trace=trace
        )
        report = run_load(plan)
        pairs = pairs_of(report.traces, read_truth(port))
    # A small request's bias holds its own way from the intended send time to the server, which a large body could block.
    found = metrics.summary(
        [metrics.ttft_s(seen) - metrics.ttft_s(true) for seen, true in pairs if seen.asked_prompt_tokens < 1000]
    )
    return found or {}


def beside(rival: Rival, rate_rps: float) -> str:
    """One line: what another client reports at this rate, minus what the server logged meanwhile."""
    count = int(rate_rps * SECONDS)
    with calibration_server(StreamPlan(tokens=64)) as port, tempfile.TemporaryDirectory() as folder:
        seen = rival.measure(f"http://127.0.0.1:{port}", rate_rps, count, Path(folder))
        truth = sorted(read_truth(port).values())[-count:]  # the first ones may be its warm-up
    if isinstance(seen, str):
        return f"{rival.name} at {rate_rps:g}/s: not measured: {seen}"
    true = metrics.summary([(sends[0][0] - arrival) / 1e9 for arrival, sends, _ in truth if sends])
    arrivals = metrics.rate_rps([arrival for arrival, _, _ in truth])
    if true is None or arrivals is None:
        return f"{rival.name} at {rate_rps:g}/s: not measured: the server saw no request of it"
    median, tail = ((seen[place] - true[place]) * MS for place in ("p50", "p99"))
    return f"{rival.name} at {rate_rps:g}/s: TTFT bias p50 {median:+.2f} ms, p99 {tail:+.2f} ms; offered {arrivals:.1f}/s"


def main(arguments: Sequence[str]) -> int:
    """Measure, print a line a goal, and say whether all were met."""
    options = _options(arguments)
    found = quiet.look()
    if found and not options.anyway:
        say("not measured: " + "; ".join(found))
        return 2
    goals = []
    for measure in _measurements(options):
        for goal in measure():
            say(goal.line())
            goals.append(goal)
    for rival in rivals(options.guidellm, options.aiperf, options.tokenizer):
        for rate in (100.0, 400.0):
            say(beside(rival, rate))
    after = quiet.look()
    if found or after:
        say("not measured: the host was not quiet (" + "; ".join(found or after) + "); the figures above say nothing")
        return 2
    if options.json:
        told = [{"goal": g.name, "value": g.value, "limit": g.limit, "unit": g.unit, "met": g.met} for g in goals]
        options.json.write_text(json.dumps(told), encoding="utf-8")
    return 0 if all(goal.met or goal.stretch for goal in goals) else 1


def _measurements(options: argparse.Namespace) -> list[Callable[[], Iterator[Goal]]]:
    realtime: bool = options.realtime
    return [
        lambda: at_rate(400, stretch=False, realtime=realtime),
        lambda: at_rate(800, stretch=True, realtime=realtime),
        *(lambda shape=shape: at_shape(shape, realtime=realtime) for shape in Shape),
        lambda: start_up(realtime=realtime),
        lambda: large_prompts(realtime=realtime),
    ]


def _options(arguments: Sequence[str]) -> Any:
    parser = argparse.ArgumentParser(description="Measure the load client's goals on a quiet host.")
    parser.add_argument("--guidellm", type=Path, help="the guidellm program of an environment of its own")
    parser.add_argument("--aiperf", type=Path, help="the aiperf program of an environment of its own")
    parser.add_argument("--tokenizer", type=Path, help="a folder with a Hugging Face tokenizer, which both of them need")
    parser.add_argument("--realtime", action="store_true", help="ask for SCHED_RR while sending (said in the output)")
    parser.add_argument("--anyway", action="store_true", help="go on although the host is not quiet; figures are then no results")
    parser.add_argument("--json", type=Path, help="write the goals to this file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
