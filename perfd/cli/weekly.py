"""`perfd weekly`: the report of a week, on the terminal or by e-mail; the clock of `perfd serve` sends it by itself."""

from datetime import time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import click

from perfd.cli import main
from perfd.cli.group import FINE, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tell import Teller
from perfd.domain.notice import Letter
from perfd.errors import BadInputError
from perfd.rules.calendar import last_of_week
from perfd.site import weekly
from perfd.site.letters import letter
from perfd.site.site import Site
from perfd.site.templates import Pages
from perfd.stages.context import Context
from perfd.stages.notify import EMAIL, deliver_one, post


@main.command("weekly")
@click.option(
    "--week", metavar="WEEK", default="", help="A week such as 2026-W11, or a day in it; default: the last complete one."
)
@click.option("--mail", is_flag=True, help="Send it by e-mail to notify.email_to, instead of printing it.")
@click.option("--again", is_flag=True, help="With --mail: send it although it was sent before.")
@json_option
@click.pass_obj
def report(config_path: Path | None, week: str, mail: bool, again: bool, as_json: bool) -> int:
    """Print the report of a week as Markdown, or send it by e-mail with its figures.

    With --json all of it is one JSON document on standard output; with --mail that tells whether it was sent.
    """
    if again and not mail:
        raise BadInputError("--again sends the letter once more, so it needs --mail")
    with Teller() as tell, opened(config_path, tell) as context:
        site = site_of(context)
        chosen = weekly.named(week) if week else weekly.last_week(site)
        if mail:
            told = _mailed(context, letter(site, chosen), again=again)
            document: dict[str, Any] = {"week": chosen.name, "to": list(context.config.notify.email_to), "outcome": told}
        else:
            document = weekly.document(site, chosen)
            told = document["markdown"]
    if as_json:
        answer(document)
    else:
        click.echo(told.rstrip("\n"))
    return FINE


def owe(context: Context) -> bool:
    """The report of the last complete week is on its way, where it is due and was not before; whether that happened now."""
    settings, schedule, now = context.config.notify, context.config.schedule, context.now()
    if settings.weekly is None:
        return False
    due = last_of_week(now, settings.weekly.day, time.fromisoformat(settings.weekly.at), ZoneInfo(schedule.timezone))
    week = weekly.week_of_day((due - timedelta(days=7)).date())
    if context.store.outbox.stands(f"{EMAIL}:weekly:{week.name}") or context.store.began_at(now) >= week.stop:
        return False  # of a week before perfd began there is nothing to tell
    new = post(context, letter(site_of(context), week))
    if new:
        context.tell.say("clock", f"the report of week {week.name} goes to {', '.join(settings.email_to)}")
    return new


def site_of(context: Context) -> Site:
    """What the site's own report is made from, without a site that is served."""
    return Site(context.store, context.now, context.config.schedule, Pages(context.now), address=context.config.notify.site)


def _mailed(context: Context, made: Letter, *, again: bool) -> str:
    settings = context.config.notify
    if not settings.email_to:
        raise BadInputError("notify.email_to of perfd.toml names nobody whom the report could go to")
    if again:
        made = Letter(f"{made.key}:{context.now():%Y-%m-%dT%H:%M:%SZ}", made.title, made.text, made.figures)
    if not post(context, made):
        return f"{made.title.partition(':')[0]} was sent before, or is on its way; --again sends it once more"
    return deliver_one(context, f"{EMAIL}:{made.key}")
