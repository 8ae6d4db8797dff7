"""The JSON of the API, in base units and UTC; the charts draw the same documents."""

from collections.abc import Sequence
from typing import Any

from perfd.domain.codec import to_json
from perfd.site.numbers import scale_of
from perfd.site.rows import change_word
from perfd.site.templates import iso
from perfd.store.records import ChangeRow, PointRow, RunPage, SeriesInfo, SeriesPage, SeriesRow


def info(one: SeriesInfo) -> dict[str, Any]:
    """What a Series is."""
    return {
        "id": one.id,
        "fingerprint": one.key.fingerprint,
        "subject": one.key.subject,
        "subject_kind": one.subject_kind.value,
        "branch": one.key.branch,
        "suite": one.suite,
        "workload": one.workload_name,
        "workload_identity": one.key.workload,
        "class": one.workload_class.value,
        "metric": one.metric.name,
        "unit": one.metric.unit,
        "better": one.metric.better.value,
        "model": one.key.model,
        "quantisation": one.key.quantisation,
        "parallelism": one.key.parallelism,
        "device_class": one.key.device_class,
    }


def line(row: SeriesRow) -> dict[str, Any]:
    """A Series with its latest Points and its last Verdict."""
    return info(row.info) | {
        "latest": point(row.latest),
        "previous": point(row.previous) if row.previous else None,
        "verdict": to_json(row.verdict),
        "values": list(row.values),
    }


def point(row: PointRow) -> dict[str, Any]:
    """One Point with its place."""
    one = row.point
    return {
        "value": one.value,
        "interval": list(one.interval) if one.interval else None,
        "n": one.n,
        "run": one.run,
        "build": one.build,
        "revision": one.revision,
        "ordinal": one.ordinal,
        "title": row.title,
        "occasion": one.occasion,
        "measured_at": iso(one.measured_at),
        "host": row.host,
    }


def series(page: SeriesPage) -> dict[str, Any]:
    """One Series in columns: `data` is [[x…], [value…], [low…], [high…]] with x the place in the Series, from 0."""
    rows = page.points
    points = [row.point for row in rows]
    return {
        "series": info(page.info),
        "data": [
            list(range(len(points))),
            [one.value for one in points],
            [one.interval[0] if one.interval else None for one in points],
            [one.interval[1] if one.interval else None for one in points],
        ],
        "points": {
            "run": [one.run for one in points],
            "build": [one.build for one in points],
            "revision": [one.revision for one in points],
            "ordinal": [one.ordinal for one in points],
            "title": [row.title for row in rows],
            "measured_at": [iso(one.measured_at) for one in points],
            "occasion": [one.occasion for one in points],
            "host": [row.host for row in rows],
            "n": [one.n for one in points],
        },
        "changes": [change for one in page.changes if (change := _change(one, rows)) is not None],
        "epochs": epochs(rows),
        "verdict": to_json(page.verdict),
        "verdict_occasion": page.verdict_occasion,
    }


def chart(page: SeriesPage) -> dict[str, Any]:
    """The same, with how its numbers are shown."""
    scale = scale_of(page.info.metric.unit, [row.point.value for row in page.points])
    return series(page) | {"display": {"size": scale.size, "unit": scale.unit, "decimals": scale.decimals}}


def _change(one: ChangeRow, rows: Sequence[PointRow]) -> dict[str, Any] | None:
    """A Change that still stands, at the place of its first Run."""
    place = next((index for index, row in enumerate(rows) if row.point.run == one.run), None)
    if place is None or one.gone_at is not None:
        return None
    return {
        "index": place,
        "kind": one.kind.value,
        "status": one.status.value,
        "word": change_word(one),
        "before": one.before,
        "after": one.after,
        "effect": one.effect,
        "interval": list(one.interval) if one.interval else None,
        "build": one.build,
        "revision": one.revision,
        "regression": one.regression_id,
    }


def epochs(rows: Sequence[PointRow]) -> list[dict[str, Any]]:
    """Where hardware, or driver and libraries, differ from the Point before."""
    found = []
    for index in range(1, len(rows)):
        before, after = rows[index - 1].point, rows[index].point
        if before.hardware_hash != after.hardware_hash:
            found.append({"index": index, "word": "other hardware or clocks"})
        elif before.epoch != after.epoch:
            found.append({"index": index, "word": "other driver or libraries"})
    return found


def run(page: RunPage) -> dict[str, Any]:
    """One Run with its raw Samples."""
    return {
        "run": to_json(page.run),
        "workload": to_json(page.workload) | {"identity": page.workload.identity},
        "build": to_json(page.spec) | {"digest": page.spec.digest},
        "environment": to_json(page.environment),
        "device_states": to_json(page.device_states),
        "samples": to_json(page.samples),
        "points": {metric: {"series": series_id} | to_json(one) for metric, (series_id, one) in page.points.items()},
        "log_tail": page.log_tail,
        "harness_version": page.harness_version,
        "definitions_version": page.definitions_version,
        "extra": to_json(page.extra),
    }
