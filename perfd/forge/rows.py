"""Rows of a comment: which ten stand in its table, and how one of them reads."""

from collections.abc import Sequence

from perfd.domain.answer import AnswerRow
from perfd.domain.metric import MetricKind
from perfd.domain.numbers import NOTHING, percent, percents, scale_of
from perfd.domain.verdict import Outcome
from perfd.forge.markdown import escaped, table

MOST_ROWS = 10
HEAD = ("class", "workload", "metric", "base → head", "change", "noise floor", "verdict")
RIGHT = frozenset({3, 4, 5})
_ORDER = (Outcome.WORSE, Outcome.NOT_COMPARABLE, Outcome.UNSURE, Outcome.BETTER, Outcome.SAME)


def leading(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The rows of the comment's table: the worst first, what holds the pull request up before what does not.

    Where quality was measured, its first row is among them, however many others are worse: faster and worse is worse.
    """
    ranked = in_order(rows)
    chosen = ranked[:MOST_ROWS]
    quality = next((row for row in ranked if row.metric.kind is MetricKind.QUALITY), None)
    return chosen if quality is None or quality in chosen else [*chosen[:-1], quality]


def in_order(rows: Sequence[AnswerRow]) -> list[AnswerRow]:
    """By what a reader must know first."""
    return sorted(rows, key=lambda row: (_ORDER.index(row.verdict.outcome), not row.gates, -_weight(row), row.name))


def _weight(row: AnswerRow) -> float:
    """The effect over the smallest one that matters."""
    return abs(row.verdict.effect or 0.0) / max(row.metric.relevant, 1e-3)


def table_of(rows: Sequence[AnswerRow]) -> str:
    """The rows as a Markdown table."""
    return table(HEAD, [_cells(row) for row in rows], RIGHT)


def _cells(row: AnswerRow) -> tuple[str, ...]:
    workload = escaped(row.workload) + (f" ({escaped(row.model)})" if row.model else "")
    return (
        escaped(row.workload_class),
        workload,
        escaped(row.metric.name),
        _values(row),
        _change(row),
        _percent(row.verdict.noise if row.verdict.noise is not None else row.verdict.bar),
        _verdict(row),
    )


def _values(row: AnswerRow) -> str:
    scale = scale_of(row.metric.unit, [row.base, row.head])
    return _kept(f"{scale.text(row.base)} → {scale.text(row.head)} {escaped(scale.unit)}")


def _change(row: AnswerRow) -> str:
    if row.verdict.effect is None:
        return NOTHING
    if row.base == 0.0:
        # Nothing to divide by: a plain difference.
        return _kept(f"{row.verdict.effect:+.4g} {escaped(row.metric.unit)}") if row.verdict.effect else NOTHING
    return f"{_kept(percent(row.verdict.effect))} {_kept(percents(row.verdict.interval))}".rstrip()


def _percent(share: float | None) -> str:
    return NOTHING if share is None else _kept(f"±{percent(share).lstrip('+')}")


def _kept(text: str) -> str:
    """On one line: a number that leaves its unit behind is hard to read."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _verdict(row: AnswerRow) -> str:
    outcome = row.verdict.outcome
    word = f"**{outcome}**" if outcome is Outcome.WORSE else outcome.value
    linked = f"[{word}]({row.link})" if row.link else word
    return f"{linked}, gate" if row.gates and outcome is Outcome.WORSE else linked
