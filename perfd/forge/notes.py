"""What is said of a head that has no measurements to show: a title and a Markdown text for its check, each with what to do."""

from dataclasses import dataclass

from perfd.domain.numbers import duration
from perfd.forge.markdown import code, escaped, plain

TITLE = 250
"""Characters of a title."""


@dataclass(frozen=True)
class Note:
    """A check's title, which is no Markdown, and its summary, which is."""

    title: str
    summary: str


def nothing(why: str) -> Note:
    """There is nothing to measure."""
    return _note(f"Nothing to measure: {why}", "Say `/perfd run` to measure it all the same.")


def waiting(author: str, *, pushed: bool) -> Note:
    """The code of this head may not run yet."""
    again = " The approval of an earlier head is void: this is another commit." if pushed else ""
    return _note(
        f"Waiting for a maintainer: code of {author} is not measured unasked",
        f"Somebody who may write to this repository reads the change and says {code('/perfd run')} in a comment.{again}",
    )


def queued(place: int, expected_s: float | None) -> Note:
    """It will be measured; place 1 is the next one."""
    expected = f"; expected in about {duration(expected_s)}" if expected_s is not None else ""
    text = f"{place - 1} {'Run is' if place == 2 else 'Runs are'} before it." if place > 1 else "It is the next one."
    return _note(f"Queued at place {place}{expected}", text + ("" if expected else " How long it takes is not known yet."))


def under_way(done: int, planned: int, expected_s: float | None) -> Note:
    """It is being measured."""
    expected = f"; expected in about {duration(expected_s)}" if expected_s is not None else ""
    text = "Blocks of base head head base are measured in turn, until every metric is decided; what is undecided gets more."
    return _note(f"Measuring: {done} of {planned} runs done{expected}", text)


def failed(what: str, remedy: str) -> Note:
    """Nothing can be said, and why; the remedy is a sentence."""
    return _note(what, escaped(remedy, 1000))


def superseded(reason: str) -> Note:
    """Something else counts now."""
    return _note(f"Not measured: {reason}", "The newest commit has a check of its own.")


def expired(hours: float) -> Note:
    """The deadline has passed without a Verdict."""
    return _note(
        f"No answer within {hours:g} h: perfd gave up",
        f"No worker took it, or the device was busy or refused; the status page of perfd says which. Say {code('/perfd rerun')}.",
    )


def _note(title: str, summary: str) -> Note:
    return Note(plain(title, TITLE), summary)
