"""How every Series stands, in one row each: what lists and the home page read, however long the Series are."""

from sqlalchemy import ARRAY, Column, Double, Table

from perfd.domain.verdict import Outcome
from perfd.store.tables.columns import METADATA, large, moment, number, one_of, reference, text

series_latest = Table(
    "series_latest",
    METADATA,
    reference("series_id", "series", "The Series.", key=True),
    reference("run_id", "run", "The Run of its last Point, in the order of the Series."),
    reference("previous_run_id", "run", "The Run of the Point before; NULL with one Point.", null=True),
    number("value", "The last Point."),
    number("low", "Lower end of its interval.", null=True),
    number("high", "Upper end of its interval.", null=True),
    number("previous", "The Point before; NULL with one Point.", null=True),
    number("week_ago", "The last Point measured a week or more before it, on the same hardware; NULL without one.", null=True),
    number("month_ago", "The last Point measured thirty days or more before it, likewise.", null=True),
    Column("tail", ARRAY(Double), nullable=False, comment="The last Points in order, oldest first: a sparkline."),
    moment("measured_at", "When the last Point's Run began."),
    text("outcome", "Of the last Verdict; NULL until it was judged.", null=True),
    number("effect", "Of the last Verdict.", null=True),
    number("bar", "Of the last Verdict.", null=True),
    number("noise", "Of the last Verdict.", null=True),
    reference("judged_in", "occasion", "The occasion of the last Verdict; NULL until it was judged.", null=True),
    moment("judged_for", "When that occasion was due: an older Verdict that comes late does not replace it.", null=True),
    reference("change_id", "change", "The last Change that stands; NULL without one.", null=True),
    large("version", "Raised by every write about the Series, in the same transaction: what a cached answer is checked with."),
    one_of("outcome", Outcome),
    comment="How a Series stands: last Points, last Verdict, last Change; written in the transaction of what it repeats.",
)
