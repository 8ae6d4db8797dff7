"""A comment as a forge shows it: read by a real Markdown parser, with the tags, links and words that came of it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt

MENTION = re.compile(r"(?<![\w`])@[A-Za-z0-9]")
"""GitHub's: a name after an @ that no word stands before."""
REFERENCE = re.compile(r"#[0-9]|\bGH-[0-9]", re.IGNORECASE)
ADDRESS = re.compile(r"\b(?:https?|ftp)://|\bwww\.[a-z]|[\w.+-]+@[\w-]+\.[a-z]", re.IGNORECASE)


@dataclass
class Shown(HTMLParser):
    """What a reader (and GitHub, after reading the Markdown) sees."""

    tags: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """Texts outside code and links, where GitHub looks for mentions."""
    comments: list[str] = field(default_factory=list)
    _inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in {"br", "hr", "img", "input"}:
            self._inside.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]

    def handle_endtag(self, tag: str) -> None:
        if tag in {"br", "hr", "img", "input"}:
            return
        assert tag == self._inside.pop(), f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        if not {"code", "a", "pre"} & set(self._inside):
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def open_tags(self) -> list[str]:
        return self._inside


def html(body: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(body))


def shown(body: str) -> Shown:
    made = Shown()
    made.feed(html(body))
    made.close()
    return made


def troubles(seen: Shown) -> Iterator[str]:
    """Every text in which GitHub would find somebody to notify, or something to link."""
    for text in seen.texts:
        for pattern in (MENTION, REFERENCE, ADDRESS):
            found = pattern.search(text)
            if found:
                yield f"{found[0]!r} in {text[:80]!r}"
