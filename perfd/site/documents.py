"""The JSON of the API, in base units and UTC; the charts draw the same documents."""

import json
from dataclasses import fields
from typing import Any

from perfd.domain.codec import to_json
from perfd.site.numbers import scale_of
from perfd.site.reproduce import recipe
from perfd.site.rows import change_word
from perfd.site.templates import iso
from perfd.store.pages import Columns, Window
from perfd.store.records import ChangeRow, Differing, PointRow, RegressionRow, RunPage, SeriesInfo, SeriesPage, SeriesRow

DIFFERING = ("base", "base_interval", "head", "head_interval", "effect", "noise", "bar", "over_noise", "word")


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


def series(page: SeriesPage, columns: Columns, window: Window) -> str:
    """One Series in columns, as JSON text: `data` is [[x…], [value…], [low…], [high…]] with x the place in the Series, from 0."""
    scale = scale_of(page.info.metric.unit, page.extent)
    head = {
        "series": info(page.info),
        "total": columns.total,
        "from": window.start,
        "to": window.start + columns.many,
        "decimated": columns.shown < columns.many,
        "changes": [change(one, page.places[one.id]) for one in page.changes if one.id in page.places],
        "verdict": to_json(page.verdict),
        "verdict_occasion": page.verdict_occasion,
        "display": {"size": scale.size, "unit": scale.unit, "decimals": scale.decimals},
    }
    # The columns were written by Postgres and are put in as they are: thousands of Points never become Python objects.
    return f'{json.dumps(head)[:-1]}, "data": {columns.data}, "points": {columns.points}, "epochs": {columns.epochs}}}'


def change(one: ChangeRow, place: int) -> dict[str, Any]:
    """A Change that still stands, at the place of its first Point."""
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


def differing(row: Differing) -> dict[str, Any]:
    """A Series that two nights or two Builds measured."""
    return info(row.info) | {name: to_json(getattr(row, name)) for name in DIFFERING}


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
        "reproduce": to_json(recipe(page)),
    }


def regression(row: RegressionRow) -> dict[str, Any]:
    """A Regression with its members and events."""
    kept = {field.name for field in fields(row)} - {"members"}
    document: dict[str, Any] = {name: to_json(getattr(row, name)) for name in kept}
    return document | {"members": [info(one) | {"change": to_json(change)} for one, change in row.members]}
