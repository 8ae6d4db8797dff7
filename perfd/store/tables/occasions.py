"""Why Runs are made: nights, Checkpoints, comparisons; what each built, and what went wrong outside any Run."""

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from perfd.domain.occasion import OccasionState
from perfd.domain.run import OccasionKind
from perfd.store.tables.columns import METADATA, document, identity, moment, number, one_of, reference, text, truth

occasion = Table(
    "occasion",
    METADATA,
    identity(),
    text("name", "The natural key, such as night:2026-11-29T02:00:00Z.", unique=True),
    text("kind", "night, checkpoint, compare, aa or import."),
    text("label", "Tells occasions of one kind and time apart.", default=""),
    moment("nominal_at", "When it was due; a night that was caught up keeps its nominal time."),
    text("state", "due, watched, planned, judged or reported.", default="due"),
    moment("opened_at", "When it was entered here."),
    moment("moved_at", "When its state last changed."),
    moment("closed_at", "When it was reported; NULL until then.", null=True),
    text("harness", "Version of perfd that planned it: only its like measures it; empty: any.", default=""),
    document("report", "What was reported, as JSON; NULL until then.", default=None, null=True),
    one_of("kind", OccasionKind),
    one_of("state", OccasionState),
    CheckConstraint("(state = 'reported') = (closed_at IS NOT NULL)", name="reported_is_closed"),
    Index("ix_occasion_open", "state", "nominal_at", postgresql_where=sql("state <> 'reported'")),
    Index(None, "kind", "nominal_at"),
    comment="A night, a Checkpoint, a comparison or an import: the reason why Runs are made.",
)

occasion_build = Table(
    "occasion_build",
    METADATA,
    reference("occasion_id", "occasion", "The occasion that needs the Build.", key=True),
    reference("build_id", "build", "The Build.", key=True),
    reference("revision_id", "revision", "The Revision as this occasion sees it: on its branch, at its ordinal."),
    truth("cached", "Whether the Build was there already and nothing was compiled for this occasion."),
    number("seconds", "How long building (or finding) it took; NULL until it is known.", null=True),
    text("state", "What this occasion got: queued, building, built or failed.", default="queued"),
    Index(None, "build_id"),
    comment="What an occasion built, or found already built.",
)

finding = Table(
    "finding",
    METADATA,
    identity(),
    reference("occasion_id", "occasion", "The occasion in which it was seen."),
    text("stage", "The stage that saw it."),
    text("subject", "What it is about: a subject's name, or empty."),
    text("sentence", "What was seen, what was expected, what to do."),
    text("log_tail", "The last lines of the log that shows it.", default=""),
    text("key", "sha256 over stage, subject and sentence, so that the same finding stands once."),
    moment("at", "When it was first seen."),
    UniqueConstraint("occasion_id", "key"),
    comment="Something that went wrong and belongs to no Run or Build.",
)
