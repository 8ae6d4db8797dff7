from datetime import UTC, datetime, timedelta

import pytest

from perfd.domain.command import Acknowledge, Bisect, Command, CompareWith, Help, Rerun, RunSuites
from perfd.domain.forge import Permission
from perfd.domain.pull import Approval
from perfd.rules.admission import HeadSeen, approves, bound_head, may_run, refusal

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
OLD, NEW = "a" * 40, "b" * 40


def at(seconds: int) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_an_allowed_author_runs_without_asking() -> None:
    assert may_run("Ada", frozenset({"ada"}), OLD, ())


def test_anybody_else_waits() -> None:
    assert not may_run("eve", frozenset({"ada"}), OLD, ())


def test_an_approval_is_for_one_head_and_void_after_a_push() -> None:
    approval = Approval("ada", OLD, NOON)

    assert may_run("eve", (), OLD, [approval])
    assert not may_run("eve", (), NEW, [approval])


def test_a_comment_speaks_of_the_head_of_its_moment() -> None:
    heads = [HeadSeen(NEW, at(60)), HeadSeen(OLD, at(0))]

    assert OLD == bound_head(heads, at(30))
    assert NEW == bound_head(heads, at(90))


def test_a_push_in_the_second_of_the_comment_approves_nothing() -> None:
    assert bound_head([HeadSeen(OLD, at(0)), HeadSeen(NEW, at(30))], at(30)) is None


def test_a_comment_before_any_head_was_seen_approves_nothing() -> None:
    assert bound_head([HeadSeen(OLD, at(60))], at(0)) is None
    assert bound_head([], at(0)) is None


@pytest.mark.parametrize("command", [RunSuites(), CompareWith("v1"), Rerun(), Acknowledge(1, "why"), Bisect()])
@pytest.mark.parametrize("permission", [Permission.NONE, Permission.READ, Permission.TRIAGE])
def test_who_may_not_write_is_refused_with_the_remedy(command: Command, permission: Permission) -> None:
    told = refusal(command, permission)

    assert told is not None
    assert "ask a maintainer" in told


@pytest.mark.parametrize("permission", [Permission.WRITE, Permission.MAINTAIN, Permission.ADMIN])
def test_who_may_write_may_say_everything(permission: Permission) -> None:
    assert [None] * 3 == [refusal(command, permission) for command in (RunSuites(), Acknowledge(1, "why"), Bisect())]


def test_anybody_gets_help() -> None:
    assert refusal(Help(), Permission.NONE) is None


def test_asking_for_help_or_a_bisection_approves_nothing() -> None:
    assert [False, False, True] == [approves(Help()), approves(Bisect()), approves(RunSuites())]
