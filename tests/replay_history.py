"""Makes the frozen history that test_replay.py judges again: planted truth, seeded, and what the judge says of it.

    python tests/replay_history.py          # writes tests/replay.json anew; its diff shows what a better rule changes

Values stay as they are as long as the seed does; only the verdicts under them move.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from perfd.domain.metric import METRICS
from perfd.domain.run import Point
from perfd.domain.verdict import Judgement
from perfd.rules.judge import judge_series

FILE = Path(__file__).parent / "replay.json"
SEED = 20261129
NIGHTS = 48
EVERY = 3
"""Nights between two judgements; a judgement sees only the nights before it."""
BEGAN = datetime(2026, 1, 1, 2, tzinfo=UTC)


def planted() -> Iterator[tuple[str, str, list[float]]]:
    """(name, Metric, values): what was planted is in the name."""
    random = np.random.default_rng(SEED)
    noise = 1.0 + 0.01 * random.standard_normal((9, NIGHTS))
    nights = np.arange(NIGHTS)
    yield "nothing", "itl_s", list(0.01 * noise[0])
    yield "slower by 5 % from 30 on", "itl_s", list(0.01 * noise[1] * np.where(nights >= 30, 1.05, 1.0))
    yield "faster by 8 % from 20 on", "output_tokens_per_s", list(100 * noise[2] * np.where(nights >= 20, 1.08, 1.0))
    yield (
        "slower from 18 to 33, then fixed",
        "tpot_s",
        list(0.02 * noise[3] * np.where((nights >= 18) & (nights < 33), 1.07, 1.0)),
    )
    yield "one slow night, 25", "ttft_s", list(0.1 * noise[4] * np.where(nights == 25, 1.3, 1.0))
    yield "drift of 0.4 % a night from 15 on", "e2e_s", list(noise[5] * (1.0 + 0.004 * np.maximum(0, nights - 15)))
    yield "three times the noise from 24 on", "ready_s", list(1.0 + (noise[6] - 1.0) * np.where(nights >= 24, 3.0, 1.0))
    yield "counted, one register more from 28 on", "registers", [40.0 + (night >= 28) for night in range(NIGHTS)]
    yield (
        "worse in quality by 1 % from 26 on",
        "nll_nats",
        list(2.5 * (1 + (noise[7] - 1) / 50) * np.where(nights >= 26, 1.01, 1.0)),
    )
    yield "five Points", "itl_s", list(0.01 * noise[8][:5])


def points(values: list[float]) -> list[Point]:
    """One Build a night, all on the same machine."""
    return [
        Point(f"run {i}", f"build {i}", f"{i:040x}", i, f"night {i}", BEGAN + timedelta(days=i), value, None, 9, "machine")
        for i, value in enumerate(values)
    ]


def judged(metric: str, values: list[float]) -> list[str]:
    """Every few nights one line: the Verdict, and the Changes that are seen."""
    history = points(values)
    looks = range(min(EVERY, len(history)), len(history) + 1, EVERY)
    return [f"{n}: {line(judge_series(history[:n], METRICS[metric]))}" for n in looks]


def line(judgement: Judgement) -> str:
    """A judgement in words that do not move with the last digit of a float."""
    effect = judgement.verdict.effect
    told = judgement.verdict.outcome.value + ("" if effect is None else f" {effect + 0.0:+.3f}")
    seen = [f"{one.kind.value} {one.status.value} at {one.index} {one.effect + 0.0:+.3f}" for one in judgement.changes]
    return "; ".join([told, *seen])


def document() -> Mapping[str, Any]:
    """The whole file."""
    made = [(name, metric, [float(f"{value:.6g}") for value in values]) for name, metric, values in planted()]
    return {
        name: {"metric": metric, "values": json.dumps(values), "judged": judged(metric, values)} for name, metric, values in made
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
