"""What most commands begin with: the configuration read, the database open, and somebody told."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfd.cli.tell import Teller
from perfd.config import Config, load_config
from perfd.forge import github_app
from perfd.stages.context import Context, worker_name
from perfd.stages.timekeeper import Timekeeper
from perfd.store import open_store

DEFAULT_FILE = Path("perfd.toml")


def read_config(path: Path | None) -> Config:
    """The configuration of that file, of perfd.toml here, or the defaults."""
    found = path or (DEFAULT_FILE if DEFAULT_FILE.exists() else None)
    return load_config(found, os.environ)


@contextmanager
def opened(path: Path | None, tell: Teller | None = None) -> Iterator[Context]:
    """A context for stages; the terminal is tidy and the database released when the block ends."""
    config = read_config(path)
    with tell or Teller() as teller, open_store(config) as store:
        now = Timekeeper(store)
        yield Context(config, store, teller, worker_name(), now=now, forge=github_app(config.github, now))
