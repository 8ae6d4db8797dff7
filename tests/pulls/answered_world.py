"""Pull requests of a real repository through the stages, on a real database: building and measuring are written down as done."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from paper_forge import PaperForge
from pull_world import PullWorld
from store_world import ENVIRONMENT, LEASE, WORKER, built, done, reduced, samples

from perfd.cli.tell import Silent
from perfd.config import load_config
from perfd.domain.forge import Check, Comment
from perfd.domain.pull import CommentMade, Delivery, Event, PullAction, PullRequest, PullSeen, Repository
from perfd.domain.run import Arm
from perfd.stages.attend import attend
from perfd.stages.context import Context
from perfd.stages.device import device_class
from perfd.stages.judge import judge
from perfd.stages.report import report
from perfd.store import Store
from perfd.store.pull_jobs import JobRow

NAME = "octo/engine"
REPOSITORY = Repository(NAME, key=1296269, installation=99, default_branch="main")
FASTEST = {"itl_s": 0.02, "output_tokens_per_s": 50.0, "nll_nats": 2.3}


@dataclass
class Answered:
    """perfd, a pull request's repository, and a forge on paper."""

    world: PullWorld
    context: Context
    forge: PaperForge
    clock: list[datetime]
    slowdown: dict[Arm, float] = field(default_factory=lambda: {Arm.BASE: 1.0, Arm.HEAD: 1.0})
    """How much longer a token takes in each arm; a missing arm fails."""
    hidden: str = ""
    """A Metric that head does not give."""
    deliveries: int = 0

    @property
    def now(self) -> datetime:
        return self.clock[0]

    def later(self, seconds: float) -> datetime:
        self.clock[0] += timedelta(seconds=seconds)
        return self.now

    def number(self) -> int:
        self.deliveries += 1
        return self.deliveries

    def take(self, event: Event) -> None:
        """A webhook comes in, and everything that can be done at once is done."""
        number = self.number()
        assert self.context.store.deliveries.take(Delivery("github", f"d{number}", f"{number:064x}", event), self.now)
        attend(self.context)

    def pull(self, head: str, action: PullAction = PullAction.OPENED, sender: str = "", **changes: Any) -> None:
        """Something happened to the pull request; who did it is its author, where nobody else is named."""
        pull = PullRequest(
            repository=NAME,
            number=7,
            title="Make it faster",
            author="ada",
            head=head,
            head_branch="faster",
            head_repository=NAME,
            base=self.world.git("rev-parse", "main"),
            base_branch="main",
            is_open=action is not PullAction.CLOSED,
            is_draft=False,
            updated_at=self.now,
        )
        made = replace(pull, **changes)
        self.take(PullSeen(action, REPOSITORY, made, sender or made.author))

    def says(self, author: str, body: str, at: datetime | None = None) -> None:
        number = 1000 + self.number()
        self.take(CommentMade(REPOSITORY, 7, number, author, body, at or self.now))

    def measure(self) -> bool:
        """One Build is made or one Run measured."""
        store = self.context.store
        waiting = store.builds.claim(WORKER, self.now, LEASE)
        if waiting is not None:
            return store.builds.finish(waiting, built(waiting.spec), self.now)
        claimed = store.runs.claim(device_class(self.context.config), WORKER, self.now, LEASE)
        if claimed is None:
            return False
        self.later(5)
        slow = self.slowdown.get(claimed.arm)
        if slow is None:
            store.runs.put_back(replace(claimed, attempts=9), "the device is gone", self.now, self.now)
            return True
        noise = 1.0 + 0.001 * ((claimed.block * 7) % 5 - 2)
        given = self._samples(claimed.workload.name, slow * noise)
        shown = [one for one in given if claimed.arm is Arm.BASE or one.name != self.hidden]
        results = done(self.now, *shown, environment=ENVIRONMENT)
        store.runs.finish(claimed, results, reduced(results), results.finished_at)
        return True

    def _samples(self, workload: str, slow: float) -> list[Any]:
        if workload == "texts":
            return [samples(2.3, 2.2, 2.4, 2.35, name="nll_nats")]
        return [samples(0.02 * slow, name="itl_s"), samples(50.0 / slow, name="output_tokens_per_s")]

    def finish(self, most: int = 800) -> None:
        """Everything that is due is done; a kill between any two of these steps is a restart here."""
        for _ in range(most):
            # Measuring first, so that the stages look when something is new to see.
            if not (self.measure() or attend(self.context) or judge(self.context) or report(self.context)):
                return
        raise AssertionError("the stages never come to an end")

    @property
    def jobs(self) -> tuple[JobRow, ...]:
        row = self.context.store.pulls.read(NAME, 7)
        assert row is not None
        return self.context.store.pull_jobs.of(row)

    @property
    def check(self) -> Check:
        """The newest check."""
        return list(self.forge.checks.values())[-1]

    @property
    def comments(self) -> Mapping[str, Comment]:
        """By slot."""
        return {one.slot: one for one in self.forge.comments.values()}

    @property
    def reply(self) -> str:
        """The last reply to a comment."""
        return [one.body for slot, one in self.comments.items() if slot.startswith("reply")][-1]


def answered_world(world: PullWorld, store: Store, now: datetime) -> Answered:
    environment = {"PERFD_STATE": str(world.folder / "state")}
    config = load_config(world.folder / "perfd.toml", environment)
    forge = PaperForge(world.checkout)
    clock = [now]
    context = Context(config, store, Silent(), WORKER, now=lambda: clock[0], forge=forge)
    return Answered(world, context, forge, clock)
