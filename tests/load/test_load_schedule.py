"""Schedules are drawn as asked, and prompts have the size and freshness that they say."""

import gzip
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfd.bench.load import Arrival, LoadPlan, PromptKind, PromptPlan
from perfd.bench.load.answer import share_out
from perfd.bench.load.prompts import ESTIMATED, PromptMaker, learn_vocabulary
from perfd.bench.load.replay import Due, read_trace
from perfd.bench.load.schedule import arrivals, draw
from perfd.errors import BadInputError


def times(plan: LoadPlan) -> list[float]:
    return draw(plan).times_s


def plan(**changes: object) -> LoadPlan:
    return LoadPlan(url="http://x", model="m", **{"rate_rps": 100.0, "requests": 1000, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("law", [Arrival.POISSON, Arrival.CONSTANT, Arrival.GAMMA])
def test_the_drawn_rate_is_exactly_the_asked_one(law: Arrival) -> None:
    drawn = times(plan(arrival=law, burstiness=0.5))

    assert (1000, 0.0, pytest.approx(9.99)) == (len(drawn), drawn[0], drawn[-1])


def test_poisson_gaps_vary_as_much_as_their_mean_and_burstier_ones_more() -> None:
    rng = np.random.default_rng(1)
    poisson = np.diff(arrivals(20_000, Arrival.POISSON, 1.0, rng))
    bursty = np.diff(arrivals(20_000, Arrival.GAMMA, 0.25, rng))

    assert pytest.approx(1.0, abs=0.03) == poisson.std()
    assert pytest.approx(2.0, abs=0.1) == bursty.std()


def test_equal_seeds_draw_equal_times_and_others_do_not() -> None:
    assert times(plan()) == times(plan())
    assert times(plan()) != times(plan(prompts=PromptPlan(seed=1)))


def test_a_ramp_reaches_the_rate_at_its_end() -> None:
    drawn = np.array(times(plan(arrival=Arrival.CONSTANT, requests=None, duration_s=10.0, ramp_s=4.0)))

    assert pytest.approx(200, abs=2) == np.sum(drawn < 4)
    assert pytest.approx(600, abs=2) == np.sum(drawn >= 4)
    assert pytest.approx(50, abs=2) == np.sum(drawn < 2)


def test_a_trace_is_replayed_from_its_first_request(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(
        '{"timestamp": 3000, "input_length": 30, "output_length": 7, "hash_ids": [1, 2]}\n\n{"at_s": 1.0, "prompt_tokens": 9}\n'
    )

    dues = read_trace(path, speed=2.0)

    assert [(0.0, 9, None, ()), (1.0, 30, 7, (1, 2))] == [
        (due.at_s, due.prompt_tokens, due.max_tokens, due.blocks) for due in dues
    ]


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", "{}", '{"timestamp": "now"}', '{"at_s": 1, "hash_ids": ["a"]}', '{"at_s": NaN}']
)
def test_a_broken_trace_is_told_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"at_s": 0}\n' + line)

    with pytest.raises(BadInputError, match="line 2"):
        read_trace(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"rate_rps": None},
        {"requests": None},
        {"requests": 0},
        {"rate_rps": -1.0},
        {"rate_rps": float("nan")},
        {"arrival": Arrival.TRACE},
        {"trace_speed": 0.0},
        {"ramp_s": -1.0},
        {"prompts": PromptPlan(prompt_tokens=0)},
    ],
)
def test_a_plan_that_says_nothing_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(BadInputError):
        plan(**changes)


def count_words(text: str) -> int:
    return len(text.split())


def test_prompts_have_their_size() -> None:
    for prompts in (
        PromptPlan(prompt_tokens=100),
        PromptPlan(prompt_tokens=100, system_tokens=40),
        PromptPlan(prompt_tokens=100, system_tokens=40, reuse_prefix=True),
    ):
        [prompt] = PromptMaker(prompts).chain(3)

        assert 100 == sum(count_words(content) for _, content in prompt.messages)


def test_no_two_prompts_begin_alike_and_another_occasion_changes_all() -> None:
    starts: Counter[str] = Counter()
    for occasion in ("monday", "tuesday"):
        maker = PromptMaker(PromptPlan(prompt_tokens=40, system_tokens=20, occasion=occasion))
        starts.update(" ".join(maker.chain(index)[0].text.split()[:6]) for index in range(200))

    assert 400 == len(starts)


def test_equal_plans_make_equal_prompts() -> None:
    assert PromptMaker(PromptPlan(seed=4, occasion="o")).chain(7) == PromptMaker(PromptPlan(seed=4, occasion="o")).chain(7)


def test_a_shared_system_prompt_is_shared_within_a_run_only() -> None:
    def system(occasion: str, index: int) -> str:
        maker = PromptMaker(PromptPlan(prompt_tokens=60, system_tokens=40, reuse_prefix=True, occasion=occasion))
        return maker.chain(index)[0].messages[0][1]

    assert system("a", 1) == system("a", 2)
    assert system("a", 1) != system("b", 1)


def test_agentic_turns_grow_over_one_prefix() -> None:
    turns = PromptMaker(PromptPlan(kind=PromptKind.AGENTIC, prompt_tokens=50, turns=4, growth_tokens=20, max_tokens=6)).chain(0)

    assert [50, 70, 90, 110] == [sum(count_words(content) for _, content in turn.messages) for turn in turns]
    assert all(later.messages[: len(turn.messages)] == turn.messages for turn, later in itertools.pairwise(turns))


def test_equal_blocks_of_a_trace_are_an_equal_prefix_and_nothing_more() -> None:
    maker = PromptMaker(PromptPlan())
    long, short = Due(0.0, 1500, 9, (1, 2, 3)), Due(1.0, 1100, 9, (1, 2, 4))
    [[one], [other]] = maker.chain(0, long), maker.chain(1, short)
    words = one.text.split(), other.text.split()
    shared = next(place for place, (a, b) in enumerate(zip(*words, strict=False)) if a != b)

    assert (1500, 1100) == (len(words[0]), len(words[1]))
    assert 1024 <= shared < 1030


def test_a_gzipped_trace_is_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"timestamp": 0}\n{"timestamp": 250}\n'))

    assert [0.0, 0.25] == [due.at_s for due in read_trace(path)]


def test_a_trace_that_is_no_gzip_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(b"plain")

    with pytest.raises(BadInputError, match="cannot be read"):
        read_trace(path)


def test_a_tokenizer_gives_exact_prompts() -> None:
    def tokenize(text: str) -> int:
        """A tokenizer that knows words of up to five letters, and takes the rest letter by letter."""
        lines = text.count("\n")
        return lines + sum(1 if len(word) <= 5 else len(word) for word in text.split())

    vocabulary = learn_vocabulary(tokenize)
    [prompt] = PromptMaker(PromptPlan(prompt_tokens=333, system_tokens=100), vocabulary).chain(0)

    assert (True, True) == (vocabulary.exact, vocabulary.lines)
    assert 333 == sum(tokenize(content) for _, content in prompt.messages)
    assert "\n" in prompt.messages[1][1]


def test_a_tokenizer_that_is_of_no_use_leaves_an_estimate() -> None:
    assert ESTIMATED is learn_vocabulary(lambda text: 2 * len(text))


@given(st.integers(0, 500), st.lists(st.integers(0, 50), max_size=60))
def test_tokens_shared_out_add_up(total: int, lengths: list[int]) -> None:
    shares = share_out(total, lengths)

    assert (total if lengths else 0) == sum(shares)
    assert len(lengths) == len(shares)
    assert all(share >= (1 if total >= len(lengths) else 0) for share in shares)


def test_tokens_are_shared_out_by_the_length_of_the_text() -> None:
    assert [4, 4, 4] == share_out(12, [8, 8, 8])
    assert [1, 3, 2] == share_out(6, [0, 20, 10])
