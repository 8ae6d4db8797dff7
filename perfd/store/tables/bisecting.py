"""Bisections: the path from a good Build to a bad one, and every step on it."""

from sqlalchemy import CheckConstraint, Index, Table, UniqueConstraint
from sqlalchemy import text as sql

from perfd.domain.bisect import BisectEnd, StepKind, StepOutcome
from perfd.store.tables.columns import METADATA, document, identity, moment, number, one_of, reference, text, truth, whole

bisect = Table(
    "bisect",
    METADATA,
    identity("The number that `perfd bisect` tells."),
    reference("subject_id", "subject", "The Engine or Kernel whose history is searched."),
    reference("regression_id", "regression", "The Regression it is for; NULL where a person gave the two ends.", null=True),
    text("branch", "The branch whose first parents are searched."),
    document("path", "The places from the good end to the bad one, as JSON.", default="[]"),
    document("wanted", "Workload, Model, device class and Metric that were asked for; empty ones are chosen by the ends."),
    document("target", "What decides, as JSON; NULL until the ends were compared.", default=None, null=True),
    whole("most_builds", "How many Builds it may make."),
    number("most_minutes", "How many device minutes it may measure."),
    moment("opened_at", "When it was opened."),
    text("outcome", "commit, dependencies, range or not reproduced; NULL until it has ended.", null=True),
    whole("good", "The last place known to be good; NULL until it has ended.", null=True),
    whole("bad", "The first place known to be bad; NULL until it has ended.", null=True),
    text("reason", "Why it ended so, in a sentence.", default=""),
    text("patch", "The file that takes the commit back, in the state folder; empty where there is none.", default=""),
    text("proposal", "What a person can do about it, as text.", default=""),
    moment("ended_at", "When it ended; NULL until then.", null=True),
    one_of("outcome", BisectEnd),
    CheckConstraint(
        "(outcome IS NULL) = (ended_at IS NULL) AND (outcome IS NULL) = (good IS NULL) AND (outcome IS NULL) = (bad IS NULL)",
        name="ended_has_outcome",
    ),
    Index("uq_bisect_open", "regression_id", unique=True, postgresql_where=sql("ended_at IS NULL AND regression_id IS NOT NULL")),
    Index(None, "regression_id"),
    comment="A search for the commit that brought a difference between two Builds.",
)

bisect_step = Table(
    "bisect_step",
    METADATA,
    identity(),
    reference("bisect_id", "bisect", "The bisection it belongs to."),
    whole("number", "Counted from 1; a step is opened when the one before it is settled."),
    text("kind", "build or compare."),
    whole("base", "The place that is compared with; the place itself where it is a Build."),
    whole("head", "The place that is asked about."),
    text("why", "Why this was asked, in a sentence."),
    reference("occasion_id", "occasion", "The occasion that builds or measures."),
    moment("opened_at", "When it was planned."),
    text(
        "outcome",
        "built, broken, better, worse, same, unsure or not comparable; NULL while it is open.",
        null=True,
    ),
    whole("broken", "The place that could not be built or measured; NULL unless one could not.", null=True),
    whole("pairs", "How many pairs of Runs it rests on.", default=0),
    number("effect", "Ratio minus one, head against base; NULL where there is none.", null=True),
    number("low", "Lower end of the effect's interval.", null=True),
    number("high", "Upper end of the effect's interval.", null=True),
    truth("final", "Whether more pairs could not have told more.", default="true"),
    text("reason", "What came of it, in a sentence.", default=""),
    moment("settled_at", "When that was known; NULL while it is open.", null=True),
    one_of("kind", StepKind),
    one_of("outcome", StepOutcome),
    CheckConstraint("(outcome IS NULL) = (settled_at IS NULL)", name="settled_has_outcome"),
    CheckConstraint("(low IS NULL) = (high IS NULL)", name="interval_has_two_ends"),
    UniqueConstraint("bisect_id", "number"),
    comment="One step of a bisection: a Build that is made, or two places that are compared.",
)
