"""A launch of the real (tiny) engine: rehearsed on random weights, measured on day 0, faster but worse on day 7."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from launch_world import ENGINE, Released, git, released

from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind, RunState
from perfd.stages.context import worker_name
from perfd.stages.measure import measure
from perfd.store import Store

SUITES = ("speed", "accuracy")


def commit(world: Released, title: str, token_s: float, blur: float) -> None:
    text = ENGINE.read_text(encoding="utf-8").replace("TOKEN_S = 0.002", f"TOKEN_S = {token_s}", 1)
    text = text.replace("FIRST_TOKEN_S = 0.004", f"FIRST_TOKEN_S = {4 * token_s}", 1)
    text = text.replace("blur: float = 0.0", f"blur: float = {blur}", 1)
    (world.repository / "engine.py").write_text(f"{text}\n# {title}\n", encoding="utf-8")
    git(world.repository, "add", "engine.py")
    git(world.repository, "commit", "--quiet", "--message", title)


def test_a_real_engine_that_is_faster_but_worse_on_day_7_is_told_so(store: Store, tmp_path: Path) -> None:
    world = released(store, tmp_path)
    engine = world.context.config.engines[0]
    weighed = replace(engine.launch, environment={"WEIGHTS": "{weights}"}, ready_timeout_s=20.0)
    config = replace(world.context.config, engines=(replace(engine, launch=weighed),))
    began = datetime.now(UTC)
    world.day_0 = began - timedelta(days=7)  # day 7 is now: what devices spend beside it is what they really spend
    world.context = replace(
        world.context, config=config, worker=worker_name(), now=lambda: world.clock[0] + (datetime.now(UTC) - began)
    )
    commit(world, "Begin", token_s=0.012, blur=0.0)
    world.launch(-7, 0, 7, suites=SUITES, minutes=5.0)
    real_measure(world, -7)
    real_measure(world, 0)
    commit(world, "Guess the next token", token_s=0.005, blur=0.6)
    real_measure(world, 7)

    told = world.report()
    assert [("reported", []), ("reported", []), ("reported", [])] == [(day["state"], day["missing"]) for day in told["days"]]
    cells = {row["metric"]: row["days"] for one in told["classes"] for row in one["rows"]}
    assert ("interleaved", "better") == tuple(cells["itl_s"]["7"]["against"][name] for name in ("basis", "outcome"))
    assert cells["itl_s"]["7"]["against"]["effect"] < -0.3
    assert "worse" == cells["nll_nats"]["7"]["against"]["outcome"]
    assert "lost" == told["days"][2]["quality"]["floor"]
    assert "better" == told["days"][2]["classes"]["chat"]["outcome"]
    assert "worse" == told["days"][2]["classes"]["accuracy"]["outcome"]
    (compared,) = store.pages.occasions(OccasionKind.COMPARE)
    assert {RunState.DONE} == {run.state for run in store.pages.occasion(compared.occasion).runs}
    assert 1 == len(list((tmp_path / "state" / "models").glob("*/random.Q8_0.gguf")))


def real_measure(world: Released, day: int) -> None:
    """The day's Checkpoint, every Run of it by the real measuring child."""
    world.measure = measure  # type: ignore[method-assign]  # the one stage that the other tests tell
    world.day(day)
    for _ in range(20):  # what a busy machine spoilt is tried again later
        if all(one.state is OccasionState.REPORTED for one in world.store.launches.checkpoints() if one.day <= day):
            return
        world.clock[0] += timedelta(minutes=10)
        world.work_off()
    raise AssertionError(world.heard.lines[-10:])
