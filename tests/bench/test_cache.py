"""Cache accounting: planted reuse is found, fresh prompts have none, and each engine's own way of caching is kept apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from perfd.bench.cache import Basis, Blocks, CacheRequest, Slots, TtftFit, account, fit_ttft, requests_of
from perfd.bench.cache.policies import block_hashes, infinite
from perfd.bench.cache.requests import TEMPLATE_ID, Template, first_within, with_answers, word_ids
from perfd.bench.load import PromptKind, PromptPlan, RequestOutcome, RequestTrace
from perfd.bench.load.plan import AgentPlan
from perfd.bench.load.prompts import ESTIMATED, PromptMaker, Vocabulary

SECOND = 1_000_000_000
UNKNOWN = Blocks(16, None)


def request(index: int, ids: Sequence[int], cached: int | None = 0, **more: object) -> CacheRequest:
    given = {
        "session": index,
        "turn": 0,
        "sent_ns": index * SECOND,
        "end_ns": index * SECOND + SECOND // 2,
        "output_tokens": 4,
        "prompt_tokens": len(ids),
        "own_tokens": len(ids),
        "ttft_s": 0.1,
    }
    return CacheRequest(index, ids=np.asarray(ids, dtype=np.int32), cached_tokens=cached, **{**given, **more})  # type: ignore[arg-type]


def fresh(index: int, size: int) -> list[int]:
    return [1000 * (index + 1) + place for place in range(size)]


def test_fresh_prompts_are_cacheable_nowhere() -> None:
    requests = [request(index, fresh(index, 100)) for index in range(20)]

    for policy in (Blocks(16, 1000), Slots(4)):
        assert infinite(requests, policy) == [0] * 20
        assert policy.simulate(requests) == [0] * 20


def test_a_growing_session_is_cacheable_up_to_its_last_turn() -> None:
    whole = list(range(300))
    requests = [request(turn, whole[: 100 * (turn + 1)]) for turn in range(3)]

    assert infinite(requests, Slots(1)) == [0, 100, 200]
    assert infinite(requests, Blocks(16, None)) == [0, 96, 192]
    assert Blocks(16, 1000).simulate(requests) == [0, 96, 192]
    assert Slots(1).simulate(requests) == [0, 100, 200]


def test_at_least_one_token_of_an_equal_prompt_is_computed() -> None:
    twice = [request(0, range(64)), request(1, range(64))]

    assert infinite(twice, Slots(1)) == [0, 63]
    assert Blocks(16, 100).simulate(twice) == [0, 48]


def test_a_cache_without_capacity_says_nothing_of_capacity() -> None:
    assert UNKNOWN.simulate([request(0, range(64))]) is None


def test_blocks_that_do_not_fit_are_evicted_oldest_first() -> None:
    a, b = fresh(1, 64), fresh(2, 64)
    requests = [request(0, a), request(1, b), request(2, a)]

    assert Blocks(16, 100).simulate(requests) == [0, 0, 48]
    assert Blocks(16, 4).simulate(requests) == [0, 0, 0]


def test_the_end_of_a_sequence_goes_before_its_beginning() -> None:
    a, b = fresh(1, 64), fresh(2, 32)
    requests = [request(0, a, output_tokens=0), request(1, b, output_tokens=0), request(2, a, output_tokens=0)]

    assert Blocks(16, 4).simulate(requests) == [0, 0, 32]


def test_answers_take_room_too() -> None:
    a, b = fresh(1, 32), fresh(2, 32)
    short = [request(0, a), request(1, b, output_tokens=0), request(2, a)]
    long = [request(0, a), request(1, b, output_tokens=320), request(2, a)]

    assert Blocks(16, 8).simulate(short) == [0, 0, 16]
    assert Blocks(16, 8).simulate(long) == [0, 0, 0]


def test_a_slot_remembers_only_its_last_sequence() -> None:
    a, b = fresh(1, 50), fresh(2, 50)
    requests = [request(at, ids) for at, ids in enumerate([a, b, a])]

    assert Slots(1).simulate(requests) == [0, 0, 0]
    assert Slots(2).simulate(requests) == [0, 0, 49]
    assert infinite(requests, Slots(1)) == [0, 0, 49]


def test_a_busy_slot_cannot_be_reused() -> None:
    a = fresh(1, 50)
    requests = [request(0, a, end_ns=10 * SECOND), request(1, a, end_ns=11 * SECOND), request(2, a, sent_ns=20 * SECOND)]

    assert Slots(2).simulate(requests) == [0, 0, 49]


def test_a_request_that_waits_gets_the_slot_that_ends_first() -> None:
    a, b = fresh(1, 50), fresh(2, 50)
    requests = [request(0, a, end_ns=9 * SECOND), request(1, b, end_ns=5 * SECOND), request(2, b, end_ns=7 * SECOND)]

    assert Slots(2).simulate(requests) == [0, 0, 49]


def test_a_prefix_below_the_similarity_is_no_reason_to_choose_a_slot() -> None:
    shared = list(range(4))
    a, b, c = shared + fresh(1, 96), shared + fresh(2, 96), shared + fresh(3, 96)

    assert Slots(2).simulate([request(0, a), request(1, b), request(2, c)]) == [0, 0, 4]
    assert Slots(2, similarity=0.01).simulate([request(0, a), request(1, b), request(2, b)]) == [0, 4, 99]


def test_equal_blocks_after_different_prefixes_are_different_blocks() -> None:
    tail = list(range(16))
    one = block_hashes(np.asarray([7] * 16 + tail, dtype=np.int32), 16)
    other = block_hashes(np.asarray([8] * 16 + tail, dtype=np.int32), 16)

    assert one[1] != other[1]


@pytest.mark.parametrize("policy", [Blocks(16, 10), Blocks(16, 40), Slots(1), Slots(3)], ids=str)
def test_no_cache_finds_more_than_the_infinite_one(policy: Blocks | Slots) -> None:
    rng = np.random.default_rng(3)
    pool = [rng.integers(0, 50, size=200) for _ in range(4)]
    requests = [
        request(
            at, np.concatenate([pool[int(rng.integers(4))][: int(rng.integers(1, 200))], rng.integers(0, 50, size=20)]).tolist()
        )
        for at in range(200)
    ]
    found, ideal = policy.simulate(requests), infinite(requests, policy)

    assert found is not None
    assert all(one <= most for one, most in zip(found, ideal, strict=True))
    assert sum(found) > 0


def test_the_longest_prefix_is_found_among_all_earlier_prompts() -> None:
    rng = np.random.default_rng(5)
    prompts = [rng.integers(0, 3, size=12).tolist() for _ in range(150)]
    found = infinite([request(at, ids) for at, ids in enumerate(prompts)], Slots(1))

    def prefix(a: list[int], b: list[int]) -> int:
        return next((at for at, (x, y) in enumerate(zip(a, b, strict=True)) if x != y), len(a))

    assert found == [min(11, max((prefix(p, q) for q in prompts[:at]), default=0)) for at, p in enumerate(prompts)]


def test_a_server_that_found_all_it_could_wasted_nothing() -> None:
    whole = list(range(300))
    cached = [0, 100, 200]
    requests = [request(turn, whole[: 100 * (turn + 1)], cached[turn], turn=turn) for turn in range(3)]

    found = account(requests, Slots(1), Basis.ENGINE, wants_reuse=True)

    assert (found.why_void, found.unexpected_share, found.recomputed_share) == ("", 0.0, 0.0)
    assert found.hit_share == 0.5
    by_turn = found.as_json()["hit_rate_by_turn"]
    assert [by_turn[str(turn)]["cached"] for turn in range(3)] == [0.0, 0.5, pytest.approx(2 / 3)]


def test_tokens_that_an_equal_cache_would_have_saved_are_waste() -> None:
    whole = list(range(300))
    requests = [request(turn, whole[: 100 * (turn + 1)], 0, turn=turn) for turn in range(3)]

    found = account(requests, Slots(1), Basis.ENGINE, wants_reuse=True)

    assert found.as_json()["measured"]["recomputed_tokens"] == 300
    assert found.samples()["recomputed_share"] == [0.5]
    assert account(requests, UNKNOWN, Basis.ENGINE, wants_reuse=True).recomputed_share is None


def test_a_warm_cache_voids_a_run_of_fresh_prompts() -> None:
    clean = [request(at, fresh(at, 100), 0) for at in range(10)]
    warm = [request(at, fresh(at, 100), 99) for at in range(10)]
    edge = [request(at, fresh(at, 100), 10 if at == 0 else 0) for at in range(10)]

    assert account(clean, Slots(4), Basis.ENGINE, wants_reuse=False).why_void == ""
    assert "99.0% of the prompt tokens" in account(warm, Slots(4), Basis.ENGINE, wants_reuse=False).why_void
    assert "(allowed: under 1%)" in account(edge, Slots(4), Basis.ENGINE, wants_reuse=False).why_void


def test_the_chat_template_may_be_cached_in_every_run() -> None:
    head = [5] * 24
    requests = [request(at, head + fresh(at, 100), 24 if at else 0, own_tokens=100) for at in range(10)]

    assert account(requests, Slots(4), Basis.ENGINE, wants_reuse=False).unexpected_share == 0.0


def test_hits_that_no_prompt_of_this_run_explains_void_a_run_that_wants_reuse() -> None:
    whole = list(range(200))
    requests = [request(turn, whole[: 100 * (turn + 1)], 90 + 100 * turn, turn=turn) for turn in range(2)]

    found = account(requests, Slots(1), Basis.ENGINE, wants_reuse=True)

    assert found.requests[0].unexpected_tokens == 90
    assert "that no prompt of this Run had put there" in found.why_void


def test_a_fixed_seed_that_repeats_a_prompt_is_no_fresh_prompt() -> None:
    requests = [request(at, fresh(0, 100), 99 if at else 0) for at in range(4)]

    assert "although every prompt is fresh" in account(requests, Slots(4), Basis.ENGINE, wants_reuse=False).why_void


@pytest.mark.parametrize(
    ("prompt", "cached", "computed", "told"),
    [
        (100, 60, 40, ""),
        (100, 60, None, ""),
        (100, None, None, ""),
        (100, 60, 41, "60 cached and 41 computed"),
        (100, 101, None, "101"),
    ],
)
def test_cached_and_computed_are_the_prompt_or_the_run_is_void(
    prompt: int, cached: int | None, computed: int | None, told: str
) -> None:
    one = request(0, fresh(0, 100), cached, prompt_tokens=prompt, computed_tokens=computed, own_tokens=0)

    found = account([one], Slots(1), Basis.ENGINE, wants_reuse=False)

    assert bool(found.broken) == bool(told)
    assert told in found.why_void


def test_a_server_that_tells_no_cached_tokens_is_not_judged() -> None:
    requests = [request(at, fresh(at, 100), None) for at in range(10)]

    found = account(requests, UNKNOWN, Basis.WORDS, wants_reuse=False)

    assert (found.why_void, found.hit_share, found.samples()) == ("", None, {})


def test_warm_up_fills_the_cache_and_is_not_counted() -> None:
    whole = list(range(200))
    requests = [request(0, whole[:100], 0, measured=False), request(1, whole, 100, turn=1)]

    found = account(requests, Slots(1), Basis.ENGINE, wants_reuse=True)

    assert (found.hit_share, found.why_void) == (0.5, "")


def test_a_planted_cost_per_uncached_token_is_found_within_its_interval() -> None:
    rng = np.random.default_rng(11)
    uncached = rng.integers(50, 4000, size=60).astype(float)
    ttft = 0.03 + 0.002 * uncached + rng.normal(0, 0.05, size=60)

    line = fit_ttft(uncached.tolist(), ttft.tolist())

    assert isinstance(line, TtftFit)
    assert line.interval[0] < 2.0 < line.interval[1]
    assert line.interval[1] - line.interval[0] < 0.1
    assert abs(line.intercept_s - 0.03) < 0.05


def test_the_interval_of_a_slope_of_nothing_holds_zero_as_often_as_it_says() -> None:
    rng = np.random.default_rng(13)
    lines = [fit_ttft(rng.uniform(0, 1000, 20).tolist(), rng.normal(0.2, 0.02, 20).tolist()) for _ in range(400)]

    held = sum(isinstance(line, TtftFit) and line.interval[0] <= 0 <= line.interval[1] for line in lines)
    assert 365 <= held <= 393  # 380 expected, three standard deviations


@pytest.mark.parametrize(
    ("uncached", "told"), [([100.0] * 7, "8 are needed"), ([100.0] * 50, "too little spread"), ([], "8 are needed")]
)
def test_no_line_is_drawn_without_enough_to_draw_it(uncached: list[float], told: str) -> None:
    line = fit_ttft(uncached, [0.1] * len(uncached))

    assert isinstance(line, str)
    assert told in line


PLAN = PromptPlan(
    PromptKind.AGENTIC, prompt_tokens=96, max_tokens=16, turns=3, growth_tokens=32, occasion="night", reuse_prefix=True
)


def trace(session: int, turn: int, prompt_tokens: int) -> RequestTrace:
    at = (session * 10 + turn) * SECOND
    times = {"intended_ns": at, "ready_ns": at, "sent_ns": at, "end_ns": at + SECOND // 2}
    return RequestTrace(
        session * 3 + turn, session, turn, **times, outcome=RequestOutcome.DONE, chunks=((at + 1, 4),),
        prompt_tokens=prompt_tokens, cached_tokens=0, asked_prompt_tokens=96 + 32 * turn,
    )  # fmt: skip


EXACT = Vocabulary(ESTIMATED.words, ESTIMATED.first_words, lines=True, exact=True)


def test_prompts_are_made_again_and_their_words_are_tokens() -> None:
    traces = [trace(session, 0, 96 + 24) for session in range(2)]

    requests, basis = requests_of(traces, PromptMaker(PLAN, EXACT))

    assert basis is Basis.WORDS
    assert [len(one.ids) for one in requests] == [120, 120]
    assert infinite(requests, Slots(1)) == [0, 24]  # another session shares the template and nothing else


def test_a_template_that_grows_with_the_messages_keeps_turns_together() -> None:
    traces = [trace(session, turn, 96 + 30 + 43 * turn) for session in range(2) for turn in range(3)]

    requests, basis = requests_of(traces, PromptMaker(PLAN, EXACT))

    assert basis is Basis.ESTIMATE
    assert [len(one.ids) for one in requests[:3]] == [126, 169, 212]
    assert infinite(requests, Slots(1)) == [0, 126, 168, 30, 126, 168]


def test_tools_and_pictures_make_words_an_estimate() -> None:
    with_tools = PromptMaker(replace(PLAN, prompt_tokens=2000, agent=AgentPlan(tools=2)), EXACT)
    first, second = with_tools.chain(0)[:2]
    traces = [
        replace(trace(0, at, one.prompt_tokens), asked_prompt_tokens=one.prompt_tokens) for at, one in enumerate((first, second))
    ]

    requests, basis = requests_of(traces, with_tools)

    assert basis is Basis.ESTIMATE
    assert infinite(requests, Slots(1))[1] > 0.9 * first.prompt_tokens


def test_an_engine_that_counts_otherwise_than_its_tokenizer_makes_an_estimate() -> None:
    _, basis = requests_of([trace(0, 0, 7)], PromptMaker(PLAN), lambda _: [1, 2, 3, 4, 5])

    assert basis is Basis.ESTIMATE


def test_words_without_a_known_tokenizer_are_an_estimate() -> None:
    requests, basis = requests_of([trace(0, 0, 90)], PromptMaker(PLAN))

    assert basis is Basis.ESTIMATE
    assert len(requests[0].ids) == 90


def test_the_engines_own_ids_are_taken_where_it_tells_them() -> None:
    requests, basis = requests_of([trace(0, 0, 5)], PromptMaker(PLAN), lambda _: [1, 2, 3, 4, 5])

    assert (basis, requests[0].ids.tolist()) == (Basis.ENGINE, [1, 2, 3, 4, 5])


def test_prompts_beyond_the_bound_are_left_out_from_the_end() -> None:
    traces = [trace(0, turn, 100) for turn in range(3)]

    assert first_within(traces, 250) == traces[:2]
    assert first_within(traces) == traces


def test_a_prompt_that_was_not_made_by_the_plan_is_left_out() -> None:
    foreign = replace(trace(0, 0, 100), asked_prompt_tokens=4000)

    requests, _ = requests_of([foreign, trace(0, 1, 130)], PromptMaker(PLAN))

    assert [one.turn for one in requests] == [1]


def test_a_live_answer_is_in_the_cache_of_the_next_turn() -> None:
    first = request(0, range(100), session=0, output_tokens=17)
    second = request(1, range(140), session=0, turn=1)
    other = request(2, fresh(2, 140), session=1, turn=1)

    made = with_answers([first, second, other])

    assert [len(one.answer_ids) for one in made] == [16, 0, 0]
    for policy, hit in ((Slots(1), 116), (Blocks(16, 100), 112)):
        assert infinite(made[:2], policy) == [0, hit]
        assert policy.simulate(made[:2]) == [0, hit]


def test_a_next_turn_that_begins_otherwise_tells_no_answer() -> None:
    made = with_answers([request(0, range(100), session=0), request(1, fresh(1, 140), session=0, turn=1)])

    assert [len(one.answer_ids) for one in made] == [0, 0]


def test_template_tokens_stand_before_the_words() -> None:
    prompt = PromptMaker(PLAN).chain(0)[0]

    ids = word_ids(prompt, 100, Template(head=3))

    assert ids[:3].tolist() == [TEMPLATE_ID] * 3
    assert len(ids) == 100


def test_a_server_that_counts_fewer_tokens_than_words_cuts_them() -> None:
    assert len(word_ids(PromptMaker(PLAN).chain(0)[0], 50, Template())) == 50
