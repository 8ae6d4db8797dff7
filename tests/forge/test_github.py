"""The four calls against a GitHub that fails on demand: what every answer means, and what is done about it."""

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from fault_server import APP, LOGIN, PEM, Fault, FaultServer
from forge_hook import app_at
from forge_world import BASE, ENGINE, HEAD, check, comment

from perfd.config import GitHub as Settings
from perfd.domain.forge import CheckStatus, ForgeError, Permission, Trouble
from perfd.errors import BadInputError
from perfd.forge import GitHub, Token, github_app, github_with_token
from perfd.forge.http import Http

MARK = "f" * 32
PLACE = f"{ENGINE.name}#7"


def refused(github: GitHub) -> ForgeError:
    """What a comment that is refused raises."""
    with pytest.raises(ForgeError) as raised:
        github.put_comment(comment(), MARK)
    return raised.value


def wait_of(error: ForgeError) -> float:
    """Seconds until it may be tried again."""
    assert error.again_at is not None
    assert not error.permanent
    return (error.again_at - datetime.now(UTC)).total_seconds()


def test_a_comment_is_made_once_and_edited_ever_after(faulty: FaultServer, github: GitHub) -> None:
    first = github.put_comment(comment("faster"), MARK)
    found = github.put_comment(comment("slower"), MARK)
    known = github.put_comment(comment("the same"), MARK, first.number)

    assert first == found == known
    assert [f"the same\n\n<!-- perfd:{MARK} -->"] == [one["body"] for one in faulty.comments]


def test_any_text_at_all_can_be_said(faulty: FaultServer, github: GitHub) -> None:
    github.put_comment(comment("\ud800 \x00 \u202e \U0001f680"), MARK)

    assert faulty.comments[0]["body"].startswith("? \x00 \u202e \U0001f680")


def test_a_comment_is_found_beyond_the_first_page(faulty: FaultServer, github: GitHub) -> None:
    for number in range(250):
        faulty.add_comment(PLACE, f"talk {number}", "bob")
    made = github.put_comment(comment(), MARK)

    assert made == github.put_comment(comment("other"), MARK)
    assert 251 == len(faulty.comments)


def test_a_copied_mark_does_not_make_a_comment_ours(faulty: FaultServer, github: GitHub) -> None:
    faulty.add_comment(PLACE, f"all is well <!-- perfd:{MARK} -->", "mallory")
    made = github.put_comment(comment(), MARK)
    faulty.add_comment(PLACE, f"all is well <!-- perfd:{MARK} -->", LOGIN)

    assert 2 == made.number
    assert made == github.put_comment(comment("slower"), MARK)


def test_a_comment_that_was_deleted_is_gone(github: GitHub) -> None:
    with pytest.raises(ForgeError) as raised:
        github.put_comment(comment(), MARK, known=41)

    assert Trouble.GONE is raised.value.trouble


def test_a_check_is_made_once_and_updated_ever_after(faulty: FaultServer, github: GitHub) -> None:
    first = github.put_check(check(), MARK)
    github.put_check(check(title="still measuring"), MARK)
    github.put_check(check(CheckStatus.COMPLETED), MARK, first.number)
    github.put_check(check(slot="2"), MARK)

    assert ["completed", "in_progress"] == [one["status"] for one in faulty.checks]
    assert [f"perfd:1:{MARK}", f"perfd:2:{MARK}"] == [one["external_id"] for one in faulty.checks]


@pytest.mark.parametrize(
    ("role", "old", "permission"),
    [
        ("admin", "admin", Permission.ADMIN),
        ("maintain", "write", Permission.MAINTAIN),
        ("triage", "read", Permission.TRIAGE),
        ("our reviewers", "write", Permission.WRITE),
        ("maintain", "read", Permission.READ),
        ("none", "none", Permission.NONE),
        ("", "almighty", Permission.NONE),
    ],
)
def test_a_role_counts_as_what_it_is_built_on(
    faulty: FaultServer, github: GitHub, role: str, old: str, permission: Permission
) -> None:
    faulty.permissions["renovate[bot]"] = {"permission": old, "role_name": role}

    assert permission is github.permission(ENGINE.name, "renovate[bot]")


def test_a_stranger_may_nothing(github: GitHub) -> None:
    assert Permission.NONE is github.permission(ENGINE.name, "nobody")


def test_a_merge_base_knows_its_age_and_the_changed_files(faulty: FaultServer, github: GitHub) -> None:
    faulty.compare = {
        "behind_by": 43,
        "merge_base_commit": {
            "sha": BASE,
            "commit": {"message": "Fix it\n\nlong", "committer": {"date": "2026-11-28T10:00:00Z"}},
        },
        "files": [{"filename": "b.cu", "previous_filename": "a.cu"}, {"filename": "docs/x.md"}],
    }
    found = github.merge_base(ENGINE.name, "release/1.0", HEAD)

    assert (BASE, "Fix it", 43, ("a.cu", "b.cu", "docs/x.md"), True) == (
        found.commit,
        found.title,
        found.behind,
        found.files,
        found.complete,
    )
    assert datetime(2026, 11, 28, 10, tzinfo=UTC) == found.committed_at
    assert f"GET /repos/octo/engine/compare/release%2F1.0...{HEAD}" in faulty.requests


def test_three_hundred_files_may_be_three_thousand(faulty: FaultServer, github: GitHub) -> None:
    commit = {"message": "x", "committer": {"date": "2026-11-28T10:00:00Z"}}
    files = [{"filename": f"{number}.c"} for number in range(300)]
    faulty.compare = {"behind_by": 0, "merge_base_commit": {"sha": BASE, "commit": commit}, "files": files}

    assert not github.merge_base(ENGINE.name, BASE, HEAD).complete


@pytest.mark.parametrize(("ahead", "complete"), [(1, False), (0, True)])
def test_a_comparison_that_lists_no_files_is_not_believed_to_change_none(
    faulty: FaultServer, github: GitHub, *, ahead: int, complete: bool
) -> None:
    commit = {"message": "x", "committer": {"date": "2026-11-28T10:00:00Z"}}
    faulty.compare = {"behind_by": 0, "ahead_by": ahead, "merge_base_commit": {"sha": BASE, "commit": commit}}

    assert complete is github.merge_base(ENGINE.name, BASE, HEAD).complete


@pytest.mark.parametrize(
    ("fault", "trouble", "told"),
    [
        (Fault("POST", "comments", 403, "Resource not accessible"), Trouble.FORBIDDEN, "permission pull_requests: write"),
        (
            Fault("POST", "comments", 403, "No", {"X-Accepted-GitHub-Permissions": "pull_requests=write"}),
            Trouble.FORBIDDEN,
            "permission pull_requests=write",
        ),
        (Fault("POST", "comments", 403, "Repository was archived so is read-only."), Trouble.FORBIDDEN, "is archived"),
        (Fault("POST", "comments", 403, "Unable to create comment because issue is locked."), Trouble.FORBIDDEN, "unlock it"),
        (Fault("POST", "tokens", 403, "This installation has been suspended"), Trouble.FORBIDDEN, "is suspended"),
        (Fault("GET", "installation$", 404, "Not Found"), Trouble.NOT_FOUND, "the App is not installed there"),
        (Fault("POST", "comments", 410, "Issues are disabled for this repo"), Trouble.GONE, "issues are switched off"),
        (Fault("POST", "comments", 422, "Validation Failed"), Trouble.INVALID, "cannot do it"),
        (Fault("GET", "comments", 404, "Not Found"), Trouble.NOT_FOUND, "was deleted or renamed"),
        (Fault("GET", "comments", 418, "I'm a teapot"), Trouble.INVALID, "address of its API"),
    ],
)
def test_what_is_useless_to_try_again_names_its_remedy(
    faulty: FaultServer, github: GitHub, fault: Fault, trouble: Trouble, told: str
) -> None:
    faulty.faults = [fault]
    error = refused(github)

    assert (trouble, True) == (error.trouble, error.permanent)
    assert told in error.message


@pytest.mark.parametrize(
    ("fault", "trouble", "wait"),
    [
        (Fault("POST", "comments", 500, "boom"), Trouble.BROKEN, (5, 15)),
        (Fault("POST", "comments", 503, body=b"<html>"), Trouble.BROKEN, (5, 15)),
        (Fault("POST", "comments", 201, body=b"<html>"), Trouble.BROKEN, (5, 15)),
        (Fault("POST", "comments", 201, body=b'{"id": "x"}'), Trouble.BROKEN, (5, 15)),
        (Fault("POST", "comments", 201, body=b"[]"), Trouble.BROKEN, (5, 15)),
        (Fault("GET", "installation$", 200, body=b"[]"), Trouble.BROKEN, (5, 15)),
        (Fault("GET", "comments", 200, body=b"[" * 200_000), Trouble.BROKEN, (5, 15)),
        (Fault("POST", "tokens", 201, body=b'{"token": "x", "expires_at": 3}'), Trouble.BROKEN, (5, 15)),
        (Fault("GET", "comments", 200, body=b'[{"body": null}, 3]'), Trouble.BROKEN, (5, 15)),
        (Fault("POST", "comments", 409, "Conflict"), Trouble.CONFLICT, (5, 15)),
        (Fault("POST", "comments", cut=True), Trouble.SILENT, (5, 15)),
        (Fault("POST", "comments", 403, "You have exceeded a secondary rate limit"), Trouble.LIMITED, (50, 61)),
        (Fault("POST", "comments", 403, "slow down", {"Retry-After": "30"}), Trouble.LIMITED, (25, 31)),
        (Fault("POST", "comments", 429, "too many"), Trouble.LIMITED, (50, 61)),
        (Fault("POST", "comments", 429, "too many", {"Retry-After": "99999999999999"}), Trouble.LIMITED, (7100, 7201)),
        (Fault("POST", "comments", 429, "too many", {"Retry-After": "soon"}), Trouble.LIMITED, (50, 61)),
    ],
)
def test_what_may_succeed_later_says_when(
    faulty: FaultServer, github: GitHub, fault: Fault, trouble: Trouble, wait: tuple[float, float]
) -> None:
    faulty.faults = [fault]
    error = refused(github)

    assert trouble is error.trouble
    assert wait[0] <= wait_of(error) <= wait[1]


def test_the_hourly_limit_is_held_against_the_forges_own_clock(faulty: FaultServer, github: GitHub) -> None:
    faulty.ahead = timedelta(seconds=20)
    reset = str(int(faulty.now().timestamp()) + 600)
    limits = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    faulty.faults = [Fault("POST", "comments", 403, "API rate limit exceeded", limits)]

    assert 590 <= wait_of(refused(github)) <= 602


def test_nobody_asks_while_a_limit_lasts(faulty: FaultServer, github: GitHub) -> None:
    faulty.faults = [Fault("POST", "comments", 403, "slow down", {"Retry-After": "30"})]
    first = refused(github)
    asked = len(faulty.requests)

    assert first.again_at == refused(github).again_at
    assert asked == len(faulty.requests)


def test_a_wrong_key_is_told_and_tried_again_later(faulty: FaultServer) -> None:
    error = refused(app_at(faulty.url, PEM, "12"))

    assert Trouble.UNAUTHORISED is error.trouble
    assert "PERFD_GITHUB_PRIVATE_KEY_FILE" in error.message
    assert wait_of(error) > 600


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(minutes=-20), timedelta(seconds=50)])
def test_a_wrong_clock_is_put_right_by_the_forges_own(faulty: FaultServer, github: GitHub, ahead: timedelta) -> None:
    faulty.ahead = ahead

    github.put_comment(comment(), MARK)

    assert 1 == len(faulty.comments)


def test_a_token_is_kept_until_shortly_before_it_expires(faulty: FaultServer, github: GitHub) -> None:
    github.put_comment(comment(), MARK)
    github.put_comment(comment("again"), MARK)
    assert 1 == len(faulty.tokens)

    faulty.lives = timedelta(minutes=4)
    for _ in range(2):
        fresh = app_at(faulty.url, PEM, APP)
        fresh.put_comment(comment("soon over"), MARK, 1)
        fresh.put_comment(comment("over"), MARK, 1)
    assert 5 == len(faulty.tokens)


def test_a_token_that_was_taken_back_is_replaced_once(faulty: FaultServer, github: GitHub) -> None:
    github.put_comment(comment(), MARK)
    faulty.tokens[:] = []
    github.put_comment(comment("again"), MARK, 1)
    assert "again" in faulty.comments[0]["body"]

    faulty.faults = [Fault("PATCH", "comments", 401, "Bad credentials", times=9)]
    with pytest.raises(ForgeError) as raised:
        github.put_comment(comment("third"), MARK, 1)
    assert Trouble.UNAUTHORISED is raised.value.trouble
    assert 7 == faulty.faults[0].times


def test_a_renamed_repository_is_followed(faulty: FaultServer, github: GitHub) -> None:
    faulty.moved = {"octo/engine": "octo/motor"}

    github.put_comment(comment(), MARK)

    assert ["octo/motor#7"] == [one["place"] for one in faulty.comments]


ELSEWHERE = ("http://127.0.0.1:1/steal", "//127.0.0.1:1/steal", "http://[", "/repos/octo/engine/issues/7/comments")


@pytest.mark.parametrize("location", ELSEWHERE)
def test_no_redirect_takes_the_token_to_another_host_or_round_for_ever(
    faulty: FaultServer, github: GitHub, location: str
) -> None:
    faulty.faults = [Fault("POST", "comments", 307, headers={"Location": location}, times=9)]

    assert "sent perfd elsewhere" in refused(github).message


def test_a_slow_forge_is_silent(faulty: FaultServer) -> None:
    http = Http(faulty.url, lambda: datetime.now(UTC), httpx.Client(timeout=0.2))
    faulty.faults = [Fault("GET", "comments", slow_s=1.0)]
    with pytest.raises(ForgeError) as raised:
        GitHub(http, Token("x")).put_comment(comment(), MARK)

    assert Trouble.SILENT is raised.value.trouble


def test_a_forge_that_is_not_there_is_silent() -> None:
    forge = github_with_token("http://127.0.0.1:1", Token("x"), lambda: datetime.now(UTC))
    with pytest.raises(ForgeError) as raised:
        forge.put_comment(comment(), MARK)

    assert Trouble.SILENT is raised.value.trouble


def test_a_token_of_a_pipeline_serves_too(faulty: FaultServer) -> None:
    faulty.tokens.append("ghs_of_actions")
    forge = github_with_token(faulty.url, Token("ghs_of_actions", LOGIN), lambda: datetime.now(UTC))

    made = forge.put_comment(comment(), "ci")
    assert made == forge.put_comment(comment("again"), "ci")


def test_no_secret_is_shown_or_logged(faulty: FaultServer, github: GitHub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    github.put_comment(comment(), MARK)
    faulty.faults = [Fault("GET", "comments", 500)]
    shown = f"{github!r} {Token('ghs_0')!r} {refused(app_at(faulty.url, PEM, APP)).message}"

    for secret in ("ghs_0", PEM.splitlines()[1]):
        assert secret not in shown
        assert secret not in caplog.text


@pytest.mark.parametrize(
    "content", ["", "no key at all", PEM[:200], "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"]
)
def test_a_file_that_holds_no_key_is_refused_at_once(tmp_path: Path, content: str) -> None:
    path = tmp_path / "key.pem"
    path.write_text(content)

    with pytest.raises(BadInputError, match="holds no RSA private key"):
        github_app(Settings(app_id=APP, private_key_file=path), lambda: datetime.now(UTC))


def test_half_an_app_is_told_and_none_is_none(tmp_path: Path) -> None:
    now = datetime.now(UTC)

    assert github_app(Settings(), lambda: now) is None
    with pytest.raises(BadInputError, match="set both PERFD_GITHUB_APP_ID and"):
        github_app(Settings(app_id=APP), lambda: now)
    with pytest.raises(BadInputError, match="cannot be read"):
        github_app(Settings(app_id=APP, private_key_file=tmp_path / "gone.pem"), lambda: now)
