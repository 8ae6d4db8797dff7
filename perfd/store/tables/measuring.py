"""What was measured: Workloads, devices, Environments, Runs and their raw Samples."""

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from perfd.domain.metric import Better, MetricKind, Reduction
from perfd.domain.run import Arm, FailureKind, RunState
from perfd.domain.suite import WorkloadClass
from perfd.store.tables.columns import METADATA, document, identity, large, moment, number, one_of, reference, text, whole

suite = Table(
    "suite",
    METADATA,
    identity(),
    text("name", "The name of its file in suites/.", unique=True),
    text("question", "The question that its Workloads were chosen for.", default=""),
    comment="Workloads chosen together for a question.",
)

workload = Table(
    "workload",
    METADATA,
    identity(),
    text("identity", "The natural key: sha256 over suite, name, class, parameters, seed and data.", unique=True),
    reference("suite_id", "suite", "The suite it belongs to."),
    text("name", "Its name inside the suite."),
    text("class", "Kind of load; numbers of two classes are never averaged."),
    document("parameters", "What it does, in full."),
    large("seed", "Seed of everything random in it."),
    text("data_hash", "sha256 over its data files; empty where it reads none.", default=""),
    number("time_limit_s", "A measuring child that has not ended by then is killed."),
    text("question", "What it is measured for.", default=""),
    one_of("class", WorkloadClass),
    comment="One reproducible load.",
)

metric = Table(
    "metric",
    METADATA,
    identity(),
    text("name", "Its name, with the unit in it where it has one.", unique=True),
    text("unit", "The unit of its Samples."),
    text("better", "Which way is better: higher or lower."),
    text("kind", "speed, quality, resource or static."),
    text("reduction", "How Samples become a Point: median or mean."),
    number("relevant", "The smallest relative effect that matters to a person: 0.02 is 2 %."),
    text("sentence", "Its definition, in one sentence.", default=""),
    one_of("better", Better),
    one_of("kind", MetricKind),
    one_of("reduction", Reduction),
    comment="A measured quantity: name, unit, and which way is better.",
)

device = Table(
    "device",
    METADATA,
    identity(),
    text("host", "The machine's name."),
    text("name", "Unique on its host: cpu, or a GPU's UUID."),
    text("device_class", "What makes two devices interchangeable."),
    moment("looked_at", "When a worker last looked whether a Run may begin; NULL if none did.", null=True),
    text("refusal", "Why no Run may begin for now, as a sentence; empty where one may.", default=""),
    moment("refused_since", "Since when it is refused; NULL where it is not.", null=True),
    moment("good_at", "When a Run on it last ended with nothing wrong with it: its last good check; NULL before one.", null=True),
    document("spoilt", "The Runs in a row that it has spoilt, as JSON: run, at, reason.", default="[]"),
    UniqueConstraint("host", "name", "device_class"),
    comment="One thing that can be measured on, one Run at a time.",
)

environment = Table(
    "environment",
    METADATA,
    identity(),
    text("hash", "The natural key: sha256 over host, device, hardware and software.", unique=True),
    reference("device_id", "device", "The device it describes."),
    text("hardware_hash", "Equal for Runs whose numbers may be compared: hardware identity and clock policy."),
    document("hardware", "CPU model, cores, memory, GPU model."),
    text("clock_policy", "Governor and turbo, or locked GPU clocks, or unknown."),
    document("software", "Driver, kernel, libc, torch, triton, the engine's dependencies."),
    text("epoch", "sha256 over `software`: a new epoch is judged, and named as a suspect."),
    comment="Machine, device, clock policy, driver and library versions of Runs.",
)

run = Table(
    "run",
    METADATA,
    identity(),
    text("key", "The natural key: sha256 over Build, Workload, Model, device class, occasion, arm and block.", unique=True),
    reference("occasion_id", "occasion", "Why it is made."),
    reference("build_id", "build", "The Build that is measured."),
    reference("workload_id", "workload", "The load it is put under."),
    reference("model_id", "model", "The Model that is served; NULL for kernels.", null=True),
    text("quantisation", "Quantisation of the Model; empty for kernels.", default=""),
    text("parallelism", "Parallelism of the Model; empty for kernels.", default=""),
    text("device_class", "The class of device it must be measured on."),
    text("arm", "only, or which side of a comparison: base or head.", default="only"),
    whole("block", "Place in the ABBA order of a comparison, from 0.", default=0),
    text("state", "queued, claimed, done, failed or void.", default="queued"),
    text("failure", "Why it has no Samples that count; NULL unless it failed or is void.", null=True),
    text("reason", "One sentence on a failure or a void; empty otherwise.", default=""),
    text("log_tail", "The last lines of the engine's or the child's log after a failure.", default=""),
    whole("attempts", "How often it was claimed.", default=0),
    large("token", "Fencing token, raised by every claim; a worker with an older one is refused.", default=0),
    text("claimed_by", "Who measures it now: host:pid:starttime; NULL when nobody does.", null=True),
    moment("lease_until", "When its worker counts as gone; NULL when nobody measures it.", null=True),
    moment("not_before", "It is not claimed again before then; NULL when it may be at once.", null=True),
    reference("device_id", "device", "The device it was measured on; NULL until then.", null=True),
    reference("environment_id", "environment", "The Environment it was measured in; NULL until then.", null=True),
    reference("quarantine_id", "quarantine", "The quarantine that made it void; NULL unless one did.", null=True),
    moment("queued_at", "When it was planned."),
    moment("ranks_at", "Its place in the queue: queued_at less the head start of what it is for; NULL: queued_at.", null=True),
    document("tries", "What earlier tries came to, oldest first: when, by whom, which failure, why.", default="[]"),
    number("lost_s", "Device seconds of tries that gave no result; NULL where there were none.", null=True),
    moment("started_at", "When measuring began; NULL if it never did.", null=True),
    moment("finished_at", "When it was done, failed or void; NULL until then.", null=True),
    text("harness_version", "Version of perfd that measured it.", default=""),
    text("definitions_version", "Version of the definitions of its Metrics.", default=""),
    text(
        "results_digest",
        "sha256 of the results that were stored; NULL until then. The same results twice change nothing.",
        null=True,
    ),
    document("extra", "What a reader may want and no table holds: offered load, client calibration, token counts."),
    one_of("arm", Arm),
    one_of("state", RunState),
    one_of("failure", FailureKind),
    CheckConstraint("(state IN ('failed', 'void')) = (failure IS NOT NULL)", name="failed_says_why"),
    CheckConstraint("(state = 'claimed') = (claimed_by IS NOT NULL)", name="claimed_by_someone"),
    CheckConstraint("(state = 'claimed') = (lease_until IS NOT NULL)", name="claimed_has_lease"),
    CheckConstraint("(state IN ('queued', 'claimed')) = (finished_at IS NULL)", name="finished_has_time"),
    CheckConstraint("state <> 'done' OR environment_id IS NOT NULL", name="done_has_environment"),
    CheckConstraint("quarantine_id IS NULL OR state = 'void'", name="quarantined_is_void"),
    Index("ix_run_queued", "device_class", "queued_at", "id", postgresql_where=sql("state = 'queued'")),
    Index("ix_run_claimed", "lease_until", postgresql_where=sql("state = 'claimed'")),
    Index(None, "occasion_id", "state"),
    Index(None, "build_id"),
    Index(None, "device_id", "finished_at"),
    Index(None, "quarantine_id"),
    comment="One Workload on one Build on one device, once.",
)

quarantine = Table(
    "quarantine",
    METADATA,
    identity("The number in its device's page."),
    reference("device_id", "device", "The device; what it measured under other classes is meant too."),
    moment("opened_at", "When it was opened."),
    moment("since", "What the device finished from then on is void: its last good check, or its first bad one."),
    text("actor", "The person, or the named rule, that opened it."),
    text("reason", "Why, in a sentence that says what to do."),
    document("evidence", "What was seen: facts, Runs, comparisons."),
    moment("released_at", "When a person released the device; NULL while it lasts.", null=True),
    text("released_by", "Who released it; empty while it lasts.", default=""),
    text("release_reason", "What was done about it; empty while it lasts.", default=""),
    reference("again_id", "occasion", "The occasion that measures again what became void; NULL until it is planned.", null=True),
    CheckConstraint("(released_at IS NULL) = (released_by = '')", name="released_by_someone"),
    Index("uq_quarantine_open", "device_id", unique=True, postgresql_where=sql("released_at IS NULL")),
    Index(None, "again_id"),
    comment="A span in which a device was not to be trusted, with the evidence.",
)

device_state = Table(
    "device_state",
    METADATA,
    reference("run_id", "run", "The Run during which it was looked at.", key=True),
    whole("place", "Which look it was, from 0.", key=True),
    moment("at", "When it was looked at."),
    document("facts", "Clocks, temperature, load, neighbours; units stand in the names."),
    comment="What clocks, temperatures and neighbours did during a Run.",
)

sample = Table(
    "sample",
    METADATA,
    reference("run_id", "run", "The Run that measured it.", key=True),
    reference("metric_id", "metric", "What was measured.", key=True),
    whole("place", "Which Sample of this Metric it is, in the order measured, from 0.", key=True),
    moment("measured_at", "When its Run began: the month decides the partition.", key=True),
    number("value", "The measured number, in the Metric's unit."),
    comment="One measured number; raw, never changed, partitioned by month.",
    postgresql_partition_by="RANGE (measured_at)",
)
