"""The tables, each with a sentence for itself and one for every column; db/README.md draws them."""

from perfd.store.tables.alarms import alarm
from perfd.store.tables.bisecting import bisect, bisect_step
from perfd.store.tables.columns import METADATA
from perfd.store.tables.judging import (
    change,
    confirmation,
    point,
    regression,
    regression_event,
    regression_member,
    series,
    track,
    verdict,
)
from perfd.store.tables.latest import series_latest
from perfd.store.tables.launching import checkpoint, launch, todo
from perfd.store.tables.measuring import (
    device,
    device_state,
    environment,
    metric,
    quarantine,
    run,
    sample,
    submission,
    suite,
    workload,
)
from perfd.store.tables.occasions import finding, occasion, occasion_build
from perfd.store.tables.people import access_token, audit_event, saved_view, token_job, web_session
from perfd.store.tables.pulls import forge_delivery, forge_post, forge_repository, pull_job, pull_request
from perfd.store.tables.subjects import build, model, revision, subject
from perfd.store.tables.work import outbox, service, worker

__all__ = [
    "METADATA",
    "access_token",
    "alarm",
    "audit_event",
    "bisect",
    "bisect_step",
    "build",
    "change",
    "checkpoint",
    "confirmation",
    "device",
    "device_state",
    "environment",
    "finding",
    "forge_delivery",
    "forge_post",
    "forge_repository",
    "launch",
    "metric",
    "model",
    "occasion",
    "occasion_build",
    "outbox",
    "point",
    "pull_job",
    "pull_request",
    "quarantine",
    "regression",
    "regression_event",
    "regression_member",
    "revision",
    "run",
    "sample",
    "saved_view",
    "series",
    "series_latest",
    "service",
    "subject",
    "submission",
    "suite",
    "todo",
    "token_job",
    "track",
    "verdict",
    "web_session",
    "worker",
    "workload",
]
