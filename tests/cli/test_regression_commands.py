"""`perfd regression`: a person lists, reads, answers and pins what a night has found."""

import json
import sys
from pathlib import Path

from small_night import SmallNight

sys.path.append(str(Path(__file__).parents[1] / "store"))  # store_world serves here too
from store_world import World, night

from perfd.domain.verdict import Change, ChangeKind, ChangeStatus, Judgement, Outcome, Verdict
from perfd.store import Store, make_engine


def slower(store: Store) -> None:
    """Two nights, and the Regression between them."""
    world = World(store)
    for value in (1.0, 1.3):
        world.measured_night(value)
    (series,) = store.pages.series_rows()
    step = Change(1, ChangeKind.STEP, ChangeStatus.DETECTED, 1.0, 1.3, 0.3)
    verdict = Verdict(Outcome.UNSURE, "two nights", "test", 2)
    store.judgements.write(
        series.info.id, night(1), store.judgements.history(series.info.id), Judgement(verdict, (step,)), world.now
    )
    (change,) = store.judgements.changes(series.info.id)
    store.regressions.open(night(1), [change.id], "chat is slower", actor="judge", reason="seen", now=world.now)


def test_a_regression_is_listed_read_answered_and_every_step_has_its_actor(small_night: SmallNight) -> None:
    engine = make_engine(small_night.environment["PERFD_DATABASE_URL"])
    slower(Store(engine))
    engine.dispose()

    listed = small_night.run("regression", "list", "--json")
    assert listed.returncode == 1
    assert [one["title"] for one in json.loads(listed.stdout)["regressions"]] == ["chat is slower"]

    owned = small_night.run("regression", "move", "1", "owned", "--reason", "mine", "--actor", "ann", "--owner", "bob", "--json")
    told = json.loads(owned.stdout)
    assert (told["state"], told["owner"], told["events"][-1]["actor"]) == ("owned", "bob", "ann")
    (member,) = told["members"]
    assert (member["before"], member["after"], member["unit"]) == (1.0, 1.3, "s")

    refused = small_night.run("regression", "move", "1", "duplicate", "--reason", "again")
    assert (refused.returncode, "a duplicate says of which Regression with --of N" in refused.stderr) == (3, True)
    assert small_night.run("regression", "move", "1", "accepted", "--reason", "wanted").returncode == 0
    shown = small_night.run("regression", "show", "1").stdout
    assert "regression 1, accepted, owner bob: chat is slower" in shown
    assert "accepted, wanted" in shown
    left = small_night.run("regression", "list")
    assert (left.returncode, "No Regression must be answered;" in left.stdout) == (0, True)
    unknown = small_night.run("regression", "pin", "7")
    assert (unknown.returncode, "there is no regression 7" in unknown.stderr) == (3, True)
