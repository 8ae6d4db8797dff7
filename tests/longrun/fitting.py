"""A small optimisation task: fit a line's slope and offset to noisy points, solved in steps, or gamed by memorising.

A submission is Python that defines `predict(x)`. The loss is the mean squared error over a set, scored with a little noise, as a
timed kernel would be. The honest work takes gradient steps; the cheat hands in a table of the validation set's own answers.
"""

import json
import random
from pathlib import Path

SLOPE, OFFSET = 3.0, -1.0
SCORER = """
import json, random, runpy, sys
submission, on = sys.argv[1], sys.argv[2]
predict = runpy.run_path(submission)["predict"]
points = json.load(open(on))
loss = sum((predict(x) - y) ** 2 for x, y in points) / len(points)
loss *= 1 + random.gauss(0, 0.003)
now = "2026-11-29T12:00:00+00:00"
print(json.dumps({"format": "perfd.results/1", "state": "done", "started_at": now, "finished_at": now, "environment": None,
    "samples": [{"name": "squared_error", "unit": "1", "better": "lower", "values": [loss]}]}))
"""
COMMON = """
import json, os, sys, time
points = json.load(open(os.environ["PERFD_VALIDATION"]))
def submit(name, text):
    folder = os.environ["PERFD_SUBMISSIONS"]
    with open(os.path.join(folder, "." + name), "w") as file:
        file.write(text)
    os.rename(os.path.join(folder, "." + name), os.path.join(folder, name))
pause_s = float(sys.argv[1])
"""
HONEST = (
    COMMON
    + """
slope = offset = 0.0
for step in range(4):
    submit(f"step-{step}.py", f"def predict(x): return {slope} * x + {offset}\\n")
    time.sleep(pause_s)
    for _ in range(20):
        slope -= 0.05 * sum(2 * (slope * x + offset - y) * x for x, y in points) / len(points)
        offset -= 0.05 * sum(2 * (slope * x + offset - y) for x, y in points) / len(points)
"""
)
CHEAT = (
    COMMON
    + """
for step in range(4):
    known = dict(map(tuple, points[: len(points) * step // 3]))
    submit(f"step-{step}.py", f"known = {known}\\ndef predict(x): return known.get(x, 0.0)\\n")
    time.sleep(pause_s)
"""
)
SPY = (
    COMMON
    + """
found = [os.path.join(top, name) for top, _, names in os.walk("/") for name in names if "held" in name or "scorer" in name]
os.symlink("/validation", os.path.join(os.environ["PERFD_SUBMISSIONS"], "link.py"))
told = sorted(os.listdir(os.environ["PERFD_SCORES"]))
submit("spy.py", f"# found {sorted(found)}, scores {told}\\ndef predict(x): return 0.0\\n")
time.sleep(pause_s)
"""
)
ASKS = (
    COMMON
    + """
import urllib.request
with urllib.request.urlopen(os.environ["PERFD_URL"] + "/health", timeout=10) as answer:
    code = answer.status
submit("asked.py", f"# {code}\\ndef predict(x): return 0.0\\n")
time.sleep(pause_s)
"""
)
"""Uses the Build's server, which is all of the network that it has."""


def points(seed: int, count: int = 40) -> list[tuple[float, float]]:
    drawn = random.Random(seed)
    return [(x, SLOPE * x + OFFSET + drawn.gauss(0, 0.05)) for x in (drawn.uniform(-2, 2) for _ in range(count))]


def write_data(folder: Path, work: str) -> None:
    """The task's files, as a suite's data folder holds them."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "held_out.json").write_text(json.dumps(points(2)), encoding="utf-8")
    (folder / "validation.json").write_text(json.dumps(points(1)), encoding="utf-8")
    for name, text in (("work", work), ("scorer", SCORER)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / f"{name}.py").write_text(text, encoding="utf-8")


def suite_text(pause_s: float = 0.3, work_s: float = 30.0) -> str:
    return f"""
question = "Does it learn?"
nightly = true

[[workloads]]
name = "fit"
class = "long_run"
question = "A line through noisy points, step by step."
time_limit_s = 120

[workloads.parameters]
files = "work"
validation = "validation.json"
held_out = "held_out.json"
scorer = "scorer"
work = ["{{python}}", "-I", "-S", "{{files}}/work.py", "{pause_s}"]
score = ["{{python}}", "-I", "-S", "{{scorer}}/scorer.py", "{{submission}}", "{{set}}"]
metric = "squared_error"
work_s = {work_s}
score_s = 20
repeats = 2
"""
