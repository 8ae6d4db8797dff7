"""The comment on a pull request: the verdict first, then what it rests on, then everything else, folded.

Where it would be longer than a forge takes, folded parts are left out, all rows first, the failures last; the table stays.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from perfd.domain.answer import Against, Answer, Unmeasured
from perfd.domain.command import USAGE
from perfd.domain.forge import LONGEST_COMMENT
from perfd.domain.numbers import duration
from perfd.domain.verdict import Outcome
from perfd.forge.markdown import code, escaped, fenced, folded, plain, table
from perfd.forge.rows import in_order, leading, table_of

MOST_GAPS = 50
MOST_FOLDED = 500
"""Rows of a folded table; the page of the comparison has all."""
_OPENING = {
    Outcome.WORSE: "This change makes {} worse",
    Outcome.BETTER: "This change makes {} better",
    Outcome.SAME: "This change makes no difference to {} that matters",
    Outcome.UNSURE: "Whether this change makes a difference to {} could not be told",
    Outcome.NOT_COMPARABLE: "What was measured of {} cannot be compared",
}
_COUNTED = (Outcome.WORSE, Outcome.BETTER, Outcome.SAME, Outcome.UNSURE, Outcome.NOT_COMPARABLE)
_SHORT = 12
"""Digits of a commit that are shown."""


def comment_of(answer: Answer, longest: int = LONGEST_COMMENT) -> str:
    """The whole comment as Markdown, at most so many characters."""
    first = [f"### {escaped(sentence(answer), 300)}", _facts(answer), *_table(answer)]
    last = [*_reproduce(answer), _commands(), _footer(answer)]
    return _fitting(answer, first, last, longest)


def _fitting(answer: Answer, first: list[str], last: list[str], longest: int) -> str:
    """The parts with as many of the folded ones between them as fit."""
    folds = {"everything": _everything(answer), "improvements": _improvements(answer), "failures": _failures(answer)}
    there = {name: part for name, part in folds.items() if part}
    for dropped in range(len(there) + 1):
        kept = dict(list(there.items())[dropped:])
        shown = [kept[name] for name in ("improvements", "everything", "failures") if name in kept]
        gone = [name for name in there if name not in kept]
        told = [f"*Left out for {'their' if dropped > 1 else 'its'} length: {', '.join(gone)}{_at(answer)}.*"] if gone else []
        whole = "\n\n".join([*first, *shown, *told, *last])
        if len(whole) <= longest:
            break
    return whole[:longest]


def summary_of(answer: Answer) -> str:
    """What a check shows: the facts and the table; its title is the sentence."""
    return "\n\n".join([_facts(answer), *_table(answer), _footer(answer)])


def details_of(answer: Answer, longest: int) -> str:
    """What a check shows below: the folded parts that fit, and how to measure it again."""
    return _fitting(answer, [], list(_reproduce(answer)), longest)


def sentence(answer: Answer) -> str:
    """The verdict with its counts, and what was not measured among them; a plain line."""
    subject = plain(answer.subject)
    if not answer.counting:
        return f"Nothing could be measured of {subject}: {_unmeasured(len(answer.unmeasured))}"
    counts = [f"{answer.counted(one)} {one}" for one in _COUNTED if answer.counted(one)]
    rows = len(answer.counting)
    told = f"{_OPENING[answer.verdict.outcome].format(subject)}: "
    told += f"{', '.join(counts)} of {rows} metric{'' if rows == 1 else 's'}"
    return f"{told}; {_unmeasured(len(answer.unmeasured))}"


def _unmeasured(count: int) -> str:
    if not count:
        return "everything was measured"
    return f"{count} workload{' was' if count == 1 else 's were'} not measured"


def _facts(answer: Answer) -> str:
    lines = [
        f"- Base {_base(answer.against, answer.now)}, head {code(answer.head[:_SHORT])}",
        *([f"- {escaped(answer.environment, 300)}"] if answer.environment else []),
        f"- {_measured(answer)}",
        *([f"- Measured: {escaped(answer.why, 300)}"] if answer.why else []),
        *(f"- {escaped(remark, 500)}" for remark in answer.remarks),
    ]
    return "\n".join(lines)


def _base(against: Against, now: datetime) -> str:
    """The commit, how it was chosen, and how old it is: never another one in silence."""
    named = f"{code(against.commit[:_SHORT])} {escaped(against.title)}".rstrip()
    chosen = f"asked for as {escaped(against.asked)}" if against.asked else "the merge base"
    ages = [age(now - against.committed_at)] if against.committed_at else []
    if against.behind is not None and against.branch:
        commits = f"{against.behind:,} commit{'' if against.behind == 1 else 's'}"
        ages.append(f"{commits} behind {escaped(against.branch)}" if against.behind else f"the tip of {escaped(against.branch)}")
    return f"{named} ({', '.join([chosen, *ages, 'measured now, beside head'])})"


def age(span: timedelta) -> str:
    """How long ago: "3 days old"."""
    days = span // timedelta(days=1)
    if days >= 1:
        return f"{days} day{'' if days == 1 else 's'} old"
    return f"{duration(max(0.0, span.total_seconds()))} old"


def _measured(answer: Answer) -> str:
    device = f"on {escaped(answer.device)}" if answer.device else "on no device yet"
    blocks = f"{answer.blocks} block{'' if answer.blocks == 1 else 's'}"
    return f"2 arms \N{MULTIPLICATION SIGN} up to {blocks} of base head head base, interleaved {device}"


def _table(answer: Answer) -> Iterator[str]:
    if not answer.counting:
        return
    shown = leading(answer.counting)
    yield table_of(shown)
    more = len(answer.rows) - len(shown)
    if more:
        yield f"{more} more row{'' if more == 1 else 's'} below."
    if answer.plot:
        yield f"![How the comparison came to its answer]({answer.plot})"


def _improvements(answer: Answer) -> str:
    better = [row for row in in_order(answer.rows) if row.verdict.outcome is Outcome.BETTER]
    return folded(f"Improvements: {len(better)}", table_of(better[:MOST_FOLDED])) if better else ""


def _everything(answer: Answer) -> str:
    rows = in_order(answer.rows)[:MOST_FOLDED]
    return folded(f"Everything: {len(answer.rows)} metrics", table_of(rows)) if len(rows) > 1 else ""


def _failures(answer: Answer) -> str:
    if not answer.unmeasured:
        return ""
    return folded(f"Not measured: {len(answer.unmeasured)}", "\n\n".join(map(_gap, answer.unmeasured[:MOST_GAPS])))


def _gap(one: Unmeasured) -> str:
    line = f"**{escaped(one.what, 200)}**: {escaped(one.reason, 500)}"
    return f"{line}\n\n{fenced(one.log_tail[-4000:])}" if one.log_tail.strip() else line


def _reproduce(answer: Answer) -> Iterator[str]:
    if answer.reproduce:
        yield "Measure it again, anywhere:\n" + fenced(answer.reproduce, "sh")


def _commands() -> str:
    """In a table that is folded: the commands of a quoted comment must not run."""
    return folded("Commands", table(("write in a comment", "and perfd will"), [(code(usage), does) for usage, does in USAGE]))


def _footer(answer: Answer) -> str:
    parts = [
        escaped(answer.alarms, 400),
        f"detector {escaped(answer.verdict.detector)}",
        f"perfd {escaped(answer.version)}" if answer.version else "",
        f"[all of it]({answer.page})" if answer.page else "",
    ]
    return f"<sub>{' · '.join(part for part in parts if part)}</sub>"


def _at(answer: Answer) -> str:
    return f"; [the page of the comparison]({answer.page}) has them" if answer.page else ""
