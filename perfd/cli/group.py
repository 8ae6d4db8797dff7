"""How every command ends: one clear sentence and an exit code that programs can rely on (docs/design.md, section 4)."""

import errno
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FrameType, MappingProxyType
from typing import Any, NoReturn, TypeVar

import click

from perfd.cli import log
from perfd.cli.shown import shown
from perfd.domain.codec import to_json
from perfd.errors import PerfdError

FINE, REGRESSION, UNSURE, BAD_INPUT, OUR_FAULT = 0, 1, 2, 3, 4
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that ask a command to end: it puts back what it had begun, says so, and exits with 128 and the signal's number."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ENOTDIR, errno.EIO}
OUTSIDE = frozenset(FULL | CLOSED)
"""What a machine answers that is full, or a path that cannot be used: no fault of perfd."""

Command = TypeVar("Command", bound=Callable[..., Any])


class Commands(click.Group):
    """A group whose commands return their exit code, and whose errors are sentences.

    `modules` names the module that adds a command when it is imported, so that `perfd load` does not wait for a web framework.
    """

    modules: Mapping[str, str] = MappingProxyType({})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, imported or not."""
        return sorted({*self.modules, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module imported now."""
        if cmd_name in self.modules:
            import_module(self.modules[cmd_name])
        return super().get_command(ctx, cmd_name)

    def main(self, *args: Any, **extra: Any) -> NoReturn:
        """Run one command and leave with its exit code."""
        extra["standalone_mode"] = False
        _any_alphabet()
        before = {one: signal.getsignal(one) for one in STOPPING}
        for one, handler in before.items():
            if handler is not signal.SIG_IGN:  # nohup, or a shell's background
                signal.signal(one, _stop)
        try:
            code = self._run(*args, **extra)
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)
        sys.exit(code)

    def _run(self, *args: Any, **extra: Any) -> int:
        try:
            return super().main(*args, **extra) or FINE
        except click.exceptions.Exit as leaving:
            return leaving.exit_code
        except click.ClickException as error:
            error.show(file=sys.stderr)
            return BAD_INPUT
        except PerfdError as error:
            _last_word(error.message)
            return error.exit_code
        except (KeyboardInterrupt, click.Abort) as stopped:
            _last_word("stopped by you; what was measured is kept, and the same command goes on from there", "warning")
            told = (stopped.__cause__ or stopped).args  # click raises its Abort from our KeyboardInterrupt
            return 128 + (told[0] if told else signal.SIGINT)
        except SystemExit:  # click's answer to a reader who has gone: 1, which would mean a regression here
            nobody_reads()
            return FINE
        except Exception as error:  # noqa: BLE001 - the last floor: whatever rises to here is told, and shown whole where it is ours
            return _tell(error)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _tell(error: Exception) -> int:
    """One sentence where something outside of perfd is the matter; else the traceback, and the plea to report it."""
    sentence = _sentence(error)
    if sentence is None:
        shown = "".join(traceback.format_exception(error)).rstrip()
        click.echo(log.line("perfd", shown, {"level": "error"}) if log.is_json() else shown, err=True)
        sentence = "this is a fault of perfd itself; please report it with the lines above"
    _last_word(sentence)
    return OUR_FAULT


def _last_word(sentence: str, level: str = "error") -> None:
    """Why the command ends, for people or as the last line of a JSON log."""
    click.echo(log.line("perfd", sentence, {"level": level}) if log.is_json() else shown(f"perfd: {sentence}"), err=True)


def _sentence(error: Exception) -> str | None:
    if isinstance(error, OSError) and error.errno in OUTSIDE:
        return str(import_module("perfd.builders").os_sentence(error))
    if "sqlalchemy" not in sys.modules:  # nor does a command that needs no database wait for its import
        return None
    trouble = import_module("perfd.store.trouble")
    if isinstance(error, trouble.DATABASE_GONE):
        return f"the database does not answer: {trouble.said(error)}; what was stored is kept, so start the same command again"
    if trouble.is_refused(error):
        return f"the database refuses perfd's role: {trouble.said(error)}; perfd needs to own its database"
    return None


def json_option(command: Command) -> Command:
    """The option that every command has."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output, for programs.")(command)


def _any_alphabet() -> None:
    """What the terminal's encoding has no letter for is written out, as standard error does; it is no reason to fail."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def answer(document: Any) -> None:
    """The command's JSON answer on standard output."""
    narrow = not (sys.stdout and (sys.stdout.encoding or "").lower().startswith("utf"))
    try:
        click.echo(json.dumps(to_json(document), ensure_ascii=narrow, indent=1))
    except BrokenPipeError:
        nobody_reads()


def nobody_reads() -> None:
    """Standard output leads nowhere: its reader has gone (`| head -1`), and the exit code still tells what was found."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
