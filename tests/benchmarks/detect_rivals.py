"""apache-otava, asv's step detection and ruptures on Series from stdin; run by an environment that has them, not by perfd's.

Online: every night from night 40 on, each tool sees the nights up to then (asv and ruptures the last 80); a point more than five
nights from every earlier one of its Series is an alarm of that night. Defaults of each tool; ruptures is PELT with the rbf cost
and a penalty of ln n, as in published comparisons.
"""

import json
import math
import sys
import time
from collections.abc import Callable

Values = list[float]


def otava(values: Values) -> list[int]:
    from otava.analysis import compute_change_points

    points = compute_change_points(values, window_len=50, max_pvalue=0.001, min_magnitude=0.0)
    points = points[0] if isinstance(points, tuple) else points
    return [point.index for point in points]


def asv(values: Values) -> list[int]:
    from asv.step_detect import detect_steps

    steps = detect_steps(values, [1] * len(values))
    return [step[0] for step in steps[1:]]


def ruptures(values: Values) -> list[int]:
    import numpy as np
    import ruptures as rpt

    signal = np.array(values)
    signal = (signal - signal.mean()) / (signal.std() or 1.0)
    return rpt.Pelt(model="rbf", min_size=2, jump=1).fit(signal.reshape(-1, 1)).predict(pen=math.log(len(signal)))[:-1]


TOOLS = {"otava": (otava, 10**9), "asv": (asv, 80), "ruptures PELT-rbf": (ruptures, 80)}


def online(tool: Callable[[Values], list[int]], back: int, values: list[float | None]) -> list[tuple[int, int]]:
    there = [night for night, value in enumerate(values) if value is not None]
    seen, alarms = [], []
    for end in range(40, len(there) + 1):
        begin = max(0, end - back)
        for place in tool([values[night] for night in there[begin:end]]):
            night = there[begin + place]
            if all(abs(night - other) > 5 for other in seen):
                seen.append(night)
                alarms.append((night, there[end - 1]))
    return alarms


def main() -> None:
    asked = json.load(sys.stdin)
    answer = {}
    if "offline" in asked:
        for name, (tool, _) in TOOLS.items():
            answer[name] = {series: [int(p) for p in tool(values)] for series, values in asked["offline"].items()}
    else:
        tool, back = TOOLS[asked["tool"]]
        began, nights, flags = time.process_time(), 0, {}
        for case, rows in asked["cases"].items():
            flags[case] = [[(int(a), int(b)) for a, b in online(tool, back, row)] for row in rows]
            nights += sum(max(len(row) - 40, 0) for row in rows)
        answer = {"flags": flags, "us": (time.process_time() - began) / nights * 1e6}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
