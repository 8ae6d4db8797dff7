"""The commands in a comment: one a line, outside code, quotes and HTML comments, as Markdown shows them.

Pure. A line that begins with `/perfd` and is no command is answered with help, so that nobody waits for what nobody understood.
"""

import re
from collections.abc import Iterator

from perfd.domain.command import Acknowledge, Bisect, Command, CompareWith, Help, Rerun, RunSuites

MOST = 10
"""Commands of one comment that are read; a page full of them is a mistake, or no friend."""
MOST_REASON = 500
_CALL = re.compile(r" {0,3}/perfd(?:[ \t]+(?P<rest>.*))?[ \t]*")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_QUOTE = re.compile(r" {0,3}>")
_SUITE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}")
_NUMBER = re.compile(r"#?([0-9]{1,9})")


def commands_in(body: str) -> tuple[Command, ...]:
    """Every command of the comment, in order, each once."""
    found = (_command(rest) for rest in _calls(body))
    return tuple(dict.fromkeys(found))[:MOST]


def _calls(body: str) -> Iterator[str]:
    """What follows `/perfd` on each line that a reader sees as its author's own words."""
    for line in _own_words(body):
        call = _CALL.fullmatch(line)
        if call:
            yield (call["rest"] or "").strip()


def _own_words(body: str) -> Iterator[str]:
    """The lines that are neither in a code fence, nor quoted (a line that continues a quote is), nor in an HTML comment."""
    fence, quoted, hidden = "", False, False
    for line in re.split(r"\r\n|\r|\n", body):
        if fence:
            fence = "" if _closes(line, fence) else fence
            continue
        if hidden or line.lstrip().startswith("<!--"):
            hidden = "-->" not in line
            continue
        opening = _FENCE.fullmatch(line)
        if opening and not (opening["marks"][0] == "`" and "`" in opening["info"]):
            fence, quoted = opening["marks"], False
            continue
        quoted = bool(_QUOTE.match(line)) or (quoted and bool(line.strip()))
        if not quoted:
            yield line


def _closes(line: str, fence: str) -> bool:
    closing = _FENCE.fullmatch(line)
    return closing is not None and closing["marks"].startswith(fence) and not closing["info"].strip()


def _command(rest: str) -> Command:
    verb, said = (*rest.split(maxsplit=1), "", "")[:2]
    if verb == "run":
        return _run(said.split())
    if verb == "compare":
        return _compare(said)
    if verb == "ack":
        return _acknowledge(said)
    plain: dict[str, Command] = {"rerun": Rerun(), "bisect": Bisect(), "help": Help(), "": Help()}
    if verb not in plain:
        return Help(f"there is no command “{_short(verb)}”")
    return Help(f"“{verb}” takes nothing after it") if said else plain[verb]


def _run(suites: list[str]) -> Command:
    wrong = next((name for name in suites if not _SUITE.fullmatch(name)), None)
    return RunSuites(tuple(dict.fromkeys(suites))) if wrong is None else Help(f"“{_short(wrong)}” cannot be the name of a suite")


def _compare(said: str) -> Command:
    if not _REF.fullmatch(said) or ".." in said:
        return Help(f"“compare” wants one commit, branch or tag, not “{_short(said)}”")
    return CompareWith(said)


def _acknowledge(said: str) -> Command:
    number, reason = (*said.split(maxsplit=1), "", "")[:2]
    found = _NUMBER.fullmatch(number)
    if found is None or not reason:
        return Help("“ack” wants the number of a regression and a reason")
    return Acknowledge(int(found[1]), reason[:MOST_REASON])


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"
