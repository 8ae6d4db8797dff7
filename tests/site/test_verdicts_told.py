"""Every Verdict that has enough Points says, wherever it is told, what it was held to."""

import csv
import io
import re

import httpx

from perfd.domain.metric import METRICS

HELD = ("effect", "interval", "bar", "q", "n", "noise", "mde")
SHOWN = (
    "Judged by",
    "Effect",
    "Bar",
    "q, among all Series",
    "Noise from night to night",
    "Smallest effect found with 90 % power",
)


def judged(filled: httpx.Client) -> list[dict[str, object]]:
    rows = filled.get("/api/v1/series").json()["series"]
    return [row for row in rows if row["verdict"] and row["verdict"]["effect"] is not None]


def test_the_api_the_page_and_the_export_tell_all_that_a_verdict_was_held_to(filled: httpx.Client) -> None:
    told = judged(filled)
    exported = {row["series"]: row for row in csv.DictReader(io.StringIO(filled.get("/series.csv").text))}

    assert told
    for row in told:
        verdict = row["verdict"]
        assert isinstance(verdict, dict)
        assert all(verdict[name] is not None for name in HELD), row["id"]
        assert {"4", "7", "14"} == set(verdict["mde"])
        line = exported[str(row["id"])]
        assert [float(line[f"mde_{nights}"]) for nights in (4, 7, 14)] == [verdict["mde"][nights] for nights in ("4", "7", "14")]
        assert all(line[name] for name in ("verdict", "effect", "effect_low", "effect_high", "bar", "q", "noise", "judged_on"))
    page = re.sub(r"\s+", " ", filled.get(f"/series/{told[0]['id']}").text)
    assert [] == [word for word in SHOWN if word not in page]


def test_same_is_said_only_where_the_interval_excludes_the_relevant_effect(filled: httpx.Client) -> None:
    same = [row for row in judged(filled) if row["verdict"]["outcome"] == "same"]  # type: ignore[index]

    assert same
    for row in same:
        low, high = row["verdict"]["interval"]  # type: ignore[index]
        relevant = max(METRICS[str(row["metric"])].relevant, 1e-5)
        assert -relevant <= low <= high <= relevant
