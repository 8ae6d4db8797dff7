"""The files of deploy/, as far as they can be checked without Docker and without being installed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from perfd.cli import main

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
PYTHON = "/opt/perfd/.venv/bin/python"


def parse(words: list[str], group: click.Group = main) -> None:
    """The command is there, and takes these options."""
    command = group.get_command(click.Context(group), words[0])
    assert command is not None, words
    if isinstance(command, click.Group):
        parse(words[1:], command)
    else:
        command.make_context(words[0], list(words[1:]))


def started(unit: Path) -> list[str]:
    found = re.search(r"^ExecStart=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_a_command_that_exists(unit: Path) -> None:
    python, *words = started(unit)

    assert (PYTHON, ["-m", "perfd"]) == (python, words[:2])
    parse(words[2:])


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_systemd_finds_nothing_wrong_with_a_unit(unit: Path, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("this machine has no systemd-analyze")
    python = tmp_path / "python"  # no unit holds a path with a space, as this environment's may be
    python.symlink_to(sys.executable)
    for one in UNITS:
        (tmp_path / one.name).write_text(one.read_text(encoding="utf-8").replace(PYTHON, str(python)), encoding="utf-8")

    ended = subprocess.run(
        [analyze, "verify", "--man=no", tmp_path / unit.name],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (0, "") == (ended.returncode, "\n".join(line for line in ended.stderr.splitlines() if "perfd" in line))


def test_every_service_of_the_compose_file_runs_a_command_that_exists() -> None:
    services = COMPOSE["services"]

    assert {"db", "upgrade", "site", "worker"} == set(services)
    for name in ("upgrade", "site", "worker"):
        parse(services[name]["command"])


def test_the_compose_file_asks_for_nothing_that_is_not_there() -> None:
    services, volumes = COMPOSE["services"], set(COMPOSE["volumes"])

    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        assert {volume.split(":")[0] for volume in service["volumes"]} <= volumes
    build = services["site"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()


def test_docker_takes_the_compose_file() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine has no docker compose")

    ended = subprocess.run(
        [docker, "compose", "--file", DEPLOY / "compose.yaml", "config", "--quiet"],
        env={**os.environ, "PERFD_DB_PASSWORD": "x"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (ended.returncode, ended.stderr)


def test_no_secret_and_no_default_password_is_in_a_file() -> None:
    for path in (*UNITS, DEPLOY / "compose.yaml", DEPLOY / "Dockerfile"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"PASSWORD\S*[=:] *[a-z0-9]", text), path.name
        assert not re.search(r"://[^$\s/]*:[^$\s/]+@", text), path.name
