"""Every request that perfd sends is one that GitHub's own description allows, and its documented answers are understood."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fault_server import APP, PEM
from forge_hook import app_at
from forge_world import BASE, ENGINE, HEAD, check, comment

from perfd.domain.forge import LONGEST_COMMENT, Annotation, Button, CheckStatus, ForgeError, Level, Permission, Trouble
from perfd.forge import GitHub, Token
from perfd.forge.http import Call, Http, new_client

MARK = "f" * 32
FULL = replace(
    check(CheckStatus.COMPLETED),
    text="Everything.",
    annotations=(Annotation("suites/latency.toml", 3, Level.FAILURE, "slower", "chat"), Annotation("a.c", 1, Level.NOTICE, "x")),
    buttons=(Button("approve", "Measure it", "Let this commit's code run"),),
    details_url="https://perfd.example.com/compare",
)


@pytest.fixture(scope="session")
def held(prism: str) -> GitHub:
    """perfd's App before GitHub's description."""
    return app_at(prism, PEM, APP)


def test_the_app_learns_who_it_is_and_gets_a_token(held: GitHub) -> None:
    assert "octoapp[bot]" == held.who.author()
    assert held.who.authorization(ENGINE.name).startswith("Bearer ")


@pytest.mark.parametrize("known", [None, 5])
def test_comments_are_looked_for_made_and_edited_as_documented(held: GitHub, known: int | None) -> None:
    longest = comment("x" * LONGEST_COMMENT)

    assert held.put_comment(longest, MARK, known).number > 0


@pytest.mark.parametrize("known", [None, 5])
@pytest.mark.parametrize("wanted", [FULL, check(), check(CheckStatus.QUEUED)], ids=["completed", "in progress", "queued"])
def test_checks_are_looked_for_made_and_updated_as_documented(held: GitHub, known: int | None, wanted: object) -> None:
    assert held.put_check(wanted, MARK, known).number > 0  # type: ignore[arg-type]


def test_a_documented_permission_is_understood(held: GitHub) -> None:
    assert Permission.ADMIN is held.permission(ENGINE.name, "octocat")


def test_a_documented_comparison_is_understood(held: GitHub) -> None:
    found = held.merge_base(ENGINE.name, BASE, HEAD)

    assert 40 == len(found.commit)
    assert ("file1.txt",) == found.files


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/repos/octo/engine/check-runs", {"name": "perfd", "head_sha": HEAD, "status": "completed"}),
        ("/repos/octo/engine/issues/7/comments", {"body": "x" * 65_537}),
        ("/repos/octo/engine/issues/7/comments", {}),
    ],
)
def test_the_description_refuses_what_github_would(prism: str, path: str, body: dict[str, object]) -> None:
    http = Http(prism, lambda: datetime.now(UTC), new_client())
    with pytest.raises(ForgeError) as raised:
        http.send(Call("POST", path, "break a rule", "none", body), Token("x").authorization(""))

    assert Trouble.INVALID is raised.value.trouble
