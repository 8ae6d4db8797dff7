"""The section `[site]` of `perfd.toml`: who may read, and who is who. Its secrets come from the environment."""

import ipaddress
import re
from collections.abc import Mapping

from perfd.config.table import Table, meant
from perfd.config.words import SiteConfig
from perfd.domain.account import Role

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_PERSON = re.compile(r"(?:github|proxy):\S+")
HOW = 'written as "github:LOGIN" or "proxy:NAME"'


def site(table: Table, environ: Mapping[str, str]) -> SiteConfig:
    """Who may read the site, how people are known, and which role each has."""
    made = SiteConfig(
        public=table.flag("public", default=True),
        loopback=table.flag("loopback", default=True),
        proxies=tuple(one for one in table.texts("proxies", ()) if _is_network(table, one)),
        proxy_header=table.text("proxy_header", SiteConfig.proxy_header),
        everybody=table.text("everybody", ""),
        people=_people(table),
        github_client_id=environ.get("PERFD_GITHUB_CLIENT_ID") or None,
        github_client_secret=environ.get("PERFD_GITHUB_CLIENT_SECRET") or None,
    )
    if not _HEADER.fullmatch(made.proxy_header):
        table.wrong("proxy_header", f'site.proxy_header must be the name of an HTTP header, not "{made.proxy_header[:60]}"')
    if made.everybody and made.everybody not in set(Role):
        table.wrong("everybody", f'site.everybody cannot be "{made.everybody[:60]}"{meant(made.everybody, Role)}')
    if bool(made.github_client_id) != bool(made.github_client_secret):
        table.wrong("public", "PERFD_GITHUB_CLIENT_ID and PERFD_GITHUB_CLIENT_SECRET belong together; set both or none")
    table.close()
    return made


def _people(table: Table) -> Mapping[str, Role]:
    there = table.mapping("people")
    people = table.table("people", needed=False)
    made: dict[str, Role] = {}
    for name, role in there.items():
        if not _PERSON.fullmatch(name):
            people.wrong(name, f'site.people: "{name[:60]}" is nobody; a person is {HOW}')
        elif role not in set(Role):
            people.wrong(name, f'site.people: "{name[:60]}" cannot be "{role[:60]}"{meant(role, Role)}')
        else:
            made[name.casefold()] = Role(role)
    return made


def _is_network(table: Table, text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        table.wrong("proxies", f'site.proxies holds addresses such as "10.0.0.7" or "10.0.0.0/24", not "{text[:60]}"')
        return False
    return True
