"""A Regression becomes a test: pinned once, it is caught on the very night on which it is planted again."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from gpu_world import Listening, tiny_config

from perfd.config import DeviceConfig
from perfd.domain.occasion import Occasion
from perfd.domain.run import OccasionKind, RunState
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, RegressionState, Verdict
from perfd.errors import BadInputError
from perfd.stages.context import Context, utc_now, worker_name
from perfd.stages.night import run_to_report
from perfd.stages.pinning import pin
from perfd.store import Store

FAST, SLOW = 0.008, 0.016


@dataclass
class Nights:
    """Real nights of the tiny engine, whose source says how long a token takes."""

    context: Context
    folder: Path
    night_count: int = 0

    def night(self, token_s: float) -> Occasion:
        source = self.folder / "engine" / "engine.py"
        lines = [
            f"TOKEN_S = {token_s}" if line.startswith("TOKEN_S = ") else line
            for line in source.read_text(encoding="utf-8").splitlines()
        ]
        source.write_text("\n".join([*lines, f"# night {self.night_count}", ""]), encoding="utf-8")
        occasion = Occasion(OccasionKind.NIGHT, utc_now().replace(microsecond=0) + timedelta(seconds=self.night_count))
        self.night_count += 1
        self.context.store.occasions.open(occasion, self.context.now())
        run_to_report(self.context, occasion)
        runs = self.context.store.pages.occasion(occasion).runs
        assert {RunState.DONE} == {run.state for run in runs}, [run.reason for run in runs]
        return occasion

    def states(self) -> list[RegressionState]:
        return [row.state for row in self.context.store.regressions.every()]


@pytest.fixture
def nights(store: Store, tmp_path: Path) -> Nights:
    config = tiny_config(tmp_path, DeviceConfig("cpu"))
    return Nights(Context(config, store, Listening(), worker_name()), tmp_path)


def told_regression(nights: Nights) -> int:
    """A Regression over the Change that the nights so far show; the judge would need more of them."""
    store = nights.context.store
    series = next(row.info for row in store.pages.series_rows() if row.info.key.metric == "tpot_s")
    occasion = nights.night(SLOW)
    points = store.judgements.history(series.id)
    before, after = points[0].value, points[-1].value
    assert after > 1.5 * before
    step = Change(1, ChangeKind.STEP, ChangeStatus.DETECTED, before, after, after / before - 1)
    store.judgements.write(series.id, occasion, points, Judgement(Verdict(Outcome.UNSURE, "two", "test", 2), (step,)), utc_now())
    (change,) = store.judgements.changes(series.id)
    number = store.regressions.open(occasion, [change.id], "tokens are slower", actor="ann", reason="seen", now=utc_now())
    assert number is not None
    return number


def test_a_pinned_regression_is_caught_on_the_night_on_which_it_is_planted_again(nights: Nights) -> None:
    nights.night(FAST)
    number = told_regression(nights)
    path, suite = pin(nights.context, number, nights.context.config.suites_folder)
    nights.context.store.regressions.move(
        number, RegressionState.DETECTED, RegressionState.FIXED, actor="ann", reason="reverted", now=utc_now()
    )

    assert (f"regression_{number}.toml", ("tiny",)) == (path.name, suite.engines)
    fixed = nights.night(FAST)
    assert {"speed", suite.name} == {run.suite for run in nights.context.store.pages.occasion(fixed).runs}
    assert [RegressionState.FIXED] == nights.states()

    planted = nights.night(SLOW)
    assert [RegressionState.FIXED, RegressionState.DETECTED] == nights.states()
    caught = nights.context.store.regressions.every()[-1]
    assert "tiny: chat chat tpot_s passes its pinned level" in caught.title
    assert planted.name == caught.occasion
    assert f"is the level that suite {suite.name} pins" in caught.events[0].reason

    nights.night(FAST)
    assert [RegressionState.FIXED, RegressionState.FIXED] == nights.states()


def test_nothing_is_pinned_twice_and_what_is_not_there_is_told(nights: Nights) -> None:
    folder = nights.context.config.suites_folder
    with pytest.raises(BadInputError, match="there is no regression 9"):
        pin(nights.context, 9, folder)

    nights.night(FAST)
    number = told_regression(nights)
    pin(nights.context, number, folder)
    with pytest.raises(BadInputError, match="is there already"):
        pin(nights.context, number, folder)
