"""Text from outside in a message: one line of visible characters that mentions nobody and links to nothing."""

import unicodedata

GAP = "\N{ZERO WIDTH SPACE}"
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of Unicode that show nothing, or turn around what stands beside them."""


def harmless(text: str, longest: int) -> str:
    """The text on one line, at most so long; no `@` of it is followed by a name, and no `[word]` by an address (Mattermost)."""
    visible = "".join(" " if unicodedata.category(one) in _INVISIBLE else one for one in text[: 4 * longest])
    line = " ".join(visible.split())
    kept = line if len(line) <= longest else line[: longest - 1] + "…"
    return kept.replace("@", f"@{GAP}").replace("](", f"]{GAP}(")
