"""`perfd load URL`: drive any OpenAI-compatible server, and know one's own error. Needs no database."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from perfd.bench.calibrate.measure import calibrate
from perfd.bench.load import Api, Arrival, LoadPlan, PromptKind, Slo, report_from, report_json, run_load
from perfd.bench.load.events import read_events
from perfd.bench.load.given import prompt_plan
from perfd.bench.load.servercount import server_tokenizer
from perfd.cli import main
from perfd.cli.group import FINE, UNSURE, answer, json_option
from perfd.cli.tables import console, number
from perfd.cli.tell import Teller
from perfd.domain.identity import Json
from perfd.errors import BadInputError

SAME = (
    "model",
    "requests",
    "duration_s",
    "rate_rps",
    "concurrency",
    "burstiness",
    "trace",
    "trace_speed",
    "ramp_s",
    "warmup_s",
    "warmup_requests",
    "keep_alive",
    "stall_s",
    "ca_file",
    "realtime",
    "events",
)
"""Options that a LoadPlan knows by the same name."""
Command = TypeVar("Command", bound=Callable[..., Any])
CALIBRATED_WITH = "http://127.0.0.1:9"
"""A plan needs an address; calibration replaces it with its own server's."""


def _choice(kind: type[Api | Arrival | PromptKind]) -> click.Choice[str]:
    return click.Choice([member.value for member in kind])


# The names are those of a suite's parameters, so that a Workload can be tried by hand; docs/suites.md explains each.
PROMPTS: tuple[tuple[str, click.ParamType[Any], object, str], ...] = (
    ("prompt_tokens", click.IntRange(1), 256, "Tokens of a session's first prompt; the median where they vary."),
    ("prompt_p90", click.FLOAT, 0.0, "Tokens that nine in ten prompts, system prompt left out, stay under."),
    ("prompt_most", click.FLOAT, 0.0, "Tokens that no prompt, system prompt left out, is longer than."),
    ("system_tokens", click.IntRange(0), 0, "Of the prompt, tokens of a system prompt that all requests share."),
    ("output_tokens", click.IntRange(1), 64, "Tokens asked for in each answer; the median where they vary."),
    ("output_p90", click.FLOAT, 0.0, "Tokens that nine in ten answers stay under."),
    ("output_most", click.FLOAT, 0.0, "Tokens that no answer is longer than."),
    ("turns", click.IntRange(1), 1, "Requests of one session; with --turn-tail the most of them."),
    ("turn_tail", click.FLOAT, 0.0, "A session has more than k turns with chance (k + 1)^-N; 0: all have as many."),
    ("growth_tokens", click.IntRange(0), 256, "Tokens that each turn adds."),
    ("growth_p90", click.FLOAT, 0.0, "Tokens that nine in ten turns add at most."),
    ("growth_most", click.FLOAT, 0.0, "Tokens that no turn adds more than."),
    ("context_most", click.IntRange(0), 0, "Tokens at which a session ends instead of growing further; 0: no limit."),
    ("think_p90", click.FLOAT, 0.0, "Seconds that nine in ten pauses stay under."),
    ("think_most", click.FLOAT, 0.0, "Seconds that no pause is longer than."),
    ("tools", click.IntRange(0), 0, "Tool schemas in every request of an agentic session."),
    ("parallel_calls", click.IntRange(1), 1, "Tool calls of one turn at the most."),
    ("agents", click.IntRange(0), 0, "Sub-agents that a session starts in its middle."),
    ("agent_turns", click.IntRange(1), 3, "Turns of each sub-agent."),
    ("needles", click.IntRange(1), 1, "Facts hidden in a long prompt."),
    ("asked_needles", click.IntRange(1), 1, "Of these, how many are asked for."),
    ("images", click.IntRange(0), 1, "Pictures of a multimodal prompt."),
    ("frames", click.IntRange(0), 0, "Video frames after them."),
    ("width", click.IntRange(1), 512, "Pixels of a picture."),
    ("height", click.IntRange(1), 512, "Pixels of a picture."),
)


def _prompt_options() -> tuple[Callable[[Any], Any], ...]:
    return tuple(
        click.option(f"--{name.replace('_', '-')}", name, type=kind, default=usual, show_default=True, help=text)
        for name, kind, usual, text in PROMPTS
    )


OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--model", default="", help="Name of the model as the server knows it."),
    click.option("--requests", type=click.IntRange(1), help="How many requests to send."),
    click.option("--duration", "duration_s", type=float, help="Seconds of sending."),
    click.option("--rate", "rate_rps", type=float, help="Requests per second: an open load on an absolute schedule."),
    click.option("--concurrency", type=click.IntRange(1), help="Requests at once: a closed load; with --rate, its cap."),
    click.option(
        "--arrival", type=_choice(Arrival), default="poisson", show_default=True, help="How an open load's requests arrive."
    ),
    click.option(
        "--burstiness", type=float, default=1.0, show_default=True, help="Shape of the gamma law; less than 1 is burstier."
    ),
    click.option(
        "--trace", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Times and lengths to replay: JSONL or CSV."
    ),
    click.option("--trace-speed", type=float, default=1.0, show_default=True, help="2 replays a trace twice as fast."),
    click.option("--workload", type=_choice(PromptKind), default="chat", show_default=True, help="What kind of prompts."),
    *_prompt_options(),
    click.option(
        "--think", "think_s", type=float, default=0.0, show_default=True, help="Seconds between an answer and the next turn."
    ),
    click.option("--live", is_flag=True, help="Put what the model really said into the session's next prompt."),
    click.option("--reuse-prefix/--no-reuse-prefix", default=None, help="Let requests share a prefix (default: sessions do)."),
    click.option("--reuse-images", is_flag=True, help="Show the same pictures in every session."),
    click.option("--ignore-eos", is_flag=True, help="Ask for answers of their full length, as suites do (not every server can)."),
    click.option("--recorded", type=click.Path(path_type=Path, exists=True), help="Replay SWE-agent trajectories of this path."),
    click.option("--occasion", help="Equal occasions give equal prompts (default: fresh ones each time)."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of prompts and arrivals."),
    click.option("--api", type=_choice(Api), default="chat", show_default=True, help="Which endpoint to ask."),
    click.option(
        "--ramp", "ramp_s", type=float, default=0.0, show_default=True, help="Seconds over which the load grows; not measured."
    ),
    click.option(
        "--warmup", "warmup_s", type=float, default=0.0, show_default=True, help="Seconds after the ramp that are not measured."
    ),
    click.option("--warmup-requests", type=click.IntRange(0), default=0, show_default=True, help="First requests, not measured."),
    click.option("--slo-ttft", type=float, help="Goodput: highest TTFT in seconds."),
    click.option("--slo-tpot", type=float, help="Goodput: highest TPOT in seconds."),
    click.option("--slo-e2e", type=float, help="Goodput: highest E2E in seconds."),
    click.option("--header", "headers", multiple=True, help="An HTTP header 'Name: value' (may be given again)."),
    click.option("--keep-alive/--no-keep-alive", default=True, help="Whether connections are used again."),
    click.option("--timeout", "timeout_s", type=float, default=600.0, show_default=True, help="Seconds that a request may take."),
    click.option(
        "--stall", "stall_s", type=float, default=60.0, show_default=True, help="Seconds without a byte that fail a request."
    ),
    click.option("--insecure", is_flag=True, help="Do not verify the server's TLS certificate."),
    click.option("--ca-file", type=click.Path(path_type=Path, exists=True), help="Certificates to trust, as a PEM file."),
    click.option("--realtime", is_flag=True, help="Ask for real-time priority while sending."),
    click.option("--events", type=click.Path(path_type=Path, dir_okay=False), help="Keep the raw event log in this file."),
    click.option("--reread", type=click.Path(path_type=Path, exists=True), help="Report a kept event log again; sends nothing."),
    click.option(
        "--calibrate/--no-calibrate", "own_error", default=True, help="Whether to measure the client's own error first (3 s)."
    ),
)


def _with_options(command: Command) -> Command:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@main.command()
@click.argument("url", required=False)
@_with_options
@json_option
def load(url: str | None, *, as_json: bool, reread: Path | None, own_error: bool, **given: Any) -> int:
    """Send a load to the server at URL (http://127.0.0.1:8080) and report TTFT, ITL, TPOT, E2E and throughput.

    Before it, the client measures its own error at this load against a calibration server of its own. Without URL, that is all it
    does. Exit code 2: the numbers cannot be believed (the load was not the asked one, or the client was too slow), and why.
    """
    if reread is not None:
        return _show(report_json(report_from(read_events(reread))), as_json)
    plan = _plan(url or CALIBRATED_WITH, given)
    with Teller() as tell:
        found = _calibrated(plan, tell) if own_error or url is None else None
        if url is None:
            return _show_calibration(found or {}, as_json)
        report = run_load(plan, server_tokenizer(plan), found, progress=lambda sentence: tell.say("load", sentence))
    return _show(report_json(report), as_json)


def _calibrated(plan: LoadPlan, tell: Teller) -> dict[str, Json]:
    tell.say("load", "measuring the client's own error at this load")
    return calibrate(plan).json()


def _plan(url: str, given: dict[str, Any]) -> LoadPlan:
    chosen = {"prompts": given["workload"], **{name: value for name, value in given.items() if value is not None}}
    prompts = prompt_plan(chosen, given["seed"], given["occasion"] or f"load {time.time_ns()}")
    return LoadPlan(
        url=url,
        arrival=Arrival.TRACE if given["trace"] else Arrival(given["arrival"]),
        api=Api(given["api"]),
        prompts=prompts,
        slo=Slo(given["slo_ttft"], given["slo_tpot"], given["slo_e2e"]),
        extra_body={"ignore_eos": True} if given["ignore_eos"] else {},
        headers=dict(_header(header) for header in given["headers"]),
        request_timeout_s=given["timeout_s"],
        verify_tls=not given["insecure"],
        **{name: given[name] for name in SAME},
    )


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise BadInputError(f"--header {text!r}: expected 'Name: value'")
    return name.strip(), value.strip()


def _show(report: dict[str, Any], as_json: bool) -> int:
    if as_json:
        answer(report)
    else:
        _print(report)
    return FINE if report["valid"] else UNSURE


def _print(report: dict[str, Any]) -> None:
    table = Table(title="Latency, from the intended send time", title_justify="left", pad_edge=False)
    names = ("p50", "p90", "p95", "p99", "mean")
    for name in ("metric", *names):
        table.add_column(name, justify="left" if name == "metric" else "right")
    for metric, found in report["metrics"].items():
        table.add_row(metric, *(("-",) * len(names) if found is None else (number(found[name], "s") for name in names)))
    out = console()
    out.print(table)
    sent = f"{report['completed']} done, {report['failed']} failed, {report['cancelled']} cancelled of {report['sent']} sent"
    tokens = report["output_tokens_per_s"]
    out.print(sent + (f"; {tokens:.4g} output tokens/s" if tokens is not None else ""), markup=False)
    _print_sessions(out, report)
    for reason, count in report["failures"]["by_reason"].items():
        out.print(f"  {count} x {reason}", markup=False)
    for why in report["why_invalid"]:
        out.print(f"NOT VALID: {why}", markup=False)


def _print_sessions(out: Console, report: dict[str, Any]) -> None:
    """Time until a session is done, and how its wait grows; what was found again of what was hidden."""
    told, score = report["sessions"], report["retrieval_score"]
    if told is not None and told["session_s"] is not None:
        took = told["session_s"]
        out.print(f"{told['whole']} sessions done, p50 {number(took['p50'], 's')}, p90 {number(took['p90'], 's')}", markup=False)
        for turn, one in told["ttft_by_turn"].items():
            waits = f"TTFT p50 {number(one['ttft_s']['p50'], 's')}, p90 {number(one['ttft_s']['p90'], 's')}"
            out.print(f"  turn {turn}: {one['requests']} requests, {one['prompt_tokens_p50']:,.0f} tokens, {waits}", markup=False)
    if score is not None:
        out.print(f"retrieval: {score['mean']:.1%} of what was hidden and asked for, {score['requests']} requests", markup=False)


def _show_calibration(found: dict[str, Json], as_json: bool) -> int:
    if as_json:
        answer(found)
        return FINE
    out = console()
    bias, lag = found["ttft_bias_s"], found["send_lag_s"]
    out.print(f"the client's own error at this load, over {found['requests']} requests:", markup=False)
    out.print(f"  TTFT bias   p50 {number(bias['p50'], 's')}  p99 {number(bias['p99'], 's')}", markup=False)
    out.print(f"  send lag    p50 {number(lag['p50'], 's')}  p99 {number(lag['p99'], 's')}", markup=False)
    out.print(f"  ITL error   p50 {found['itl_error']['p50']:.3%}  p99 {found['itl_error']['p99']:.3%}", markup=False)
    return FINE
