"""perfd's command line: verbs; help on every option; `--json` everywhere; one clear sentence for every error."""

from pathlib import Path

import click

from perfd import HARNESS_VERSION
from perfd.cli.group import Commands


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The configuration file; without it perfd.toml here, or the defaults.",
)
@click.version_option(HARNESS_VERSION, prog_name="perfd")
@click.pass_context
def main(context: click.Context, config_path: Path | None) -> None:
    """Continuous performance regression for LLM inference engines and the GPU kernels under them.

    Exit codes: 0 fine, 1 a regression, 2 could not tell, 3 bad use or bad input, 4 perfd's own fault.
    """
    context.obj = config_path


_STAGES = ("watch", "plan", "build", "measure", "judge", "confirm", "report", "work")
_OWN = (
    "bisect",
    "ci",
    "compare",
    "detect",
    "device",
    "doctor",
    "kernels",
    "load",
    "nightly",
    "regression",
    "serve",
    "token",
    "weekly",
)
main.modules = {
    "db": "perfd.cli.database",
    "export": "perfd.cli.exporting",
    "import": "perfd.cli.importing",
    "launch": "perfd.cli.launch_todo",
    **dict.fromkeys(_STAGES, "perfd.cli.stages"),
    **{name: f"perfd.cli.{name}" for name in _OWN},
}
