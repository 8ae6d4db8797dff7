"""How long the Runs of an occasion will take, and how many stand before them: from what such Runs have taken lately."""

from dataclasses import dataclass

from sqlalchemy import Engine, func, select

from perfd.domain.occasion import Occasion
from perfd.domain.run import RunState
from perfd.store import occasions, tables

R = tables.run.c
WAITS = (RunState.QUEUED.value, RunState.CLAIMED.value)
RECENT = 400
"""Done Runs that are looked at."""


@dataclass(frozen=True)
class Expected:
    """What is to be expected of an occasion's Runs."""

    ahead: int
    """Runs of other occasions that are taken before its first one."""
    seconds: float | None
    """Until its last Run that is planned now; absent where no Run of some Workload has been measured yet."""


@dataclass(frozen=True)
class Forecast:
    """Questions about the time to come."""

    engine: Engine

    def of(self, occasion: Occasion) -> Expected:
        """What is to be expected, as long as nothing more urgent comes; one worker a device class is counted on."""
        rank = func.coalesce(R.ranks_at, R.queued_at)
        with self.engine.begin() as connection:
            mine = R.occasion_id == occasions.id_of(connection, occasion)
            last, device_class = connection.execute(
                select(func.max(rank), func.min(R.device_class)).where(mine, R.state.in_(WAITS))
            ).one()
            before = select(R.workload_id, mine.label("mine")).where(
                R.state.in_(WAITS), R.device_class == device_class, rank <= last
            )
            waiting = connection.execute(before).all()
            recent = (
                select(R.workload_id, R.started_at, R.finished_at).where(R.state == RunState.DONE.value).order_by(R.id.desc())
            )
            newest = recent.limit(RECENT).subquery()
            lasted = func.extract("epoch", newest.c.finished_at - newest.c.started_at)
            asked = select(newest.c.workload_id, func.avg(lasted)).group_by(newest.c.workload_id)
            took: dict[int, float] = {workload: float(seconds) for workload, seconds in connection.execute(asked)}
        known = all(row.workload_id in took for row in waiting)
        seconds = sum(took[row.workload_id] for row in waiting) if known else None
        return Expected(sum(not row.mine for row in waiting), seconds)
