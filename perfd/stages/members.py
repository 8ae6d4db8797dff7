"""The members of a Regression as the rules see them, and those that a re-measurement is asked about."""

from perfd.domain.metric import Metric, MetricKind
from perfd.rules.confirm import Member
from perfd.store.records import ChangeRow, RegressionRow, SeriesInfo

MOST = 2
"""Members of one Workload that a re-measurement decides on."""


def is_waited_for(metric: Metric) -> bool:
    """Whether a comparison goes on for it: one start of an engine a Run says little, and is shown as what it is."""
    return metric.kind in {MetricKind.SPEED, MetricKind.QUALITY, MetricKind.STATIC} and metric.name != "ready_s"


def member_of(info: SeriesInfo, change: ChangeRow) -> Member:
    """A member as the rules see it."""
    steady = is_waited_for(info.metric)
    return Member(change.kind, info.metric.kind, change.effect, info.metric.relevant, worse=change.worse, steady=steady)


def strength(member: tuple[SeriesInfo, ChangeRow]) -> float:
    """The effect over half the width of its interval: how far it stands out of the noise."""
    _, change = member
    half = (change.interval[1] - change.interval[0]) / 2.0 if change.interval else 1.0
    return abs(change.effect) / max(half, 1e-6)


def remeasured(row: RegressionRow) -> tuple[tuple[SeriesInfo, ChangeRow], ...]:
    """The members that a re-measurement decides on, the strongest first.

    Those that matter, the steady ones where there are any, and of one Workload two: e2e and tokens/s mostly say once more, with
    more noise, what itl has said, and would keep a comparison going for long.
    """
    found = [(info, change) for info, change in row.members if _is_measured(info, change)]
    steady = [(info, change) for info, change in found if is_waited_for(info.metric)]
    ranked = sorted(steady or found, key=strength, reverse=True)
    chosen: dict[tuple[str, str, str], list[tuple[SeriesInfo, ChangeRow]]] = {}
    for info, change in ranked:
        chosen.setdefault((info.key.workload, info.key.model, info.key.device_class), []).append((info, change))
    return tuple(one for one in ranked if any(one in members[:MOST] for members in chosen.values()))


def _is_measured(info: SeriesInfo, change: ChangeRow) -> bool:
    return info.metric.kind is not MetricKind.STATIC and member_of(info, change).matters
