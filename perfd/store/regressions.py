"""Regressions: opened over Changes, moved by people and named rules, every move an event."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.occasion import Occasion
from perfd.domain.verdict import OPEN_STATES, RegressionState
from perfd.errors import PerfdError
from perfd.store import latest, occasions, reading, tables
from perfd.store.records import ChangeRow, RegressionEvent, RegressionRow, SeriesInfo
from perfd.store.writing import AnyRow, clean

G = tables.regression.c


@dataclass(frozen=True)
class Step:
    """Who moves a Regression, why, and when."""

    actor: str
    reason: str
    now: datetime
    seen: int | None = None
    """How many events its life had as far as the actor knows: it is moved only if that is still so. Absent: whatever was."""


@dataclass(frozen=True)
class Regressions:
    """Questions about Regressions."""

    engine: Engine

    def open(
        self,
        occasion: Occasion,
        changes: Sequence[int],
        title: str,
        *,
        state: RegressionState = RegressionState.DETECTED,
        actor: str,
        reason: str,
        now: datetime,
    ) -> int | None:
        """A Regression over these Changes (by id), with its first event; its id.

        Changes that already belong to a Regression are left there; absent (and nothing written) when none is left. The Regression
        belongs to the Build of the first Change that is left.
        """
        with self.engine.begin() as connection:
            left = _unclaimed(connection, changes)
            if not left:
                return None
            first = _first_build(connection, left[0])
            values = {
                "subject_id": first.subject_id,
                "state": state.value,
                "title": clean(title),
                "build_id": first.build_id,
                "occasion_id": occasions.id_of(connection, occasion),
                "opened_at": now,
                "moved_at": now,
            }
            made = int(connection.execute(insert(tables.regression).values(**values).returning(G.id)).scalar_one())
            _add_members(connection, made, left)
            write_event(connection, made, None, state, Step(actor, reason, now))
            return made

    def open_budget(
        self, occasion: Occasion, build: str, cause: str, title: str, *, actor: str, reason: str, now: datetime
    ) -> bool:
        """A detected Regression without Changes, about a Build (by digest); False while one with this cause is not over."""
        with self.engine.begin() as connection:
            at = connection.execute(
                select(tables.build.c.id, tables.build.c.subject_id).where(tables.build.c.digest == build)
            ).one()
            values = {
                "subject_id": at.subject_id,
                "state": RegressionState.DETECTED.value,
                "title": clean(title),
                "build_id": at.id,
                "cause": clean(cause),
                "occasion_id": occasions.id_of(connection, occasion),
                "opened_at": now,
                "moved_at": now,
            }
            row = insert(tables.regression).values(**values).on_conflict_do_nothing().returning(G.id)
            made = connection.execute(row).scalar()
            if made is not None:
                write_event(connection, made, None, RegressionState.DETECTED, Step(actor, reason, now))
            return made is not None

    def note(self, regression: int, *, actor: str, reason: str, now: datetime) -> bool:
        """An event that moves nothing stands in the Regression's life; False when it stood there before."""
        E = tables.regression_event.c  # noqa: N806  # columns
        with self.engine.begin() as connection:
            state = connection.execute(select(G.state).where(G.id == regression).with_for_update()).scalar_one()
            same = select(E.id).where(E.regression_id == regression, E.actor == clean(actor), E.reason == clean(reason))
            if connection.execute(same).first() is not None:
                return False
            write_event(connection, regression, RegressionState(state), RegressionState(state), Step(actor, reason, now))
            return True

    def add(self, regression: int, changes: Sequence[int]) -> int:
        """The Changes belong to the Regression too, unless they belong to another; answers how many are new."""
        with self.engine.begin() as connection:
            left = _unclaimed(connection, changes)
            _add_members(connection, regression, left)
            return len(left)

    def step(self, regression: int, old: RegressionState, new: RegressionState, step: Step, **values: Any) -> bool:
        """The Regression went from `old` to `new` as `step` says, with an event, and with `owner` or `duplicate_of` where given.

        False (and nothing changed) when it was not in `old`, or has more events than `step.seen`.
        """
        if (new is RegressionState.DUPLICATE) != ("duplicate_of" in values):
            raise PerfdError("a duplicate says of which Regression, and nothing else does")
        return self._move(regression, old, {"state": new.value, "duplicate_of": None, **clean(values)}, step)

    def move(
        self, regression: int, old: RegressionState, new: RegressionState, *, actor: str, reason: str, now: datetime
    ) -> bool:
        """The Regression went from `old` to `new`, with an event; False (and nothing changed) when it was not in `old`."""
        if new is RegressionState.DUPLICATE:
            raise PerfdError("a duplicate says of which Regression: use `duplicate`")
        return self._move(regression, old, {"state": new.value, "duplicate_of": None}, Step(actor, reason, now))

    def duplicate(self, regression: int, old: RegressionState, of: int, *, actor: str, reason: str, now: datetime) -> bool:
        """The Regression repeats another one; False when it was not in `old`."""
        values = {"state": RegressionState.DUPLICATE.value, "duplicate_of": of}
        return self._move(regression, old, values, Step(actor, reason, now))

    def own(self, regression: int, old: RegressionState, owner: str, *, actor: str, reason: str, now: datetime) -> bool:
        """Somebody answers the Regression now; False when it was not in `old`."""
        values = {"state": RegressionState.OWNED.value, "owner": clean(owner), "duplicate_of": None}
        return self._move(regression, old, values, Step(actor, reason, now))

    def _move(self, regression: int, old: RegressionState, values: dict[str, Any], step: Step) -> bool:
        with self.engine.begin() as connection:
            return move(connection, regression, old, values, step)

    def read(self, regression: int) -> RegressionRow | None:
        """The Regression with its members and events."""
        found = self._rows(G.id == regression)
        return found[0] if found else None

    def unanswered(self) -> tuple[RegressionRow, ...]:
        """Every Regression that someone must answer, oldest first."""
        return self._rows(G.state.in_(sorted(state.value for state in OPEN_STATES)))

    def every(self, states: Iterable[RegressionState] | None = None) -> tuple[RegressionRow, ...]:
        """All Regressions (in these states), oldest first."""
        return self._rows() if states is None else self._rows(G.state.in_([state.value for state in states]))

    def between(self, start: datetime, stop: datetime) -> tuple[RegressionRow, ...]:
        """Regressions that were opened or last moved from `start` on and before `stop`, oldest first."""
        return self._rows(or_(*((moment >= start) & (moment < stop) for moment in (G.opened_at, G.moved_at))))

    def of_series(self, series_id: int) -> tuple[RegressionRow, ...]:
        """The Regressions that have a Change of this Series."""
        member, change = tables.regression_member.c, tables.change.c
        mine = select(member.regression_id).join(tables.change).where(change.series_id == series_id)
        return self._rows(G.id.in_(mine))

    def _rows(self, *where: ColumnElement[bool]) -> tuple[RegressionRow, ...]:
        with self.engine.begin() as connection:
            asked = _select().where(*where).order_by(G.opened_at, G.id)
            rows = connection.execute(asked).all()
            members = _members(connection, [row.id for row in rows])
            events = _events(connection, [row.id for row in rows])
        return tuple(_as_regression(row, members.get(row.id, ()), events.get(row.id, ())) for row in rows)


def move(connection: Connection, regression: int, old: RegressionState, values: dict[str, Any], step: Step) -> bool:
    """As `Regressions.move`, inside a transaction of the caller's."""
    changed = update(tables.regression).where(G.id == regression, G.state == old.value)
    if step.seen is not None and _events_of(connection, regression) != step.seen:
        return False
    if connection.execute(changed.values(**values, moved_at=step.now)).rowcount == 0:
        return False
    write_event(connection, regression, old, RegressionState(values["state"]), step)
    return True


def _events_of(connection: Connection, regression: int) -> int:
    """How many events its life has; nobody moves it until the transaction ends."""
    connection.execute(select(G.id).where(G.id == regression).with_for_update())
    lived = tables.regression_event.c.regression_id == regression
    return connection.execute(select(func.count()).where(lived)).scalar_one()


def _select() -> Any:
    B = tables.build.c  # noqa: N806  # columns
    return (
        select(
            tables.regression,
            tables.subject.c.name.label("subject"),
            B.digest,
            B.revision,
            tables.occasion.c.name.label("occasion"),
        )
        .join(tables.subject, tables.subject.c.id == G.subject_id)
        .join(tables.build, B.id == G.build_id)
        .join(tables.occasion, tables.occasion.c.id == G.occasion_id)
    )


def _as_regression(
    row: AnyRow, members: tuple[tuple[SeriesInfo, ChangeRow], ...], events: tuple[RegressionEvent, ...]
) -> RegressionRow:
    return RegressionRow(
        id=row.id,
        subject=row.subject,
        state=RegressionState(row.state),
        title=row.title,
        revision=row.revision,
        build=row.digest,
        owner=row.owner,
        occasion=row.occasion,
        opened_at=row.opened_at,
        moved_at=row.moved_at,
        duplicate_of=row.duplicate_of,
        members=members,
        events=events,
        cause=row.cause,
    )


def _members(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[tuple[SeriesInfo, ChangeRow], ...]]:
    changes = reading.changes(connection, tables.regression_member.c.regression_id.in_(ids))
    wanted = {change.series_id for change in changes}
    asked = reading.series_select().where(tables.series.c.id.in_(wanted))
    series = {row.id: reading.as_series(row) for row in connection.execute(asked)}
    found: dict[int, tuple[tuple[SeriesInfo, ChangeRow], ...]] = {}
    for change in changes:
        if change.regression_id is not None:
            found[change.regression_id] = (*found.get(change.regression_id, ()), (series[change.series_id], change))
    return found


def _events(connection: Connection, ids: Sequence[int]) -> dict[int, tuple[RegressionEvent, ...]]:
    E = tables.regression_event.c  # noqa: N806  # columns
    found: dict[int, tuple[RegressionEvent, ...]] = {}
    for row in connection.execute(select(tables.regression_event).where(E.regression_id.in_(ids)).order_by(E.id)):
        before = None if row.from_state is None else RegressionState(row.from_state)
        event = RegressionEvent(row.at, row.actor, before, RegressionState(row.to_state), row.reason)
        found[row.regression_id] = (*found.get(row.regression_id, ()), event)
    return found


def _unclaimed(connection: Connection, changes: Sequence[int]) -> list[int]:
    change = tables.change.c.id
    connection.execute(select(change).where(change.in_(changes)).order_by(change).with_for_update())  # one opener at a time
    taken = set(
        connection.execute(
            select(tables.regression_member.c.change_id).where(tables.regression_member.c.change_id.in_(changes))
        ).scalars()
    )
    return [change for change in changes if change not in taken]


def _first_build(connection: Connection, change: int) -> AnyRow:
    asked = select(tables.change.c.build_id, tables.series.c.subject_id).join(tables.series).where(tables.change.c.id == change)
    row = connection.execute(asked).first()
    if row is None:
        raise PerfdError(f"there is no Change {change}")
    return row


def _add_members(connection: Connection, regression: int, changes: Sequence[int]) -> None:
    rows = [{"regression_id": regression, "change_id": change} for change in changes]
    if rows:
        connection.execute(insert(tables.regression_member), rows)
        C = tables.change.c  # noqa: N806  # columns
        latest.touch(connection, set(connection.execute(select(C.series_id).where(C.id.in_(changes))).scalars()))


def write_event(connection: Connection, regression: int, old: RegressionState | None, new: RegressionState, step: Step) -> None:
    """One step of the Regression's life stands there."""
    values = {
        "regression_id": regression,
        "at": step.now,
        "actor": clean(step.actor),
        "from_state": None if old is None else old.value,
        "to_state": new.value,
        "reason": clean(step.reason),
    }
    connection.execute(insert(tables.regression_event).values(**values))
