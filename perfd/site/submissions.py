"""What a long Run handed in over time: a chart of both sets, a sentence that says progress or gaming, and every submission."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from perfd.domain.submission import Submission, mean
from perfd.plots import SeriesView
from perfd.rules.gaming import Course, course, gaps, sentence
from perfd.site.numbers import Scale, duration, scale_of

WIDTH, HEIGHT, LEFT, BELOW = 640, 220, 64, 22
MOST = 500
"""Submissions that the page lists; the JSON has them all."""


def tries(came: Mapping[int, tuple[Submission, ...]]) -> list[dict[str, Any]]:
    """Every try of the Run that handed something in, the last first; interrupted ones are kept and said to be."""
    last = max(came, default=0)
    return [_try(number, came[number], is_last=number == last) for number in sorted(came, reverse=True)]


def _try(number: int, came: tuple[Submission, ...], *, is_last: bool) -> dict[str, Any]:
    scored = [one for one in came if one.validation]
    scale = scale_of(
        scored[0].unit if scored else "", [mean(values) for one in scored for values in (one.validation, one.held_out)]
    )
    called = {gap.place: gap.course for gap in gaps(came)}
    return {
        "number": number,
        "interrupted": not is_last,
        "sentence": sentence(came),
        "gamed": course(came) is Course.GAMING,
        "metric": came[0].metric,
        "unit": scale.unit,
        "better": scored[0].better.value if scored else "",
        "chart": chart(scored, scale),
        "total": len(came),
        "rows": [_row(one, scale, called) for one in came[:MOST]],
    }


def _row(one: Submission, scale: Scale, called: dict[int, Course]) -> dict[str, Any]:
    return {
        "name": one.name,
        "elapsed": duration(one.elapsed_s),
        "digest": one.digest,
        "size_bytes": one.size_bytes,
        "validation": _score(one.validation, scale),
        "held_out": _score(one.held_out, scale),
        "course": called[one.place].value if one.place in called else "",
        "reason": one.reason,
    }


def _score(values: tuple[float, ...], scale: Scale) -> str:
    """Four digits that count: scores of one Run may lie far apart."""
    return f"{mean(values) / scale.size:.4g}" if values else ""


def pictures(came: Sequence[Submission]) -> list[SeriesView]:
    """The scored ones as two pictures, a set each."""
    scored = [one for one in came if one.validation]
    labels = [duration(one.elapsed_s) for one in scored]
    sets = (("validation set", [one.validation for one in scored]), ("held-out set", [one.held_out for one in scored]))
    return [
        SeriesView(
            name=scored[0].metric[:40],
            title=f"{scored[0].metric[:60]} on the {word}",
            unit=scored[0].unit,
            values=[mean(one) for one in values],
            better=scored[0].better,
            labels=labels,
        )
        for word, values in sets
        if scored
    ]


def chart(scored: Sequence[Submission], scale: Scale) -> Markup:
    """Scores over time as SVG, a line a set; "" where nothing was scored."""
    if not scored:
        return Markup()
    lines = [[mean(one.validation) for one in scored], [mean(one.held_out) for one in scored]]
    lowest, highest = min(map(min, lines)), max(map(max, lines))
    span, until_s = (highest - lowest) or 1.0, max(one.elapsed_s for one in scored) or 1.0
    wide, tall = WIDTH - LEFT - 8, HEIGHT - BELOW - 8

    def spot(one: Submission, value: float) -> str:
        return f"{LEFT + one.elapsed_s / until_s * wide:.1f} {8 + (highest - value) / span * tall:.1f}"

    drawn = Markup()
    for name, values in zip(("validation", "held"), lines, strict=True):
        spots = [spot(one, value) for one, value in zip(scored, values, strict=True)]
        dots = "".join('<circle cx="{}" cy="{}" r="2.5"/>'.format(*at.split()) for at in spots)
        drawn += Markup('<g class="{}"><path d="M{}"/>{}</g>').format(name, "L".join(spots), Markup(dots))  # noqa: S704 (numbers only)
    title = f"{len(scored)} submissions over {duration(until_s)}, from {scale.text(lowest)} to {scale.text(highest)} {scale.unit}"
    return Markup(
        '<svg class="course" viewBox="0 0 {w} {h}" role="img" aria-label="{title}"><title>{title}</title>'
        '<text x="{left}" y="14" text-anchor="end">{top}</text><text x="{left}" y="{base}" text-anchor="end">{bottom}</text>'
        '<text x="{left0}" y="{foot}">0</text><text x="{right}" y="{foot}" text-anchor="end">{until}</text>{drawn}</svg>'
    ).format(
        w=WIDTH,
        h=HEIGHT,
        title=title,
        left=LEFT - 6,
        left0=LEFT,
        right=WIDTH - 8,
        base=HEIGHT - BELOW,
        foot=HEIGHT - 6,
        top=scale.text(highest),
        bottom=scale.text(lowest),
        until=duration(until_s),
        drawn=drawn,
    )
