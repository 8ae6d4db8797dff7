"""The Turing Change Point Dataset: F1 with margin 5 against several annotators, as its authors score (van den Burg 2020).

Offline, defaults, nothing tuned to it: these are economic and natural series, not nightly benchmarks.
"""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from perfd.stats.hindsight import in_hindsight
from perfd.stats.replay import replay

MARGIN = 5


def tcpd_table(data: Path, rivals: str | None, say: Callable[[str], None]) -> None:
    """Prints F1 of perfd, of the rivals and of "no change" on the univariate series that are there."""
    folder = data / "detection/tcpd"
    if not (folder / "annotations.json").exists():
        say(f"No {folder}: the TCPD table is left out.\n")
        return
    marks = json.loads((folder / "annotations.json").read_text(encoding="utf-8"))
    series = _series(folder)
    found = {"perfd": {name: _ours(values) for name, values in series.items()}, "no change": {name: [] for name in series}}
    found |= _theirs(series, rivals)
    say(f"### TCPD, {len(series)} univariate series, F1 with margin 5, defaults\n")
    say("| series | " + " | ".join(found) + " |\n|---|" + "---|" * len(found))
    scores = {tool: {name: f1(marks[name], places[name]) for name in series} for tool, places in found.items()}
    for name in series:
        say(f"| {name} | " + " | ".join(f"{scores[tool][name]:.3f}" for tool in found) + " |")
    say("| **mean** | " + " | ".join(f"**{np.mean(list(scores[tool].values())):.3f}**" for tool in found) + " |\n")


def _series(folder: Path) -> dict[str, list[float]]:
    out = {}
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if path.stem != "annotations" and document.get("n_dim") == 1:
            out[path.stem] = [float("nan") if v is None else float(v) for v in document["series"][0]["raw"]]
    return out


def _ours(values: list[float]) -> list[int]:
    numbers = np.array(values)
    there = np.flatnonzero(np.isfinite(numbers))
    found = replay(numbers[there][None, :], np.array([len(there)]))
    events = in_hindsight(numbers[there], found.tracks[0].events)
    return [int(there[e.index]) for e in events if e.kind in {"step", "mode"}]


def _theirs(series: dict[str, list[float]], python: str | None) -> dict[str, dict[str, list[int]]]:
    if python is None:
        return {}
    filled = {name: [v if np.isfinite(v) else float(np.nanmedian(values)) for v in values] for name, values in series.items()}
    script = Path(__file__).with_name("detect_rivals.py")
    asked = json.dumps({"offline": filled})
    done = subprocess.run([python, str(script)], input=asked, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def f1(annotators: dict[str, list[int]], places: list[int]) -> float:
    """Precision against all annotators together, recall averaged over them; the series' start counts as a change for both."""
    found = {0, *places}
    marked = [{0, *marks} for marks in annotators.values()]
    precision = _hits(set().union(*marked), found) / len(found)
    recall = float(np.mean([_hits(marks, found) / len(marks) for marks in marked]))
    return 2 * precision * recall / (precision + recall)


def _hits(marks: set[int], found: set[int]) -> int:
    """Marks that a place of their own lies within the margin of."""
    left = set(found)
    hits = 0
    for mark in sorted(marks):
        near = sorted((abs(mark - place), place) for place in left if abs(mark - place) <= MARGIN)
        if near:
            hits += 1
            left.discard(near[0][1])
    return hits
