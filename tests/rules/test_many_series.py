"""Many Series in one night, and groups by Build."""

from perfd.domain.metric import METRICS
from perfd.domain.verdict import Change, ChangeKind, ChangeStatus
from perfd.rules.night import Member, control, group_changes


def change(p: float, effect: float = 0.05, kind: ChangeKind = ChangeKind.STEP) -> Change:
    return Change(10, kind, ChangeStatus.DETECTED, 1.0, 1.0 + effect, effect, None, p, 13)


def test_one_weak_change_among_many_series_waits_and_a_strong_one_is_told() -> None:
    told = control({"weak": change(1e-4), "strong": change(1e-9)}, series=10_000)

    assert ChangeStatus.SUSPECT == told["weak"].status
    assert ChangeStatus.DETECTED == told["strong"].status
    assert told["strong"].q is not None
    assert told["strong"].q <= 0.1


def test_one_series_alone_pays_nothing_for_others() -> None:
    assert ChangeStatus.DETECTED == control({"only": change(1e-3)}, series=1)["only"].status


def test_changes_at_one_build_are_one_group_strongest_first_with_improvements_and_bumps() -> None:
    slow, fast = METRICS["tpot_s"], METRICS["output_tokens_per_s"]
    members = [
        Member("a", slow, "b1", change(1e-5, 0.05), noise=0.02),
        Member("b", slow, "b1", change(1e-5, 0.03), noise=0.001),
        Member("c", fast, "b1", change(1e-5, 0.04), noise=0.01),
        Member("d", slow, "b1", change(1e-5, 0.09, ChangeKind.MODE), noise=0.01),
    ]

    (group,) = group_changes(members, {"b1": ({"torch": "2.12.0"}, {"torch": "2.13.0"})})

    assert ["b", "a"] == [one.series for one in group.worse]
    assert ["c"] == [one.series for one in group.better]
    assert ("torch 2.12.0 to 2.13.0",) == group.suspects
