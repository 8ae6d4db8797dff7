"""The section `[notify]` of `perfd.toml`: who is told. Its secrets come from the environment, or from files it names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from perfd.config.table import Table

SECURITIES = ("starttls", "tls", "none")


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKLY = re.compile(r"(?P<day>[a-z]+) (?P<at>(?:[01]\d|2[0-3]):[0-5]\d)")


@dataclass(frozen=True)
class Weekly:
    """A moment of every week, in the time zone of the schedule."""

    day: int
    """0 is Monday."""
    at: str
    """HH:MM."""


@dataclass(frozen=True)
class Notify:
    """Who is told of alarms, and of Regressions that wake a person."""

    webhook: bool = False
    """Whether messages go to a webhook that takes Slack's JSON."""
    email_to: tuple[str, ...] = ()
    """Whom e-mail goes to; empty: none is sent."""
    email_from: str = ""
    """Its sender."""
    smtp_host: str = ""
    smtp_port: int = 587
    smtp_security: str = "starttls"
    """starttls, tls (from the first byte on) or none."""
    weekly: Weekly | None = None
    """When the report of the last complete week goes to the addresses; absent: never by itself."""
    site: str = ""
    """Where people reach perfd's own pages; empty: messages hold no links."""
    webhook_url: str | None = field(default=None, repr=False)
    """PERFD_NOTIFY_WEBHOOK_URL. Whoever knows it can write there, so no repr, page and log shows it."""
    smtp_user: str | None = None
    """PERFD_SMTP_USER."""
    smtp_password: str | None = field(default=None, repr=False)
    """PERFD_SMTP_PASSWORD."""


def notify(table: Table, environ: Mapping[str, str], site: str) -> Notify:
    """Who is told; a secret that another machine knows may be missing here. `site` serves where the section names none."""
    to = table.texts("email_to", ())
    made = Notify(
        webhook=table.flag("webhook", default=False),
        email_to=to,
        email_from=table.text("email_from", None if to else ""),
        smtp_host=table.text("smtp_host", None if to else ""),
        smtp_port=table.whole("smtp_port", Notify.smtp_port, 1),
        smtp_security=table.choice("smtp_security", SECURITIES, Notify.smtp_security),
        weekly=_weekly(table, to),
        site=table.text("site", site).rstrip("/"),
        webhook_url=_secret(table, environ, "webhook", "PERFD_NOTIFY_WEBHOOK_URL"),
        smtp_user=environ.get("PERFD_SMTP_USER") or None,
        smtp_password=_secret(table, environ, "smtp_host", "PERFD_SMTP_PASSWORD"),
    )
    for address in (*made.email_to, *filter(None, (made.email_from,))):
        if not _is_mail_address(address):
            table.wrong("email_to" if address in to else "email_from", f'"{address[:80]}" is no address such as "me@example.com"')
    if made.site and not _is_web_address(made.site):
        table.wrong(
            "site",
            f'notify.site must be an address such as "https://perfd.example.com", not "{made.site}"',
        )
    if made.webhook_url is not None and not _is_web_address(made.webhook_url):
        table.wrong("webhook", "PERFD_NOTIFY_WEBHOOK_URL must be an address that begins with https:// or http://")
    table.close()
    return made


def _weekly(table: Table, to: tuple[str, ...]) -> Weekly | None:
    given = table.text("weekly", "")
    if not given:
        return None
    found = _WEEKLY.fullmatch(given)
    if found is None or found["day"] not in DAYS:
        table.wrong("weekly", f'notify.weekly must be a day and a time such as "monday 08:00", not "{given[:40]}"')
        return None
    if not to:
        table.wrong("weekly", "notify.weekly is a letter, and notify.email_to names nobody; name its receivers there")
    return Weekly(DAYS.index(found["day"]), found["at"])


def _secret(table: Table, environ: Mapping[str, str], key: str, name: str) -> str | None:
    """The variable's value, or the first line of the file that NAME_FILE names."""
    file = environ.get(f"{name}_FILE")
    if environ.get(name) or not file:
        return environ.get(name) or None
    try:
        return Path(file).expanduser().read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        table.wrong(key, f"{name}_FILE: {file} cannot be read: {getattr(error, 'strerror', None) or 'it is no UTF-8'}")
        return None


def _is_mail_address(text: str) -> bool:
    name, _, host = text.rpartition("@")
    return bool(name and host) and not any(one.isspace() or one in "<>,;" for one in text)


def _is_web_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and not any(one.isspace() for one in text)
