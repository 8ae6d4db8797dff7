"""Pictures: a Series with its changes, what `perfd detect` found, and the outcome and course of a comparison.

Plain data in, PNG bytes out.
"""

from perfd.plots.effects import Effect, effects_png
from perfd.plots.levels import Segment, segments_of
from perfd.plots.pairs import Pair, pairs_png
from perfd.plots.series import SeriesView, change_words, series_png

__all__ = ["Effect", "Pair", "Segment", "SeriesView", "change_words", "effects_png", "pairs_png", "segments_of", "series_png"]
