from pathlib import Path

import pytest
from pull_world import TOKEN_S, PullWorld, engine_text, pull_world
from rendered import shown, troubles


@pytest.fixture
def world(tmp_path: Path, database_url: str) -> PullWorld:
    return pull_world(tmp_path, database_url)


def test_a_planted_five_per_cent_is_told_beside_equal_quality(world: PullWorld) -> None:
    base = world.commit("Begin", {"engine.py": engine_text("begin")})
    head = world.pull("Slow down", {"engine.py": engine_text("slower", TOKEN_S * 1.05)})
    tip = world.commit("Go on", {"README.md": "more"})

    code, answered = world.answered(
        "ci",
        GITHUB_REPOSITORY="octo/engine",
        GITHUB_EVENT_PATH=str(world.event(head, tip)),
        GITHUB_STEP_SUMMARY=str(world.folder / "s"),
    )

    told = answered["answer"]
    rows = {row["metric"]["name"]: row for row in told["rows"]}
    assert (1, "failure") == (code, answered["conclusion"])
    assert (base, 1, "main") == (told["against"]["commit"], told["against"]["behind"], told["against"]["branch"])
    assert "worse" == rows["itl_s"]["verdict"]["outcome"]
    assert 0.03 < rows["itl_s"]["verdict"]["effect"] < 0.07
    assert "same" == rows["nll_nats"]["verdict"]["outcome"]
    assert [] == told["unmeasured"]
    assert f"perfd compare {base} {head} --engine tiny" in answered["markdown"]
    assert answered["markdown"] in (world.folder / "s").read_text(encoding="utf-8")
    assert [] == list(troubles(shown(answered["markdown"])))
