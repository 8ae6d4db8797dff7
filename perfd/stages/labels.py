"""What people call a Series."""

from perfd.store.records import SeriesInfo


def label(series: SeriesInfo) -> str:
    """A Series as people say it, its class first."""
    return f"{series.workload_class} {series.workload_name} {series.key.metric}"
