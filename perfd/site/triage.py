"""A Regression is answered: each answer is a plain form that says who and why, and becomes an event of its life."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from perfd.domain.account import Right, Visitor, Way
from perfd.domain.verdict import RegressionState
from perfd.errors import BadInputError
from perfd.rules.triage import ACKNOWLEDGED, COMMENT, due_note
from perfd.site import regressions
from perfd.site.forms import Form
from perfd.site.parameters import RegressionId
from perfd.site.site import Here, Site
from perfd.site.writing import needs
from perfd.store.records import RegressionRow
from perfd.store.regressions import Step

router = APIRouter()
Triager = Annotated[Visitor, Depends(needs(Right.TRIAGE))]
MOST_NAME = 80
MOST_DIGITS = 18
"""What a number in the database has room for."""


class Deed(StrEnum):
    """What a person may do with a Regression; the other states are only ever measured."""

    COMMENT = "comment"
    OWN = "own"
    ACKNOWLEDGE = "acknowledge"
    DUE = "due"
    NOISE = "noise"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


NOTES = frozenset({Deed.COMMENT, Deed.ACKNOWLEDGE, Deed.DUE})
"""They move nothing, so that two people may do them side by side."""


class MovedMeanwhileError(Exception):
    """Somebody else answered while the form was open."""


@dataclass(frozen=True)
class Answer:
    """One form, read."""

    deed: Deed
    actor: str
    reason: str
    state: RegressionState
    seen: int
    """State of the Regression, and how many events its life had, as the page showed them."""
    owner: str = ""
    due: date | None = None
    of: int | None = None


@router.post("/regressions/{regression_id}")
def answered(visitor: Triager, request: Request, regression_id: RegressionId, site: Here, form: Form) -> Response:
    """The answer stands in the Regression's life, and its page is shown; else the page says why not, and keeps what was typed."""
    row = regressions.find(site, regression_id)
    try:
        # Whoever sits at this machine may be any of several people, and says who; everybody else is known.
        _do(site, row, answer_of(form if visitor.way is Way.LOOPBACK else {**form, "actor": visitor.name}))
    except BadInputError as error:
        return regressions.page(request, site, row, visitor, said=str(error), typed=form, status=400)
    except MovedMeanwhileError:
        now = regressions.find(site, regression_id)
        by, state = now.events[-1].actor, now.state.value
        said = f"{by} answered while you read: it is {state} now. Nothing was changed; look at its life and answer again."
        return regressions.page(request, site, now, visitor, said=said, typed=form, status=409)
    return RedirectResponse(f"/regressions/{regression_id}?done={form['deed']}#life", 303)


def answer_of(form: dict[str, str]) -> Answer:
    """What a form asks for; raises BadInputError where it says too little."""
    deed = form.get("deed", "")
    if deed not in set(Deed):
        raise BadInputError(f"An answer is one of {', '.join(Deed)}.")
    actor, reason = form.get("actor", ""), form.get("reason", "")
    if not actor or len(actor) > MOST_NAME:
        raise BadInputError(f"Say who you are, in at most {MOST_NAME} characters: it stands in the Regression's life.")
    if not reason:
        raise BadInputError("Say why, in a sentence: it stands in the Regression's life.")
    state, seen = form.get("state", ""), form.get("seen", "")
    if state not in set(RegressionState) or not _is_number(seen):
        raise BadInputError("The form does not say which state it saw: load the page again.")
    owner = form.get("owner", "") or actor
    if len(owner) > MOST_NAME:
        raise BadInputError(f"An owner has at most {MOST_NAME} characters.")
    return Answer(Deed(deed), actor, reason, RegressionState(state), int(seen), owner, _day(form, deed), _other(form, deed))


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS


def _day(form: dict[str, str], deed: str) -> date | None:
    if deed != Deed.DUE:
        return None
    try:
        return date.fromisoformat(form.get("due", ""))
    except ValueError as error:
        raise BadInputError("Give the day by which it is answered, such as 2026-12-06.") from error


def _other(form: dict[str, str], deed: str) -> int | None:
    if deed != Deed.DUPLICATE:
        return None
    number = form.get("of", "")
    if not _is_number(number):
        raise BadInputError("Give the number of the Regression that this one repeats.")
    return int(number)


def _do(site: Site, row: RegressionRow, answer: Answer) -> None:
    now = site.clock()
    if answer.deed in NOTES:
        words = {Deed.COMMENT: COMMENT + answer.reason, Deed.ACKNOWLEDGE: ACKNOWLEDGED + answer.reason}
        told = due_note(answer.due, answer.reason) if answer.due else words[answer.deed]
        if not site.store.regressions.note(row.id, actor=answer.actor, reason=told, now=now):
            raise BadInputError("You said so before, in the same words: say what is new.")
        return
    given = answer.deed is Deed.OWN and answer.owner != answer.actor
    reason = f"{answer.owner} takes it: {answer.reason}" if given else answer.reason
    step = Step(answer.actor, reason, now, answer.seen)
    new = RegressionState.OWNED
    values: dict[str, Any] = {}
    if answer.deed is Deed.OWN:
        values = {"owner": answer.owner}
    elif answer.of is not None:
        new, values = RegressionState.DUPLICATE, {"duplicate_of": _repeated(site, row, answer.of)}
    else:
        new = RegressionState(answer.deed.value)
    if not site.store.regressions.step(row.id, answer.state, new, step, **values):
        raise MovedMeanwhileError


def _repeated(site: Site, row: RegressionRow, number: int) -> int:
    if number == row.id:
        raise BadInputError("A Regression cannot repeat itself.")
    if site.store.regressions.read(number) is None:
        raise BadInputError(f"There is no Regression {number} that this one could repeat.")
    return number
