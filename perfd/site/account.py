"""The pages about people: who I am here, my sessions, tokens, and who did what."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from perfd.domain.account import AccessToken, NewToken, Right, Role, Scope, Visitor
from perfd.rules.rights import RIGHTS, may, token_of
from perfd.site.forms import Form
from perfd.site.parameters import Limit, Offset, linker
from perfd.site.site import Here, Site
from perfd.site.troubles import NotHereError
from perfd.site.visitors import Asking
from perfd.site.writing import needs
from perfd.store.access_tokens import new_secret

router = APIRouter()
Admin = Annotated[Visitor, Depends(needs(Right.TOKENS))]
Auditor = Annotated[Visitor, Depends(needs(Right.AUDIT))]
Known = Annotated[Visitor, Depends(needs(None))]
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]


@router.get("/account")
def account(site: Here, visitor: Asking) -> HTMLResponse:
    """Who the visitor is here, what they may do, and what they may end."""
    return _page(site, visitor)


@router.post("/account/tokens")
def create(site: Here, visitor: Admin, form: Form) -> HTMLResponse:
    """The token stands there, and its secret is shown, this once."""
    secret = new_secret()
    token = site.store.access_tokens.add(secret, asked(form, visitor.name), site.clock())
    response = _page(site, visitor, made=token, secret=secret)
    response.headers["Cache-Control"] = "no-store"
    return response


@router.post("/account/tokens/{number}/revoke", dependencies=[Depends(needs(Right.TOKENS))])
def revoke(number: Number, site: Here) -> Response:
    """The token opens nothing any more."""
    if site.store.access_tokens.revoke(number, site.clock()) is None:
        raise NotHereError(f"There is no token {number}.")
    return RedirectResponse("/account#tokens", 303)


@router.post("/account/sessions/{number}/end")
def end(number: Number, site: Here, visitor: Known) -> Response:
    """That browser of the visitor's own is logged out."""
    if not site.store.web_sessions.end(number, visitor.name, site.clock()):
        raise NotHereError(f"You have no session {number}.")
    return RedirectResponse("/account#sessions", 303)


@router.get("/audit")
def audit(request: Request, site: Here, visitor: Auditor, offset: Offset = 0, limit: Limit = 100) -> HTMLResponse:
    """Who did what, the newest first."""
    total, events = site.store.audit.latest(offset, limit)
    return site.pages.show(
        "audit.html",
        here="/account",
        visitor=visitor,
        events=events,
        total=total,
        offset=offset,
        limit=limit,
        link=linker(request),
    )


def asked(fields: Mapping[str, str], by: str) -> NewToken:
    """The token that a form asks for; raises BadInputError."""
    label, role, days = (fields.get(name, "").strip() for name in ("label", "role", "days"))
    return token_of(label, role, days, Scope(_names(fields.get("engines", "")), _names(fields.get("devices", ""))), by)


def _names(text: str) -> tuple[str, ...]:
    return tuple(one for one in (part.strip() for part in text.split(",")) if one)


def _page(site: Site, visitor: Visitor, made: AccessToken | None = None, secret: str = "") -> HTMLResponse:
    now = site.clock()
    tokens = site.store.access_tokens.every() if may(visitor.role, Right.TOKENS) else ()
    return site.pages.show(
        "account.html",
        here="/account",
        visitor=visitor,
        rights=[right.value for right in Right if may(visitor.role, right)],
        table=[(right.value, [right in RIGHTS[role] for role in Role]) for right in Right],
        may_give=may(visitor.role, Right.TOKENS),
        may_audit=may(visitor.role, Right.AUDIT),
        tokens=[_words(one, one.state(now)) for one in tokens],
        sessions=site.store.web_sessions.of(visitor.name, now) if visitor.session_id is not None else (),
        roles=[role.value for role in Role],
        made=made,
        secret=secret,
    )


def _words(token: AccessToken, state: str) -> dict[str, Any]:
    held = [*token.scope.engines, *token.scope.devices]
    return {"token": token, "state": state, "held": ", ".join(held) or "everything"}
