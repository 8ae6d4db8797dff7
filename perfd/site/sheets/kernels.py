"""Kernels: what the compiler, the interpreter or a GPU said of each, a line a Metric and architecture, type or shape."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from perfd.domain.metric import MetricKind
from perfd.domain.subject import SubjectKind
from perfd.domain.suite import WorkloadClass
from perfd.store import SeriesFilter, Store
from perfd.store.records import SeriesRow

KERNELS = SeriesFilter(workload_class=WorkloadClass.KERNEL.value)


@dataclass(frozen=True)
class KernelLine:
    """The latest Point of one Metric of a Kernel."""

    kernel: str
    section: str
    """static (compiled), values (held against float64) or timing (on a GPU)."""
    column: str
    """The architecture, the element type or the shape."""
    metric: str
    unit: str
    better: str
    device_class: str
    value: float
    low: float | None
    high: float | None
    n: int
    previous: float | None
    of_roofline: float | None
    """The share of the roofline, from 0 to 1; for times on a GPU whose peak is known."""
    noise: float | None
    """Relative standard deviation from night to night; for times."""
    verdict: str | None
    series: int
    run: str
    revision: str
    measured_at: datetime


def kernel_rows(store: Store) -> tuple[list[SeriesRow], Mapping[int, float]]:
    """The Series of all Kernels, and by Run of a timed one its share of the roofline."""
    rows = [row for row in store.pages.series_rows(KERNELS) if row.info.subject_kind is SubjectKind.KERNEL]
    timed = [row.latest.run_id for row in rows if row.info.metric.kind is MetricKind.SPEED]
    return rows, store.pages.of_floor(timed)


def place(row: SeriesRow) -> tuple[str, str]:
    """Section and column of a Series: Workloads of Kernels are named "op/static/sm_90"."""
    parts = row.info.workload_name.split("/", 2)
    return (parts[1], parts[2]) if len(parts) == 3 else ("other", row.info.workload_name)


def lines(store: Store) -> Iterator[KernelLine]:
    """Every number of every Kernel, by Kernel, section and column."""
    rows, of_roofline = kernel_rows(store)
    ordered = sorted(rows, key=lambda row: (row.info.key.subject, *place(row), row.info.metric.name, row.info.id))
    return (_line(row, place(row), of_roofline) for row in ordered)


def _line(row: SeriesRow, place: tuple[str, str], of_roofline: Mapping[int, float]) -> KernelLine:
    info, point = row.info, row.latest.point
    timed = info.metric.kind is MetricKind.SPEED
    low, high = point.interval or (None, None)
    return KernelLine(
        kernel=info.key.subject,
        section=place[0],
        column=place[1],
        metric=info.metric.name,
        unit=info.metric.unit,
        better=info.metric.better.value,
        device_class=info.key.device_class,
        value=point.value,
        low=low,
        high=high,
        n=point.n,
        previous=row.previous.point.value if row.previous else None,
        of_roofline=of_roofline.get(row.latest.run_id) if timed else None,
        noise=row.verdict.noise if timed and row.verdict else None,
        verdict=row.verdict.outcome.value if row.verdict else None,
        series=info.id,
        run=point.run,
        revision=point.revision,
        measured_at=point.measured_at,
    )
