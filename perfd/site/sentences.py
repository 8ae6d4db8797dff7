"""Title sentences: what a page says, before anything is looked at more closely."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from perfd.domain.occasion import OccasionState
from perfd.domain.run import RunState
from perfd.domain.subject import brief
from perfd.domain.verdict import Outcome
from perfd.site.numbers import percent
from perfd.site.rows import better_word, change_word, model_of
from perfd.site.templates import short
from perfd.store.records import NightCounts, OccasionRow, RegressionRow, RunPage, SeriesPage

RECENT = timedelta(hours=36)


def plural(number: int, word: str, words: str = "") -> str:
    """A number with its word: 1 Run, 2 Runs."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def night_name(row: OccasionRow, now: datetime) -> str:
    """Last night while it is, else the night of its date."""
    nominal = row.occasion.nominal_at
    return "Last night" if now - nominal < RECENT else f"The last night was on {nominal.astimezone(UTC):%Y-%m-%d}: it"


def unmeasured(row: OccasionRow) -> int:
    """How many Runs of the occasion have no result: queued and claimed ones too."""
    return sum(number for state, number in row.runs.items() if state != RunState.DONE.value)


def overdue(summary: NightCounts | None, due: datetime) -> str:
    """An alarm where the night that was due last has not even begun; "" where all is well, or before the first night."""
    if summary is None or summary.row.occasion.nominal_at >= due:
        return ""
    missed = max(1, round((due - summary.row.occasion.nominal_at) / timedelta(days=1)))
    return (
        f"No night has begun since: {plural(missed, 'night')} due by {due.astimezone(UTC):%Y-%m-%d %H:%M} UTC did not come. "
        "Is the clock of `perfd serve` running?"
    )


def night(summary: NightCounts | None, now: datetime) -> str:
    """Last night in one sentence, what is missing included."""
    if summary is None:
        return "No night has been run yet."
    row = summary.row
    who = night_name(row, now)
    planned = sum(row.runs.values())
    if row.state is not OccasionState.REPORTED:
        done = row.runs.get(RunState.DONE.value, 0)
        return f"{who} is under way ({row.state.value}): {done} of {plural(planned, 'Run')} done."
    if not planned:
        return f"{who} planned no Runs; the findings on the status page say why."
    lost = unmeasured(row)
    measured = "everything that was due" if lost == 0 else f"{planned - lost} of {plural(planned, 'Run')} that were due"
    return f"{who} measured {measured}: {verdicts(summary.verdict_counts)}."


def home(summary: NightCounts | None, regressions_open: int, series: int, now: datetime) -> str:
    """Last night, and whether anything must still be answered; before the first one, what is there without it."""
    told = night(summary, now)
    if summary is None and series:
        told = "No night has been run yet; what stands below was imported or handed in."
    return f"{told} {plural(regressions_open, 'Regression')} open." if regressions_open else told


def verdicts(counts: Mapping[Outcome, int]) -> str:
    """As in 1 worse, 2 better, 39 same: the worst comes first."""
    order = (Outcome.WORSE, Outcome.BETTER, Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE)
    return ", ".join(f"{counts[one]:,} {one.value}" for one in order if counts.get(one)) or "nothing was judged"


def series(page: SeriesPage) -> str:
    """What the chart shows and how it went, in one sentence."""
    info = page.info
    on = f" with {short(model_of(info), 120)}" if info.key.model else ""
    what = f"{short(info.metric.name)} of {short(info.key.subject)} on {short(info.workload_name)}{on}"
    if page.points:
        standing = [change for change in page.changes if change.gone_at is None]
        if standing:
            last = standing[-1]
            word = change_word(last).replace("?", ", if it is no spike")
            since = page.total - page.places.get(last.id, page.total)
            ago = f"{plural(since, 'Point')} ago"
            place = f"at {brief(last.revision, 10)}, {ago}"
            return f"{what}: {percent(last.effect)} ({word}) {place}; {better_word(info.metric)} is better."
        return f"{what}: no Change in {plural(page.total, 'Point')}; {better_word(info.metric)} is better."
    return f"{what} has no Points yet."


def run(page: RunPage) -> str:
    """What was run, and what came of it."""
    row = page.run
    words = {
        RunState.DONE: "done",
        RunState.FAILED: "failed",
        RunState.VOID: "void",
        RunState.QUEUED: "waiting in the queue",
        RunState.CLAIMED: "being measured now",
    }
    return f"{short(row.subject)} at {brief(row.revision, 10)} on {short(row.workload)}: {words[row.state]}"


def regressions(rows: tuple[RegressionRow, ...], open_count: int) -> str:
    """How many must still be answered."""
    if not rows and not open_count:
        return "No Regression has been found."
    return f"{plural(open_count, 'Regression')} open." if open_count else "No Regression is open."
