"""perfd beside apache-otava, asv and ruptures on the same Series, drawn from a seed of their own so that each can run apart.

The rivals are slow (ruptures a hundred times slower than perfd), so their answers are kept in `--kept FOLDER`, one file a tool,
by a hash of what they were asked: a second run of the same seed only runs perfd again.
"""

import hashlib
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import scenarios as worlds
from detect_watch import NOISES, ROWS, WARM, Ints, say, watch

SHARE = {"ruptures PELT-rbf": 0.4}
"""Of the Series, for a tool too slow for all."""
TOOLS = ("otava", "asv", "ruptures PELT-rbf")


def rivals_table(seed: int, python: str | None, kept: Path, rows: int) -> None:
    """The tools that a user would pick instead, on the same data."""
    if python is None:
        say("No --rivals: apache-otava, asv and ruptures were not run.\n")
        return
    cases = _rival_cases(np.random.default_rng([seed, 1]), rows)
    answers = {tool: _answer(tool, cases, python, kept) for tool in TOOLS}
    failed = [tool for tool, answer in answers.items() if isinstance(answer, str)]
    if failed:
        say(f"{failed[0]} could not run: {answers[failed[0]]}\n")
        return
    few = ", ".join(f"{tool} the first {max(int(share * rows), 1)}" for tool, share in SHARE.items())
    say(f"### Beside the tools that a user would pick instead ({rows} Series a row, {few}; the same data, online)\n")
    say("Recall within ±5 / median delay / false alarms in 1,000 nights; CPU microseconds a Series-night.\n")
    say("| scenario | perfd | " + " | ".join(TOOLS) + " |")
    say("|---|---|" + "---|" * len(TOOLS))
    cpu_s, nights = 0.0, 0
    for name, case in cases.items():
        seen = watch(case.values, settle=False)
        ours = [[(place, flag) for place, flag, _ in seen.events(row, {"step"})] for row in range(rows)]
        theirs = [_cell(answers[tool]["flags"][name], case.change) for tool in TOOLS]
        say(f"| {name} | {_cell(ours, case.change)} | " + " | ".join(theirs) + " |")
        cpu_s, nights = cpu_s + seen.cpu_s, nights + int(seen.lengths.sum())
    say(
        f"| CPU µs a Series-night | {cpu_s / nights * 1e6:.0f} | "
        + " | ".join(f"{answers[tool]['us']:.0f}" for tool in TOOLS)
        + " |\n"
    )


def _answer(tool: str, cases: dict[str, worlds.Planted], python: str, kept: Path) -> Any:
    """What a rival said, or the last line of why it could not."""
    asked = {name: _share(tool, case.values) for name, case in cases.items()}
    text = json.dumps({"tool": tool, "cases": asked})
    file = kept / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.json"
    if not file.exists():
        script = Path(__file__).with_name("detect_rivals.py")
        done = subprocess.run([python, str(script)], input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.strip().splitlines()[-1]
        kept.mkdir(parents=True, exist_ok=True)
        file.write_text(done.stdout, encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def _share(tool: str, values: np.ndarray) -> list[list[float | None]]:
    few = values[: max(int(SHARE.get(tool, 1.0) * len(values)), 1)]
    return [[None if math.isnan(v) else v for v in row] for row in few.tolist()]


def _rival_cases(rng: np.random.Generator, rows: int) -> dict[str, worlds.Planted]:
    none = np.full(rows, -1)
    cases = {f"A/A {name}": worlds.Planted(100 + noise(rng, rows), none) for name, noise in NOISES.items()}
    for row in ROWS[1:]:
        cases[row.name] = worlds.with_step(rng, NOISES[row.noise](rng, rows), row.size)
    slope = np.clip((np.arange(worlds.NIGHTS)[None, :] - 35) * 0.05, 0, 5)
    cases["drift"] = worlds.Planted(100 + worlds.gauss(rng, rows) + slope, none)
    at = worlds.changes(rng, rows)
    night = np.arange(worlds.NIGHTS)[None, :]
    cases["spread x3"] = worlds.Planted(100 + worlds.gauss(rng, rows) * np.where(night >= at[:, None], 3, 1), none)
    spike = (night >= at[:, None]) & (night < at[:, None] + 2)
    cases["spike of 2 nights"] = worlds.Planted(100 + worlds.gauss(rng, rows) + 8 * spike, none)
    cases["sticky modes"] = worlds.Planted(100 + worlds.sticky(rng, rows)[0], none)
    return cases


def _cell(flags: list[list[tuple[int, int]]], change: Ints) -> str:
    hits, delays, wrong = 0, [], 0
    for row, planted in zip(flags, change, strict=False):  # a slow tool saw only the first ones
        hit = None
        for place, flag in row:
            if planted >= 0 and hit is None and abs(place - planted) <= 5 and flag >= planted:
                hit = flag - planted
            elif flag >= WARM and not (planted >= 0 and abs(place - planted) <= 5):
                wrong += 1
        if hit is not None:
            hits += 1
            delays.append(hit)
    rate = f"{wrong / (len(flags) * (worlds.NIGHTS - WARM)) * 1e3:.1f}"
    return rate if change[0] < 0 else f"{hits / len(flags):.2f} / {np.median(delays) if delays else math.nan:g} / {rate}"
