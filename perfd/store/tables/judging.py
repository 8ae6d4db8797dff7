"""What was found: Series, their Points, Verdicts, Changes and Regressions."""

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from perfd.domain.verdict import ChangeKind, ChangeStatus, Outcome, RegressionState, Reproduced
from perfd.store.tables.columns import (
    METADATA,
    document,
    identity,
    mark,
    moment,
    number,
    one_of,
    reference,
    text,
    truth,
    whole,
)

series = Table(
    "series",
    METADATA,
    identity("The number in the Series' address on the site."),
    text("fingerprint", "The natural key: sha256 over all the parts below.", unique=True),
    reference("subject_id", "subject", "The Engine or Kernel."),
    text("branch", "The tracked branch; nothing else enters the Series."),
    reference("workload_id", "workload", "The load."),
    reference("metric_id", "metric", "What is measured."),
    text("model", "Name of the Model; empty for kernels.", default=""),
    text("quantisation", "Quantisation of the Model.", default=""),
    text("parallelism", "Parallelism of the Model.", default=""),
    text("device_class", "The class of device; hosts of one class share a Series."),
    moment("created_at", "When its first Point was stored."),
    Index(None, "subject_id"),
    Index(None, "workload_id"),
    Index(None, "metric_id"),
    comment="The Points of one subject, branch, Workload, Metric, Model, quantisation, parallelism and device class.",
)

IN_ORDER = [
    *("value", "low", "high", "n", "hardware_mark", "epoch_mark"),
    *("build_id", "revision_id", "occasion_id", "device_id"),
]
"""What the index that orders a Series holds of each Point: all that a chart and a table say of it.

Nights are written side by side, so that the Points of one Series lie on as many pages of the table as it has Points.
"""

point = Table(
    "point",
    METADATA,
    reference("series_id", "series", "The Series it belongs to.", key=True),
    reference("run_id", "run", "The Run whose Samples it reduces.", key=True),
    reference("build_id", "build", "The Build that was measured."),
    reference("revision_id", "revision", "The Revision on the Series' branch."),
    reference("occasion_id", "occasion", "The occasion it was measured for."),
    reference("device_id", "device", "The device: host effects can be modelled without splitting the Series."),
    whole("ordinal", "The Revision's place on the branch, copied so that one index orders a Series."),
    moment("measured_at", "When its Run began."),
    number("value", "The median, or the mean where the Metric says so."),
    number("low", "Lower end of its 95 % interval; NULL with too few Samples to give one.", null=True),
    number("high", "Upper end of its 95 % interval; NULL with too few Samples to give one.", null=True),
    whole("n", "How many Samples it reduces."),
    text("hardware_hash", "Points with different hardware or clock policy are not comparable."),
    text("epoch", "Hash of driver, library and engine dependency versions.", default=""),
    CheckConstraint("n > 0", name="has_samples"),
    CheckConstraint("(low IS NULL) = (high IS NULL)", name="interval_has_two_ends"),
    CheckConstraint("low <= high", name="interval_is_ordered"),
    mark("hardware_mark", "hardware_hash", "Tells other hardware or clocks in four bytes, for the index of a Series."),
    mark("epoch_mark", "epoch", "Tells another driver or other libraries, likewise."),
    Index("ix_point_order", "series_id", "ordinal", "measured_at", "run_id", postgresql_include=IN_ORDER),
    Index("ix_point_latest", "series_id", "measured_at"),
    Index(None, "occasion_id"),
    Index(None, "run_id"),
    comment="A Run's Samples of one Metric, reduced; written with the Run's results, and what every page reads.",
)

verdict = Table(
    "verdict",
    METADATA,
    reference("series_id", "series", "The Series that was judged.", key=True),
    reference("occasion_id", "occasion", "The occasion after which it was judged.", key=True),
    text("outcome", "better, worse, same, unsure or not comparable."),
    text("reason", "One sentence; for unsure it says what is missing."),
    text("detector", "Name and version of the rule that decided."),
    whole("n", "Points (or pairs) that it rests on."),
    number("effect", "Ratio minus one; NULL when there is nothing to compare with.", null=True),
    number("low", "Lower end of the effect's interval.", null=True),
    number("high", "Upper end of the effect's interval.", null=True),
    number("bar", "The relative effect beyond which it would have been called a change.", null=True),
    number("q", "False-discovery-adjusted p.", null=True),
    number("noise", "Night-to-night relative standard deviation.", null=True),
    document("mde", "Nights after a change to the smallest relative effect found with 90 % power."),
    moment("judged_at", "When it was decided."),
    one_of("outcome", Outcome),
    CheckConstraint("outcome NOT IN ('better', 'worse') OR effect IS NOT NULL", name="decided_has_effect"),
    CheckConstraint("(low IS NULL) = (high IS NULL)", name="interval_has_two_ends"),
    Index(None, "occasion_id"),
    comment="What the judge said of one Series after one occasion.",
)

track = Table(
    "track",
    METADATA,
    reference("series_id", "series", "The Series that is remembered.", key=True),
    reference("occasion_id", "occasion", "The occasion that it is of."),
    document("memory", "What the judge goes on from: level, noise, old levels, steps that wait; places count back."),
    document("before", "What it was before that occasion: judging the occasion again says the same.", default=None, null=True),
    comment="What the judge remembers of a Series from one night to the next.",
)

change = Table(
    "change",
    METADATA,
    identity("The Change's name: it stays while the Change's place moves by a few Points."),
    reference("series_id", "series", "The Series that changed."),
    reference("build_id", "build", "The first Build at the new level."),
    reference("run_id", "run", "The first Run at the new level: its Point is the place of the Change."),
    text("kind", "step, drift, variance, mode or transient."),
    text("status", "suspect (may be a spike) or detected (the Series itself shows it)."),
    number("before", "The level before it, in the Metric's unit."),
    number("after", "The level after it, in the Metric's unit."),
    number("effect", "after / before - 1; the difference where before is zero."),
    number("low", "Lower end of the effect's interval.", null=True),
    number("high", "Upper end of the effect's interval.", null=True),
    number("q", "False-discovery-adjusted p.", null=True),
    reference("found_in", "occasion", "The occasion after which it was first seen."),
    reference("seen_in", "occasion", "The last occasion after which it was still seen."),
    moment("detected_at", "When it first had the status detected; NULL while it is a suspect.", null=True),
    moment("gone_at", "When the judge stopped seeing it; NULL while it stands.", null=True),
    truth("worse", "Whether it is for the worse, by the Metric's direction."),
    one_of("kind", ChangeKind),
    one_of("status", ChangeStatus),
    CheckConstraint("status <> 'detected' OR detected_at IS NOT NULL", name="detected_has_time"),
    Index("uq_change_series_id_run_id", "series_id", "run_id", unique=True, postgresql_where=sql("gone_at IS NULL")),
    Index(None, "series_id"),
    comment="A step (or drift, …) in a Series; it belongs to the first Build at the new level.",
)

regression = Table(
    "regression",
    METADATA,
    identity("The number in the Regression's address on the site."),
    reference("subject_id", "subject", "Whose Regression it is."),
    text("state", "suspect, detected, confirmed, owned, fixed, accepted, noise, duplicate or verified."),
    text("title", "One sentence: what became worse, by how much, since which Revision."),
    reference("build_id", "build", "The first Build at the new level."),
    reference("occasion_id", "occasion", "The occasion after which it was opened."),
    text("owner", "Who answers it; empty until somebody does.", default=""),
    reference("duplicate_of", "regression", "The Regression that it repeats; NULL unless it is a duplicate.", null=True),
    text("cause", "What it was opened for where that is no Change: a budget; NULL otherwise.", null=True),
    moment("opened_at", "When it was opened."),
    moment("moved_at", "When its state last changed."),
    one_of("state", RegressionState),
    CheckConstraint("(state = 'duplicate') = (duplicate_of IS NOT NULL)", name="duplicate_says_of_what"),
    CheckConstraint("duplicate_of <> id", name="no_duplicate_of_itself"),
    Index(None, "state", "opened_at"),
    Index(None, "subject_id", "build_id"),
    Index("uq_regression_cause", "cause", unique=True, postgresql_where=sql("state NOT IN ('fixed', 'verified')")),
    comment="A Change for the worse that someone must answer.",
)

regression_member = Table(
    "regression_member",
    METADATA,
    reference("regression_id", "regression", "The Regression.", key=True),
    reference("change_id", "change", "A Change that it is made of.", key=True),
    UniqueConstraint("change_id"),
    comment="The Changes that make up a Regression; a Change belongs to one Regression at most.",
)

regression_event = Table(
    "regression_event",
    METADATA,
    identity(),
    reference("regression_id", "regression", "The Regression."),
    moment("at", "When it happened."),
    text("actor", "The person, or the named rule, that did it."),
    text("from_state", "The state before; NULL for the opening.", null=True),
    text("to_state", "The state after."),
    text("reason", "Why, in a sentence."),
    one_of("from_state", RegressionState),
    one_of("to_state", RegressionState),
    Index(None, "regression_id", "at"),
    comment="Every state change of a Regression, with actor and reason; rows are only ever added.",
)

confirmation = Table(
    "confirmation",
    METADATA,
    reference("occasion_id", "occasion", "The comparison that re-measures.", key=True),
    reference("regression_id", "regression", "The Regression that is re-measured."),
    moment("opened_at", "When the comparison was planned."),
    text("outcome", "reproduced, not reproduced, unsure or impossible; NULL until it is settled.", null=True),
    text("reason", "What the comparison said, or why there was none.", default=""),
    moment("settled_at", "When the Regression was moved by it; NULL until then.", null=True),
    one_of("outcome", Reproduced),
    CheckConstraint("(outcome IS NULL) = (settled_at IS NULL)", name="settled_has_outcome"),
    Index(None, "regression_id"),
    comment="A re-measurement of a Regression, first bad Build against last good one; at most one a Regression and night.",
)
