"""How well a planted commit is found: seeded replays of bisections over histories with a known truth; nothing is timed.

    python tests/benchmarks/bisections.py --seed 1 [--replays 200]

Every replay draws the place of the step, which commits cannot be built, and the noise of every window; comparisons are decided by
`perfd.rules.compare`, block by block, as the service does. Markdown on stdout, with 95 % intervals (Wilson for shares, order
statistics for medians); the tables of docs/bisecting.md are made by it.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from bisect_worlds import RUN_S, Drift, History, Replay, is_right, planted, slope, warming

from perfd.domain.bisect import BisectEnd

LENGTHS = (8, 16, 32, 64, 128, 256)
STEP = 0.05
Z = NormalDist().inv_cdf(0.975)
Make = Callable[[int, np.random.Generator], History]


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def one_step(length: int, rng: np.random.Generator) -> History:
    return planted(length, {int(rng.integers(1, length)): STEP})


def scattered(length: int, rng: np.random.Generator) -> History:
    """One commit in ten cannot be built, each by itself."""
    made = one_step(length, rng)
    return replace(made, broken=frozenset(place for place in range(1, length - 1) if rng.random() < 0.1))


def in_ranges(length: int, rng: np.random.Generator) -> History:
    """One commit in ten cannot be built, in one run of commits."""
    made, size = one_step(length, rng), max(1, length // 10)
    begin = int(rng.integers(1, max(2, length - 1 - size)))
    return replace(made, broken=frozenset(range(begin, min(begin + size, length - 1))))


def drifting(drift: Drift) -> Make:
    def make(length: int, rng: np.random.Generator) -> History:
        return replace(scattered(length, rng), drift=drift)

    return make


def no_step(length: int, rng: np.random.Generator) -> History:
    return replace(planted(length, {}), broken=scattered(length, rng).broken)


def two_steps(length: int, rng: np.random.Generator) -> History:
    """Two commits, each 5 % slower; either is right."""
    places = rng.choice(np.arange(1, length), 2, replace=False)
    return planted(length, {int(place): STEP for place in places})


def up_and_down(length: int, rng: np.random.Generator) -> History:
    """A commit that makes it 5 % faster, before or after one that makes it 10 % slower; only the second is right."""
    fast, slow = (int(place) for place in rng.choice(np.arange(1, length), 2, replace=False))
    return planted(length, {fast: -STEP, slow: 2 * STEP})


def with_cache(length: int, rng: np.random.Generator) -> History:
    """One Build in four is there already, as after nights."""
    made = one_step(length, rng)
    return replace(made, cached=frozenset(place for place in range(length) if rng.random() < 0.25))


WORLDS: tuple[tuple[str, Make], ...] = (
    ("one step", one_step),
    ("10 % cannot be built, scattered", scattered),
    ("10 % cannot be built, one range", in_ranges),
    ("… scattered, drift of 0.2 % a window", drifting(slope)),
    ("… scattered, machine warms up by 5 %", drifting(warming)),
    ("no step", no_step),
    ("two steps of 5 %", two_steps),
    ("5 % faster, 10 % slower", up_and_down),
    ("every fourth Build cached", with_cache),
)


HEAD = (
    "history",
    "commits",
    "right %",
    "of these a range",
    "wrong commit %",
    "median Builds",
    "2·log₂(n)",
    "median Runs",
    "p90 Runs",
    "hours at 30 s a Run",
)


@dataclass(frozen=True)
class Row:
    """What came of the replays of one world and length."""

    right: int
    ranges: int
    """Of the right ones, those that end in a range as narrow as the commits that cannot be built allow."""
    wrong: int
    """A wrong commit, or a difference where there is none."""
    builds: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def n(self) -> int:
        return len(self.builds)


def replays(make: Make, length: int, seed: Sequence[int], count: int) -> Row:
    right = ranges = wrong = 0
    builds, runs = [], []
    for number in range(count):
        rng = np.random.default_rng([*seed, length, number])
        replay = Replay(make(length, rng), rng)
        ended, state = replay.run()
        good = is_right(replay.history, ended)
        right += good
        ranges += good and ended.end is BisectEnd.RANGE
        wrong += not good and ended.end is not BisectEnd.RANGE and ended.end is not BisectEnd.NOT_REPRODUCED
        builds.append(state.builds_made)
        runs.append(replay.windows)
    return Row(right, ranges, wrong, tuple(builds), tuple(runs))


def share(count: int, n: int) -> str:
    """Per cent with its Wilson interval."""
    middle, part = count / n, Z * Z / n
    centre = (middle + part / 2) / (1 + part)
    reach = Z / (1 + part) * math.sqrt(middle * (1 - middle) / n + part / (4 * n))
    return f"{100 * middle:.1f} [{100 * max(0.0, centre - reach):.1f}, {100 * min(1.0, centre + reach):.1f}]"


def median(values: Sequence[int]) -> str:
    """The median with its interval by order statistics."""
    ordered, n = sorted(values), len(values)
    reach = Z * math.sqrt(n) / 2
    low, high = max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))
    return f"{np.median(ordered):g} [{ordered[low]}, {ordered[high]}]"


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20261202)
    parser.add_argument("--replays", type=int, default=200)
    options = parser.parse_args()
    say(f"Seed {options.seed}; {options.replays} replays a row; step {STEP:.0%}, noise 2 % a window.\n")
    say("| " + " | ".join(HEAD) + " |")
    say("|---" * len(HEAD) + "|")
    for index, (name, make) in enumerate(WORLDS):
        for length in LENGTHS:
            row = replays(make, length, (options.seed, index), options.replays)
            runs, late = np.median(row.runs), np.quantile(row.runs, 0.9)
            cells = (
                name,
                str(length),
                share(row.right, row.n),
                str(row.ranges),
                share(row.wrong, row.n),
                median(row.builds),
                f"{2 * math.log2(length):g}",
                median(row.runs),
                f"{late:.0f}",
                f"{runs * RUN_S / 3600:.1f}",
            )
            say("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
