"""Launches: Models that are released on Engines, their Checkpoints, and what can still be made better."""

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint

from perfd.domain.launch import TodoState
from perfd.store.tables.columns import METADATA, document, identity, moment, number, one_of, reference, text, truth, whole

launch = Table(
    "launch",
    METADATA,
    identity("The number in the Launch's address on the site."),
    text("model", "The Model's name in perfd.toml."),
    reference("subject_id", "subject", "The Engine that serves it."),
    moment("at", "The moment of day 0."),
    document("suites", "Names of the suites that a Checkpoint measures; empty means all.", default="[]"),
    number("compare_minutes", "Device minutes that a Checkpoint may spend on re-measuring the first day's Build."),
    moment("known_at", "When perfd first knew of it: a Checkpoint that was due before is not owed."),
    UniqueConstraint("model", "subject_id"),
    comment="A Model's release on an Engine.",
)

checkpoint = Table(
    "checkpoint",
    METADATA,
    reference("launch_id", "launch", "The Launch it belongs to.", key=True),
    whole("day", "Days of 24 hours after day 0; a negative one rehearses on random weights.", key=True),
    moment("due_at", "When it is due."),
    truth("owed", "Whether it was still to come when perfd first knew of the Launch.", default="true"),
    reference("occasion_id", "occasion", "The occasion that measures it; NULL until it was opened.", null=True),
    document("launched_with", "Command, environment, Model and Kernels as they were when it was planned."),
    reference("comparison_id", "occasion", "The first day's Build beside its own; NULL where there is none.", null=True),
    text("why_no_comparison", "Why there is none; empty until that was looked at, and where there is one.", default=""),
    UniqueConstraint("occasion_id"),
    UniqueConstraint("comparison_id"),
    Index(None, "due_at"),
    comment="One day of a Launch on which the full suites are measured.",
)

todo = Table(
    "todo",
    METADATA,
    identity("The number that `perfd launch todo` tells."),
    reference("launch_id", "launch", "The Launch that it would make better."),
    text("title", "What is to be done."),
    text("area", "What it is about: kv cache, attention kernels, quantisation, routing."),
    text("owner", "Who does it; empty while nobody does.", default=""),
    text("state", "open, doing, done or dropped.", default="open"),
    text("note", "What was said when it was moved last.", default=""),
    reference("change_id", "change", "The Change that shows its effect; NULL while none does.", null=True),
    reference("comparison_id", "occasion", "The comparison that shows its effect; NULL while none does.", null=True),
    moment("opened_at", "When it was written down."),
    moment("moved_at", "When anything of it last changed."),
    one_of("state", TodoState),
    UniqueConstraint("launch_id", "title"),
    CheckConstraint("state <> 'doing' OR owner <> ''", name="doing_has_owner"),
    comment="An optimisation that a Launch can still use.",
)
