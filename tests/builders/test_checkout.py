import itertools
from datetime import UTC, datetime
from pathlib import Path

import pytest
from git_repository import Repository, new_repository

from perfd.builders import check_out, merge_base, revisions
from perfd.builders.ordinals import Shifts, after_rewrite, ordinal
from perfd.domain.subject import Source, SourceKind
from perfd.errors import BadInputError, PerfdError


def git_source(repository: Repository, branch: str = "main") -> Source:
    return Source(SourceKind.GIT, str(repository.path), branch)


def test_the_tracked_branch_is_told_oldest_first_with_ordinals(repository: Repository, state: Path) -> None:
    names = [repository.commit("First", a__txt="1"), repository.commit("Second: grün", a__txt="2")]

    found = revisions(git_source(repository), state)

    assert names == [revision.name for revision in found]
    assert [0, 1] == [revision.ordinal for revision in found]
    assert [None, names[0]] == [revision.parent for revision in found]
    assert "Second: grün" == found[1].title
    assert datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC) == found[0].committed_at


def test_commits_of_a_merged_branch_are_no_revisions(repository: Repository, state: Path) -> None:
    first = repository.commit("First", a__txt="1")
    repository.git("checkout", "--quiet", "-b", "feature")
    inside = repository.commit("On the feature", b__txt="1")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge", "feature")

    names = [revision.name for revision in revisions(git_source(repository), state)]

    assert [first, repository.git("rev-parse", "HEAD")] == names
    assert inside not in names


def test_a_new_commit_is_seen_the_next_time(repository: Repository, state: Path) -> None:
    repository.commit("First", a__txt="1")
    revisions(git_source(repository), state)
    second = repository.commit("Second", a__txt="2")

    assert second == revisions(git_source(repository), state)[-1].name


def test_a_git_that_was_killed_while_it_fetched_does_not_block_the_next_one(repository: Repository, state: Path) -> None:
    repository.commit("First", a__txt="1")
    revisions(git_source(repository), state)
    (ref,) = state.rglob("refs/perfd/tracked/main")
    ref.with_name("main.lock").touch()
    second = repository.commit("Second", a__txt="2")

    assert second == revisions(git_source(repository), state)[-1].name


def test_an_empty_repository_is_told(repository: Repository, state: Path) -> None:
    with pytest.raises(BadInputError, match="has no commits yet"):
        revisions(git_source(repository), state)


def test_a_deleted_branch_is_told_with_the_ones_there_are(repository: Repository, state: Path) -> None:
    repository.commit("First", a__txt="1")
    repository.git("branch", "dev")
    revisions(git_source(repository, "dev"), state)
    repository.git("branch", "-D", "dev")

    with pytest.raises(BadInputError, match=r"has no branch dev \(any more\); it has main"):
        revisions(git_source(repository, "dev"), state)


def test_a_path_without_a_repository_is_told(tmp_path: Path, state: Path) -> None:
    with pytest.raises(BadInputError, match="there is no git repository at"):
        revisions(Source(SourceKind.GIT, str(tmp_path / "nowhere")), state)


def test_a_server_that_does_not_answer_may_be_tried_again(state: Path) -> None:
    # Port 1 of this machine: nothing listens there.
    with pytest.raises(PerfdError, match="could not be fetched") as raised:
        revisions(Source(SourceKind.GIT, "http://127.0.0.1:1/engine.git"), state)

    assert not raised.value.permanent


def test_a_rewritten_branch_is_told_and_its_old_commits_stay(repository: Repository, state: Path, told: list[str]) -> None:
    repository.commit("First", a__txt="1")
    old = repository.commit("Second", a__txt="old")
    revisions(git_source(repository), state)
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    new = repository.commit("Second, again", a__txt="new")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")

    found = revisions(git_source(repository), state, told.append)
    check_out(git_source(repository), old, state / "old", state)

    assert new == found[-1].name
    # The old tip had ordinal 1: what stands there now is newer.
    assert [0, 2] == [revision.ordinal for revision in found]
    assert ["was rewritten"] == ["was rewritten" for sentence in told if "was rewritten" in sentence]
    assert "old" == (state / "old" / "a.txt").read_text()


def test_a_branch_that_was_set_back_is_measured_at_its_tip(repository: Repository, state: Path) -> None:
    for title in ("First", "Second", "Third", "Fourth"):
        repository.commit(title, a__txt=title)
    revisions(git_source(repository), state)
    repository.git("reset", "--quiet", "--hard", "HEAD~2")
    back = [(revision.title, revision.ordinal) for revision in revisions(git_source(repository), state)]
    repository.commit("Fifth", a__txt="5")
    onward = [(revision.title, revision.ordinal) for revision in revisions(git_source(repository), state)]

    assert [("First", 0), ("Second", 4)] == back
    assert [("First", 0), ("Second", 4), ("Fifth", 5)] == onward


def test_ordinals_never_go_back_however_often_a_branch_is_rewritten() -> None:
    branches = ["abcdef", "abcxy", "abcxyz", "aq", "aqrstuvw", "k"]
    shifts: Shifts = ()
    newest = 5
    for old, new in itertools.pairwise(branches):
        shifts = shifts if new.startswith(old) else after_rewrite(old, new, shifts)
        ordinals = [ordinal(place, shifts) for place in range(len(new))]

        assert ordinals == sorted(set(ordinals))
        assert ordinals[-1] > newest
        newest = ordinals[-1]


def test_a_checkout_is_exactly_the_commit(repository: Repository, state: Path, tmp_path: Path) -> None:
    (repository.path / "run.sh").write_text("#!/bin/sh\n")
    (repository.path / "run.sh").chmod(0o755)
    # `git archive` would leave this file away; a Build must not.
    first = repository.commit("First", a__txt="1", __gitattributes="a.txt export-ignore\n")
    repository.commit("Second", a__txt="2")

    check_out(git_source(repository), first, tmp_path / "out", state)

    assert {".gitattributes", "a.txt", "run.sh"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert "1" == (tmp_path / "out" / "a.txt").read_text()
    assert (tmp_path / "out" / "run.sh").stat().st_mode & 0o100


def test_a_commit_of_another_branch_is_fetched_by_its_hash(repository: Repository, state: Path, tmp_path: Path) -> None:
    base = repository.commit("First", a__txt="1")
    revisions(git_source(repository), state)
    repository.git("checkout", "--quiet", "-b", "pull")
    head = repository.commit("Proposed", a__txt="proposed")
    repository.git("checkout", "--quiet", "main")
    repository.commit("Second", b__txt="2")

    check_out(git_source(repository), head, tmp_path / "out", state)

    assert "proposed" == (tmp_path / "out" / "a.txt").read_text()
    assert base == merge_base(git_source(repository), head, repository.git("rev-parse", "main"), state)


def test_a_commit_that_is_nowhere_is_told(repository: Repository, state: Path, tmp_path: Path) -> None:
    repository.commit("First", a__txt="1")

    with pytest.raises(BadInputError, match="has no commit 111111111111"):
        check_out(git_source(repository), "1" * 40, tmp_path / "out", state)


def test_a_word_is_no_commit(repository: Repository, state: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no full commit hash"):
        check_out(git_source(repository), "--upload-pack=touch", tmp_path / "out", state)


def test_two_repositories_of_one_name_are_kept_apart(tmp_path: Path, state: Path) -> None:
    one, other = new_repository(tmp_path / "a" / "engine"), new_repository(tmp_path / "b" / "engine")
    first, second = one.commit("One", a__txt="1"), other.commit("Other", a__txt="2")

    assert first == revisions(git_source(one), state)[-1].name
    assert second == revisions(git_source(other), state)[-1].name
