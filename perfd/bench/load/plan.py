"""What a load is: where it goes, when each request is due, what it asks, and what the client may be off by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from perfd.domain.identity import Json
from perfd.errors import BadInputError


class Arrival(StrEnum):
    """The law by which an open load's requests arrive; a load without a rate is closed and has none."""

    POISSON = "poisson"
    CONSTANT = "constant"
    GAMMA = "gamma"
    TRACE = "trace"


class Api(StrEnum):
    """Which of the two OpenAI endpoints is asked."""

    CHAT = "chat"
    COMPLETIONS = "completions"


class PromptKind(StrEnum):
    """How prompts are made. Numbers of two kinds are never averaged."""

    CHAT = "chat"
    """A system prompt and a log that grows turn by turn; most sessions have one turn."""
    AGENTIC = "agentic"
    """Sessions over one growing prefix; with tools, each turn is a tool call and its result."""
    LONG_CONTEXT = "long_context"
    """A long text with needles in it, which the answer should name."""
    MULTIMODAL = "multimodal"
    """Pictures or video frames, and text."""
    BATCH = "batch"
    """Prompts that stand alone, many at once."""


@dataclass(frozen=True)
class Spread:
    """How widely a size varies around the plan's, its median: lognormal. Without a p90 all are equal."""

    p90: float = 0.0
    """Nine in ten are at most so large."""
    most: float = 0.0
    """None is larger; 0 is no limit."""


@dataclass(frozen=True)
class AgentPlan:
    """What an agent's session has beside its turns."""

    tools: int = 0
    """Tool schemas in every request; without any, turns are plain messages."""
    parallel_calls: int = 1
    """Tool calls of one turn at the most: each turn draws from 1 on."""
    agents: int = 0
    """Sub-agents that the session starts at once, in its middle; it goes on when all have ended."""
    agent_turns: int = 3
    """Turns of each of them."""


@dataclass(frozen=True)
class PicturePlan:
    """Pictures of a session's first message."""

    images: int = 1
    frames: int = 0
    """Video frames after them: each differs a little from the one before."""
    width: int = 512
    height: int = 512
    reuse: bool = False
    """True shows the same pictures in every session of the Run, so that an encoder cache may help."""


@dataclass(frozen=True)
class PromptPlan:
    """The prompts of a Run. Equal plans give equal prompts; another `occasion` gives fresh ones of the same sizes."""

    kind: PromptKind = PromptKind.CHAT
    prompt_tokens: int = 256
    """Tokens of the whole prompt of a session's first request; the median where they vary."""
    system_tokens: int = 0
    """Of these, tokens of a system prompt that all requests of the Run share."""
    max_tokens: int = 64
    turns: int = 1
    """Requests of one session; with `turn_tail` the most of them."""
    growth_tokens: int = 256
    """Tokens that each turn adds to the prefix."""
    think_s: float = 0.0
    """Time between an answer and the session's next request."""
    seed: int = 0
    occasion: str = ""
    reuse_prefix: bool = False
    """True lets requests share the system prompt as a prefix; otherwise a nonce stands at the very start of each prompt."""
    turn_tail: float = 0.0
    """A session has more than k turns with chance (k + 1)^-turn_tail; 0: all have `turns`."""
    context_most: int = 0
    """A session ends before its prompt would be longer; 0 is no limit."""
    prompt_spread: Spread = field(default_factory=Spread)
    output_spread: Spread = field(default_factory=Spread)
    growth_spread: Spread = field(default_factory=Spread)
    think_spread: Spread = field(default_factory=Spread)
    agent: AgentPlan = field(default_factory=AgentPlan)
    live: bool = False
    """True puts what the model really said into the next turn's prompt, instead of words made beforehand."""
    needles: int = 1
    """`long_context`: facts hidden in the text."""
    asked_needles: int = 1
    """Of these, how many are asked for."""
    pictures: PicturePlan = field(default_factory=PicturePlan)
    recorded: Path | None = None
    """`agentic`: a trajectory file, or a folder of them, whose sessions are replayed instead of made ones."""

    def __post_init__(self) -> None:
        """Refuses what cannot be made; names what mends it."""
        if self.kind is PromptKind.LONG_CONTEXT and not 1 <= self.asked_needles <= self.needles:
            raise BadInputError(f"{self.asked_needles} of {self.needles} needles are asked for; give 1 to {self.needles}")
        if self.agent.parallel_calls < 1:
            raise BadInputError(f"parallel_calls is {self.agent.parallel_calls}; give at least 1")


@dataclass(frozen=True)
class Slo:
    """The limits that a request must keep to count as good; an absent limit is always kept."""

    ttft_s: float | None = None
    tpot_s: float | None = None
    e2e_s: float | None = None


@dataclass(frozen=True)
class Bounds:
    """How wrong the client may be before the Run is void.

    A bound on time is the larger of a fixed time and a share of what was measured: 3 ms on a TTFT of 1 s change no Verdict.
    """

    offered_error: float = 0.01
    send_lag_p99_s: float = 0.001
    send_lag_share: float = 0.02
    ttft_bias_p50_s: float = 0.0005
    ttft_bias_p50_share: float = 0.005
    ttft_bias_p99_s: float = 0.002
    ttft_bias_p99_share: float = 0.02
    itl_error: float = 0.005
    """Of the median gap: it is what Points are made of."""
    itl_error_p99: float = 0.02
    """Of the longest gaps, which a neighbour on the machine moves first and no Point rests on."""
    itl_error_s: float = 0.0001
    """An ITL error below this never voids: in a short calibration the p99 is one or two gaps, and their jitter is no bias."""


@dataclass(frozen=True)
class LoadPlan:
    """One load on one server.

    With `rate_rps` (or a trace) it is open, with `concurrency` alone closed; with both, open and capped.
    """

    url: str
    """The server's base, with or without /v1: "http://127.0.0.1:8080"."""
    model: str
    requests: int | None = None
    duration_s: float | None = None
    """Time of sending. Of `requests` and `duration_s` at least one is given (a trace knows both)."""
    rate_rps: float | None = None
    """Requests a second. Sessions of several turns start at this rate over their number of turns."""
    concurrency: int | None = None
    arrival: Arrival = Arrival.POISSON
    burstiness: float = 1.0
    """Shape of the gamma law: 1 is Poisson, less is burstier."""
    trace: Path | None = None
    trace_speed: float = 1.0
    """2 replays a trace twice as fast."""
    ramp_s: float = 0.0
    """The rate (or the concurrency) grows linearly over this time; its requests are warm-up."""
    warmup_s: float = 0.0
    """Requests due within this time after the ramp are sent and not measured."""
    warmup_requests: int = 0
    """The first so many requests are sent and not measured."""
    api: Api = Api.CHAT
    prompts: PromptPlan = field(default_factory=PromptPlan)
    slo: Slo = field(default_factory=Slo)
    bounds: Bounds = field(default_factory=Bounds)
    extra_body: Mapping[str, Json] = field(default_factory=dict)
    """Further fields of every request's JSON: temperature, ignore_eos, cache_prompt, timings_per_token …"""
    headers: Mapping[str, str] = field(default_factory=dict)
    keep_alive: bool = True
    """False opens a connection for every request (ahead of its time)."""
    ahead_s: float = 0.1
    """How long before a request is due its connection is opened."""
    connect_timeout_s: float = 10.0
    stall_s: float = 60.0
    """A request without a byte for so long has failed."""
    request_timeout_s: float = 600.0
    """A request that takes longer than this in all has failed."""
    drain_s: float = 60.0
    """After the last request was due, answers are awaited for so long; the rest is cancelled."""
    verify_tls: bool = True
    ca_file: Path | None = None
    kernel_stamps: bool = True
    """Receive times from the kernel where it gives them; otherwise the time after the read."""
    realtime: bool = False
    """Ask for SCHED_RR during the window."""
    keep_text: bool = False
    """Keep each answer's text in its Trace."""
    events: Path | None = None
    """Where the raw event log is written."""

    def __post_init__(self) -> None:
        """Refuses a load that says nothing, or two things at once; names the option that mends it."""
        self._check_numbers()
        if self.arrival is Arrival.TRACE:
            if self.trace is None:
                raise BadInputError("the arrival is `trace`, but no trace is named: give --trace FILE")
            return
        if self.rate_rps is None and self.concurrency is None:
            raise BadInputError("how much load? give --rate (requests/s) or --concurrency (requests at once)")
        if self.requests is None and self.duration_s is None:
            raise BadInputError("for how long? give --requests or --duration (seconds)")

    def _check_numbers(self) -> None:
        for name in ("rate_rps", "duration_s", "burstiness", "trace_speed", "stall_s", "request_timeout_s", "connect_timeout_s"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise BadInputError(f"{name} is {value}; give a number above 0")
        for name in ("ramp_s", "warmup_s", "drain_s", "ahead_s"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise BadInputError(f"{name} is {value}; give seconds from 0 on")
        for holder, name in ((self, "requests"), (self, "concurrency"), (self.prompts, "prompt_tokens"), (self.prompts, "turns")):
            count = getattr(holder, name)
            if count is not None and count < 1:
                raise BadInputError(f"{name} is {count}; give at least 1")

    @property
    def is_open(self) -> bool:
        """True when requests are due at times of their own, whatever the server does."""
        return self.rate_rps is not None or self.arrival is Arrival.TRACE
