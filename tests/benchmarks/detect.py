"""How well perfd finds changes, night by night, on planted and on real noise: seeded, no timed test. `make bench-detect`.

    python tests/benchmarks/detect.py --seed 2 [--quick] [--rows N] [--rivals PYTHON] [--data ../shared/data]

`--rivals` is the Python of an environment with apache-otava, asv and ruptures (python -m venv rivals; rivals/bin/pip install
apache-otava asv ruptures scipy). `--data` is a folder with detection/tcpd and history; without it those tables are left out, and
the script says so. Everything is Markdown on stdout; the tables of docs/detection.md are made by it.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import scenarios as worlds
from detect_beside import rivals_table
from detect_oracles import oracle_of_step, oracles_of_others
from detect_watch import NOISES, ROWS, WARM, Seen, middle, poisson, say, watch, wilson
from numpy.typing import NDArray
from own_set import own_noise
from tcpd import tcpd_table

from perfd.domain.verdict import ChangeKind
from perfd.rules.changes import changes_of
from perfd.stats.replay import replay, tonight

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def aa_table(rng: np.random.Generator, rows: int) -> None:
    """False detections and false suspects on noise alone."""
    say("### Noise alone (A/A)\n")
    head = "| noise | nights | steps | modes | drifts | variance | false detections in 10,000 nights | goal | "
    say(head + "suspects, share of nights | goal |")
    say("|---|---|---|---|---|---|---|---|---|---|")
    for name, noise in NOISES.items():
        seen = watch(100 + noise(rng, rows))
        counted = int(np.maximum(seen.lengths - WARM, 0).sum())
        kinds = [e.kind for row in range(rows) for _, flag, e in seen.events(row) if flag >= WARM]
        low, high = poisson(len(kinds))
        rate = f"{len(kinds) / counted * 1e4:.2f} [{low / counted * 1e4:.2f}, {high / counted * 1e4:.2f}]"
        suspects = seen.found.suspect[:, WARM:].sum() / counted
        told = " | ".join(str(kinds.count(kind)) for kind in ("step", "mode", "drift", "variance"))
        say(f"| {name} | {counted} | {told} | {rate} | ≤ 1 | {suspects:.4f} | ≤ 0.01 |")
    say()


def step_table(rng: np.random.Generator, rows: int) -> None:
    """Recall, place and delay of one planted step; the oracle's below each."""
    say("### Steps\n")
    say(
        "| step | within ±2 | goal | within ±5 | goal | median delay, p90 | goal | suspect first night | by the third | "
        "false steps in 1,000 nights |"
    )
    say("|---|---|---|---|---|---|---|---|---|---|")
    for row in ROWS:
        planted = worlds.with_step(rng, NOISES[row.noise](rng, rows), row.size)
        seen = watch(planted.values)
        near, wide, delays, wrong, first, third = _score(seen, planted.change)
        say(
            f"| {row.name} | {wilson(near, rows)} | {_goal(row.near)} | {wilson(wide, rows)} | {_goal(row.wide)} | "
            f"{middle(delays)} | {_goal(row.delay, '≤')} | {first / rows:.2f}{_of(row.first)} | "
            f"{third / rows:.2f}{_of(row.third)} | "
            f"{wrong / (rows * (worlds.NIGHTS - WARM)) * 1e3:.2f} |"
        )
        oracle_of_step(rng.spawn(1)[0], row)
    say()


def _goal(goal: float | None, sign: str = "≥") -> str:
    return "" if goal is None else f"{sign} {goal:g}"


def _of(goal: float | None) -> str:
    return "" if goal is None else f" (≥ {goal:g})"


def _score(seen: Seen, change: Ints) -> tuple[int, int, list[int], int, int, int]:
    near = wide = wrong = first = third = 0
    delays = []
    for row, planted in enumerate(change):
        hit = None
        for place, flag, _ in seen.events(row, {"step"}):
            if hit is None and abs(place - planted) <= 5 and flag >= planted:
                hit = (abs(place - planted), flag - planted)
            elif flag >= WARM:
                wrong += 1
        if hit is not None:
            near, wide = near + (hit[0] <= 2), wide + 1
            delays.append(int(hit[1]))
        at = int(np.searchsorted(seen.nights[row, : seen.lengths[row]], planted))
        first += bool(seen.found.suspect[row, at])
        third += bool(seen.found.suspect[row, at : at + 3].any())
    return near, wide, delays, wrong, first, third


def other_table(rng: np.random.Generator, rows: int) -> None:
    """Everything that is not a step in noise."""
    say("### Spikes, modes, drift, spread, ticks, short tails\n")
    say("| scenario | figure | goal | oracle |")
    say("|---|---|---|---|")
    oracle = oracles_of_others(rng.spawn(1)[0])
    for name, figure, goal in (
        *_spikes(rng, rows), *_sticky(rng, rows), *_drift(rng, rows), *_variance(rng, rows), *_ticks(rng), *_tails(rng, rows),
    ):  # fmt: skip
        say(f"| {name} | {figure} | {goal} | {oracle.get(name, '')} |")
    say()


def _spikes(rng: np.random.Generator, rows: int) -> list[tuple[str, str, str]]:
    values, at, long = 100 + worlds.gauss(rng, rows), worlds.changes(rng, rows), rng.integers(1, 4, rows)
    night = np.arange(worlds.NIGHTS)[None, :]
    values += 8 * ((night >= at[:, None]) & (night < (at + long)[:, None]))
    seen = watch(values)
    told = sum(
        abs(place - at[row]) <= 5 or 0 <= flag - at[row] <= 10 for row in range(rows) for place, flag, _ in seen.events(row)
    )
    logged = 0
    for row in range(rows):
        changes = changes_of(seen.found, seen.values[row], row)
        logged += any(c.kind is ChangeKind.TRANSIENT and abs(c.index - at[row]) <= 1 for c in changes)
    return [
        ("spikes of 1 to 3 nights, +8 sd: detected", f"{told} of {rows}", "0"),
        ("the same: logged as transient", wilson(logged, rows), "1"),
    ]


def _sticky(rng: np.random.Generator, rows: int) -> list[tuple[str, str, str]]:
    values, mode = worlds.sticky(rng, rows, 300)
    seen = watch(100 + values)
    alarms = nights = 0
    for row in range(rows):
        switches = np.flatnonzero(np.diff(mode[row])) + 1
        if len(switches) < 4:
            continue
        nights += 300 - int(switches[3])
        alarms += sum(flag >= switches[3] for _, flag, _ in seen.events(row, {"step"}))
    low, high = poisson(alarms)
    rate = f"{alarms / nights * 1e3:.2f} [{low / nights * 1e3:.2f}, {high / nights * 1e3:.2f}] in 1,000 nights"
    new = values + 6 * (np.arange(300)[None, :] >= 250)
    fresh = watch(100 + new)
    found = sum(any(abs(place - 250) <= 5 for place, _, _ in fresh.events(row, {"step"})) for row in range(rows))
    return [
        ("sticky modes, 4 sd, dwell 14: step alarms after the second visit of each", rate, "≤ 1"),
        ("the same: +6 sd on top of both modes, within ±5", wilson(found, rows), ""),
    ]


def _drift(rng: np.random.Generator, rows: int) -> list[tuple[str, str, str]]:
    begin = rng.integers(20, 51, rows)
    slope = np.clip((np.arange(worlds.NIGHTS)[None, :] - begin[:, None]) * 0.05, 0, 5)
    seen = watch(100 + worlds.gauss(rng, rows) + slope)
    alarms = sum(flag >= WARM for row in range(rows) for _, flag, _ in seen.events(row, {"step"}))
    one = sum(len(seen.events(row, {"drift"})) == 1 for row in range(rows))
    low, high = poisson(alarms)
    nights = rows * (worlds.NIGHTS - WARM)
    rate = f"{alarms / nights * 1e3:.2f} [{low / nights * 1e3:.2f}, {high / nights * 1e3:.2f}] in 1,000 nights"
    return [
        ("drift, 5 sd over 100 nights: step alarms", rate, "≤ 1"),
        ("the same: exactly one drift ticket", wilson(one, rows), "1"),
    ]


def _variance(rng: np.random.Generator, rows: int) -> list[tuple[str, str, str]]:
    at = worlds.changes(rng, rows)
    wide = np.where(np.arange(worlds.NIGHTS)[None, :] >= at[:, None], 3, 1)
    seen = watch(100 + worlds.gauss(rng, rows) * wide)
    alarms = sum(flag >= WARM for row in range(rows) for _, flag, _ in seen.events(row, {"step"}))
    soon = sum(any(0 <= flag - at[row] <= 15 for _, flag, _ in seen.events(row, {"variance"})) for row in range(rows))
    nights = rows * (worlds.NIGHTS - WARM)
    low, high = poisson(alarms)
    rate = f"{alarms / nights * 1e3:.2f} [{low / nights * 1e3:.2f}, {high / nights * 1e3:.2f}] in 1,000 nights"
    return [("spread x3: event within 15 nights", wilson(soon, rows), "≥ 0.8"), ("the same: step alarms", rate, "≤ 1")]


def _ticks(rng: np.random.Generator) -> list[tuple[str, str, str]]:
    rows = 200
    at = worlds.changes(rng, rows)
    after = np.arange(worlds.NIGHTS)[None, :] >= at[:, None]
    constant = watch(np.where(after, 100.5, 100.0))
    blip = watch(np.where(np.arange(worlds.NIGHTS)[None, :] == at[:, None], 100.5, 100.0))
    quantised = watch(100 + 4 * np.rint((worlds.gauss(rng, rows) + 4 * after) / 4))
    out = []
    for name, seen in (("constant, one tick up", constant), ("quantised to 4 sd, one tick up", quantised)):
        delays = [
            flag - at[row] for row in range(rows) for place, flag, _ in seen.events(row, {"step"}) if abs(place - at[row]) <= 2
        ]
        soon = sum(delay <= 3 for delay in delays)
        out.append((f"{name}: found within ±2", f"{wilson(min(len(delays), rows), rows)}, median delay {middle(delays)}", "1"))
        out.append((f"{name}: in at most 3 nights", wilson(min(soon, rows), rows), "1"))
    out.append(("constant, one-night blip: detected", str(sum(len(blip.events(row)) for row in range(rows))), "0"))
    return out


def _tails(rng: np.random.Generator, rows: int) -> list[tuple[str, str, str]]:
    out = []
    for left in range(4, 9):
        values = 100 + worlds.gauss(rng, rows)
        values[:, -left:] += 4
        seen = watch(values)
        at = worlds.NIGHTS - left
        found = sum(any(abs(place - at) <= 2 for place, _, _ in seen.events(row, {"step"})) for row in range(rows))
        out.append((f"{left} nights after a 4 sd step", wilson(found, rows), "≥ 0.90"))
    return out


def own_table(rng: np.random.Generator, data: Path, rows: int) -> None:
    """The same on real residuals; docs/detection.md says what they were used for."""
    noise = own_noise(rng, data, rows)
    if noise is None:
        say(f"No histories under {data}: the table on real residuals is left out.\n")
        return
    say("### Real residuals\n")
    say("| scenario | figure |\n|---|---|")
    seen = watch(100 + noise)
    flags = [e.kind for row in range(rows) for _, flag, e in seen.events(row) if flag >= WARM]
    low, high = poisson(len(flags))
    nights = rows * (worlds.NIGHTS - WARM)
    kinds = ", ".join(f"{kind} {flags.count(kind)}" for kind in sorted(set(flags)))
    say(
        f"| nothing planted: detections in 10,000 nights (some may be real) | {len(flags) / nights * 1e4:.2f} "
        f"[{low / nights * 1e4:.2f}, {high / nights * 1e4:.2f}] ({kinds}) |"
    )
    say(f"| nothing planted: suspects, share of nights | {seen.found.suspect[:, WARM:].mean():.4f} |")
    for size in (2, 3, 5):
        planted = worlds.with_step(rng, noise, size)
        near, wide, delays, _, _, _ = _score(watch(planted.values), planted.change)
        say(f"| {size} sd planted | within ±2 {wilson(near, rows)}, within ±5 {wilson(wide, rows)}, delay {middle(delays)} |")
    say()


def power_table(rng: np.random.Generator, rows: int) -> None:
    """Whether the smallest detectable effects hold what they say."""
    say("### Smallest detectable effects (stated: found within that many nights with 90 % power)\n")
    say("| nights | stated, sd | found in time |\n|---|---|---|")
    from perfd.stats.power import smallest_effects

    for nights, size in smallest_effects(1.0, 0.0, 95).items():
        planted = worlds.with_step(rng, worlds.gauss(rng, rows), size)
        seen = watch(planted.values)
        _, _, delays, _, _, _ = _score(seen, planted.change)
        say(f"| {nights} | {size:.2f} | {wilson(sum(delay < nights for delay in delays), rows)} |")
    say()


def cost_table(rng: np.random.Generator, *, quick: bool) -> None:
    """CPU seconds on one core."""
    say("### CPU seconds (one core)\n")
    say("| work | CPU s | goal |\n|---|---|---|")
    series = 1000 if quick else 10_000
    values = 100 + rng.normal(size=(series, 151))
    long = watch(values)
    say(f"| {series} Series x 151 nights, replayed | {long.cpu_s:.1f} | |")
    per = long.cpu_s / (series * 151)
    say(f"| one night of 10,000 Series in a replay (from it) | {per * 1e4:.2f} | |")
    say(f"| 10,000 x 365 (from it) | {per * 3.65e6:.0f} | ≤ 600 |")
    lengths = np.full(series, 150)
    before = replay(values[:, :150], lengths, settle=False).tracks
    began = time.process_time()
    tonight(values, lengths + 1, before)
    say(f"| one new night of {series} Series from their Tracks (`tonight`) | {time.process_time() - began:.2f} | ≤ 5 |")
    one = watch(100 + rng.normal(size=(1, 10_000)))
    say(f"| one Series of 10,000 points | {one.cpu_s:.2f} | ≤ 1 |")
    say()


def main() -> None:
    """Prints every table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=2028)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, help="Series a row; 500, with --quick 100 (noise alone: 1200 and 150, or as many)")
    parser.add_argument("--rivals")
    parser.add_argument("--kept", type=Path, default=Path(".benchmarks/rivals"), help="where the rivals' answers are kept")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rival-rows", type=int, help="Series a row for the rivals, which are slow; 50, with --quick 4")
    parser.add_argument("--only", nargs="*", help="noise, steps, others, power, own, tcpd, rivals, cost; all of them unless told")
    options = parser.parse_args()
    np.seterr(all="ignore")
    rows = options.rows or (100 if options.quick else 500)
    quick = "quick, " if options.quick else ""
    say(f"Seed {options.seed}, {quick}{rows} Series a row of {worlds.NIGHTS} nights, one sd is 1 % of the level.\n")
    beside = options.rival_rows or (4 if options.quick else 50)
    tables = {
        "noise": lambda rng: aa_table(rng, options.rows or (150 if options.quick else 1200)),
        "steps": lambda rng: step_table(rng, rows),
        "others": lambda rng: other_table(rng, rows),
        "power": lambda rng: power_table(rng, rows),
        "own": lambda rng: own_table(rng, options.data, rows),
        "tcpd": lambda _: tcpd_table(options.data, options.rivals, say),
        "rivals": lambda _: rivals_table(options.seed, options.rivals, options.kept, beside),
        "cost": lambda rng: cost_table(rng, quick=options.quick),
    }
    for place, (name, table) in enumerate(tables.items()):
        if not options.only or name in options.only:
            table(np.random.default_rng([options.seed, 2 + place]))  # a seed of its own: each table may be made apart


if __name__ == "__main__":
    main()
