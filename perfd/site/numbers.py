"""Numbers as people read them: the words of perfd.domain.numbers, which comments on pull requests use too."""

from perfd.domain.numbers import MINUS, NOTHING, Scale, arrow, duration, effect_between, percent, percents, scale_of

__all__ = ["MINUS", "NOTHING", "Scale", "arrow", "duration", "effect_between", "percent", "percents", "scale_of"]
