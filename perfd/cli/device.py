"""`perfd device list|quarantine|release`: what can be measured on, and what may not be trusted."""

import getpass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from perfd.cli import main
from perfd.cli.group import FINE, UNSURE, Commands, answer, json_option
from perfd.cli.opened import opened
from perfd.cli.reasons import REASON
from perfd.cli.tables import console
from perfd.cli.tell import Silent
from perfd.domain.device import Cause, DeviceRow, Quarantine
from perfd.errors import BadInputError
from perfd.store import Store

ACTOR = "Who does it; default: your user name."


@main.group("device", cls=Commands)
def device() -> None:
    """Look at devices, take one out, or let one measure again."""


@device.command("list")
@json_option
@click.pass_obj
def list_(config_path: Path | None, as_json: bool) -> int:
    """List every device that was measured on or looked at, with its state and the reason.

    Exit code 2: one of them is in quarantine.
    """
    with Silent() as tell, opened(config_path, tell) as context:
        rows = context.store.devices.rows()
    if as_json:
        answer({"devices": [document(row) for row in rows]})
    elif rows:
        console().print(_table(rows))
    else:
        click.echo("No device is known yet; the first night, or `perfd serve`, looks at those of perfd.toml.")
    return UNSURE if any(row.quarantine for row in rows) else FINE


@device.command()
@click.argument("name")
@click.option("--reason", type=REASON, required=True, help="Why, in a sentence; it stands on everything that becomes void.")
@click.option("--since", help="Void what it has finished since then (ISO 8601, UTC unless it says so); default: a day ago.")
@click.option("--actor", help=ACTOR)
@json_option
@click.pass_obj
def quarantine(config_path: Path | None, name: str, reason: str, since: str | None, actor: str | None, as_json: bool) -> int:
    """Take device NAME out: it measures nothing more, and what it has finished since --since is void.

    NAME is a number of `perfd device list`, a device's name (a beginning is enough), or HOST:NAME.
    """
    with Silent() as tell, opened(config_path, tell) as context:
        from_then = context.now() - timedelta(days=1) if since is None else _past(since, context.now())
        row = find(context.store, name)
        made = context.store.devices.quarantine(row.device, Cause(reason, from_then), actor or getpass.getuser(), context.now())
    if made is None:
        raise BadInputError(f"{_words(row)} is in quarantine already: {row.quarantine.cause.reason if row.quarantine else ''}")
    _tell(made, f"{_words(row)} measures nothing until `perfd device release {row.id}`; {made.voided} Runs are void", as_json)
    return FINE


@device.command()
@click.argument("name")
@click.option("--reason", type=REASON, required=True, help="What was done about it, in a sentence.")
@click.option("--actor", help=ACTOR)
@json_option
@click.pass_obj
def release(config_path: Path | None, name: str, reason: str, actor: str | None, as_json: bool) -> int:
    """Let device NAME measure again; what was void stays void, and what nights lost by it is measured again.

    NAME is a number of `perfd device list`, a device's name (a beginning is enough), or HOST:NAME.
    """
    with Silent() as tell, opened(config_path, tell) as context:
        row = find(context.store, name)
        ended = context.store.devices.release(row.device, actor or getpass.getuser(), reason, context.now())
    if ended is None:
        raise BadInputError(f"{_words(row)} is in no quarantine; `perfd device list` shows which ones are")
    _tell(ended, f"{_words(row)} measures again; the next `perfd serve` or `perfd nightly` plans again what was void", as_json)
    return FINE


def find(store: Store, name: str) -> DeviceRow:
    """The device of that number, name, or HOST:NAME; raises BadInputError where none or several are meant."""
    rows = store.devices.rows()
    fitting = [row for row in rows if _is_meant(row, name)]
    pieces = {(row.device.host, row.device.name) for row in fitting}
    if len(pieces) == 1:
        return fitting[0]
    there = ", ".join(f"{row.id} ({_words(row)})" for row in (fitting or rows)) or "none yet: a night must have run"
    what = f"{len(pieces)} devices are meant by" if fitting else "there is no device"
    raise BadInputError(f"{what} {name!r}; there is {there}")


def _is_meant(row: DeviceRow, name: str) -> bool:
    host, colon, own = name.partition(":")
    if colon:
        return row.device.host == host and row.device.name.startswith(own) and own != ""
    return str(row.id) == name or row.device.name == name or (len(name) > 3 and row.device.name.startswith(name))


def document(row: DeviceRow) -> dict[str, Any]:
    """A device as JSON: what `perfd device list` and its page tell."""
    return {
        "id": row.id,
        "host": row.device.host,
        "name": row.device.name,
        "device_class": row.device.device_class,
        "state": row.state,
        "why": row.quarantine.cause.reason if row.quarantine else row.refusal,
        "looked_at": row.looked_at,
        "good_at": row.good_at,
        "quarantine": row.quarantine,
    }


def _table(rows: tuple[DeviceRow, ...]) -> Table:
    table = Table(title="Devices", title_justify="left", pad_edge=False)
    for name in ("", "host", "name", "class", "state", "last good check", "why"):
        table.add_column(name)
    for row in rows:
        told = document(row)
        good = "-" if row.good_at is None else f"{row.good_at.astimezone(UTC):%Y-%m-%d %H:%M}"
        table.add_row(str(row.id), row.device.host, row.device.name, row.device.device_class, row.state, good, told["why"])
    return table


def _words(row: DeviceRow) -> str:
    return f"{row.device.name} of {row.device.host}"


def _past(text: str, now: datetime) -> datetime:
    try:
        given = datetime.fromisoformat(text)
        moment = given.astimezone(UTC) if given.tzinfo else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise BadInputError(f"--since must be a time such as 2026-11-29T02:00, not {text[:100]!r}") from None
    if moment > now:
        raise BadInputError(f"--since {text} is to come; give the time since which the device is not to be trusted")
    return moment


def _tell(told: Quarantine, sentence: str, as_json: bool) -> None:
    if as_json:
        answer({"quarantine": told})
    else:
        click.echo(sentence)
