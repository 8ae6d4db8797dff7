"""Stand-ins for GitHub: programs that nobody here wrote where Node is at hand, and perfd's own site with its webhook."""

import json
import os
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
from emulated import Emulator
from fault_server import APP, PEM, FaultServer, fault_server
from forge_hook import SECRET, Hook, app_at, served

from perfd.forge import GitHub
from perfd.store import Store

MODULES = Path(__file__).with_name("node_modules")
PATIENCE_S = 60.0
OLDEST_NODE = 20


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """The installed Node packages; skips, in words, where there are none."""
    if _node_major() < OLDEST_NODE:
        pytest.skip(f"Node {OLDEST_NODE} is not installed: perfd was not held against the contract of GitHub")
    if not (MODULES / ".package-lock.json").exists():
        pytest.skip("tests/forge/node_modules is missing (`npm ci --prefix tests/forge`): GitHub's contract was not tested")
    return MODULES


def _node_major() -> int:
    """The first number of Node's version; 0 where it is not installed."""
    node = shutil.which("node")
    if node is None:
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    number = said.removeprefix("v").partition(".")[0]
    return int(number) if number.isdigit() else 0


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


SLICE = Path(os.environ.get("PERFD_TEST_CONTRACT", Path(__file__).parents[3] / "shared/data/contract/github-openapi-slice.json"))


@pytest.fixture(scope="session")
def prism(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """GitHub's OpenAPI description as a server that refuses what it does not allow; its address."""
    if not SLICE.exists():
        pytest.skip(f"GitHub's OpenAPI slice is not at hand (PERFD_TEST_CONTRACT, {SLICE}): no request was held against it")
    port = free_port()
    program = node_modules / "@stoplight/prism-cli/dist/index.js"
    command = ["node", str(program), "mock", "-h", "127.0.0.1", "-p", str(port), str(SLICE)]
    with running(command, f"http://127.0.0.1:{port}", tmp_path_factory.mktemp("prism") / "log") as url:
        yield url


SEED = """\
tokens: {alice-token: {login: alice, scopes: [repo]}, bob-token: {login: bob, scopes: [repo]}}
github:
  users: [{login: alice}, {login: bob}]
  repos: [{owner: alice, name: engine, auto_init: true}]
  apps:
    - app_id: %(app)s
      slug: perfd-test
      name: perfd test
      private_key: %(pem)s
      permissions: {checks: write, issues: write, pull_requests: write, contents: read, metadata: read}
      events: [pull_request, issue_comment, check_run, push]
      webhook_url: http://127.0.0.1:%(port)d/hooks/github
      webhook_secret: %(secret)s
      installations: [{installation_id: 99, account: alice, repository_selection: all}]
"""


@pytest.fixture(scope="session")
def emulator(node_modules: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    """A GitHub that keeps what it is told and sends webhooks to the port where `hooked` listens."""
    folder, port, hook_port = tmp_path_factory.mktemp("emulate"), free_port(), free_port()
    seed = folder / "seed.yaml"
    words = {"app": APP, "pem": json.dumps(PEM), "secret": json.dumps(SECRET), "port": hook_port}
    seed.write_text(SEED % words, encoding="utf-8")
    program = str(node_modules / "emulate/dist/index.js")
    command = ["node", program, "start", "--service", "github", "--port", str(port), "--seed", str(seed)]
    with (
        running(command, f"http://localhost:{port}", folder / "log") as url,
        httpx.Client(base_url=url, headers={"Authorization": "token alice-token"}) as client,
    ):
        yield Emulator(url, hook_port, client)


@pytest.fixture
def hooked(store: Store, emulator: Emulator) -> Iterator[Hook]:
    """perfd's site where the emulator sends its webhooks."""
    with served(store, SECRET, emulator.hook_port) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield Hook(client)
