"""What the witness costs the measurement: one load on the tiny engine, with and without it, in turns (ABBA).

Usage: python tests/benchmarks/witness_cost.py [--pairs 8] [--every 1.0]. Run it on a quiet machine; the timetable of the tiny
engine is exact, so what differs between the arms is the doing of the client or of the witness.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from perfd.bench.engine import HOST, Server, free_port, wait_ready
from perfd.bench.load import LoadPlan, PromptPlan, run_load
from perfd.bench.load.report import report_json
from perfd.bench.witness import Witness
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.subject import Launch
from perfd.domain.suite import Workload, WorkloadClass

ENGINE = Path(__file__).parents[1] / "engines" / "metered_engine.py"
FIGURES = ("ttft_s", "tpot_s", "send_lag_s")


def job(work: Path, launch: Launch) -> Job:
    """A job that the witness can be given."""
    workload = Workload("bench", "witness", WorkloadClass.BATCH, {}, seed=1, data_hash="")
    device = Device("here", "cpu", "cpu:any:t1")
    return Job("tiny", "1", "b", work, workload, device, "night", "r", work, 1, launch)


def drive(server: Server, number: int, seconds: float) -> dict[str, float]:
    """p50 of each figure of one load, in ms."""
    prompts = PromptPlan(prompt_tokens=64, max_tokens=64, occasion=str(number))
    plan = LoadPlan(f"http://{HOST}:{server.port}", "tiny", duration_s=seconds, rate_rps=8.0, prompts=prompts)
    answer = report_json(run_load(plan))
    found = {**answer["metrics"], "send_lag_s": answer["send_lag_s"]}
    return {f"{name} {place}": found[name][place] * 1e3 for name in FIGURES for place in ("p50", "p99")}


def arms(
    server: Server, work: Path, launch: Launch, options: argparse.Namespace
) -> list[tuple[dict[str, float], dict[str, float]]]:
    """(without, with) of each pair."""
    pairs = []
    for pair in range(options.pairs):
        arm: dict[bool, dict[str, float]] = {}
        for watched in (False, True) if pair % 2 == 0 else (True, False):
            number = 2 * pair + watched
            if watched:
                with Witness(job(work, launch), server, every_s=options.every):
                    arm[watched] = drive(server, number, options.seconds)
            else:
                arm[watched] = drive(server, number, options.seconds)
        pairs.append((arm[False], arm[True]))
    return pairs


def told(pairs: Sequence[tuple[dict[str, float], dict[str, float]]]) -> None:
    """A line a figure: the median without, and the difference with its standard error."""
    for name in pairs[0][0]:
        differences = [after[name] - before[name] for before, after in pairs]
        spread = statistics.stdev(differences) / len(differences) ** 0.5 if len(differences) > 1 else float("nan")
        without = statistics.median(before[name] for before, _ in pairs)
        sys.stdout.write(f"{name}: {without:.3f} ms without, {statistics.mean(differences):+.4f} ± {spread:.4f} ms with\n")


def main() -> None:
    """Print both arms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--every", type=float, default=1.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work, port = Path(folder), free_port()
        command = (sys.executable, str(ENGINE), "--port", str(port))
        launch = Launch(command, "openai")
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            wait_ready(process, port, launch, time.monotonic())
            told(arms(Server(process, port, 0.0, work / "engine.log"), work, launch, options))
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
