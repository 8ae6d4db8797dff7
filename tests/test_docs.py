"""Every command, Metric, suite and setting is documented, and every command and option has help."""

import dataclasses
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from perfd import config
from perfd.cli import main
from perfd.domain.metric import CATALOGUE, Metric

ROOT = Path(__file__).parents[1]


def commands(group: click.Group, prefix: str = "perfd") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        full = f"{prefix} {name}"
        if isinstance(command, click.Group):
            yield from commands(command, full)
        else:
            yield full, command


COMMANDS = dict(commands(main))


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_with_its_options(name: str) -> None:
    section = page("commands.md").split(f"\n## `{name}`", 1)

    assert len(section) == 2, f"docs/commands.md has no heading for {name}"
    text = section[1].split("\n## ", 1)[0]
    options = [max(option.opts, key=len) for option in COMMANDS[name].params if isinstance(option, click.Option)]
    assert [option for option in options if f"`{option}" not in text and option not in {"--help", "--json"}] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str) -> None:
    command = COMMANDS[name]

    assert command.help
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_answers_as_json(name: str) -> None:
    assert "--json" in {opt for option in COMMANDS[name].params for opt in option.opts}


def test_no_command_is_documented_that_does_not_exist() -> None:
    documented = set(re.findall(r"^## `(perfd [^`]+)`", page("commands.md"), re.MULTILINE))

    assert documented == set(COMMANDS)


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_every_metric_is_defined(metric: Metric) -> None:
    assert re.search(rf"^#+ .*`{metric.name}`", page("metrics.md"), re.MULTILINE)


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.toml")), ids=lambda path: path.stem)
def test_every_suite_and_workload_is_described(path: Path) -> None:
    suite = tomllib.loads(path.read_text(encoding="utf-8"))
    text = page("suites.md")

    assert f"`{path.stem}`" in text
    assert [workload["name"] for workload in suite["workloads"] if f"`{workload['name']}`" not in text] == []


def test_every_setting_is_described() -> None:
    text = page("configuration.md")
    words = (config.Schedule, config.DeviceConfig, config.SiteConfig)
    fields = [field for word in words for field in dataclasses.fields(word)]

    # Secrets are said by the environment variable that holds them.
    assert [one.name for one in fields if f"`{one.name}`" not in text and f"`PERFD_{one.name.upper()}`" not in text] == []


def test_every_environment_variable_that_perfd_reads_is_described() -> None:
    names = {
        name
        for path in (ROOT / "perfd").rglob("*.py")
        for name in re.findall(r"\"(PERFD_[A-Z_]+)\"", path.read_text(encoding="utf-8"))
    }

    assert {name for name in names if f"`{name}`" not in page("configuration.md")} == set()
