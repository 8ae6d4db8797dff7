"""How long prompts, answers, turns and pauses are: drawn from the plan's seed alone, so that every Run has the same sizes.

Lengths are lognormal, as every public trace has them nearly: the plan's size is the median, `Spread.p90` what nine in ten stay
under. Turns have a Zipf tail: more than k of them with chance (k + 1)^-tail; 2.2 gives Mooncake's conversations (mean 1.49).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from perfd.bench.load.plan import PromptKind, PromptPlan, Spread
from perfd.bench.load.replay import read_sessions

NORMAL_P90 = 1.2815515655446004
"""The standard normal's 90th percentile."""


@dataclass(frozen=True)
class TurnSize:
    """One request of a session."""

    new_tokens: int
    """Tokens that it adds to the prompt before it; of the first one, the whole prompt."""
    answer_tokens: int
    think_s: float
    calls: int
    """Tool calls of the assistant's message that it answers."""


@dataclass(frozen=True)
class SessionSize:
    """A session; the first turn opens it."""

    turns: tuple[TurnSize, ...]

    @property
    def prompt_tokens(self) -> list[int]:
        """Of each turn, the whole prompt."""
        return list(accumulate(turn.new_tokens for turn in self.turns))


def requests_in(plan: PromptPlan, session: int) -> int:
    """Requests of a session, its sub-agents' among them."""
    if plan.recorded is not None:
        sessions = read_sessions(plan.recorded)
        turns = sessions[session % len(sessions)].turns
        return min(turns, plan.turns) if plan.turns > 1 else turns
    if plan.kind is PromptKind.BATCH:
        return 1
    turns = len(session_size(plan, session).turns) if plan.turn_tail or plan.context_most else plan.turns
    return turns + plan.agent.agents * plan.agent.agent_turns


def sessions_for(plan: PromptPlan, requests: int) -> tuple[int, int]:
    """(sessions that hold so many requests, requests in them); the last session may hold more than is left."""
    if not (plan.turn_tail or plan.context_most or plan.recorded):
        each = requests_in(plan, 0)
        return -(-requests // each), -(-requests // each) * each
    held = session = 0
    while held < requests:
        held += requests_in(plan, session)
        session += 1
    return session, held


def session_size(plan: PromptPlan, index: int) -> SessionSize:
    """The sizes of session `index`; it ends before a prompt would be longer than the plan's `context_most`."""
    rng = np.random.default_rng([plan.seed, 1, index])
    first = _opening(plan, rng)
    turns = [TurnSize(first, drawn(rng, plan.max_tokens, plan.output_spread), 0.0, 0)]
    size = first
    for turn in _turns(plan, rng):
        size += turn.new_tokens
        if plan.context_most and size > plan.context_most:
            break
        turns.append(turn)
    return SessionSize(tuple(turns))


def _opening(plan: PromptPlan, rng: np.random.Generator) -> int:
    """The spread is that of the request's own part: the system prompt is equally long in all."""
    if not plan.prompt_spread.p90:
        return plan.prompt_tokens
    own = drawn(rng, max(1, plan.prompt_tokens - plan.system_tokens), plan.prompt_spread)
    return plan.system_tokens + own


def _turns(plan: PromptPlan, rng: np.random.Generator) -> Iterator[TurnSize]:
    """All turns after the first."""
    for _ in range(turn_count(plan, rng) - 1):
        yield TurnSize(
            drawn(rng, plan.growth_tokens, plan.growth_spread),
            drawn(rng, plan.max_tokens, plan.output_spread),
            _lognormal(rng, plan.think_s, plan.think_spread),
            int(rng.integers(1, plan.agent.parallel_calls + 1)) if plan.agent.parallel_calls > 1 else 1,
        )


def turn_count(plan: PromptPlan, rng: np.random.Generator) -> int:
    """As many turns as the plan says, or a draw with a Zipf tail up to as many."""
    if not plan.turn_tail:
        return plan.turns
    drawn_turns: float = (1.0 - rng.random()) ** (-1.0 / plan.turn_tail)
    return min(plan.turns, math.floor(drawn_turns))


def drawn(rng: np.random.Generator, size: int, spread: Spread) -> int:
    """A whole size; the plan's own where it has no spread."""
    if not spread.p90:
        return size
    return max(1, round(_lognormal(rng, float(size), spread)))


def _lognormal(rng: np.random.Generator, median: float, spread: Spread) -> float:
    if not spread.p90 or median <= 0:
        return median
    sigma = math.log(max(1.0, spread.p90 / median)) / NORMAL_P90
    value = median * math.exp(sigma * rng.standard_normal())
    return min(value, spread.most) if spread.most else value
