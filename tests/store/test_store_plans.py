from datetime import timedelta

from store_world import CPU, FIRST_NIGHT, LEASE, WORKER, World, broken, built, commit, comparison, night, plan, spec

from perfd.domain.build import BuildState
from perfd.domain.occasion import Finding, Occasion, OccasionState
from perfd.domain.run import FailureKind, OccasionKind, RunState
from perfd.domain.subject import Revision, SubjectKind
from perfd.store import Store


def test_two_clocks_that_fire_at_once_open_a_night_once(store: Store) -> None:
    assert store.occasions.open(night(), FIRST_NIGHT)
    assert not store.occasions.open(night(), FIRST_NIGHT + timedelta(seconds=1))

    assert [night()] == [row.occasion for row in store.pages.nights()]


def test_an_occasion_moves_only_from_the_state_that_was_named(store: Store) -> None:
    store.occasions.open(night(), FIRST_NIGHT)

    assert not store.occasions.move(night(), OccasionState.WATCHED, OccasionState.PLANNED, FIRST_NIGHT)
    assert store.occasions.move(night(), OccasionState.DUE, OccasionState.WATCHED, FIRST_NIGHT)
    assert not store.occasions.move(night(), OccasionState.DUE, OccasionState.WATCHED, FIRST_NIGHT)
    assert OccasionState.WATCHED == store.occasions.state(night())


def test_the_occasion_that_is_due_longest_comes_first(store: Store) -> None:
    for number in (2, 0, 1):
        store.occasions.open(night(number), FIRST_NIGHT)

    assert night(0) == store.occasions.in_state(OccasionState.DUE)
    assert (night(0), night(1), night(2)) == store.occasions.every_in_state(OccasionState.DUE)
    assert night(2) == store.occasions.last()
    assert store.occasions.in_state(OccasionState.PLANNED) is None
    assert store.occasions.last(OccasionKind.CHECKPOINT) is None


def test_an_occasion_is_closed_once_and_keeps_its_report(store: Store) -> None:
    store.occasions.open(night(), FIRST_NIGHT, OccasionState.JUDGED)

    assert store.occasions.close(night(), {"built": 2}, FIRST_NIGHT)
    assert not store.occasions.close(night(), {"built": 3}, FIRST_NIGHT)
    assert {"built": 2} == store.pages.occasion(night()).row.report


def test_a_label_and_the_kind_survive_storage(store: Store) -> None:
    odd = Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "aaa..bbb")
    store.occasions.open(odd, FIRST_NIGHT)

    assert odd == store.occasions.in_state(OccasionState.DUE)


def test_the_same_finding_stands_once(store: Store) -> None:
    store.occasions.open(night(), FIRST_NIGHT)
    finding = Finding("watch", "llama", "the source did not answer", "fatal: \x00 timeout")

    assert store.occasions.note(night(), finding, FIRST_NIGHT)
    assert not store.occasions.note(night(), finding, FIRST_NIGHT)
    assert ["fatal: \N{SYMBOL FOR NULL} timeout"] == [one.log_tail for one in store.occasions.findings(night())]


def test_revisions_are_recorded_once_and_listed_by_ordinal(store: Store) -> None:
    given = [commit(2), commit(0), commit(1)]

    assert store.subjects.record("llama", SubjectKind.ENGINE, "main", given) == 3
    assert store.subjects.record("llama", SubjectKind.ENGINE, "main", given) == 0
    assert (commit(0), commit(1), commit(2)) == store.subjects.revisions("llama", "main")
    assert commit(2) == store.subjects.latest("llama", "main")
    assert store.subjects.latest("llama", "dev") is None


def test_a_rewritten_history_moves_the_points_too(world: World) -> None:
    world.measured_night(1.0, 1.1)
    world.measured_night(1.2, 1.3)
    moved = Revision(commit(0).name, 50, commit(0).committed_at, commit(0).title)
    world.store.subjects.record("llama", SubjectKind.ENGINE, "main", [moved])

    page = world.store.pages.series_page(1)

    assert page is not None
    assert [commit(1).name, commit(0).name] == [row.revision for row in page.points]


def test_a_plan_is_written_once(world: World) -> None:
    world.open(night(), plan(0, 1))

    assert not world.store.plans.write(night(), plan(0, 1, 2), frozenset(), world.now)
    assert {RunState.QUEUED: 2} == {state: n for state, n in world.store.runs.counts(night()).items() if n}
    assert OccasionState.PLANNED == world.store.occasions.state(night())


def test_a_build_that_is_built_stays_built_and_counts_as_cached(world: World) -> None:
    world.measured_night(1.0)
    world.open(night(1), plan(0))

    summary = world.store.pages.occasion(night(1))

    assert world.store.builds.claim(WORKER, world.now, LEASE) is None
    assert [(BuildState.BUILT, True, 0.0)] == [(one.state, one.cached, one.seconds) for one in summary.builds]
    assert [(BuildState.BUILT, False, 12.5)] == [
        (one.state, one.cached, one.seconds) for one in world.store.pages.occasion(night(0)).builds
    ]


def test_a_build_whose_artifact_is_gone_is_built_again(world: World) -> None:
    world.measured_night(1.0)
    world.open(night(1), plan(0), gone=frozenset({spec(0).digest}))

    assert world.store.runs.claim(CPU, WORKER, world.now, LEASE) is None
    assert spec(0) == world.build().spec
    assert world.claim().spec == spec(0)


def test_a_build_that_failed_earlier_is_tried_again(world: World) -> None:
    world.open(night(0), plan(0))
    failed = world.store.builds.claim(WORKER, world.now, LEASE)
    assert failed is not None
    world.store.builds.finish(failed, broken(failed.spec), world.now)
    world.open(night(1), plan(0))

    again = world.build()

    assert again.attempts == 1
    assert night(1) == world.claim().occasion


def test_blocks_are_added_to_a_comparison_and_keep_their_order(world: World) -> None:
    compare = world.open(Occasion(OccasionKind.COMPARE, FIRST_NIGHT, "a..b"), comparison(4))

    assert world.store.plans.add(compare, comparison(8), frozenset(), world.now) == 4
    assert world.store.plans.add(compare, comparison(8), frozenset(), world.now) == 0
    world.build()
    world.build()
    order = [world.claim() for _ in range(8)]

    assert list(range(8)) == [run.block for run in order]
    assert ["base", "head", "head", "base"] == [run.arm.value for run in order[:4]]


def test_a_failed_build_fails_its_runs_in_the_same_breath(world: World) -> None:
    world.open(night(), plan(0, 1))
    claimed = world.store.builds.claim(WORKER, world.now, LEASE)
    assert claimed is not None
    world.store.builds.finish(claimed, broken(claimed.spec), world.now)

    summary = world.store.pages.occasion(night())
    failed = [run for run in summary.runs if run.state is RunState.FAILED]

    assert [(claimed.spec.digest, FailureKind.BUILD)] == [(run.build, run.failure) for run in failed]
    assert "could not be made" in failed[0].reason
    assert ["cc: error: no such file\N{SYMBOL FOR NULL}"] == [
        one.log_tail for one in summary.builds if one.state is BuildState.FAILED
    ]


def test_a_builder_that_lost_its_claim_changes_nothing(world: World) -> None:
    world.open(night(), plan(0))
    slow = world.store.builds.claim(WORKER, world.now, LEASE)
    assert slow is not None
    later = world.now + LEASE + timedelta(seconds=1)

    assert world.store.builds.requeue_lapsed(later, lambda _: False) == 1
    quick = world.store.builds.claim("bench-2:1:1", later, LEASE)
    assert quick is not None
    assert not world.store.builds.heartbeat(slow, later + LEASE)
    assert not world.store.builds.finish(slow, broken(slow.spec), later)
    assert world.store.builds.finish(quick, built(quick.spec), later)
    assert BuildState.BUILT == world.store.builds.state(spec(0).digest)


def test_a_build_that_takes_its_builder_down_three_times_is_failed(world: World) -> None:
    world.open(night(), plan(0))
    for _ in range(3):
        assert world.store.builds.claim(WORKER, world.now, LEASE) is not None
        world.store.builds.requeue_lapsed(world.now, lambda name: name == WORKER)

    assert world.store.builds.claim(WORKER, world.now, LEASE) is None
    assert BuildState.FAILED == world.store.builds.state(spec(0).digest)
    assert [FailureKind.BUILD] == [run.failure for run in world.store.pages.occasion(night()).runs]
