"""What all pictures share: colours, size, and how a figure becomes bytes.

Colours are Okabe and Ito's, which people with any colour vision can tell apart, and no colour stands alone: a change also has its
mark and its word. Only matplotlib's object interface is used, so that threads of the site do not share a picture; the same data
give the same bytes.
"""

import io
import unicodedata
from functools import cache

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.ft2font import FT2Font

from perfd.domain.verdict import Outcome

BLUE, ORANGE, GREEN, VERMILLION, SKY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9"
INK, GREY, PALE = "#222222", "#767676", "#E8EDF2"
ANSWERS = {
    Outcome.WORSE: (VERMILLION, "v"),
    Outcome.BETTER: (GREEN, "^"),
    Outcome.SAME: (BLUE, "o"),
    Outcome.UNSURE: (GREY, "d"),
    Outcome.NOT_COMPARABLE: (GREY, "x"),
}
"""Colour and mark of an answer: better points up and worse down, whichever way the number went."""
mpl.rcParams["text.parse_math"] = False
"""Names come from outside: a dollar in one is a dollar, and a formula that breaks off must not end a picture."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that draw nothing, break a line, or turn what stands beside them."""
_WIDTH_IN = 8.0
_DPI = 100


def a_figure(height_in: float) -> Figure:
    """An empty figure, 800 pixels wide."""
    return Figure(figsize=(_WIDTH_IN, height_in), dpi=_DPI, facecolor="white", layout="constrained")


def to_png(figure: Figure) -> bytes:
    """The figure as PNG, without the dates and versions that would make equal pictures differ."""
    FigureCanvasAgg(figure)
    out = io.BytesIO()
    figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def drawn(text: str, most: int = 1000) -> str:
    """The text on one line, cut at `most` characters; what the font has no shape for as Python writes it in a literal."""
    written = "".join(mark if _has_shape(mark) else mark.encode("unicode_escape").decode() for mark in text[: most + 1])
    return written if len(written) <= most else written[: most - 1] + "…"


def _has_shape(mark: str) -> bool:
    return ord(mark) in _shapes() and unicodedata.category(mark) not in _UNSEEN


@cache
def _shapes() -> frozenset[int]:
    return frozenset(FT2Font(findfont("DejaVu Sans")).get_charmap())


def write_title(axes: Axes, text: str) -> None:
    """A sentence above the picture, cut where it would leave it."""
    axes.set_title(drawn(text, 108), loc="left", fontsize=10.5, color=INK)


def clear(axes: Axes) -> None:
    """Nothing but the two axes and pale lines across."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8.5, colors=INK)
