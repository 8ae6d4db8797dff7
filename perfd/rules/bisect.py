"""Bisection: which commit brought a difference, with as few Builds and Runs as an honest answer allows.

Pure: from what is known (`State`) to what is to be done next (`next_step`), so that it can stop and go on anywhere.

1. The ends are compared. Unless they differ by the comparison's own bars, that is the answer: "not reproduced".
2. A Build near the middle is compared with the good end. Outside zero towards the bad end: the difference is at or before it. The
   same, or the other way: it is behind. "Same" is held to half of the ends' difference, so that a small step is not called the
   same and a large one needs few pairs. Unsure at the cap of pairs: its neighbours are asked, and it again when they are done.
3. What cannot be built or measured is skipped, and after the second failure ever more beside it: breakage comes in ranges.
   A Build that is there already is preferred within the middle half.
4. When two neighbours are left they are compared with each other. Where that contradicts what was said, both are asked again.

It ends in a commit, in the dependency set (where both neighbours are one commit), in a range, or "not reproduced"; and says why.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from perfd.domain.bisect import Answer, BisectEnd, Place
from perfd.domain.numbers import percent
from perfd.domain.subject import brief
from perfd.domain.verdict import Outcome
from perfd.rules.compare import ComparePolicy

CACHED_WITHIN = 0.25
"""A Build that is there already is taken within this share of the span from the middle: the worst split is then 1 to 3, which
tells 0.81 of a bit, and costs no Build."""
ASKED_AT_MOST = 2
"""How often one question is asked, where its answer was unsure or is contradicted."""
CAP = 60
"""Pairs after which a comparison inside the path stays unsure; the ends have the cap of any comparison."""


@dataclass(frozen=True)
class Limits:
    """What a bisection may cost."""

    builds: int
    device_s: float


@dataclass(frozen=True)
class State:
    """All that is known."""

    path: tuple[Place, ...]
    """From the good end to the bad one."""
    limits: Limits
    answers: tuple[Answer, ...] = ()
    """In the order in which they came."""
    built: frozenset[int] = frozenset()
    """Places whose Build is there."""
    broken: Mapping[int, str] = field(default_factory=dict)
    """Places that cannot be built or measured, with why."""
    builds_made: int = 0
    """Builds that were made for this bisection, failed ones too."""
    device_s: float = 0.0
    """How long devices have measured for it."""

    @property
    def last(self) -> int:
        """The bad end's place."""
        return len(self.path) - 1

    @property
    def towards(self) -> Outcome | None:
        """What the bad end is beside the good one; absent until they were compared, and where they do not differ."""
        ends = self.answer(0, self.last)
        return ends.outcome if ends and ends.outcome in {Outcome.WORSE, Outcome.BETTER} else None

    def answer(self, base: int, head: int) -> Answer | None:
        """The newest answer on these two."""
        return next((one for one in reversed(self.answers) if (one.base, one.head) == (base, head)), None)

    def times(self, base: int, head: int) -> int:
        """How often these two were compared."""
        return sum((one.base, one.head) == (base, head) for one in self.answers)

    @property
    def out_of_builds(self) -> bool:
        """Whether no further Build may be made."""
        return self.builds_made >= self.limits.builds

    @property
    def out_of_time(self) -> bool:
        """Whether nothing further may be measured."""
        return self.device_s >= self.limits.device_s


@dataclass(frozen=True)
class Build:
    """The Build of a place is to be made."""

    place: int
    why: str


@dataclass(frozen=True)
class Compare:
    """Two places are to be compared."""

    base: int
    head: int
    why: str


@dataclass(frozen=True)
class Ended:
    """Nothing is left to do: the difference came after `good`, at or before `bad`."""

    end: BisectEnd
    good: int
    bad: int
    reason: str


Step: TypeAlias = Build | Compare | Ended


def default_builds(places: int) -> int:
    """Twice what halving needs, and six for what cannot be built."""
    return 2 * math.ceil(math.log2(max(2, places))) + 6


def policy_for(state: State, metrics: int = 1) -> ComparePolicy:
    """How a comparison of this bisection decides: the ends as any comparison does, the rest by half of what the ends differ."""
    ends = state.answer(0, state.last)
    if ends is None or ends.effect is None:
        return ComparePolicy().shared(metrics)
    return replace(ComparePolicy(), relevant=abs(ends.effect) / 2, cap=CAP)


def next_step(state: State) -> Step:
    """What is to be done next."""
    for end, name in ((0, "good"), (state.last, "bad")):
        if end in state.broken:
            return _not_reproduced(state, f"the {name} end {_name(state, end)} cannot be measured: {state.broken[end]}")
    if _is_idle(state):
        return stopped(state, f"nothing could be measured, twice in a row ({state.answers[-1].reason})")
    ends = state.answer(0, state.last)
    if ends is None or not (ends.final or state.times(0, state.last) >= ASKED_AT_MOST):
        return _ask(state, 0, state.last, "the two ends")
    if state.towards is None:
        return _not_reproduced(state, f"the two ends are {ends.outcome}: {ends.reason}")
    good, bad = bracket(state)
    if bad - good == 1:
        return _neighbours(state, good, bad)
    place = _choose(state, good, bad)
    if place is None:
        return Ended(BisectEnd.RANGE, good, bad, _why_not_narrowed(state, good, bad))
    return _ask(state, 0, place, f"{bad - good - 1} places are left between {_name(state, good)} and {_name(state, bad)}")


def bracket(state: State) -> tuple[int, int]:
    """The last place that is known to be good, and the first that is known to be bad."""
    words = {one.head: one.outcome for one in state.answers if one.base == 0}
    bad = min((place for place, outcome in words.items() if outcome is state.towards), default=state.last)
    good = [place for place, outcome in words.items() if place < bad and _is_good(state, outcome)]
    return max(good, default=0), bad


def _is_idle(state: State) -> bool:
    """Whether the last two comparisons gave no pair at all, and no place was at fault: going on would ask them all in vain."""
    return len(state.answers) >= ASKED_AT_MOST and all(one.pairs == 0 for one in state.answers[-ASKED_AT_MOST:])


def _is_good(state: State, outcome: Outcome) -> bool:
    """The same as the good end, or gone the other way: what makes the bad end so comes behind it."""
    return outcome in {Outcome.SAME, Outcome.WORSE, Outcome.BETTER} and outcome is not state.towards


def _choose(state: State, good: int, bad: int) -> int | None:
    """The place to ask next; absent where none is left that could tell anything."""
    alive = [place for place in range(good + 1, bad) if place not in state.broken]
    if state.out_of_builds:
        alive = [place for place in alive if place in state.built]
    unasked = [place for place in alive if state.times(0, place) == 0]
    left = unasked or [place for place in alive if state.times(0, place) < ASKED_AT_MOST]
    skipped = _presumed_broken(state, good, bad)
    fresh = [place for place in left if place not in skipped]
    if not fresh:
        return _at_the_edge(state, good, bad, left)
    middle, reach = (good + bad) / 2, (bad - good) * CACHED_WITHIN
    cached = [place for place in fresh if place in state.built and abs(place - middle) <= reach]
    return min(cached or fresh, key=lambda place: (abs(place - middle), place))


def _at_the_edge(state: State, good: int, bad: int, left: Sequence[int]) -> int | None:
    """Where breakage is presumed: halfway to what is known to be broken, from the good or the bad side; inside it only then."""
    broken = sorted(place for place in state.broken if good < place < bad) or [bad]
    outside = [place for place in left if not broken[0] < place < broken[-1]]
    before = [place for place in outside if place < broken[0]]
    side = max(before, outside[len(before) :], key=len) or left
    return side[len(side) // 2] if side else None


def _presumed_broken(state: State, good: int, bad: int) -> frozenset[int]:
    """Places beside those that are known to be broken: none at the first, then 1, 3, 7 … on either side."""
    known = [place for place in state.broken if good < place < bad]
    reach = 2 ** (len(known) - 1) - 1 if known else 0
    return frozenset(place + step for place in known for step in range(-reach, reach + 1))


def _ask(state: State, base: int, head: int, why: str) -> Step:
    """The comparison, or first the Build that it needs, or the end where the budget is spent."""
    if state.out_of_time:
        return stopped(state, f"the budget of {state.limits.device_s / 60:g} device minutes is spent")
    missing = next((place for place in (base, head) if place not in state.built), None)
    if missing is None:
        return Compare(base, head, why)
    if state.out_of_builds:
        return stopped(state, f"the budget of {state.limits.builds} Builds is spent")
    return Build(missing, why)


def stopped(state: State, why: str) -> Ended:
    """The end of a bisection that cannot go on: what is known now, and why it is not more."""
    if state.towards is None:
        return _not_reproduced(state, f"{why}, before the two ends were told apart")
    good, bad = bracket(state)
    return Ended(BisectEnd.RANGE, good, bad, f"{why}, with {bad - good} places left")


def _neighbours(state: State, good: int, bad: int) -> Step:
    """Two neighbours are left: compared with each other, and believed unless that contradicts what was said before."""
    direct = state.answer(good, bad)
    if direct is None or not (direct.final or state.times(good, bad) >= ASKED_AT_MOST):
        return _ask(state, good, bad, "the first bad place against the one before it")
    if direct.outcome is state.towards:
        return _found(state, good, bad, f"{_name(state, bad)} against the one before it: {direct.reason}")
    if not _is_good(state, direct.outcome):
        said = f"against the one before it, {_name(state, bad)} stayed {direct.outcome}; against the good end"
        return _found(state, good, bad, f"{said}: {_reason(state, bad)}")
    for place in (bad, good):
        if place not in {0, state.last} and state.times(0, place) < ASKED_AT_MOST:
            return _ask(state, 0, place, "two neighbours do not differ, although only one differs from the good end")
    spread = "the difference is spread over several of these: no two neighbours differ as the ends do"
    return Ended(BisectEnd.RANGE, 0, state.last, f"{spread} ({_name(state, bad)} against the one before it: {direct.reason})")


def _found(state: State, good: int, bad: int, reason: str) -> Ended:
    same = state.path[good].revision == state.path[bad].revision
    return Ended(BisectEnd.DEPENDENCIES if same else BisectEnd.COMMIT, good, bad, reason + _rest(state, bad))


def _rest(state: State, bad: int) -> str:
    """A sentence where the commit surely brings only a part of what the ends differ."""
    here, ends = state.answer(0, bad), state.answer(0, state.last)
    if bad == state.last or not here or not ends or not here.interval or not ends.interval or not here.effect or not ends.effect:
        return ""
    if here.interval[0] <= ends.interval[1] and ends.interval[0] <= here.interval[1]:
        return ""
    known = f"up to it the difference is {percent(here.effect)}, between the ends it is {percent(ends.effect)}"
    return f"; {known}: bisect {_name(state, bad)} {_name(state, state.last)} for the rest"


def _why_not_narrowed(state: State, good: int, bad: int) -> str:
    between = range(good + 1, bad)
    broken = sum(place in state.broken for place in between)
    unsure = sum(state.times(0, place) > 0 for place in between if place not in state.broken)
    untried = len(between) - broken - unsure
    told = [
        f"{broken} could not be built or measured" if broken else "",
        f"{unsure} stayed unsure" if unsure else "",
        f"{untried} would need a Build, and the budget of {state.limits.builds} is spent" if untried else "",
    ]
    return f"of the {len(between)} places in between, {', '.join(part for part in told if part)}"


def _not_reproduced(state: State, reason: str) -> Ended:
    return Ended(BisectEnd.NOT_REPRODUCED, 0, state.last, reason)


def _reason(state: State, place: int) -> str:
    found = state.answer(0, place)
    return found.reason if found else "nothing was measured"


def _name(state: State, place: int) -> str:
    return brief(state.path[place].revision)
