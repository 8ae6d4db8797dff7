from pathlib import Path

import pytest
from git_repository import Repository, new_repository

from perfd.builders import commits
from perfd.domain.subject import Source, SourceKind
from perfd.errors import BadInputError


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return new_repository(tmp_path / "engine")


def source(repository: Repository) -> Source:
    return Source(SourceKind.GIT, str(repository.path))


def forked(repository: Repository) -> tuple[str, list[str]]:
    """The merge base, and two commits of a pull request that stand on no branch; main went on by one."""
    base = repository.commit("Begin", engine__py="1")
    repository.git("checkout", "--quiet", "--detach")
    mine = [
        repository.commit("Sum faster", engine__py="2"),
        repository.commit("Übersicht 性能", LIESMICH__md="x", engine__py="2"),
    ]
    repository.git("update-ref", "refs/pull/7/head", mine[-1])
    repository.git("checkout", "--quiet", "main")
    repository.commit("Go on", other__py="1")
    return base, mine


def test_a_commit_of_a_pull_request_is_known_by_its_hash(repository: Repository, tmp_path: Path) -> None:
    base, mine = forked(repository)

    found = commits.revision(source(repository), mine[1], tmp_path / "state")

    assert (mine[1], "Übersicht 性能", mine[0]) == (found.name, found.title, found.parent)
    assert 1 == commits.behind(source(repository), base, tmp_path / "state")


def test_changed_paths_name_every_file_as_it_is_written(repository: Repository, tmp_path: Path) -> None:
    base, _ = forked(repository)
    repository.git("checkout", "--quiet", "-b", "wide")
    for number in range(300):
        (repository.path / f"Datei {number} ü.txt").write_text("x", encoding="utf-8")
    repository.git("mv", "engine.py", "läufer.py")
    head = repository.commit("Move")

    found = commits.changed_paths(source(repository), base, head, tmp_path / "state")

    assert 303 == len(found)  # and other.py of main
    assert {"engine.py", "läufer.py", "Datei 7 ü.txt"} <= set(found)


def test_an_empty_commit_changes_no_path(repository: Repository, tmp_path: Path) -> None:
    base = repository.commit("Begin", engine__py="1")
    head = repository.commit("Nothing")

    assert () == commits.changed_paths(source(repository), base, head, tmp_path / "state")


def test_the_way_of_a_pull_request_is_its_commits_in_order(repository: Repository, tmp_path: Path) -> None:
    base, mine = forked(repository)

    assert [base, *mine] == [one.name for one in commits.between(source(repository), base, mine[1], tmp_path / "state")]
    with pytest.raises(BadInputError, match="no straight way"):
        commits.between(source(repository), mine[0], base, tmp_path / "state")


def test_a_ref_is_a_branch_a_tag_or_the_beginning_of_a_hash(repository: Repository, tmp_path: Path) -> None:
    base, _ = forked(repository)
    repository.git("tag", "--annotate", "--message", "first", "v1", base)
    tip = repository.git("rev-parse", "main")

    found = [commits.resolve(source(repository), ref, tmp_path / "state") for ref in ("main", "v1", base[:9], base)]

    assert [tip, base, base, base] == found


@pytest.mark.parametrize("ref", ["gone", "v9", "deadbeef", "refs/heads/main", "ab"])
def test_a_ref_that_is_not_there_is_told(repository: Repository, tmp_path: Path, ref: str) -> None:
    forked(repository)

    with pytest.raises(BadInputError, match=f"no branch, tag or commit '{ref}'"):
        commits.resolve(source(repository), ref, tmp_path / "state")


def test_a_commit_that_was_force_pushed_away_is_told(repository: Repository, tmp_path: Path) -> None:
    forked(repository)

    with pytest.raises(BadInputError, match="has no commit 111111111111"):
        commits.revision(source(repository), "1" * 40, tmp_path / "state")
