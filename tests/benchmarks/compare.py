"""How well perfd decides A/B comparisons, beside inference-doctor and benchmatrix on the same pairs: seeded, no timed test.

    python tests/benchmarks/compare.py --seed 1 [--rivals PYTHON] [--scale 0.1]
    python tests/benchmarks/compare.py --calibrate

`--rivals` is the Python of an environment with both packages (python -m venv rivals; rivals/bin/pip install inference-doctor
benchmatrix). Everything is Markdown on stdout, with 95 % intervals (Wilson for shares, order statistics for medians); the tables
of docs/comparing.md are made by it. perfd looks after every block of two pairs, as its runner does.
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from compare_worlds import World, as_pairs, gauss, worlds

from perfd.rules.compare import ComparePolicy
from perfd.stats.clusters import clustered_mean
from perfd.stats.paired_items import items_needed, mcnemar_exact, split_evidence
from perfd.stats.pairs import Floats, design, fit_windows, pair_signs
from perfd.stats.sequential import _CAPS, _SHARES, nominal_level, weight
from perfd.stats.student import t_quantile

UNSURE, SLOWER, FASTER, SAME = range(4)
Answers = npt.NDArray[np.int64]

Z = 1.959964


@dataclass(frozen=True)
class Outcomes:
    """What was answered in many comparisons of one world, and after how many pairs."""

    answers: Answers
    pairs: Answers


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def perfd_outcomes(windows: Floats, cap: int, relevant: float, policy: ComparePolicy) -> Outcomes:
    """What `perfd.rules.compare.decide` says after every block, for all rows at once (a test holds the two together)."""
    answers = np.zeros(len(windows), dtype=np.int64)
    pairs = np.full(len(windows), cap, dtype=np.int64)
    for n in range(4, cap + 1, 2):
        open_rows = np.flatnonzero(answers == UNSURE)
        if not len(open_rows):
            break
        answers[open_rows] = _look(windows[open_rows, : 2 * n], n, cap, relevant, policy)
        pairs[open_rows[answers[open_rows] != UNSURE]] = n
    return Outcomes(answers, pairs)


def _look(windows: Floats, n: int, cap: int, relevant: float, policy: ComparePolicy) -> Answers:
    plan = design(pair_signs(n))
    difference, error, _ = fit_windows(windows, plan, policy.floor)
    sure, likely = (t_quantile(nominal_level(n, cap, e), float(plan.df)) * error for e in (policy.alpha, policy.beta))
    towards = np.where(difference - sure > 0, SLOWER, np.where(difference + sure < 0, FASTER, UNSURE))
    reach = np.where(towards == UNSURE, likely, sure)
    same = (np.expm1(difference - reach) >= -relevant) & (np.expm1(difference + reach) <= relevant)
    return np.where(same, SAME, towards).astype(np.int64)


def rival_outcomes(python: str, tool: str, windows: Floats, n: int, threshold: float) -> Answers:
    """The rival's answers on the first `n` pairs of each row."""
    script = Path(__file__).with_name("compare_rivals.py")
    strata = ["AB" if sign > 0 else "BA" for sign in pair_signs(n)]
    made = [as_pairs(row[: 2 * n]) for row in windows]
    comparisons = [[[base for base, _ in pairs], [head for _, head in pairs], strata] for pairs in made]
    asked = json.dumps({"tool": tool, "threshold": threshold, "comparisons": comparisons})
    told = subprocess.run([python, str(script)], input=asked, capture_output=True, text=True, check=True)
    words = {"slower": SLOWER, "faster": FASTER, "same": SAME, "unsure": UNSURE}
    return np.array([words[word] for word in json.loads(told.stdout)], dtype=np.int64)


def share_text(hits: int, n: int) -> str:
    """A share in per cent with its Wilson interval."""
    p = hits / n
    centre, reach = (p + Z * Z / (2 * n)), Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    low, high = ((centre + side * reach) / (1 + Z * Z / n) for side in (-1, 1))
    return f"{100 * p:.2f} [{100 * max(0.0, low):.2f}, {100 * high:.2f}]"


def median_text(values: Answers) -> str:
    """The median with the interval that order statistics give it."""
    ordered = np.sort(values)
    n = len(ordered)
    reach = Z * math.sqrt(n) / 2
    low, high = ordered[max(0, int(n / 2 - reach))], ordered[min(n - 1, math.ceil(n / 2 + reach))]
    return f"{np.median(ordered):.0f} [{low}, {high}]"


def row(cells: Sequence[str]) -> None:
    say("| " + " | ".join(cells) + " |")


def head(cells: Sequence[str]) -> None:
    row(cells)
    say("|" + "---|" * len(cells))


def planted_table(seed: int, comparisons: int) -> None:
    """A difference is there: how often and how soon it is found."""
    say("\n### A planted difference\n")
    head(("planted, noise a window, cap", "kind of noise", "right %", "wrong way %", "same %", "unsure %", "median pairs", "p90"))
    for truth, sigma, cap in ((0.02, 0.01, 40), (0.05, 0.04, 60)):
        for place, world in enumerate(worlds(sigma, truth, cap)):
            rng = np.random.default_rng([seed, place, cap])
            found = perfd_outcomes(world.windows(rng, comparisons), cap, 0.02, ComparePolicy(cap=cap))
            shares = [share_text(int((found.answers == a).sum()), comparisons) for a in (SLOWER, FASTER, SAME, UNSURE)]
            place_text = f"{100 * truth:g} %, {100 * sigma:g} %, {cap}"
            row((place_text, world.name, *shares, median_text(found.pairs), f"{np.quantile(found.pairs, 0.9):.0f}"))


def zero_table(seed: int, comparisons: int) -> None:
    """Nothing is there: how often something is called different all the same."""
    say("\n### A true zero\n")
    head(("noise a window, relevant, cap", "kind of noise", "called different %", "same %", "unsure %", "median pairs"))
    for sigma, relevant, cap in ((0.01, 0.02, 40), (0.04, 0.05, 60), (0.04, 0.0, 60)):
        for place, world in enumerate(worlds(sigma, 0.0, cap)):
            rng = np.random.default_rng([seed, 100 + place, cap, round(1000 * relevant)])
            found = perfd_outcomes(world.windows(rng, comparisons), cap, relevant, ComparePolicy(cap=cap))
            different = int(((found.answers == SLOWER) | (found.answers == FASTER)).sum())
            shares = [
                share_text(hits, comparisons) for hits in (different, *(int((found.answers == a).sum()) for a in (SAME, UNSURE)))
            ]
            stop = f"{100 * relevant:g} %" if relevant else "none: never same"
            row((f"{100 * sigma:g} %, {stop}, {cap}", world.name, *shares, median_text(found.pairs)))


def rivals_table(python: str | None, seed: int, comparisons: int) -> None:
    """All three tools on the same pairs."""
    say("\n### Beside inference-doctor and benchmatrix, on the same pairs (Gaussian)\n")
    if python is None:
        say("*Not measured: give `--rivals PYTHON`, the Python of an environment with inference-doctor and benchmatrix.*")
    head(("world", "tool", "pairs", "threshold", "right %", "wrong %", "unsure %"))
    for place, (truth, sigma, cap) in enumerate(((0.02, 0.01, 40), (0.0, 0.01, 40), (0.05, 0.04, 60), (0.0, 0.04, 60))):
        relevant = 0.02 if sigma == 0.01 else 0.05
        world = World("Gaussian", gauss, sigma, truth, cap)
        windows = world.windows(np.random.default_rng([seed, 200 + place]), comparisons)
        found = perfd_outcomes(windows, cap, relevant, ComparePolicy(cap=cap))
        said = f"{100 * truth:g} % at {100 * sigma:g} %"
        row((said, "**perfd**", f"median {np.median(found.pairs):.0f}", f"{100 * relevant:g} %", *_scores(found.answers, truth)))
        for tool, own in (("inference-doctor", 10.0), ("benchmatrix", 5.0)) if python else ():
            for n, threshold in ((5, own), (5, 50 * relevant), (20, 50 * relevant), (cap, 50 * relevant)):
                rows = windows if tool == "inference-doctor" else windows[: max(50, comparisons // 5)]
                answers = rival_outcomes(str(python), tool, rows, n, threshold)
                row((said, tool, f"{n}", f"{threshold:g} %{' (default)' if threshold == own else ''}", *_scores(answers, truth)))


def _scores(answers: Answers, truth: float) -> tuple[str, str, str]:
    right = SLOWER if truth else SAME
    hits, open_ones = int((answers == right).sum()), int((answers == UNSURE).sum())
    n = len(answers)
    return share_text(hits, n), share_text(n - hits - open_ones, n), share_text(open_ones, n)


def items_table(seed: int, comparisons: int, most: int = 4000, alpha: float = 0.01) -> None:
    """Right answers per item, asked again after every ten items, at most 4,000."""
    say("\n### Right answers, paired per item, sequential, at most 4,000 items\n")
    head(
        (
            "true loss, differing items",
            "called different %",
            "median items",
            "fixed n for 80 % power",
            "unpaired at 85 %, fixed n",
        )
    )
    normal = NormalDist()
    for place, (loss, differing) in enumerate(((0.0, 0.02), (0.0, 0.04), (0.01, 0.02), (0.01, 0.04), (0.02, 0.04))):
        rng = np.random.default_rng([seed, 300 + place])
        drawn = rng.random((comparisons, most))
        lost = np.cumsum(drawn < (differing + loss) / 2, axis=1)[:, 9::10]
        both = np.cumsum(drawn < differing, axis=1)[:, 9::10]
        at = [_items_until(k, m - k, alpha) for k, m in zip(lost, both, strict=True)]
        stopped = np.array([n for n in at if n is not None] or [0], dtype=np.int64)
        hits = sum(n is not None for n in at)
        fixed = f"{items_needed(loss, differing, alpha, 0.8):,}" if loss else ""
        z = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(0.8)
        apart = f"{math.ceil((z / loss) ** 2 * (0.85 * 0.15 + (0.85 - loss) * (0.15 + loss))):,}" if loss else ""
        told = f"{100 * loss:g} points, {100 * differing:g} %"
        row((told, share_text(hits, comparisons), median_text(stopped) if loss else "", fixed, apart))


def _items_until(lost: Answers, won: Answers, alpha: float) -> int | None:
    """Items after which the difference was called, as `perfd.rules.compare_items.decide_items` does; None where it never was."""
    changed = np.flatnonzero(np.diff(lost + won, prepend=0))
    for place in changed:
        if split_evidence(int(lost[place]), int(won[place])) >= 2.0 / alpha:
            return 10 * (int(place) + 1)
    return 10 * len(lost) if mcnemar_exact(int(lost[-1]), int(won[-1])) <= alpha / 2 else None


def documents_table(seed: int, comparisons: int, alpha: float = 0.01) -> None:
    """Log-likelihood differences whose tokens err together within a document, no true difference."""
    say("\n### Log-likelihood per token, clustered by document, no true difference\n")
    head(("documents, tokens each", "called different, by document %", "called different, as if tokens were independent %"))
    for place, documents in enumerate((8, 32, 128)):
        rng = np.random.default_rng([seed, 400 + place])
        clustered = naive = 0
        for _ in range(comparisons):
            counts = rng.integers(64, 256, documents).astype(np.float64)
            shared = 0.02 * rng.standard_t(4, documents)
            sums = counts * shared + np.sqrt(counts) * 0.05 * rng.normal(size=documents)
            clustered += clustered_mean(sums, counts).p <= alpha
            token_sd = math.sqrt(0.05**2 + float(shared.var()))
            naive += abs(sums.sum() / counts.sum()) > NormalDist().inv_cdf(1 - alpha / 2) * token_sd / math.sqrt(counts.sum())
        row((f"{documents}, 64 to 256", share_text(clustered, comparisons), share_text(naive, comparisons)))


def calibrate(comparisons: int = 50_000, seed: int = 901) -> None:
    """The table of `perfd.stats.sequential`: for each cap and error, the level that the fullest look may have."""
    smallest = np.concatenate([_smallest(np.random.default_rng([seed, part]), 5000) for part in range(comparisons // 5000)])
    for alpha in sorted(_SHARES, reverse=True):
        say(f"{alpha}: " + ", ".join(f"{float(np.quantile(smallest[:, cap], alpha)) / alpha:.3g}" for cap in _CAPS))


def _smallest(rng: np.random.Generator, comparisons: int) -> Floats:
    """For each cap, the smallest p over its weight that a comparison of equals sees up to there: (comparisons, 61)."""
    levels = np.concatenate([[1.0], np.logspace(-0.01, -8, 400)])
    windows = World("Gaussian", gauss, 1.0, 0.0, _CAPS[-1]).windows(rng, comparisons)
    seen = np.ones((comparisons, _CAPS[-1] + 1))
    for n in range(3, _CAPS[-1] + 1):
        plan = design(pair_signs(n))
        difference, error, _ = fit_windows(windows[:, : 2 * n], plan)
        bounds = np.array([t_quantile(float(level), float(plan.df)) for level in levels])
        seen[:, n] = np.exp(np.interp(np.abs(difference / error), bounds, np.log(levels))) / weight(n)
    return np.minimum.accumulate(seen, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=20261201, help="of every draw (default 20261201)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of comparisons (default 1: about 15 minutes)")
    parser.add_argument("--rivals", help="Python of an environment with inference-doctor and benchmatrix")
    parser.add_argument("--calibrate", action="store_true", help="print the table of perfd.stats.sequential instead")
    asked = parser.parse_args()
    if asked.calibrate:
        calibrate()
        return
    planted, zero, beside = (max(100, int(asked.scale * n)) for n in (4000, 20000, 1000))
    say(f"Seed {asked.seed}; {planted} comparisons a planted row, {zero} a zero row, {beside} beside other tools.")
    planted_table(asked.seed, planted)
    zero_table(asked.seed, zero)
    rivals_table(asked.rivals, asked.seed, beside)
    items_table(asked.seed, planted // 2)
    documents_table(asked.seed, planted)


if __name__ == "__main__":
    main()
