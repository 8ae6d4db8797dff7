"""Many Series in one night."""

from perfd.domain.verdict import Change, ChangeKind, ChangeStatus
from perfd.rules.discoveries import control


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
