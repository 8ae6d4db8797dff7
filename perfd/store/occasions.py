"""Occasions: opened once, moved from state to state by conditional updates, closed with a report."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, select, update
from sqlalchemy.dialects.postgresql import insert

from perfd.domain.codec import to_json
from perfd.domain.identity import digest
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.run import OccasionKind
from perfd.errors import PerfdError
from perfd.store import tables
from perfd.store.writing import AnyRow, added, clean

Occ = tables.occasion.c


@dataclass(frozen=True)
class Occasions:
    """Questions about occasions."""

    engine: Engine

    def open(self, occasion: Occasion, now: datetime, state: OccasionState = OccasionState.DUE) -> bool:
        """The occasion is there; True when it was not before. Two clocks that fire at once open it once."""
        with self.engine.begin() as connection:
            return open_in(connection, occasion, state, now)

    def beside(self, night: Occasion) -> dict[Occasion, OccasionState]:
        """What was opened for the night and is no night: its re-measurements and its A/A comparisons."""
        own = (Occ.kind == OccasionKind.AA.value) | Occ.id.in_(select(tables.confirmation.c.occasion_id))
        asked = select(Occ.kind, Occ.nominal_at, Occ.label, Occ.state).where(Occ.nominal_at == night.nominal_at, own)
        with self.engine.begin() as connection:
            return {as_occasion(row): OccasionState(row.state) for row in connection.execute(asked.order_by(Occ.id))}

    def in_state(self, state: OccasionState) -> Occasion | None:
        """The occasion in that state that has been due longest; absent where there is none."""
        asked = (
            select(Occ.kind, Occ.nominal_at, Occ.label).where(Occ.state == state.value).order_by(Occ.nominal_at, Occ.id).limit(1)
        )
        with self.engine.begin() as connection:
            row = connection.execute(asked).first()
        return None if row is None else as_occasion(row)

    def every_in_state(self, state: OccasionState) -> tuple[Occasion, ...]:
        """All occasions in that state, the one that has been due longest first."""
        asked = select(Occ.kind, Occ.nominal_at, Occ.label).where(Occ.state == state.value).order_by(Occ.nominal_at, Occ.id)
        with self.engine.begin() as connection:
            return tuple(as_occasion(row) for row in connection.execute(asked))

    def state(self, occasion: Occasion) -> OccasionState | None:
        """How far it has come; absent where it was never opened."""
        with self.engine.begin() as connection:
            found = connection.execute(select(Occ.state).where(Occ.name == occasion.name)).scalar()
        return None if found is None else OccasionState(found)

    def move(self, occasion: Occasion, old: OccasionState, new: OccasionState, now: datetime) -> bool:
        """The occasion went from `old` to `new`; False (and nothing changed) when it was not in `old`."""
        with self.engine.begin() as connection:
            return move(connection, occasion, old, new, now)

    def close(self, occasion: Occasion, report: Mapping[str, Any], now: datetime) -> bool:
        """The occasion went from judged to reported, with its report; False when it was not judged, or reported before."""
        changed = (
            update(tables.occasion)
            .where(Occ.name == occasion.name, Occ.state == OccasionState.JUDGED.value)
            .values(state=OccasionState.REPORTED.value, moved_at=now, closed_at=now, report=clean(to_json(report)))
        )
        with self.engine.begin() as connection:
            return connection.execute(changed).rowcount == 1

    def last(self, kind: OccasionKind = OccasionKind.NIGHT, state: OccasionState | None = None) -> Occasion | None:
        """The newest occasion of a kind (in a state)."""
        asked = select(Occ.kind, Occ.nominal_at, Occ.label).where(Occ.kind == kind.value)
        if state is not None:
            asked = asked.where(Occ.state == state.value)
        with self.engine.begin() as connection:
            row = connection.execute(asked.order_by(Occ.nominal_at.desc(), Occ.id.desc()).limit(1)).first()
        return None if row is None else as_occasion(row)

    def note(self, occasion: Occasion, finding: Finding, now: datetime) -> bool:
        """The finding stands with the occasion; False when it stood there before."""
        with self.engine.begin() as connection:
            row = insert(tables.finding).values(
                occasion_id=id_of(connection, occasion),
                stage=clean(finding.stage),
                subject=clean(finding.subject),
                sentence=clean(finding.sentence),
                log_tail=clean(finding.log_tail),
                key=digest(clean([finding.stage, finding.subject, finding.sentence])),
                at=now,
            )
            return added(connection, row)

    def findings(self, occasion: Occasion) -> tuple[Finding, ...]:
        """What went wrong outside any Run or Build, in the order it was seen."""
        with self.engine.begin() as connection:
            return findings(connection, id_of(connection, occasion))


def open_in(connection: Connection, occasion: Occasion, state: OccasionState, now: datetime) -> bool:
    """As `Occasions.open`, inside a transaction of the caller's."""
    row = insert(tables.occasion).values(
        name=occasion.name,
        kind=occasion.kind.value,
        label=occasion.label,
        nominal_at=occasion.nominal_at,
        state=state.value,
        opened_at=now,
        moved_at=now,
    )
    return added(connection, row)


def move(connection: Connection, occasion: Occasion, old: OccasionState, new: OccasionState, now: datetime) -> bool:
    """As `Occasions.move`, inside a transaction of the caller's."""
    changed = (
        update(tables.occasion).where(Occ.name == occasion.name, Occ.state == old.value).values(state=new.value, moved_at=now)
    )
    return connection.execute(changed).rowcount == 1


def findings(connection: Connection, occasion_id: int) -> tuple[Finding, ...]:
    """As `Occasions.findings`, inside a transaction of the caller's."""
    F = tables.finding.c  # noqa: N806  # columns, as everywhere here
    asked = select(F.stage, F.subject, F.sentence, F.log_tail).where(F.occasion_id == occasion_id).order_by(F.id)
    return tuple(Finding(*row) for row in connection.execute(asked))


def id_of(connection: Connection, occasion: Occasion) -> int:
    """The occasion's row; raises PerfdError where it was never opened."""
    found = connection.execute(select(Occ.id).where(Occ.name == occasion.name)).scalar()
    if found is None:
        raise PerfdError(f"there is no occasion {occasion.name}; open it first")
    return int(found)


def as_occasion(row: AnyRow) -> Occasion:
    """The domain's word for a row with kind, nominal_at and label."""
    return Occasion(OccasionKind(row.kind), row.nominal_at, row.label)
