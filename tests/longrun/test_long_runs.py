"""Long Runs in their real cages: really solved in steps, once gamed, spied, broken and stopped."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from fitting import ASKS, CHEAT, HONEST, SPY, suite_text, write_data

from perfd.bench.cage.refuse import refusal
from perfd.bench.longrun import read_new
from perfd.bench.runner import run_child
from perfd.domain.environment import Device
from perfd.domain.job import Job
from perfd.domain.results import Results
from perfd.domain.run import FailureKind, RunState
from perfd.domain.subject import Launch
from perfd.domain.submission import Submission, best, mean
from perfd.errors import BadInputError
from perfd.rules.gaming import Course, course
from perfd.suites import load_suite

ENGINE = Path(__file__).parents[1] / "engines" / "tiny_engine.py"
pytestmark = pytest.mark.skipif(bool(refusal()), reason=refusal())


def job_of(folder: Path, work: str, pause_s: float = 0.3, work_s: float = 30.0) -> Job:
    write_data(folder / "suites" / "data", work)
    path = folder / "suites" / "steps.toml"
    path.write_text(suite_text(pause_s, work_s), encoding="utf-8")
    (workload,) = load_suite(path).workloads
    (folder / "artifact").mkdir()
    return Job(
        subject="tiny",
        revision="1",
        build="b" * 64,
        artifact=folder / "artifact",
        workload=workload,
        device=Device("here", "cpu", "cpu:test:t1"),
        occasion="night:2026-01-01T02:00:00Z",
        run="r" * 64,
        work=folder / "job",
        threads=1,
        data=folder / "suites" / "data",
    )


def run(job: Job) -> tuple[Results, tuple[Submission, ...]]:
    results = run_child(job, job.work / "results.json", job.workload.time_limit_s)
    return results, read_new(job.work, 0)


def test_a_task_that_is_solved_in_steps_is_progress_and_its_held_out_score_is_the_runs(tmp_path: Path) -> None:
    results, handed_in = run(job_of(tmp_path, HONEST))

    assert results.state is RunState.DONE, (results.reason, results.log_tail)
    assert [f"step-{step}.py" for step in range(4)] == [one.name for one in handed_in]
    assert Course.PROGRESS is course(handed_in)
    times = [one.elapsed_s for one in handed_in]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.6
    losses = [mean(one.held_out) for one in handed_in]
    assert losses[-1] < 0.01 * losses[0]
    (samples,) = results.samples
    chosen = best(handed_in)
    assert chosen is not None
    assert ("squared_error", chosen.held_out) == (samples.name, samples.values)
    assert 2 == len(handed_in[0].validation) == len(handed_in[0].held_out)
    assert "it ended with 0" == results.extra["long_run"]["work"]
    assert len(results.device_states) >= 2


def test_memorising_the_validation_set_is_called_gaming(tmp_path: Path) -> None:
    results, handed_in = run(job_of(tmp_path, CHEAT))

    assert results.state is RunState.DONE, results.reason
    assert Course.GAMING is course(handed_in)
    assert mean(handed_in[-1].validation) < 0.01
    assert mean(handed_in[-1].held_out) > 0.9 * mean(handed_in[0].held_out)


def test_the_work_sees_neither_the_held_out_set_nor_the_scorer_and_links_are_not_followed(tmp_path: Path) -> None:
    results, handed_in = run(job_of(tmp_path, SPY, pause_s=0.5))

    assert results.state is RunState.DONE, results.reason
    by_name = {one.name: one for one in handed_in}
    assert "cannot be read or kept" in by_name["link.py"].reason
    (copy,) = [path for path in (tmp_path / "job" / "taken").iterdir() if "spy" not in path.name]
    assert "found [], scores []" in copy.read_text(encoding="utf-8")
    assert 1 == results.extra["long_run"]["scored"]


def test_a_work_may_ask_the_builds_server_and_nobody_else(tmp_path: Path) -> None:
    job = job_of(tmp_path, ASKS, pause_s=0.5)
    command = (sys.executable, str(ENGINE), "--host", "{host}", "--port", "{port}")
    asks = replace(job.workload, parameters={**job.workload.parameters, "engine": True})
    results, _ = run(replace(job, workload=asks, launch=Launch(command, "llamacpp", ready_timeout_s=20.0)))

    assert results.state is RunState.DONE, (results.reason, results.log_tail)
    (copy,) = (tmp_path / "job" / "taken").iterdir()
    assert copy.read_text(encoding="utf-8").startswith("# 200")


@pytest.mark.parametrize(
    ("work", "kind", "word"),
    [
        ("raise SystemExit(3)", FailureKind.DIED, "handed nothing in before it ended with 3"),
        ("import time; time.sleep(60)", FailureKind.TIMEOUT, "handed nothing in before its time was over"),
        (
            "import os; open(os.environ['PERFD_SUBMISSIONS'] + '/a.py', 'w').write('predict = 1'); import time; time.sleep(1)",
            FailureKind.NONSENSE,
            "the scorer ended with 1",
        ),
    ],
)
def test_a_work_that_comes_to_nothing_fails_and_says_why(tmp_path: Path, work: str, kind: FailureKind, word: str) -> None:
    results, _ = run(job_of(tmp_path, work, work_s=2.0))

    assert (RunState.FAILED, kind) == (results.state, results.failure)
    assert word in results.reason


def test_time_that_is_over_ends_the_work_and_keeps_what_was_handed_in(tmp_path: Path) -> None:
    results, handed_in = run(job_of(tmp_path, HONEST, pause_s=1.2, work_s=2.0))

    assert results.state is RunState.DONE, results.reason
    assert "its time was over" == results.extra["long_run"]["work"]
    assert 1 <= len(handed_in) <= 3


def test_files_beyond_the_most_are_passed_over_and_counted(tmp_path: Path) -> None:
    job = job_of(tmp_path, HONEST, pause_s=0.1)
    few = replace(job.workload, parameters={**job.workload.parameters, "most_submissions": 1, "repeats": 1})
    results, handed_in = run(replace(job, workload=few))

    assert ["step-0.py"] == [one.name for one in handed_in]
    assert 3 == results.extra["long_run"]["passed_over"]


def test_a_suite_that_cannot_work_is_told_with_its_lines(tmp_path: Path) -> None:
    write_data(tmp_path / "data", HONEST)
    path = tmp_path / "steps.toml"
    text = suite_text(work_s=120.0).replace('held_out = "held_out.json"', 'held_out = "validation.json"')
    path.write_text(text.replace('scorer = "scorer"', 'scorer = "no such"'), encoding="utf-8")

    with pytest.raises(BadInputError) as told:
        load_suite(path)
    assert f"{path}:9: the work alone may take 120 s, and all of the Run 120 s" in told.value.message
    assert "the held-out set must be another than the validation set" in told.value.message
    assert "no such: the data file cannot be read" in told.value.message


def test_the_sets_and_the_scorer_are_part_of_the_workloads_identity(tmp_path: Path) -> None:
    job = job_of(tmp_path, HONEST)
    (tmp_path / "suites" / "data" / "held_out.json").write_text("[[1.0, 2.0]]", encoding="utf-8")
    (other,) = load_suite(tmp_path / "suites" / "steps.toml").workloads

    assert job.workload.identity != other.identity
    results, _ = run(job)
    assert (RunState.FAILED, FailureKind.HARNESS) == (results.state, results.failure)
    assert "are others than when it was planned" in results.reason
    assert sys.executable not in str(other.parameters)
