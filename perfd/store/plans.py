"""Plans: everything that an occasion owes, written in one transaction."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import ARRAY, TEXT, insert

from perfd import HARNESS_VERSION
from perfd.domain.build import BuildSpec, BuildState
from perfd.domain.codec import to_json
from perfd.domain.model import Model
from perfd.domain.occasion import Occasion, OccasionState
from perfd.domain.plan import Plan, PlannedBuild, PlannedRun
from perfd.domain.purpose import ranks_at
from perfd.domain.run import RunKey
from perfd.domain.suite import Workload
from perfd.store import occasions, tables
from perfd.store.subjects import ensure_subject, write_revision
from perfd.store.writing import add_all, clean, ensure, put_all

B = tables.build.c


@dataclass(frozen=True)
class Plans:
    """Questions about plans."""

    engine: Engine

    def write(self, occasion: Occasion, plan: Plan, gone: Container[str], now: datetime) -> bool:
        """The occasion is planned and everything it owes stands there; False (and nothing changed) unless it was watched.

        A Build that is built stays so, unless its digest is in `gone` (its artifact is no longer on disk); that one, and one that
        failed earlier, is queued again.
        """
        with self.engine.begin() as connection:
            if not occasions.move(connection, occasion, OccasionState.WATCHED, OccasionState.PLANNED, now):
                return False
            _by_this_perfd(connection, occasion)
            _add(connection, occasion, plan, gone, now)
            return True

    def open(self, occasion: Occasion, plan: Plan, gone: Container[str], now: datetime) -> bool:
        """The occasion stands there with everything it owes, at once; False (and nothing changed) when it stood there before."""
        with self.engine.begin() as connection:
            return open_planned(connection, occasion, plan, gone, now)

    def add(self, occasion: Occasion, plan: Plan, gone: Container[str], now: datetime) -> int:
        """What `plan` owes stands there beside what was planned before (more blocks of a comparison); how many Runs are new."""
        with self.engine.begin() as connection:
            return _add(connection, occasion, plan, gone, now)


def open_planned(connection: Connection, occasion: Occasion, plan: Plan, gone: Container[str], now: datetime) -> bool:
    """As `Plans.open`, inside a transaction of the caller's."""
    new = occasions.open_in(connection, occasion, OccasionState.PLANNED, now)
    if new:
        _by_this_perfd(connection, occasion)
        _add(connection, occasion, plan, gone, now)
    return new


def _by_this_perfd(connection: Connection, occasion: Occasion) -> None:
    """An older perfd leaves what is planned here alone."""
    Occ = tables.occasion.c  # noqa: N806  # columns
    connection.execute(update(tables.occasion).where(Occ.name == occasion.name).values(harness=HARNESS_VERSION))


def _add(connection: Connection, occasion: Occasion, plan: Plan, gone: Container[str], now: datetime) -> int:
    occasion_id = occasions.id_of(connection, occasion)
    known = _known_builds(connection, {one.build.digest for one in plan.runs})
    rank = ranks_at(occasion, now)
    builds = known | {one.spec.digest: _write_build(connection, occasion_id, one, gone, now) for one in plan.builds}
    _hurry(connection, [builds[one.spec.digest] for one in plan.builds], rank)
    workloads = write_workloads(connection, (one.workload for one in plan.runs))
    models = {one: write_model(connection, one) for one in dict.fromkeys(run.model for run in plan.runs) if one is not None}
    rows = [
        run_row(one, occasion.name)
        | {
            "occasion_id": occasion_id,
            "build_id": builds[one.build.digest],
            "workload_id": workloads[one.workload.identity],
            "model_id": None if one.model is None else models[one.model],
            "queued_at": now.isoformat(),
            "ranks_at": rank.isoformat(),
        }
        for one in plan.runs
    ]
    return add_all(connection, tables.run, rows)


def _known_builds(connection: Connection, digests: set[str]) -> dict[str, int]:
    """The ids of Builds that were planned before: more blocks of a comparison need no new Build."""
    return dict(connection.execute(select(B.digest, B.id).where(B.digest.in_(digests))).all())


def _write_build(connection: Connection, occasion_id: int, planned: PlannedBuild, gone: Container[str], now: datetime) -> int:
    subject_id = ensure_subject(connection, planned.spec.subject, planned.kind)
    revision_id = write_revision(connection, subject_id, planned.branch, planned.revision)
    build_id = ensure(
        connection,
        tables.build,
        {"digest": planned.spec.digest},
        {"subject_id": subject_id, "revision": planned.spec.revision, "spec": clean(to_json(planned.spec)), "queued_at": now},
    )
    state = _queue_again(connection, build_id, planned.spec, gone, now)
    built = state is BuildState.BUILT
    owed = insert(tables.occasion_build).values(
        occasion_id=occasion_id,
        build_id=build_id,
        revision_id=revision_id,
        cached=built,
        state=BuildState.BUILT.value if built else BuildState.QUEUED.value,
        seconds=0.0 if built else None,
    )
    connection.execute(owed.on_conflict_do_nothing())
    return build_id


def _queue_again(connection: Connection, build_id: int, spec: BuildSpec, gone: Container[str], now: datetime) -> BuildState:
    """A Build that failed, or whose artifact is gone, is queued; answers where the Build stands now."""
    state = BuildState(connection.execute(select(B.state).where(B.id == build_id).with_for_update()).scalar_one())
    lost = state is BuildState.BUILT and spec.digest in gone
    if not lost and state is not BuildState.FAILED:
        return state
    again = {"state": BuildState.QUEUED.value, "artifact_path": None, "attempts": 0, "queued_at": now, "finished_at": None}
    connection.execute(update(tables.build).where(B.id == build_id).values(**again, ranks_at=None))
    return BuildState.QUEUED


def _hurry(connection: Connection, build_ids: Sequence[int], rank: datetime) -> None:
    """A Build that several occasions wait for has the place of the most urgent one."""
    waiting = update(tables.build).where(B.id.in_(build_ids), B.state == BuildState.QUEUED.value)
    connection.execute(waiting.values(ranks_at=func.least(B.ranks_at, rank)))


def write_workloads(connection: Connection, workloads: Iterable[Workload]) -> dict[str, int]:
    """By identity, the ids of these Workloads, which are there with their present time limits and questions.

    Those that stand there so already cost one question together, and the others one statement.
    """
    given = {one.identity: one for one in workloads}
    known = _known_workloads(connection, given)
    stale = {key: one for key, one in sorted(given.items()) if known.get(key, ())[1:] != (one.time_limit_s, one.question)}
    if stale:
        suites = {
            name: ensure(connection, tables.suite, {"name": name}) for name in sorted({one.suite for one in stale.values()})
        }
        rows = [_workload_row(key, one, suites[one.suite]) for key, one in stale.items()]
        put_all(connection, tables.workload, ("identity",), rows)
        known |= _known_workloads(connection, stale)
    return {key: known[key][0] for key in given}


def _known_workloads(connection: Connection, identities: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """By identity: id, time limit and question, which alone may change."""
    W = tables.workload.c  # noqa: N806  # columns
    keys = bindparam("keys", list(identities), ARRAY(TEXT))
    asked = select(W.identity, W.id, W.time_limit_s, W.question).where(W.identity == func.any(keys))
    return {row[0]: tuple(row[1:]) for row in connection.execute(asked)}


def _workload_row(identity: str, one: Workload, suite_id: int) -> dict[str, Any]:
    return {
        "identity": identity,
        "suite_id": suite_id,
        "name": one.name,
        "class": one.workload_class.value,
        "parameters": clean(to_json(one.parameters)),
        "seed": one.seed,
        "data_hash": one.data_hash,
        "time_limit_s": one.time_limit_s,
        "question": one.question,
    }


def write_model(connection: Connection, model: Model) -> int:
    """The Model is there; its id."""
    values: dict[str, Any] = to_json(model)
    names = ("name", "sha256", "quantisation", "parallelism")
    key = {name: values.pop(name) for name in names}
    return ensure(connection, tables.model, key, values)


def run_row(planned: PlannedRun, occasion_name: str) -> dict[str, Any]:
    """The columns of a Run that its plan tells, with its key."""
    model = planned.model
    words = {
        "quantisation": model.quantisation if model else "",
        "parallelism": model.parallelism if model else "",
        "device_class": planned.device_class,
    }
    key = RunKey(
        build=planned.build.digest,
        workload=planned.workload.identity,
        model=model.name if model else "",
        occasion=occasion_name,
        arm=planned.arm,
        block=planned.block,
        **words,
    )
    return {"key": key.digest, "arm": planned.arm.value, "block": planned.block, **words}
