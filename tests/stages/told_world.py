"""Nights of chosen numbers through the judging stages, on a real database: building and measuring are written down as done."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from store_world import CPU, FIRST_NIGHT, LEASE, MODEL, WORKER, World, built, done, reduced, samples

from perfd.cli.tell import Silent
from perfd.config import Config, DeviceConfig, Schedule
from perfd.domain.budget import Budget
from perfd.domain.occasion import Occasion
from perfd.domain.run import Arm
from perfd.stages.confirm import confirm
from perfd.stages.context import Context
from perfd.stages.judge import judge
from perfd.stages.report import report
from perfd.store import Store
from perfd.store.records import ClaimedRun, RegressionRow

QUIET = (1.0, 1.001, 0.999, 1.0005, 0.9995, 1.0, 1.001, 0.999)
"""Seconds; eight nights on which nothing happened."""


@dataclass
class Told:
    """A world, its stages, and what they were told."""

    world: World
    context: Context
    speed: dict[Arm, float] = field(default_factory=dict)
    """Seconds that each arm of a comparison takes; a missing arm fails."""

    @property
    def store(self) -> Store:
        return self.world.store

    def night(self, value: float, number: int | None = None) -> Occasion:
        """One night of a new Build (or of that one) is measured; nothing judges it yet."""
        return self.world.measured_night(value, value, value, number=number)

    def quiet_nights(self) -> None:
        for value in QUIET:
            self.night(value)
            self.finish()

    def finish(self, most: int = 400) -> None:
        """Everything that is due is done; a kill between any two of these steps is a restart here."""
        for _ in range(most):
            if not (self.measure() or judge(self.context) or confirm(self.context) or report(self.context)):
                return
        raise AssertionError("the stages never come to an end")

    def measure(self) -> bool:
        """One Build is made or one Run measured."""
        waiting = self.store.builds.claim(WORKER, self.world.now, LEASE)
        if waiting is not None:
            return self.store.builds.finish(waiting, built(waiting.spec), self.world.now)
        claimed = self.store.runs.claim(CPU, WORKER, self.world.now, LEASE)
        if claimed is not None:
            self._end(claimed)
        return claimed is not None

    def _end(self, claimed: ClaimedRun) -> None:
        seconds = self.speed.get(claimed.arm)
        if seconds is None:
            self.store.runs.put_back(replace(claimed, attempts=9), "the device is gone", self.world.now, self.world.now)
            return
        value = seconds * (1.0 + 0.001 * ((claimed.block * 7) % 5 - 2))
        results = done(self.world.now, samples(value, value, value))
        self.store.runs.finish(claimed, results, reduced(results), results.finished_at)

    def report(self, night: Occasion) -> dict[str, Any]:
        """What was reported of the night."""
        told = self.store.pages.occasion(night).row.report
        assert told is not None
        return dict(told)

    def regressions(self) -> list[RegressionRow]:
        return list(self.store.regressions.every())

    def messages(self) -> list[str]:
        return [str(one.payload["why"]) for one in self.store.outbox.since("regression", FIRST_NIGHT)]


def told_world(store: Store, state: Path, *, minutes: float = 20.0, aa: bool = False, budgets: tuple[Budget, ...] = ()) -> Told:
    """A world whose judge begins with nothing."""
    world = World(store)
    config = Config(
        path=None,
        state=state,
        engines=(),
        models=(MODEL,),
        devices=(DeviceConfig("cpu"),),
        schedule=Schedule(aa=aa, confirm_minutes=minutes),
        budgets=budgets,
        kernels=False,
    )

    def now() -> datetime:
        return world.now + timedelta(minutes=1)

    return Told(world, Context(config, store, Silent(), WORKER, now=now), {Arm.BASE: 1.0, Arm.HEAD: 1.0})
