"""The queue of Runs: which one a worker may take next, and which never will be taken.

Order: a block of a comparison that was begun is finished first, since a drift of the machine must fall on both arms alike; then
the place that `perfd.domain.purpose` gives; then the order of planning, in which base stands before head.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Tuple,
    and_,
    case,
    cast,
    false,
    func,
    or_,
    select,
    tuple_,
)

from perfd import HARNESS_VERSION
from perfd.domain.build import BuildState
from perfd.domain.environment import Device
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.run import Arm, RunState
from perfd.store import tables

R = tables.run.c
B = tables.build.c
Occ = tables.occasion.c
D = tables.device.c
_mate = tables.run.alias("mate")
PLACES_A_BLOCK = 4
"""Places of an ABBA block, as `perfd.rules.compare.abba_order` lays them."""


def claimable(device_class: str, worker: str, device: Device | None, now: datetime, occasion: Occasion | None) -> Select[int]:
    """The id of the Run that the worker takes next on that device (on any, where none is given).

    Its row is locked, and rows that others have locked are passed over.
    """
    asked = (
        select(R.id)
        .join(tables.build, B.id == R.build_id)
        .join(tables.occasion, Occ.id == R.occasion_id)
        .where(
            R.state == RunState.QUEUED.value,
            R.device_class == device_class,
            B.state == BuildState.BUILT.value,
            or_(R.not_before.is_(None), R.not_before <= now),
            may_measure(),
            or_(R.arm == Arm.ONLY.value, ~_block_is_elsewhere(worker, device)),
        )
        .order_by(_block_is_begun().desc(), func.coalesce(R.ranks_at, R.queued_at), R.id)
        .limit(1)
        .with_for_update(of=tables.run, skip_locked=True)
    )
    return asked if occasion is None else asked.where(Occ.name == occasion.name)


def may_measure(version: str = HARNESS_VERSION) -> ColumnElement[bool]:
    """Whether a perfd of that version can measure what the occasion's planner wrote down: one as new as the planner can."""
    return cast(func.string_to_array(Occ.harness, "."), ARRAY(Integer)) <= cast(
        [int(part) for part in version.split(".")], ARRAY(Integer)
    )


def too_new(connection: Connection) -> dict[str, int]:
    """How many queued Runs wait for a newer perfd, by the version that planned them."""
    asked = (
        select(Occ.harness, func.count())
        .join(tables.run, R.occasion_id == Occ.id)
        .where(R.state == RunState.QUEUED.value, ~may_measure())
        .group_by(Occ.harness)
    )
    return {row.harness: row[1] for row in connection.execute(asked)}


def _block(run: FromClause) -> Tuple:
    """What Runs of one block have in common."""
    c = run.c
    return tuple_(c.occasion_id, c.workload_id, func.coalesce(c.model_id, 0), c.block // PLACES_A_BLOCK)


def _blocks(*where: ColumnElement[bool]) -> Select[Any]:
    """The blocks of open comparisons that have a Run of which that is true; asked once a claim, and not once a Run."""
    open_ones = select(Occ.id).where(Occ.state == OccasionState.PLANNED.value)
    return select(*_block(_mate).clauses).where(_mate.c.arm != Arm.ONLY.value, _mate.c.occasion_id.in_(open_ones), *where)


def _block_is_begun() -> ColumnElement[bool]:
    begun = _block(tables.run).in_(_blocks(_mate.c.device_id.is_not(None)))
    return case((R.arm == Arm.ONLY.value, false()), else_=begun)


def _block_is_elsewhere(worker: str, device: Device | None) -> ColumnElement[bool]:
    """Whether a Run of its block is being measured by somebody else, or was measured on another device."""
    elsewhere = [and_(_mate.c.state == RunState.CLAIMED.value, _mate.c.claimed_by != worker)]
    if device is not None:
        other = select(D.id).where(~and_(D.host == device.host, D.name == device.name))
        elsewhere.append(_mate.c.device_id.in_(other))
    return _block(tables.run).in_(_blocks(or_(*elsewhere)))
