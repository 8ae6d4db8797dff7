"""Nights of two Metrics whose noise is chosen, and Builds whose true speed a re-measurement finds: where is a step put?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from store_world import FIRST_NIGHT, LEASE, WORKER, built, done, night, plan, reduced, samples
from told_world import QUIET, Told, told_world

from perfd.domain.occasion import Occasion
from perfd.domain.results import MetricSamples
from perfd.domain.run import Arm, OccasionKind
from perfd.domain.verdict import RegressionState
from perfd.store import Store
from perfd.store.records import ClaimedRun, RegressionRow

METRICS = ("ttft_s", "itl_s")


@dataclass
class Placed(Told):
    """A world in which a Build is as slow as it is, whatever a night has shown of it."""

    slower_from: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """By Metric, the first slow commit and its factor."""
    shaky: Mapping[str, float] = field(default_factory=dict)
    """By Metric, by how much the Runs of a comparison differ; a thousandth unless told."""

    def two(self, ttft: float, itl: float) -> Occasion:
        """A night of a new Build that measured these seconds, with all that follows from it."""
        self.world.now = FIRST_NIGHT + timedelta(days=self.world.nights)
        occasion = self.world.open(night(self.world.nights), plan(self.world.nights))
        waiting = self.store.builds.claim(WORKER, self.world.now, LEASE)
        assert waiting is not None
        self.store.builds.finish(waiting, built(waiting.spec), self.world.now)
        self._put(self.world.claim(), [samples(ttft, ttft, ttft), samples(itl, itl, itl, name="itl_s")])
        self.world.nights += 1
        self.finish()
        return occasion

    def _end(self, claimed: ClaimedRun) -> None:
        number, phase = int(claimed.spec.revision, 16), (claimed.block * 7) % 5 - 2
        values = {name: self._truth(name, number) * (1.0 + self.shaky.get(name, 0.001) * phase) for name in METRICS}
        self._put(claimed, [samples(value, value, value, name=name) for name, value in values.items()])

    def _truth(self, metric: str, number: int) -> float:
        first, factor = self.slower_from.get(metric, (0, 1.0))
        return factor if number >= first else 1.0

    def _put(self, claimed: ClaimedRun, measured: Sequence[MetricSamples]) -> None:
        results = done(self.world.now, *measured)
        self.store.runs.finish(claimed, results, reduced(results), results.finished_at)

    def compared(self) -> list[tuple[int, int]]:
        """The two commits of each re-measurement, oldest first."""
        rows = sorted(self.store.pages.occasions(OccasionKind.COMPARE), key=lambda one: one.occasion.name)
        return [self._commits(one.occasion) for one in rows]

    def _commits(self, comparison: Occasion) -> tuple[int, int]:
        at = {one.run.arm: int(one.run.revision, 16) for one in self.store.pages.blocks(comparison)}
        return at[Arm.BASE], at[Arm.HEAD]

    def confirmed(self) -> list[tuple[int, str]]:
        """The commit and the title of each Regression that is confirmed."""
        return [(int(row.revision, 16), row.title) for row in self.in_state(RegressionState.CONFIRMED)]

    def number(self, build: str) -> int:
        """The commit of a Build."""
        found = self.store.builds.planned(build)
        assert found is not None
        return found.revision.ordinal

    def in_state(self, state: RegressionState) -> list[RegressionRow]:
        return [row for row in self.regressions() if row.state is state]


def placed_world(store: Store, state: Path, *, minutes: float = 120.0) -> Placed:
    """A world after eight nights of commits 0 to 7, which are equally fast; its noise is about one per cent."""
    told = told_world(store, state, minutes=minutes)
    made = Placed(told.world, told.context)
    for value in QUIET:
        noisy = 1.0 + 10.0 * (value - 1.0)
        made.two(noisy, noisy)
    return made
