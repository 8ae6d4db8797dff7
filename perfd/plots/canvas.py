"""What all pictures share: colours, size, and how a figure becomes bytes.

Colours are Okabe and Ito's, which people with any colour vision can tell apart, and no colour stands alone: a change also has its
mark and its word. Only matplotlib's object interface is used, so that threads of the site do not share a picture; the same data
give the same bytes.
"""

import io

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

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


def write_title(axes: Axes, text: str) -> None:
    """A sentence above the picture, cut where it would leave it."""
    axes.set_title(text if len(text) <= 108 else text[:107] + "…", loc="left", fontsize=10.5, color=INK)


def clear(axes: Axes) -> None:
    """Nothing but the two axes and pale lines across."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(visible=True, axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8.5, colors=INK)
