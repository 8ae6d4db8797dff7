"""Who sends a request: the bearer of a token, a person whom a proxy names, a browser that is logged in, or whoever sits here."""

import hashlib
import hmac
import ipaddress
import re
from typing import Annotated

from fastapi import Depends, Request

from perfd.domain.account import AccessToken, Role, Visitor, Way
from perfd.site.site import Here, Site
from perfd.site.templates import utc

LOOPBACK = frozenset({"127.0.0.1", "::1"})
HERE = LOOPBACK | {"localhost"}
FORWARDED = ("forwarded", "x-real-ip", "via")
TOKEN = re.compile(r"perfd_[A-Za-z0-9_-]{43}")
LONGEST_NAME = 70


class NotKnownError(Exception):
    """Nobody knows who asks (401); its text says why."""


def visitor_of(request: Request, site: Here) -> Visitor:
    """Who asks; raises NotKnownError for a token that opens nothing, and never for somebody who shows none."""
    address = address_of(request, site)
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return _bearer(site, secret.strip(), address)
    return (
        _named_by_proxy(request, site, address)
        or _logged_in(request, site, address)
        or _sits_here(request, site)
        or Visitor("", Way.NOBODY, None, address)
    )


Asking = Annotated[Visitor, Depends(visitor_of)]


def peer_of(request: Request) -> str:
    """The address at the other end of the connection, as IPv4 where it is that."""
    host = request.client.host if request.client else ""
    return host.removeprefix("::ffff:")


def is_proxy(site: Site, address: str) -> bool:
    """Whether a header of that address is believed."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in ipaddress.ip_network(one) for one in site.access.proxies)


def address_of(request: Request, site: Site) -> str:
    """Where the request came from: the other end, or what a proxy of ours says that its own other end was."""
    peer = peer_of(request)
    if not is_proxy(site, peer):
        return peer
    last = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return peer


def is_secure(request: Request, site: Site) -> bool:
    """Whether the visitor's browser speaks TLS, with perfd or with a proxy of ours."""
    told = request.headers.get("x-forwarded-proto", "") if is_proxy(site, peer_of(request)) else ""
    return request.url.scheme == "https" or told == "https" or site.address.startswith("https://")


def cookie_name(request: Request, site: Site) -> str:
    """With TLS a name that no other host of the domain, and no page without TLS, can set."""
    return "__Host-perfd" if is_secure(request, site) else "perfd"


def _bearer(site: Site, secret: str, address: str) -> Visitor:
    site.limits.look("token", address)
    found = site.store.access_tokens.find(secret) if TOKEN.fullmatch(secret) else None
    trouble = _trouble(site, secret, found)
    if found is None or trouble:
        site.limits.take("token", address)
        raise NotKnownError(trouble)
    site.store.access_tokens.used(found.id, address, site.clock())
    return Visitor(found.name, Way.TOKEN, found.role, address, scope=found.scope, token_id=found.id)


def _trouble(site: Site, secret: str, found: AccessToken | None) -> str:
    if not TOKEN.fullmatch(secret):
        return "the token is malformed: it is perfd_ and 43 letters, digits, - or _"
    if found is None:
        return "perfd does not know this token"
    state = found.state(site.clock())
    return "" if state == "valid" else f"this token is {state} since {utc(found.revoked_at or found.expires_at)}"


def _named_by_proxy(request: Request, site: Site, address: str) -> Visitor | None:
    name = request.headers.get(site.access.proxy_header, "").strip()
    if not name or not is_proxy(site, peer_of(request)):
        return None
    if len(name) > LONGEST_NAME or not name.isprintable() or len(request.headers.getlist(site.access.proxy_header)) > 1:
        raise NotKnownError(f"the proxy's {site.access.proxy_header} names nobody: one name of at most {LONGEST_NAME} characters")
    person = f"proxy:{name.casefold()}"
    return Visitor(person, Way.PROXY, site.access.role(person), address, _own_seal(site, person))


def _logged_in(request: Request, site: Site, address: str) -> Visitor | None:
    cookie = request.cookies.get(cookie_name(request, site), "")
    found = site.store.web_sessions.find(cookie, site.clock()) if cookie else None
    if found is None:
        return None
    seal = hashlib.sha256(b"form " + cookie.encode()).hexdigest()
    return Visitor(found.person, Way.SESSION, site.access.role(found.person), address, seal, session_id=found.id)


def _sits_here(request: Request, site: Site) -> Visitor | None:
    """A proxy on this machine also connects from loopback, and a page of another site may lead a browser here by another name."""
    peer = peer_of(request)
    passed_on = any(one in FORWARDED or one.startswith("x-forwarded-") for one in request.headers)
    if not site.access.loopback or peer not in LOOPBACK or is_proxy(site, peer) or passed_on or request.url.hostname not in HERE:
        return None
    return Visitor("local", Way.LOOPBACK, Role.ADMIN, peer, _own_seal(site, "local"))


def _own_seal(site: Site, name: str) -> str:
    """For those without a cookie: good until perfd is started again."""
    return hmac.new(site.key, name.encode(), hashlib.sha256).hexdigest()
