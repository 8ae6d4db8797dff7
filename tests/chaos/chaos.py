"""Real nights while their processes are killed, one at a time, at random moments; after every night the books must balance.

    python tests/chaos/chaos.py --points 200 --seed 1

Two clocks, a site, a service that runs every stage, a worker and a Postgres, all real processes on one host. A victim is killed
(SIGKILL) and started again, or stands still for longer than a lease (SIGSTOP, SIGCONT); Postgres is also away for a while, once
for a minute. Prints a table; exits 1 on a violation.
The seed decides victims and pauses; what the victims are doing by then is the machine's business, so that two runs differ.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parent))

from actors import Actor, Postgres, company
from books import Books, left_open, tally
from sqlalchemy import Connection, Engine, text
from town import FIRST_DAY, LEASE_S, Town

from perfd.bench.taken import taken
from perfd.store import Store, make_engine
from perfd.store.embedded import EmbeddedPostgres
from perfd.store.migrate import upgrade
from perfd.store.trouble import DATABASE_GONE

Answer = TypeVar("Answer")

NIGHT_WITHIN_S = 300.0
"""Seconds that a night may take once nobody is killed any more."""
PAUSE_S = (0.2, 4.0)
STOPPED_S = (LEASE_S + 0.5, LEASE_S + 2.0)
STOPS = 0.2
"""The share of blows that stop a process instead of killing it."""
WEIGHTS = {"service": 3, "worker": 3, "postgres": 2}
"""Who measures and stores is hit more often than who only looks."""
AWAY, AWAY_S, MINUTE_S = 0.2, (3.0, 12.0), 60.0
"""The share of blows to Postgres after which nobody starts it, for so many seconds; the first time for a minute."""
OVERTAKEN = 0.15
"""The share of nights that the next one overtakes."""


@dataclass
class Chaos:
    """A town, its company, and what was done to it."""

    town: Town
    engine: Engine
    actors: list[Actor]
    postgres: Postgres
    dice: random.Random
    books: Books = field(default_factory=Books)
    due: list[datetime] = field(default_factory=list)
    blows: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    minute_s: float = MINUTE_S

    @property
    def points(self) -> int:
        """How many blows were dealt."""
        return sum(self.blows.values())

    def run(self, points: int) -> None:
        """So many blows were dealt, in as many nights as that took."""
        for actor in self.actors:
            actor.start()
        while self.points < points and not self.violations:
            self.night(points)
        self.finish()

    def night(self, points: int) -> None:
        """One night is begun, and worked off under blows; sometimes the next one is due before it is over."""
        overtaken = self.dice.random() < OVERTAKEN
        self.due.append(self.town.begin(len(self.due)))
        until, deadline = self.points + 3, None
        while not (self.is_reached("reported") or (overtaken and self.points >= until and self.is_reached("due"))):
            if self.points < points:
                self.blow()
            else:
                deadline = deadline or time.monotonic() + NIGHT_WITHIN_S
                if time.monotonic() > deadline:
                    break
                time.sleep(0.5)
            for actor in self.actors:
                actor.revive()
        if not overtaken:
            self.check()
        told = (
            f"night {len(self.due)}{' (overtaken)' if overtaken else ''}: {self.points} blows, {len(self.violations)} violations"
        )
        sys.stderr.write(f"{told}\n")

    def blow(self) -> None:
        """After a random pause one process is killed or stopped, and goes on."""
        time.sleep(self.dice.uniform(*PAUSE_S))
        everybody = [*self.actors, self.postgres]
        (victim,) = self.dice.choices(everybody, [WEIGHTS.get(one.name, 1) for one in everybody])
        if isinstance(victim, Postgres) and self.dice.random() < AWAY:
            victim.be_away(self.dice.uniform(*AWAY_S) if self.blows[victim.name, "away"] else self.minute_s)
            self.blows[victim.name, "away"] += 1
            return
        if self.dice.random() < STOPS:
            victim.stop()
            time.sleep(self.dice.uniform(*STOPPED_S))
            victim.go_on()
            self.blows[victim.name, "stopped"] += 1
            return
        self.violations += victim.kill()
        self.blows[victim.name, "killed"] += 1
        if isinstance(victim, Actor):
            time.sleep(self.dice.uniform(0.0, 1.0))
            victim.start()

    def is_reached(self, state: str) -> bool:
        """Whether the newest night is in that state, or is there at all."""
        asked = text("SELECT state = :state OR :state = 'due' FROM occasion WHERE kind = 'night' AND nominal_at = :due")
        known = {"due": self.due[-1], "state": state}
        return self.ask(lambda connection: bool(connection.execute(asked, known).scalar()))

    def check(self) -> None:
        """The books of all nights so far balance, or their violations are kept."""
        deadline = time.monotonic() + NIGHT_WITHIN_S
        while True:  # an overtaken night is reported by itself, a little later
            found = self.ask(lambda connection: self.books.check(connection, self.due))
            if not found or time.monotonic() > deadline or not all(" is " in one for one in found):
                self.violations += found
                return
            for actor in self.actors:
                actor.revive()
            time.sleep(1.0)

    def finish(self) -> None:
        """Everything was asked to end; nothing is left of it."""
        self.check()
        for actor in self.actors:
            actor.revive()
            self.violations += actor.end()
        self.violations += self.ask(left_open)
        with taken("cpu", self.town.folder / "locks") as lock:
            self.violations += ["the device's lock is still held"] if lock is None else []
        self.violations += [f"a Run's folder is left: {one.name}" for one in self.town.runs.glob("*")]

    def ask(self, question: Callable[[Connection], Answer]) -> Answer:
        """The answer, asked again while the server comes back."""
        while True:
            try:
                with self.engine.connect() as connection:
                    return question(connection)
            except DATABASE_GONE:
                time.sleep(0.2)

    def table(self, seconds: float) -> str:
        """What was done, and what came of it."""
        kinds = ("killed", "stopped", "away")
        lines = ["| victim | killed | stood still past a lease | away for seconds |", "| --- | --- | --- | --- |"]
        names = [*(actor.name for actor in self.actors), self.postgres.name]
        lines += [f"| {name} | {' | '.join(str(self.blows[name, kind]) for kind in kinds)} |" for name in names]
        ends = ", ".join(f"{count} {word}" for word, count in self.ask(tally).items())
        lines.append(f"\n{self.points} blows in {len(self.due)} nights and {seconds / 60:.1f} minutes; Runs: {ends}")
        return "\n".join([*lines, f"\nviolations = {len(self.violations)}", *self.violations])


def main() -> int:
    """Exit code 1 on any violation; the folder is kept then."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends this ends all that it started
    parser.add_argument("--points", type=int, default=200, help="how many times a process is killed or stopped")
    parser.add_argument("--seed", type=int, default=1, help="decides victims and pauses")
    parser.add_argument("--no-aa", action="store_true", help="without the A/A comparison of every night")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="perfd chaos ", dir="/tmp"))
    folder.chmod(0o755)
    chaos = run(folder, options.points, options.seed, aa=not options.no_aa)
    if chaos.violations:
        sys.stderr.write(f"kept for whoever looks: {folder}\n")
        return 1
    shutil.rmtree(folder)
    return 0


def run(folder: Path, points: int, seed: int, *, aa: bool, minute_s: float = MINUTE_S) -> Chaos:
    """The chaos, over; its table is printed. `minute_s` is how long Postgres is away for the first time."""
    town = Town(folder)
    town.build(aa=aa)
    began = time.monotonic()
    with EmbeddedPostgres(folder / "server") as server:
        upgrade(server.url)
        engine = make_engine(server.url)
        Store(engine).began_at(FIRST_DAY.replace(hour=0))
        chaos = Chaos(
            town,
            engine,
            company(town, server.url),
            Postgres(server.home, server.places.data),
            random.Random(seed),
            minute_s=minute_s,
        )
        try:
            chaos.run(points)
            sys.stdout.write(chaos.table(time.monotonic() - began) + "\n")
        finally:
            for actor in chaos.actors:
                if actor.process is not None:
                    actor.process.kill()
                    actor.process.wait()
            engine.dispose()
    return chaos


if __name__ == "__main__":
    sys.exit(main())
