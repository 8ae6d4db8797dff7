"""One Run: what it measured, where, with what outcome, and how to run it again."""

import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response

from perfd.domain.environment import DeviceState, Environment
from perfd.domain.results import MetricSamples
from perfd.domain.suite import WorkloadClass
from perfd.site import sentences, submissions
from perfd.site.drawing import strip
from perfd.site.fresh import this_minute
from perfd.site.numbers import scale_of
from perfd.site.parameters import digest
from perfd.site.reproduce import reproduce
from perfd.site.site import Here, Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store.records import RunPage

router = APIRouter()
MOST_RAW = 400
"""Raw Samples of one Metric that the page writes out; the JSON has them all."""
MOST_STATES = 60
MOST_WORDS = 8
"""Columns of the device-state table."""
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
"""What a chart and a long table call a Run: they would wait for thousands of keys of 64 digits."""


@dataclass(frozen=True)
class MetricLine:
    """The Samples of one Metric, as one line."""

    metric: str
    series: int | None
    n: int
    median: str
    least: str
    low: str
    high: str
    most: str
    unit: str
    strip: Markup
    raw: str
    cut: int


@router.get("/runs/{key}")
def run(request: Request, key: str, site: Here) -> Response:
    """The page of one Run; who comes with its number is sent to its one address."""
    page = find(site, key)
    if key != page.run.key:
        return RedirectResponse(f"/runs/{page.run.key}")
    return this_minute(request, lambda: _page(site, page), alike=True)


def _page(site: Site, page: RunPage) -> HTMLResponse:
    command, note = reproduce(page)
    row = page.run
    took_s = (row.finished_at - row.started_at).total_seconds() if row.finished_at and row.started_at else None
    words, states = device_states(page.device_states, row.started_at)
    return site.pages.show(
        "run.html",
        sentence=sentences.run(page),
        run={name: getattr(row, name) for name in row.__dataclass_fields__} | {"log_tail": page.log_tail},
        command=command,
        command_note=note,
        metrics=[metric_line(one, page) for one in page.samples],
        facts=_facts(page),
        took_s=took_s,
        environment=environment_facts(page.environment) if page.environment else None,
        device=site.store.devices.id_of(page.environment.device) if page.environment else None,
        state_words=words,
        states=states,
        tries=submissions.tries(site.store.submissions.of_run(row.id)) if row.workload_class is WorkloadClass.LONG_RUN else [],
        extra=flat(page.extra),
    )


def find(site: Site, key: str) -> RunPage:
    """The Run with that key, or that number; raises NotHereError where there is none."""
    page = site.store.pages.run_page(key if _NUMBER.fullmatch(key) else digest(key, "Run"))
    if page is None:
        raise NotHereError(f"There is no Run {key[:12]}.")
    return page


def metric_line(samples: MetricSamples, page: RunPage) -> MetricLine:
    """The line of one Metric; its numbers share one scale."""
    values = samples.values
    scale = scale_of(samples.unit, values)
    ordered = sorted(values)
    found = page.points.get(samples.name)
    title = (
        f"{len(values)} Samples from {scale.text(ordered[0])} to {scale.text(ordered[-1])} {short(scale.unit, 24)}"
        if values
        else ""
    )
    return MetricLine(
        samples.name,
        found[0] if found else None,
        len(values),
        scale.text(statistics.median(values) if values else None),
        scale.text(ordered[0] if values else None),
        scale.text(_quantile(ordered, 0.05)),
        scale.text(_quantile(ordered, 0.95)),
        scale.text(ordered[-1] if values else None),
        scale.unit,
        strip(values, title),
        "  ".join(scale.text(value) for value in values[:MOST_RAW]),
        max(0, len(values) - MOST_RAW),
    )


def _quantile(ordered: list[float], share: float) -> float | None:
    """Linear between the two nearest, as docs/metrics.md defines percentiles."""
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def environment_facts(environment: Environment) -> list[tuple[str, str]]:
    """The Environment as pairs: device, clock policy, hardware, then software."""
    device = environment.device
    return [
        ("host", device.host),
        ("device", f"{device.name} ({device.device_class})"),
        ("clock policy", environment.clock_policy),
        *sorted((word, str(value)) for word, value in environment.hardware.items()),
        *sorted((word, str(value)) for word, value in environment.software.items()),
    ]


def device_states(states: tuple[DeviceState, ...], began: datetime | None) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Column words, and a line for each look at the device (seconds after it began); long Runs are thinned evenly."""
    step = max(1, -(-len(states) // MOST_STATES))
    shown = states[::step]
    words = sorted({word for state in shown for word in state.facts})[:MOST_WORDS]
    return words, [(_after(state.at, began), [_word(state.facts.get(word)) for word in words]) for state in shown]


def _after(at: datetime, began: datetime | None) -> str:
    return f"{(at - began).total_seconds():.1f}" if began else "\u2013"


def flat(document: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested JSON as dotted names with their values."""
    pairs: list[tuple[str, str]] = []
    for word, value in sorted(document.items()):
        name = f"{before}{word}"
        if isinstance(value, Mapping):
            pairs += flat(value, f"{name}.")
        else:
            pairs.append((name, _word(value)))
    return pairs


def _word(value: Any) -> str:
    if value is None:
        return "\u2013"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _try(one: Mapping[str, str]) -> str:
    """A try that gave no result: why, on which worker, and when."""
    return f"{one['failure'].replace('_', ' ')}: {one['reason']} ({one['by']}, {one['at'][:16]})"


def _facts(page: RunPage) -> list[tuple[str, str]]:
    row, workload = page.run, page.workload
    told = [
        ("Workload", f"{row.workload} of suite {row.suite}, class {row.workload_class.value}"),
        ("Question", workload.question),
        ("Parameters", ", ".join(f"{word} = {value}" for word, value in flat(workload.parameters))),
        ("Seed", str(workload.seed)),
        ("Data hash", workload.data_hash),
        ("Model", " ".join(part for part in (row.model, row.quantisation) if part)),
        ("Parallelism", row.parallelism),
        ("Device class", row.device_class),
        ("Arm and block", f"{row.arm.value}, block {row.block}" if row.arm.value != "only" else ""),
        ("Attempts", str(row.attempts)),
        *((f"Try {number}", _try(one)) for number, one in enumerate(page.tries, 1)),
        ("Harness and definitions", f"{page.harness_version or 'unknown'} and {page.definitions_version or 'unknown'}"),
    ]
    return [(word, value) for word, value in told if value]
