"""How every command ends: one clear sentence and an exit code that programs can rely on (docs/design.md, section 4)."""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar

import click

from perfd.domain.codec import to_json
from perfd.errors import PerfdError

FINE, REGRESSION, UNSURE, BAD_INPUT, OUR_FAULT, INTERRUPTED = 0, 1, 2, 3, 4, 130

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
        sys.exit(self._run(*args, **extra))

    def _run(self, *args: Any, **extra: Any) -> int:
        try:
            return super().main(*args, **extra) or FINE
        except click.exceptions.Exit as leaving:
            return leaving.exit_code
        except click.ClickException as error:
            error.show(file=sys.stderr)
            return BAD_INPUT
        except PerfdError as error:
            click.echo(f"perfd: {error.message}", err=True)
            return error.exit_code
        except (KeyboardInterrupt, click.Abort):
            click.echo("perfd: stopped by you; what was measured is kept, and the same command goes on from there", err=True)
            return INTERRUPTED
        except BrokenPipeError:
            return FINE
        except Exception:  # noqa: BLE001 - the last floor: whatever rises to here is perfd's own fault, and is shown whole
            traceback.print_exc()
            click.echo("perfd: this is a fault of perfd itself; please report it with the lines above", err=True)
            return OUR_FAULT


def json_option(command: Command) -> Command:
    """The option that every command has."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output, for programs.")(command)


def answer(document: Any) -> None:
    """The command's JSON answer on standard output."""
    click.echo(json.dumps(to_json(document), ensure_ascii=False, indent=1))
