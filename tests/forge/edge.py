"""perfd's edge to a forge as a test drives it: what comes in and what goes out, and nothing measured."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from emulated import REPOSITORY
from forge_world import ENGINE

from perfd.config import Config, GitHubRepository, Schedule
from perfd.config import GitHub as Settings
from perfd.forge import Forge
from perfd.stages.context import Context
from perfd.stages.deliver import deliver, expire
from perfd.stages.receive import receive
from perfd.store import Store

REPOSITORIES = tuple(GitHubRepository(name, "tiny", authors=("Alice",)) for name in (REPOSITORY, ENGINE.name))


@dataclass
class Heard:
    """A listener that keeps what it was told."""

    lines: list[str] = field(default_factory=list)

    def say(self, stage: str, sentence: str) -> None:
        self.lines.append(f"{stage}: {sentence}")

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None:
        pass


def context_of(store: Store, forge: Forge | None, later: timedelta = timedelta()) -> Context:
    """The world of the stages, by a clock that is so much later."""
    config = Config(None, Path("unused"), (), (), (), Schedule(), github=Settings(repositories=REPOSITORIES))
    return Context(config, store, Heard(), "tests:1:1", now=lambda: datetime.now(UTC) + later, forge=forge)


def edge(context: Context) -> bool:
    """Everything that came in is handled, and everything that is due is sent; returns whether there was anything."""
    worked = False
    while any([receive(context), expire(context), deliver(context)]):
        worked = True
    return worked
