"""Two nights, days or Builds Series by Series: read from the address, and as the lines of a table."""

from collections.abc import Mapping
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import HTMLResponse

from perfd.domain.results import MetricSamples
from perfd.errors import BadInputError
from perfd.site.choosing import WORDS, chosen_of, parts_of
from perfd.site.drawing import strip
from perfd.site.numbers import percent, scale_of
from perfd.site.parameters import linker, text
from perfd.site.rows import CLASS_WORDS, model_of
from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store.pages import PARTS, Apart, Question, Sorting
from perfd.store.records import CommonMean, Differing, DifferingList, Side

MOST_DIGITS = 18
"""What a number in the database has room for."""


def question_of(request: Request, site: Site, offset: int, limit: int) -> Question | None:
    """What the address compares; absent where it names no two sides. Raises BadInputError or NotHereError."""
    base, head = text(request, "base"), text(request, "head")
    if not base or not head:
        return None
    apart, sorting = text(request, "apart"), text(request, "sort") or Sorting.NOISE.value
    if apart not in {"", *Apart}:
        raise BadInputError(f"apart is one of {', '.join(Apart)}")
    if sorting not in set(Sorting):
        raise BadInputError(f"sort is one of {', '.join(Sorting)}")
    wanted = chosen_of(request).series
    by = text(request, "by")
    sides = tuple(_part_side(site, by, name) if by else _side(site, name) for name in (base, head))
    return Question(sides[0], sides[1], wanted, Apart(apart) if apart else None, Sorting(sorting), offset, limit)


def show(request: Request, site: Site, question: Question) -> HTMLResponse:
    """The page that answers it."""
    found = site.store.pages.differing(question)
    total = found.counts.get(question.apart.value, 0) if question.apart else sum(found.counts.values())
    chosen = chosen_of(request)
    return site.pages.show(
        "differing.html",
        here="/compare",
        sentence=sentence(question, found),
        base=_words(question.base),
        head=_words(question.head),
        apart=question.apart.value if question.apart else "",
        sorting=question.sorting.value,
        counts=[(word, number, _with(request, apart=word)) for word, number in found.counts.items()],
        every=_with(request, apart=""),
        sorts=[(one.value, _with(request, sort=one.value)) for one in Sorting],
        parts=[part for part in parts_of(site.choices(), chosen) if part.key != "verdict"],
        rows=[line(row) for row in found.rows],
        samples=f"{_same(request, samples='')}&samples=",
        by=question.head.part,
        byes=("", *PARTS),
        means=[_mean_words(one, request) for one in found.means],
        strips=_strips(request, site, question),
        no_strips=_same(request, samples=""),
        total=total,
        offset=question.offset,
        limit=question.limit,
        link=linker(request),
        address=f"{request.url.path}?{request.url.query}",
    )


def sentence(question: Question, found: DifferingList) -> str:
    """How the two lie apart, the worst first."""
    many = sum(found.counts.values())
    if not many:
        return f"Nothing was measured both in {question.base.words} and in {question.head.words}."
    told = ", ".join(f"{number:,} {word}" for word, number in found.counts.items() if number)
    return f"{_capital(question.head.words)} against {question.base.words}: {told} of {plural(many, 'Series', 'Series')}."


class Line(NamedTuple):
    """A Series as a line, both numbers in one unit."""

    id: int
    base_id: int
    """The Series of the base, where that is another one."""
    address: str
    interval: tuple[float, float] | None
    metric: str
    workload: str
    subject: str
    model: str
    device: str
    base: str
    head: str
    unit: str
    effect: float | None
    noise: str
    bar: str
    over: str
    word: str


def line(row: Differing) -> Line:
    """The line of one Series."""
    info = row.info
    scale = scale_of(info.metric.unit, (row.base, row.head))
    return Line(
        id=info.id,
        base_id=row.base_series or info.id,
        address=f"/series/{info.id}" + ("" if row.base_series in {0, info.id} else f"?with={row.base_series}"),
        interval=_between(row),
        metric=info.metric.name,
        workload=info.workload_name,
        subject=info.key.subject,
        model=model_of(info),
        device=info.key.device_class,
        base=scale.text(row.base),
        head=scale.text(row.head),
        unit=scale.unit,
        effect=row.effect,
        noise=_share(row.noise),
        bar=_share(row.bar),
        over=f"{row.over_noise:.1f}" if row.over_noise is not None else "",
        word=row.word,
    )


def _share(value: float | None) -> str:
    return "" if value is None else percent(value).lstrip("+")


def _side(site: Site, name: str) -> Side:
    found = site.store.pages.side(name)
    if found is None:
        raise NotHereError(
            f"There is no night and no Build {short(name, 80)}: give a day (2026-11-29), a night's name or a digest."
        )
    return found


def _between(row: Differing) -> tuple[float, float] | None:
    """The effect between the far ends of both Points' intervals; absent where one has none, or reaches zero."""
    if row.base_interval is None or row.head_interval is None or row.base_interval[0] <= 0.0:
        return None
    return row.head_interval[0] / row.base_interval[1] - 1.0, row.head_interval[1] / row.base_interval[0] - 1.0


def _mean_words(one: CommonMean, request: Request) -> dict[str, Any]:
    """A geometric mean with the name of its set: the filter that shows exactly these Series."""
    return {
        "class": CLASS_WORDS[one.workload_class],
        "metric": one.metric,
        "better": one.better.value,
        "n": plural(one.n, "Series", "Series"),
        "effect": one.effect,
        "address": _with(request, **{"class": one.workload_class.value, "metric": one.metric}),
    }


def samples_of(request: Request, site: Site, question: Question) -> tuple[MetricSamples, MetricSamples] | None:
    """Those of the Series that the address names as `samples`; absent where it names none. Raises NotHereError."""
    asked = text(request, "samples")
    if not asked:
        return None
    if not (asked.isascii() and asked.isdigit() and len(asked) <= MOST_DIGITS):
        raise BadInputError("samples is the number of one Series of the table")
    found = site.store.pages.samples_between(question, int(asked))
    if found is None:
        raise NotHereError(f"Series {asked} has no raw Samples on both sides.")
    return found


def _strips(request: Request, site: Site, question: Question) -> dict[str, Any] | None:
    """The raw Samples behind both numbers of the Series that the address names, on one scale; raises as `samples_of`."""
    found = samples_of(request, site, question)
    if found is None:
        return None
    scale = scale_of(found[0].unit, [value for one in found for value in one.values])
    ends = [value for one in found for value in one.values]
    span = (min(ends), max(ends))
    rows = [
        {
            "word": word,
            "n": len(one.values),
            "median": scale.text(median(one.values)),
            "low": scale.text(min(one.values)),
            "high": scale.text(max(one.values)),
            "strip": strip(one.values, f"{word}: {len(one.values)} Samples around {scale.text(median(one.values))}", span=span),
        }
        for word, one in zip((question.base.words, question.head.words), found, strict=True)
    ]
    return {"metric": found[0].name, "unit": scale.unit, "rows": rows, "series": int(text(request, "samples"))}


def _part_side(site: Site, by: str, name: str) -> Side:
    if by not in PARTS:
        raise BadInputError(f"by is one of {', '.join(PARTS)}")
    if name not in site.choices()[WORDS[by]]:
        raise NotHereError(f"No Series has the {by} {short(name, 80)}.")
    return Side(name, f"{by} {short(name, 60)}", part=by)


def _words(side: Side) -> dict[str, str]:
    address = f"/builds/{side.name}" if side.build_id else ""
    return {"name": side.name, "words": side.words, "address": address}


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _with(request: Request, **changed: str) -> str:
    """This address with some parts changed, from the first line on, and without Samples."""
    return _address(request, changed, {"offset", "samples"})


def _same(request: Request, **changed: str) -> str:
    """This address with some parts changed, and the page as it is."""
    return _address(request, changed, set())


def _address(request: Request, changed: Mapping[str, str], left_out: set[str]) -> str:
    kept = [(key, value) for key, value in request.query_params.multi_items() if key not in {*left_out, *changed}]
    return f"{request.url.path}?{urlencode(kept + [(key, value) for key, value in changed.items() if value])}"
