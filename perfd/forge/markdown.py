"""Text from outside as GitHub's Markdown: never markup, never a mention, never a link, never longer than asked.

GitHub looks for mentions, numbers of issues and addresses in the text after Markdown was read, so that a backslash does not stop
them: an invisible space (U+200B) behind the first character does.
"""

import re
import unicodedata

LONGEST_NAME = 100
"""Characters of a name that are shown."""
GAP = "\N{ZERO WIDTH SPACE}"
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}
_SPECIAL = re.compile(r"[\\`*\[\]~$]|(?<![^\W_])_|_(?![^\W_])")
"""What may begin or end something; an underscore inside a word does not."""
_BEGINS = re.compile(r"[#+=-]|[0-9]+[.)](?=\s|$)")
"""What makes a heading, a list or a rule where a line begins with it."""
_TELLING = re.compile(r"@|#(?=\w)|(?<=\bGH)-(?=\d)|:(?=//)|(?<=\bwww)\.|:(?=[\w+-]+:)|(?<=\bmailto):|(?<=\bxmpp):", re.IGNORECASE)
"""What GitHub would make a mention, a reference, an address or a picture of."""
_JOINERS = frozenset("\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}")
"""Persian and families of emoji need them; they turn nothing around."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode that show nothing, or turn what stands beside them around (bidirectional overrides)."""
_MARKS = re.compile(
    r"(\w)([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20ff]+"
)
_ORDER = re.compile(r"^\s*::|##\[")
"""What GitHub Actions takes for an order to the runner where a step prints it: `::add-mask::`, `##[group]`."""
LONGEST_LINE = 400


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """One line of visible characters, at most so many: for titles, which are no Markdown."""
    visible = "".join(_visible(character) for character in text[: 8 * longest])
    return _cut(" ".join(_MARKS.sub(r"\1\2", visible).split()), longest)


def escaped(text: str, longest: int = LONGEST_NAME) -> str:
    """The text as Markdown that shows it and does nothing else, in a paragraph and in a cell of a table alike."""
    kept = plain(text, longest)
    special = {match.start() for match in _SPECIAL.finditer(kept)}
    begins = _BEGINS.match(kept)
    if begins:
        special.add(begins.end() - 1)
    telling = {match.end() - 1 for match in _TELLING.finditer(kept)}
    return "".join(
        ("\\" if place in special else "") + _ENTITIES.get(character, character) + (GAP if place in telling else "")
        for place, character in enumerate(kept)
    )


def code(text: str) -> str:
    """A word that is known to be harmless (a commit, a command's name), as code."""
    return f"`{text}`"


def fenced(text: str, language: str = "") -> str:
    """The lines as a block of code, which no line of them can end; long lines are cut."""
    lines = [_visible_line(line) for line in re.split(r"\r\n|\r|\n", text)]
    longest = max((len(run) for line in lines for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([f"{fence}{language}", *lines, fence])


def folded(summary: str, body: str) -> str:
    """A part that a reader opens; both are Markdown already."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]], right: frozenset[int] = frozenset()) -> str:
    """A table; columns in `right` are aligned to the right. Cells are Markdown already."""
    rule = tuple("---:" if place in right else "---" for place in range(len(head)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _visible(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character == GAP:
        return ""
    hidden = unicodedata.category(character) in _INVISIBLE and character not in _JOINERS
    return "\N{REPLACEMENT CHARACTER}" if hidden else character


def _visible_line(line: str) -> str:
    """A line of a log: colours of a terminal are dropped, no hidden comment of ours is imitated, and no runner ordered."""
    uncoloured = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line[: 4 * LONGEST_LINE]).replace("\t", "    ")
    shown = _cut("".join(_visible(character) for character in uncoloured), LONGEST_LINE).replace("<!--", f"<!{GAP}--")
    return _ORDER.sub(lambda match: f"{match[0][:-1]}{GAP}{match[0][-1]}", shown)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
