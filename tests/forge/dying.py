"""A sender that is killed after its n-th step, for every n, and what a second sender makes of it.

A step is a transaction of the database or an answer of the forge: between any two of them the process may die. Each try is a
child of its own that ends by os._exit, so that nothing is tidied up and the kernel frees the locks. It prints, as JSON, how many
steps each sort of post has.

python dying.py DATABASE_URL FORGE_URL PEM_FILE APP LOGIN REPOSITORY NUMBER HEAD
"""

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
from sqlalchemy import event

from perfd.config import Config, GitHubRepository, Schedule
from perfd.config import GitHub as Settings
from perfd.domain.forge import Check, CheckStatus, Comment, Conclusion
from perfd.forge import GitHub
from perfd.forge.credentials import App, Key
from perfd.forge.http import Http, new_client
from perfd.stages.context import Context
from perfd.stages.deliver import deliver
from perfd.store import Store, make_engine

DIED = 9
Post = Comment | Check
DATABASE, FORGE, PEM, APP, LOGIN, REPOSITORY, NUMBER, HEAD = sys.argv[1:9]
LIVES = 10_000
HTTP = Http(FORGE, lambda: datetime.now(UTC), new_client())
WHO = App(Key(APP, Path(PEM).read_text(encoding="ascii")), HTTP, LOGIN)
WHO.authorization(REPOSITORY)  # kept by every child: how a token is got makes no post twice


class Quiet:
    def say(self, stage: str, sentence: str) -> None:
        pass

    def steps(self, stage: str, done: int, total: int, sentence: str) -> None:
        pass


def send(dies_after: int, later: timedelta) -> int:
    """Everything that is due is sent, or the process is dead after so many steps; how many there were."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == dies_after:
            os._exit(DIED)

    engine = make_engine(DATABASE)
    event.listen(engine, "commit", step)
    http = Http(FORGE, lambda: datetime.now(UTC), httpx.Client(event_hooks={"response": [step]}))
    forge = GitHub(http, WHO)
    settings = Settings(repositories=(GitHubRepository(REPOSITORY, "tiny"),))
    config = Config(None, Path("unused"), (), (), (), Schedule(), github=settings)
    context = Context(config, Store(engine), Quiet(), "dying", now=lambda: datetime.now(UTC) + later, forge=forge)
    while deliver(context):
        pass
    return steps


def in_a_child(work: Callable[..., object], *given: object) -> bool:
    """Whether a process of its own lived to the end of the work."""
    child = os.fork()
    if child == 0:
        work(*given)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != DIED


def want(post: Post, later: timedelta) -> None:
    engine = make_engine(DATABASE)
    unfinished = isinstance(post, Check) and post.conclusion is None
    Store(engine).posts.want(post, datetime.now(UTC) + later, datetime.now(UTC) + timedelta(days=1) if unfinished else None)
    engine.dispose()


def try_every_death(make: Callable[[str, bool], Post]) -> list[int]:
    """A post is made, and changed, with a death after every step; how many steps there are of either."""
    counts, number, later = [], 0, timedelta()
    for changed in (False, True):
        steps, alive = 0, False
        while not alive:
            steps, number, later = steps + 1, number + 1, later + timedelta(minutes=5)
            if changed:  # it stands there already, untouched by any death
                in_a_child(want, make(str(number), not changed), later)
                in_a_child(send, LIVES, later)
            in_a_child(want, make(str(number), changed), later)
            alive = in_a_child(send, steps, later)
            later += timedelta(minutes=5)
            in_a_child(send, LIVES, later)
        counts.append(steps - 1)
    return counts


def comment(slot: str, changed: bool) -> Comment:  # noqa: FBT001
    return Comment(REPOSITORY, int(NUMBER), slot, f"{slot} {'changed' if changed else 'made'}")


def check(slot: str, changed: bool) -> Check:  # noqa: FBT001
    status = CheckStatus.COMPLETED if changed else CheckStatus.IN_PROGRESS
    return Check(REPOSITORY, HEAD, slot, status, slot, "A summary.", Conclusion.SUCCESS if changed else None)


sys.stdout.write(json.dumps({"comment": try_every_death(comment), "check": try_every_death(check)}))
