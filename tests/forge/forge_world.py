"""A repository, a pull request and what the forge says of them, for tests that need no forge."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from perfd.domain.forge import Check, CheckStatus, Comment, Conclusion
from perfd.domain.pull import Asked, PullAction, PullRequest, PullSeen, Repository

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1)
ENGINE = Repository("octo/engine", key=1296269, installation=99, default_branch="main")
HEAD, NEXT_HEAD, BASE = "a" * 40, "b" * 40, "c" * 40
ASKED = Asked(by="alice", why="opened")
DEADLINE = NOON + timedelta(hours=12)


def pull(**changes: object) -> PullRequest:
    """Pull request 7 of the engine."""
    return replace(
        PullRequest(
            repository=ENGINE.name,
            number=7,
            title="Make attention faster",
            author="alice",
            head=HEAD,
            head_branch="faster",
            head_repository=ENGINE.name,
            base=BASE,
            base_branch="main",
            is_open=True,
            is_draft=False,
            updated_at=NOON,
        ),
        **changes,
    )


def seen(action: PullAction = PullAction.OPENED, **changes: object) -> PullSeen:
    return PullSeen(action, ENGINE, pull(**changes), "alice")


def comment(body: str = "faster", slot: str = "1") -> Comment:
    return Comment(ENGINE.name, 7, slot, body)


def check(status: CheckStatus = CheckStatus.IN_PROGRESS, slot: str = "1", head: str = HEAD, title: str = "measuring") -> Check:
    over = Conclusion.SUCCESS if status is CheckStatus.COMPLETED else None
    return Check(ENGINE.name, head, slot, status, title, "A summary.", conclusion=over)
