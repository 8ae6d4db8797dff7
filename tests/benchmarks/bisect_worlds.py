"""Histories with a known truth for bisection: levels of commits, commits that cannot be built, and a machine that drifts."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from perfd.domain.bisect import Answer, BisectEnd, Place
from perfd.domain.metric import METRICS
from perfd.rules.bisect import Build, Compare, Ended, Limits, State, default_builds, next_step, policy_for
from perfd.rules.compare import decide, next_blocks
from perfd.stats.pairs import pair_signs

METRIC = METRICS["itl_s"]
RUN_S = 30.0
Drift = Callable[[int], float]
"""From the number of windows that the machine has measured to the logarithm of how much slower it is now."""


def still(window: int) -> float:
    del window
    return 0.0


def slope(window: int) -> float:
    """0.2 % a window."""
    return 0.002 * window


def warming(window: int) -> float:
    """5 % slower by and by."""
    return 0.05 * (1.0 - math.exp(-window / 10.0))


@dataclass(frozen=True)
class History:
    """Commits by their true level, as logarithms; the first is the good end."""

    levels: tuple[float, ...]
    broken: frozenset[int] = frozenset()
    sigma: float = 0.02
    drift: Drift = still
    cached: frozenset[int] = frozenset()

    @property
    def steps(self) -> tuple[int, ...]:
        """The commits that made it worse."""
        return tuple(place for place in range(1, len(self.levels)) if self.levels[place] > self.levels[place - 1])


def planted(length: int, steps: dict[int, float], broken: frozenset[int] = frozenset(), drift: Drift = still) -> History:
    """A history with steps of those sizes at those commits."""
    levels = [sum(math.log1p(size) for at, size in steps.items() if at <= place) for place in range(length)]
    return History(tuple(levels), broken, drift=drift)


@dataclass
class Replay:
    """One bisection of a history, measured by chance."""

    history: History
    rng: np.random.Generator
    windows: int = 0
    comparisons: int = 0
    asked: list[tuple[int, int]] = field(default_factory=list)

    def run(self, limits: Limits | None = None) -> tuple[Ended, State]:
        """How it ended, and all that was known then."""
        length = len(self.history.levels)
        path = tuple(Place(f"c{place:03d}") for place in range(length))
        limits = limits or Limits(default_builds(length), math.inf)
        state = State(path, limits, built=self.history.cached)
        while not isinstance(step := next_step(state), Ended):
            state = self.build(state, step) if isinstance(step, Build) else self.compare(state, step)
        return step, state

    def build(self, state: State, step: Build) -> State:
        made = {"builds_made": state.builds_made + 1}
        if step.place in self.history.broken:
            return _with(state, **made, broken={**state.broken, step.place: "it does not compile"})
        return _with(state, **made, built=state.built | {step.place})

    def compare(self, state: State, step: Compare) -> State:
        self.comparisons += 1
        self.asked.append((step.base, step.head))
        policy, pairs, before = policy_for(state), [], self.windows
        while blocks := next_blocks(len(pairs), [decide(pairs, METRIC, policy)] if pairs else [], policy):
            signs = pair_signs(len(pairs) + 2 * blocks)[len(pairs) :]
            pairs += [self.pair(step, sign) for sign in signs]
        verdict = decide(pairs, METRIC, policy).verdict
        found = Answer(step.base, step.head, verdict.outcome, len(pairs), verdict.reason, verdict.effect, verdict.interval)
        return _with(state, answers=(*state.answers, found), device_s=state.device_s + (self.windows - before) * RUN_S)

    def pair(self, step: Compare, sign: int) -> tuple[float, float]:
        order = (step.base, step.head) if sign > 0 else (step.head, step.base)
        values = [self.window(place) for place in order]
        return (values[0], values[1]) if sign > 0 else (values[1], values[0])

    def window(self, place: int) -> float:
        self.windows += 1
        noise = self.rng.normal(0.0, self.history.sigma)
        return math.exp(self.history.levels[place] + noise + self.history.drift(self.windows))


def _with(state: State, **changed: object) -> State:
    known = {name: getattr(state, name) for name in State.__dataclass_fields__}
    return State(**{**known, **changed})  # type: ignore[arg-type]


def is_right(history: History, ended: Ended) -> bool:
    """Whether the answer is true and as narrow as the history allows."""
    if not history.steps:
        return ended.end is BisectEnd.NOT_REPRODUCED
    if ended.end is BisectEnd.COMMIT:
        return ended.bad in history.steps and ended.good == ended.bad - 1
    between = set(range(ended.good + 1, ended.bad))
    held = any(ended.good < step <= ended.bad for step in history.steps)
    return ended.end is BisectEnd.RANGE and held and bool(between) and between <= history.broken
