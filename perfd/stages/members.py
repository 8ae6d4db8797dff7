"""The members of a Regression as the rules see them, and those that a re-measurement is asked about."""

from perfd.domain.metric import Metric, MetricKind
from perfd.rules.confirm import Member
from perfd.store.records import ChangeRow, RegressionRow, SeriesInfo


def is_waited_for(metric: Metric) -> bool:
    """Whether a comparison goes on for it: one start of an engine a Run says little, and is shown as what it is."""
    return metric.kind in {MetricKind.SPEED, MetricKind.QUALITY, MetricKind.STATIC} and metric.name != "ready_s"


def member_of(info: SeriesInfo, change: ChangeRow) -> Member:
    """A member as the rules see it."""
    steady = is_waited_for(info.metric)
    return Member(change.kind, info.metric.kind, change.effect, info.metric.relevant, worse=change.worse, steady=steady)


def remeasured(row: RegressionRow) -> tuple[tuple[SeriesInfo, ChangeRow], ...]:
    """The members that a re-measurement decides on: those that matter, and of these the steady ones where there are any."""
    found = [(info, change) for info, change in row.members if _is_measured(info, change)]
    steady = tuple((info, change) for info, change in found if is_waited_for(info.metric))
    return steady or tuple(found)


def _is_measured(info: SeriesInfo, change: ChangeRow) -> bool:
    return info.metric.kind is not MetricKind.STATIC and member_of(info, change).matters
