"""The section `[github]`: what it says, and every mistake in it told with its line."""

from pathlib import Path

import pytest

from perfd.config import Config, load_config
from perfd.domain.area import Area, Gate
from perfd.errors import BadInputError

REPOSITORY = """
[github]
url = "https://ghe.example.com/api/v3/"
[[github.repositories]]
name = "Octo/engine"
engine = "llamacpp"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def load(text: str, **environ: str) -> Config:
    Path("perfd.toml").write_text(text, encoding="utf-8")
    return load_config(None, environ)


def mistakes(text: str, **environ: str) -> str:
    with pytest.raises(BadInputError) as raised:
        load(text, **environ)
    return raised.value.message


def test_without_the_section_no_pull_request_is_answered() -> None:
    github = load("").github

    assert () == github.repositories
    assert "https://api.github.com" == github.url
    assert (None, None, None) == (github.app_id, github.private_key_file, github.webhook_secret)


def test_a_repository_is_found_whatever_its_case() -> None:
    github = load(REPOSITORY).github

    assert "https://ghe.example.com/api/v3" == github.url
    found = github.repository("octo/ENGINE")
    assert found is not None
    assert ("Octo/engine", "llamacpp", (), (Gate(),)) == (found.name, found.engine, found.authors, found.gates)
    assert github.repository("octo/other") is None


def test_a_repository_says_who_may_run_and_what_holds_it_up() -> None:
    github = load(
        REPOSITORY
        + 'authors = ["alice", "renovate[bot]"]\nsuites = ["latency"]\nmost_minutes = 5\ndeadline_hours = 0.5\n'
        + 'areas = [{ paths = ["src/"], suites = ["latency"] }, { paths = ["tools/"] }]\n'
        + 'gates = [{ class = "agentic" }, { metric = "ttft_s", workload = "chat" }]\ndocumentation = ["*.md"]\n'
    ).github
    (found,) = github.repositories

    assert ("alice", "renovate[bot]") == found.authors
    assert (Area(("src/",), ("latency",)), Area(("tools/",))) == found.areas
    assert (Gate(workload_class="agentic"), Gate("chat", "ttft_s")) == found.gates
    assert (5.0, 0.5, ("*.md",)) == (found.most_minutes, found.deadline_hours, found.documentation)


def test_no_gates_at_all_is_not_the_same_as_gates_that_nobody_named() -> None:
    assert () == load(REPOSITORY + "gates = []\n").github.repositories[0].gates


def test_secrets_come_from_the_environment_and_are_not_shown() -> None:
    names = {"APP_ID": "4711", "PRIVATE_KEY_FILE": "/keys/app.pem", "WEBHOOK_SECRET": "hush"}
    github = load(REPOSITORY, **{f"PERFD_GITHUB_{name}": value for name, value in names.items()}).github

    assert ("4711", Path("/keys/app.pem"), "hush") == (github.app_id, github.private_key_file, github.webhook_secret)
    assert "hush" not in repr(github)


def test_a_secret_in_the_file_is_refused_with_the_variable_that_takes_its_place() -> None:
    assert "set PERFD_GITHUB_WEBHOOK_SECRET" in mistakes('[github]\nwebhook_secret = "x"\n')


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[github]\nurl = "api.github.com"\n', "perfd.toml:2: github.url must be the address"),
        ('[github]\nsite = "perfd"\n', "perfd.toml:2: github.site must be the address"),
        ('[github]\nurl = "https://me:pw@ghe.example.com"\n', "carries a user or password"),
        (REPOSITORY.replace("Octo/engine", "engine"), 'perfd.toml:5: github.repositories.name must be "owner/name"'),
        (REPOSITORY.replace('"llamacpp"', '"lamacpp"'), 'did you mean "llamacpp"?'),
        (REPOSITORY + 'authors = ["@alice"]\n', "names logins of people"),
        (REPOSITORY + 'gates = [{ metric = "ttft" }]\n', "is no Metric of perfd"),
        (REPOSITORY + 'gates = [{ class = "agent" }]\n', 'did you mean "agentic"?'),
        (REPOSITORY + "areas = [{ suites = [] }]\n", 'needs "paths"'),
        (REPOSITORY + 'label = "x"\n', 'unknown key "label"'),
        (REPOSITORY + REPOSITORY.split("\n", 3)[3].replace("Octo", "octo"), "is there twice"),
    ],
)
def test_every_mistake_is_told(text: str, told: str) -> None:
    assert told in mistakes(text)


def test_an_app_that_cannot_be_one_is_told() -> None:
    assert "PERFD_GITHUB_APP_ID must be" in mistakes(REPOSITORY, PERFD_GITHUB_APP_ID="../../x")


def test_suites_that_are_not_there_are_told(folder: Path) -> None:
    (folder / "suites").mkdir()
    for name in ("throughput", "latency", "accuracy", "numerics"):
        (folder / "suites" / f"{name}.toml").touch()

    assert 'measured by the suite "latncy", which is not there; did you mean "latency"?' in mistakes(
        REPOSITORY + 'suites = ["latncy"]\n'
    )
