"""Stand-ins for GitHub: programs that nobody here wrote where Node is at hand, and perfd's own site with its webhook."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fault_server import APP, PEM, FaultServer, fault_server
from forge_hook import SECRET, Hook, app_at, served

from perfd.forge import GitHub
from perfd.store import Store

MODULES = Path(__file__).with_name("node_modules")
PATIENCE_S = 60.0


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The installed Node packages; skips, in words, where there are none."""
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: perfd was not held against GitHub's contract (prism, emulate, example payloads)")
    if not (MODULES / ".package-lock.json").exists():
        pytest.skip("tests/forge/node_modules is missing (`npm ci --prefix tests/forge`): GitHub's contract was not tested")
    return MODULES


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(command: list[str], url: str, log: Path) -> Iterator[str]:
    """The program runs until the block ends; it answers at `url` by the time the block begins."""
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while True:
                try:
                    httpx.get(url, timeout=5)
                    break
                except httpx.TransportError:
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < until, log.read_text()
                    time.sleep(0.1)
            yield url
        finally:
            process.terminate()


@pytest.fixture
def hook(store: Store) -> Iterator[Hook]:
    with served(store, SECRET) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield Hook(client)


@pytest.fixture(scope="session")
def examples(node_modules: Path) -> list[tuple[str, dict[str, Any]]]:
    """Every example payload of api.github.com, with its event."""
    text = (node_modules / "@octokit/webhooks-examples/api.github.com/index.json").read_text(encoding="utf-8")
    return [(event["name"], example) for event in json.loads(text) for example in event["examples"]]


@pytest.fixture
def faulty() -> Iterator[FaultServer]:
    """A GitHub that fails on demand."""
    with fault_server() as server:
        yield server


@pytest.fixture
def github(faulty: FaultServer) -> GitHub:
    """perfd's App at it."""
    return app_at(faulty.url, PEM, APP)
