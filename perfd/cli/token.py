"""`perfd token create|list|revoke`: what programs show to the site."""

import getpass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from perfd.cli import main
from perfd.cli.group import FINE, Commands, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.tables import console
from perfd.cli.tell import Silent
from perfd.config import Config
from perfd.domain.account import AccessToken, AuditEvent, Role, Scope
from perfd.errors import BadInputError
from perfd.rules.rights import token_of
from perfd.stages.context import Context
from perfd.stages.subjects import kernels
from perfd.store.access_tokens import new_secret


@main.group("token", cls=Commands)
def token() -> None:
    """Give tokens to programs, look at them, or take them back."""


@token.command()
@click.argument("label")
@click.option("--role", required=True, type=click.Choice([role.value for role in Role]), help="What it may do.")
@click.option("--days", default=90, show_default=True, type=click.IntRange(1, 730), help="How long it opens anything, in days.")
@click.option("--engine", "engines", multiple=True, help="Hold it to this engine or kernel (may be given again); default: all.")
@click.option("--new-engine", "new_engines", multiple=True, help="The same for one whose first results the token will hand in.")
@click.option("--repository", "repositories", multiple=True, help="Hold it to the engine of this repository, owner/name.")
@click.option("--device", "devices", multiple=True, help="Hold it to results of this device (may be given again); default: all.")
@json_option
@click.pass_obj
def create(
    config_path: Path | None,
    label: str,
    role: str,
    days: int,
    engines: tuple[str, ...],
    new_engines: tuple[str, ...],
    repositories: tuple[str, ...],
    devices: tuple[str, ...],
    as_json: bool,
) -> int:
    """Make a token; LABEL says what it is for. It is shown this once, and only its hash is kept."""
    with Silent() as tell, opened(config_path, tell) as context:
        _check_known(context, engines)
        scope = Scope((*engines, *new_engines, *(_engine(context.config, one) for one in repositories)), devices)
        new = token_of(label, role, str(days), scope, getpass.getuser())
        secret = new_secret()
        made = context.store.access_tokens.add(secret, new, context.now())
        _record(context, f"make token {made.id} ({made.label}), {made.role}")
    if as_json:
        answer({"secret": secret, "token": _document(made, made.created_at)})
    else:
        click.echo(secret)
        told = f"token {made.id} ({made.label}), {made.role}, until {made.expires_at.astimezone(UTC):%Y-%m-%d %H:%M UTC}"
        click.echo(f"{told}; copy it now, it is not shown again", err=True)
    return FINE


@token.command("list")
@json_option
@click.pass_obj
def list_(config_path: Path | None, as_json: bool) -> int:
    """List every token that was ever made, with its state and its last use; no secret is among them."""
    with Silent() as tell, opened(config_path, tell) as context:
        tokens, now = context.store.access_tokens.every(), context.now()
    if as_json:
        answer({"tokens": [_document(one, now) for one in tokens]})
    elif tokens:
        console().print(_table(tokens, now))
    else:
        click.echo("There are no tokens yet; `perfd token create LABEL --role ROLE` makes one.")
    return FINE


@token.command()
@click.argument("number", type=click.IntRange(1, 2**63 - 1))
@json_option
@click.pass_obj
def revoke(config_path: Path | None, number: int, as_json: bool) -> int:
    """Take token NUMBER back: it opens nothing from the next request on."""
    with Silent() as tell, opened(config_path, tell) as context:
        now = context.now()
        taken = context.store.access_tokens.revoke(number, now)
        if taken is None:
            raise BadInputError(f"there is no token {number}; `perfd token list` tells their numbers")
        _record(context, f"revoke token {number} ({taken.label})")
    if as_json:
        answer({"token": _document(taken, now)})
    else:
        click.echo(f"token {number} ({taken.label}) opens nothing any more")
    return FINE


def _check_known(context: Context, engines: tuple[str, ...]) -> None:
    """Nothing where perfd knows each of them; raises BadInputError: a slip of the pen would give a token that opens nothing."""
    named = {engine.name for engine in context.config.engines} | {one.name for one in kernels(context.config.kernels_folder)}
    known = sorted(named | set(context.store.subjects.names()))
    for one in engines:
        if one not in known:
            raise BadInputError(
                f"--engine {one[:100]}: perfd knows {', '.join(known) or 'none yet'}; "
                "take one of these, or say --new-engine where its first results are still to come"
            )


def _engine(config: Config, repository: str) -> str:
    found = config.github.repository(repository)
    if found is None:
        known = ", ".join(one.name for one in config.github.repositories) or "none"
        raise BadInputError(f"--repository {repository[:100]}: perfd.toml has {known} under [[github.repositories]]")
    return found.engine


def _record(context: Context, deed: str) -> None:
    context.store.audit.write(AuditEvent(context.now(), getpass.getuser(), "cli", "", deed, allowed=True))


def _document(one: AccessToken, now: datetime) -> dict[str, Any]:
    return {
        "id": one.id,
        "label": one.label,
        "role": one.role,
        "engines": one.scope.engines,
        "devices": one.scope.devices,
        "state": one.state(now),
        "created_by": one.created_by,
        "created_at": one.created_at,
        "expires_at": one.expires_at,
        "last_used_at": one.last_used_at,
        "last_used_from": one.last_used_from,
        "revoked_at": one.revoked_at,
    }


def _table(tokens: tuple[AccessToken, ...], now: datetime) -> Table:
    table = Table(title="Tokens", title_justify="left", pad_edge=False)
    for name in ("", "label", "role", "held to", "state", "expires", "last used", "from", "made by"):
        table.add_column(name, overflow="fold")
    for one in tokens:
        held = ", ".join([*one.scope.engines, *one.scope.devices]) or "everything"
        used = "-" if one.last_used_at is None else f"{one.last_used_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        expires = f"{one.expires_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        words = (one.label, one.role.value, held, one.state(now), expires, used, one.last_used_from, one.created_by)
        table.add_row(str(one.id), *words)
    return table
