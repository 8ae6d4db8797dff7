"""Two nights, days or Builds Series by Series: read from the address, and as the lines of a table."""

from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import HTMLResponse

from perfd.errors import BadInputError
from perfd.site.choosing import chosen_of, parts_of
from perfd.site.numbers import scale_of
from perfd.site.parameters import linker, text
from perfd.site.rows import CLASS_WORDS, model_of
from perfd.site.sentences import plural
from perfd.site.site import Site
from perfd.site.templates import short
from perfd.site.troubles import NotHereError
from perfd.store.pages import Apart, Question, Sorting
from perfd.store.records import Differing, DifferingList, Side


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
    sides = (_side(site, base), _side(site, head))
    return Question(*sides, wanted, Apart(apart) if apart else None, Sorting(sorting), offset, limit)


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
        parts=[part for part in parts_of(site.store.pages.choices(), chosen) if part.key != "verdict"],
        rows=[line(row) for row in found.rows],
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


def line(row: Differing) -> dict[str, Any]:
    """A Series as a line, both numbers in one unit."""
    scale = scale_of(row.info.metric.unit, (row.base, row.head))
    return {
        "id": row.info.id,
        "metric": row.info.metric.name,
        "workload": row.info.workload_name,
        "workload_class": CLASS_WORDS[row.info.workload_class],
        "subject": row.info.key.subject,
        "model": model_of(row.info),
        "device": row.info.key.device_class,
        "base": scale.text(row.base),
        "head": scale.text(row.head),
        "unit": scale.unit,
        "effect": row.effect,
        "bar": row.bar,
        "noise": row.noise,
        "over": f"{row.over_noise:.1f}" if row.over_noise is not None else "",
        "word": row.word,
    }


def _side(site: Site, name: str) -> Side:
    found = site.store.pages.side(name)
    if found is None:
        raise NotHereError(
            f"There is no night and no Build {short(name, 80)}: give a day (2026-11-29), a night's name or a digest."
        )
    return found


def _words(side: Side) -> dict[str, str]:
    address = f"/builds/{side.name}" if side.build_id else ""
    return {"name": side.name, "words": side.words, "address": address}


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _with(request: Request, **changed: str) -> str:
    """This address with some parts changed, from the first line on."""
    kept = [(key, value) for key, value in request.query_params.multi_items() if key not in {"offset", *changed}]
    return f"{request.url.path}?{urlencode(kept + [(key, value) for key, value in changed.items() if value])}"
