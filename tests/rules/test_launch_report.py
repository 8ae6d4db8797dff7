"""The report of a Launch from what is stored of it: means inside one class, Changes between two days, commits up to a bound."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from perfd.domain.launch import Checkpoint, Effect, LaunchFacts, ModelLaunch
from perfd.domain.occasion import OccasionState
from perfd.domain.subject import Revision
from perfd.rules.launch_changes import MOST_COMMITS
from perfd.rules.launch_report import launch_report, side_by_side

DAY_0 = datetime(2026, 12, 1, 9, tzinfo=UTC)
LAUNCH = ModelLaunch("m3", "tiny", DAY_0)
NOW = DAY_0 + timedelta(days=8)
EFFECT = Effect(
    change=1,
    series=1,
    workload="chat",
    workload_class="chat",
    metric="itl_s",
    worse=False,
    status="detected",
    effect=-0.2,
    interval=(-0.21, -0.19),
    build="b",
    revision="r",
    title="Fuse",
    ordinal=50,
    regression=None,
)


def row(kind: str, workload: str, effect: float | None, metric: str = "itl_s") -> dict[str, Any]:
    verdict = {"outcome": "better", "reason": "", "detector": "told", "n": 4, "effect": effect}
    against = {"basis": "interleaved", **verdict, "interval": None if effect is None else [effect - 0.01, effect + 0.01]}
    words = {
        "suite": "s",
        "workload": workload,
        "class": kind,
        "device_class": "cpu",
        "metric": metric,
        "unit": "s",
        "better": "lower",
    }
    numbers = {"kind": "speed", "value": 1.0, "interval": None, "n": 9, "series": 1, "run": "r", "machine": None}
    return {**words, **numbers, "against": None if effect is None else against}


def report(ordinal: int, *rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    spec = {"revision": f"{ordinal:040x}", "recipe": "script", "recipe_hash": "h", "dependencies": {}, "toolchain": {}}
    return {"spec": spec, "ordinal": ordinal, "branch": "main", "rows": list(rows), "roofline": [], "classes": {}, **more}


def facts(*, reports: dict[int, dict[str, Any]], **more: Any) -> LaunchFacts:
    days = tuple(
        Checkpoint(
            LAUNCH.name,
            day,
            LAUNCH.due_at(day),
            occasion=LAUNCH.occasion(day) if day in reports else None,
            state=OccasionState.REPORTED if day in reports else None,
            opened_at=LAUNCH.due_at(day) if day in reports else None,
        )
        for day in LAUNCH.days
    )
    return LaunchFacts(1, LAUNCH, days, reports, **more)


def test_a_mean_is_inside_one_class_and_names_what_it_is_over() -> None:
    rows = [row("chat", "short", -0.5), row("chat", "long", 1.0), row("agentic", "agent", -0.2)]
    told = launch_report(facts(reports={0: report(1), 7: report(2, *rows)}), NOW)

    chat, agentic = told["classes"]
    (mean,) = chat["means"]
    assert ("chat", "itl_s", ["long", "short"]) == (chat["class"], mean["metric"], mean["over"])
    assert 0.0 == pytest.approx(mean["days"]["7"]["effect"])
    assert ("agentic", []) == (agentic["class"], agentic["means"])


def test_a_mean_over_less_than_its_set_is_not_told() -> None:
    told = launch_report(facts(reports={7: report(2, row("chat", "short", -0.5), row("chat", "long", None))}), NOW)

    assert [] == told["classes"][0]["means"]


def test_only_changes_between_two_reported_days_are_told_the_largest_first() -> None:
    effects = tuple(
        replace(EFFECT, change=number, ordinal=ordinal, effect=effect)
        for number, (ordinal, effect) in enumerate([(10, -0.9), (11, -0.1), (20, -0.3), (21, -0.9)])
    )
    told = launch_report(facts(reports={0: report(10), 7: report(20)}, effects=effects), NOW)

    assert [(2, [0, 7]), (1, [0, 7])] == [(one["change"], one["between"]) for one in told["brought"]]


def test_commits_between_two_days_are_counted_and_the_newest_shown() -> None:
    revisions = tuple(Revision(f"{number:040x}", number, title=f"Commit {number}") for number in range(100))
    (span,) = launch_report(facts(reports={0: report(10), 7: report(90)}, revisions=revisions), NOW)["changed"]

    assert (80, MOST_COMMITS) == (span["commits_total"], len(span["commits"]))
    assert ["Commit 90", "Commit 89"] == [one["title"] for one in span["commits"][:2]]


def test_side_by_side_each_launch_is_held_against_its_own_first_day() -> None:
    one = launch_report(facts(reports={0: report(1, row("chat", "short", None)), 7: report(2, row("chat", "short", -0.5))}), NOW)
    other = launch_report(facts(reports={0: report(1, row("agentic", "agent", None))}), NOW)

    lines = {line["workload"]: line["launches"] for line in side_by_side([one, other])}
    assert (7, -0.5, None) == (lines["short"][0]["day"], lines["short"][0]["against"]["effect"], lines["short"][1])
    assert (None, 0, None) == (lines["agent"][0], lines["agent"][1]["day"], lines["agent"][1]["against"])


def test_a_sentence_says_where_a_launch_stands() -> None:
    held = report(2, classes={"chat": {"outcome": "worse"}}, quality={"floor": "kept", "reason": ""})

    assert (
        "Day 7 against day 0: chat worse; the floor of quality is kept."
        == launch_report(facts(reports={7: held}), NOW)["sentence"]
    )
    assert "Nothing is reported yet; day 0 is missed." == launch_report(facts(reports={}), NOW)["sentence"]
    assert "Nothing is reported yet; day 0 is to come." == launch_report(facts(reports={}), DAY_0)["sentence"]
