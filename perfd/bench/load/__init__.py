"""The load client: stamps bytes when they arrive, parses them afterwards, and knows its own error.

`run_load(plan)` drives any OpenAI-compatible server; `report_json(report)` is the answer of `perfd load`.
"""

from perfd.bench.load.client import run_load
from perfd.bench.load.events import EventLog, RequestOutcome, RequestTrace, read_events, write_events
from perfd.bench.load.plan import Api, Arrival, Bounds, LoadPlan, PromptKind, PromptPlan, Slo
from perfd.bench.load.report import LoadReport, report_from, report_json

__all__ = [
    "Api",
    "Arrival",
    "Bounds",
    "EventLog",
    "LoadPlan",
    "LoadReport",
    "PromptKind",
    "PromptPlan",
    "RequestOutcome",
    "RequestTrace",
    "Slo",
    "read_events",
    "report_from",
    "report_json",
    "run_load",
    "write_events",
]
