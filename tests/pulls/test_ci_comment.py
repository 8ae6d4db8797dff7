import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from answers import HEAD, ORDINARY, hostile
from pipeline_github import PipelineGitHub, pipeline_github
from pull_world import PullWorld, engine_text, pull_world
from rendered import shown, troubles

from perfd.domain.verdict import Outcome
from perfd.forge.artefact import written

TOKEN = {"GITHUB_TOKEN": "ghp_x"}


@pytest.fixture
def github() -> Iterator[PipelineGitHub]:
    with pipeline_github() as known:
        known.head = HEAD
        yield known


@pytest.fixture
def world(tmp_path: Path) -> PullWorld:
    return pull_world(tmp_path, "")


def commented(world: PullWorld, github: PipelineGitHub, artefact: str, head: str = HEAD) -> tuple[int, str]:
    """The privileged half: its exit code and what it said on standard error."""
    (world.folder / "answer.json").write_text(artefact, encoding="utf-8")
    event = world.folder / "event.json"
    event.write_text(json.dumps({"action": "completed", "workflow_run": {"head_sha": head}}), encoding="utf-8")
    told = {"GITHUB_REPOSITORY": "octo/engine", "GITHUB_EVENT_PATH": str(event), "GITHUB_API_URL": github.url}
    done = world.perfd("ci", "--from", str(world.folder / "answer.json"), **told, **TOKEN)
    return done.returncode, done.stderr


def test_what_a_fork_measured_is_commented_once_and_edited(world: PullWorld, github: PipelineGitHub) -> None:
    code, _ = commented(world, github, written(ORDINARY, 7))
    again, _ = commented(world, github, written(hostile(), 7))

    assert (1, 1, 1) == (code, again, len(github.comments))
    body = github.comments[0]["body"]
    seen = shown(body)
    assert "@\u200beveryone" in body
    assert ([], True) == (list(troubles(seen)), "script" not in seen.tags)


def test_a_verdict_that_becomes_worse_has_a_comment_of_its_own(world: PullWorld, github: PipelineGitHub) -> None:
    fine = replace(ORDINARY, verdict=replace(ORDINARY.verdict, outcome=Outcome.SAME), rows=ORDINARY.rows[-1:], unmeasured=())

    codes = [commented(world, github, written(one, 7))[0] for one in (fine, ORDINARY, fine)]

    assert ([0, 1, 0], 2) == (codes, len(github.comments))


def test_an_artefact_for_another_pull_request_is_not_commented(world: PullWorld, github: PipelineGitHub) -> None:
    told = [
        commented(world, github, written(ORDINARY, 7), head="b" * 40),
        commented(world, github, written(ORDINARY, 8)),
        commented(world, github, written(replace(ORDINARY, head="b" * 40), 7), head="b" * 40),
    ]

    assert [] == github.comments
    assert "the workflow ran for bbbbbbbbbbbb" in told[0][1]
    assert "octo/engine#8" in told[1][1]
    assert "has another head" in told[2][1]
    assert 0 not in [code for code, _ in told]


def test_a_token_that_may_only_read_hides_no_finding(world: PullWorld, github: PipelineGitHub) -> None:
    github.read_only = True

    code, said = commented(world, github, written(ORDINARY, 7))

    assert 1 == code
    assert "two-workflow split" in said


def test_a_change_of_documentation_needs_no_comment(world: PullWorld, github: PipelineGitHub) -> None:
    base = world.commit("Begin", {"engine.py": engine_text("begin")})
    head = world.pull("Explain", {"docs/a.md": "x"})
    told = {"GITHUB_EVENT_PATH": str(world.event(head, base)), "GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": "octo/engine"}

    done = world.perfd("ci", **told, **TOKEN)

    assert (0, []) == (done.returncode, github.comments), done.stderr
    assert done.stdout.startswith("### Nothing to measure: only documentation is changed")
