"""Each generator has the statistics of the trace that it is calibrated to, and prompts have exactly their size.

The figures stand here; where the traces themselves are at hand (PERFD_TRACES, or ../shared/data/suites), the figures are held
against them too.
"""

import base64
import itertools
import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from perfd.bench.load import Arrival, PromptKind, PromptPlan, haystack
from perfd.bench.load.given import prompt_plan
from perfd.bench.load.messages import Prompt
from perfd.bench.load.pictures import data_url, frames, picture, png
from perfd.bench.load.plan import AgentPlan, PicturePlan, Spread
from perfd.bench.load.prompts import PromptMaker, learn_vocabulary
from perfd.bench.load.replay import read_sessions, read_trace
from perfd.bench.load.schedule import arrivals
from perfd.bench.load.sizes import requests_in, session_size, sessions_for
from perfd.errors import BadInputError
from perfd.suites import load_suite

TRACES = Path(os.environ.get("PERFD_TRACES", Path(__file__).parents[3] / "shared" / "data" / "suites"))
SUITES = Path(__file__).parents[2] / "suites"
AZURE_CONVERSATION = {"input": {50: 1020, 90: 2735, 99: 4142}, "output": {50: 129, 90: 424, 99: 601}}
MOONCAKE_TURNS = {"mean": 1.49, "p50": 1, "p90": 2, "share_in_three_and_more": 0.294}
SWE_FINAL_P50, SWE_GROWTH = 6959, {50: 196, 90: 392}
SWE_REUSE_P10, SWE_REUSE_P90 = 0.743, 0.925
AZURE_CODE_CV = 13.15


def traces(name: str) -> Path:
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"the trace {name} is not at hand ({TRACES}): its figures were not held against it")
    return path


def percentiles(values: list[int], *places: int) -> dict[int, float]:
    return {place: float(np.percentile(values, place)) for place in places}


def chat(**changes: object) -> PromptPlan:
    return PromptPlan(
        prompt_tokens=2048 + 1020,
        system_tokens=2048,
        prompt_spread=Spread(2735, 8192),
        max_tokens=129,
        output_spread=Spread(424, 1000),
        turns=43,
        turn_tail=2.2,
        growth_tokens=472,
        growth_spread=Spread(4617, 17150),
        **changes,  # type: ignore[arg-type]
    )


def test_chat_is_as_long_as_azures_conversations() -> None:
    sizes = [session_size(chat(), index).turns[0] for index in range(8_000)]
    own = percentiles([size.new_tokens - 2048 for size in sizes], 50, 90, 99)
    answers = percentiles([size.answer_tokens for size in sizes], 50, 90, 99)

    assert [1020, 2735] == pytest.approx([own[50], own[90]], rel=0.04)
    assert [129, 424] == pytest.approx([answers[50], answers[90]], rel=0.04)
    # The lognormal's tail is heavier than the trace's, which its engine had cut at 4,000 tokens.
    assert AZURE_CONVERSATION["input"][99] < own[99] < 2 * AZURE_CONVERSATION["input"][99]


def test_chat_has_as_many_turns_as_mooncakes_conversations() -> None:
    turns = np.array([len(session_size(chat(), index).turns) for index in range(20_000)])
    growth = [turn.new_tokens for index in range(9_000) for turn in session_size(chat(), index).turns[1:]]

    assert pytest.approx(MOONCAKE_TURNS["mean"], abs=0.06) == turns.mean()
    assert (MOONCAKE_TURNS["p50"], MOONCAKE_TURNS["p90"]) == (np.percentile(turns, 50), np.percentile(turns, 90))
    assert pytest.approx(MOONCAKE_TURNS["share_in_three_and_more"], abs=0.03) == turns[turns >= 3].sum() / turns.sum()
    assert [472, 4617] == pytest.approx(list(percentiles(growth, 50, 90).values()), rel=0.1)


def test_the_small_repository_is_what_swe_agents_trajectories_are() -> None:
    workload = next(one for one in load_suite(SUITES / "agentic.toml").workloads if one.name == "small_repository")
    plan = prompt_plan(workload.parameters, seed=1)
    sessions = [session_size(plan, index).prompt_tokens for index in range(500)]
    reuse = [sum(sizes[:-1]) / sum(sizes) for sizes in sessions]
    growth = [later - size for sizes in sessions for size, later in itertools.pairwise(sizes)]

    assert pytest.approx(SWE_FINAL_P50, rel=0.1) == float(np.median([sizes[-1] for sizes in sessions]))
    assert SWE_REUSE_P10 < float(np.median(reuse)) < SWE_REUSE_P90
    assert SWE_GROWTH == pytest.approx(percentiles(growth, 50, 90), rel=0.08)


def test_gamma_arrivals_reach_the_burstiness_of_azures_code() -> None:
    gaps = np.diff(arrivals(200_000, Arrival.GAMMA, 1 / AZURE_CODE_CV**2, np.random.default_rng(3)))

    assert pytest.approx(AZURE_CODE_CV, rel=0.05) == gaps.std() / gaps.mean()


def test_bursts_of_chat_full_vary_four_times_as_much_as_independent_arrivals() -> None:
    times = arrivals(100_000, Arrival.GAMMA, 0.25, np.random.default_rng(4))
    counts = np.histogram(times, bins=np.arange(0, times[-1], 55.0))[0]  # 10 s at Azure's 5.5 requests a second

    assert pytest.approx(4.0, rel=0.12) == counts.var() / counts.mean()


def test_the_figures_are_those_of_azures_conversations() -> None:
    dues = read_trace(traces("traces/azure_llm_2023_conv.csv"))
    inputs, outputs = ([getattr(due, name) or 0 for due in dues] for name in ("prompt_tokens", "max_tokens"))

    assert 19_366 == len(dues)
    assert AZURE_CONVERSATION["input"] == pytest.approx(percentiles(inputs, 50, 90, 99), abs=1)
    assert AZURE_CONVERSATION["output"] == pytest.approx(percentiles(outputs, 50, 90, 99), abs=1)


def test_the_figures_are_those_of_azures_code() -> None:
    gaps = np.diff([due.at_s for due in read_trace(traces("traces/azure_llm_2023_code.csv"))])

    assert pytest.approx(AZURE_CODE_CV, rel=0.01) == gaps.std() / gaps.mean()


def test_the_figures_are_those_of_swe_agents_trajectories() -> None:
    sessions = read_sessions(traces("agentic"))
    final = [sum(len(message.text) for message in session.messages) / 4 for session in sessions]

    assert (22, 11) == (len(sessions), round(float(np.median([session.turns for session in sessions]))))
    assert pytest.approx(SWE_FINAL_P50, rel=0.1) == float(np.median(final))


def test_a_mooncake_trace_keeps_its_prefixes() -> None:
    dues = read_trace(traces("traces/mooncake_conversation_trace.jsonl.gz"))[:60]
    maker = PromptMaker(PromptPlan(occasion="o"), dues=dues)
    starts = {maker.chain(index)[0].text.split()[511] for index in range(60)}

    assert [due.prompt_tokens for due in dues] == [maker.chain(index)[0].prompt_tokens for index in range(60)]
    assert 1 == len(starts)  # every conversation begins with the same block, the system prompt


def test_azures_csv_is_read_with_its_digits(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"
    )

    assert [(0.0, 374, 44), (pytest.approx(4.314579), 396, 109)] == [
        (due.at_s, due.prompt_tokens, due.max_tokens) for due in read_trace(path)
    ]


@pytest.mark.parametrize("row", ["2023-11-16 18:15:46.68,many,44", "yesterday,1,2", "2023-11-16 18:15:46.68"])
def test_a_broken_csv_is_told_with_its_line(tmp_path: Path, row: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(f"TIMESTAMP,ContextTokens,GeneratedTokens\n{row}\n")

    with pytest.raises(BadInputError, match="line 2"):
        read_trace(path)


TRAJECTORY = {
    "history": [
        {"role": "system", "content": "You fix code."},
        {"role": "user", "content": [{"type": "text", "text": "The tests fail."}]},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}],
        },
        {"role": "tool", "content": "def a(): pass", "tool_call_ids": ["c1"]},
        {"role": "assistant", "content": "Done now."},
    ]
}


def test_a_trajectory_is_replayed_as_a_session_with_its_tool_calls(tmp_path: Path) -> None:
    (tmp_path / "one.traj").write_text(json.dumps(TRAJECTORY))
    maker = PromptMaker(PromptPlan(PromptKind.AGENTIC, recorded=tmp_path, occasion="monday"))
    first, second = maker.chain(0)

    assert (2, 4) == (len(first.parts), len(second.parts))
    assert second.parts[1:2] == first.parts[1:]
    assert "The tests fail." == first.parts[1].content
    assert first.parts[0].content.endswith("\nYou fix code.")
    assert first.parts[0] != PromptMaker(PromptPlan(PromptKind.AGENTIC, recorded=tmp_path)).chain(0)[0].parts[0]
    assert {"role": "tool", "content": "def a(): pass", "tool_call_id": "c1"} == second.parts[3].json()
    assert "read" == second.parts[2].json()["tool_calls"][0]["function"]["name"]


@pytest.mark.parametrize("text", ["nonsense", "[]", '{"history": [{"role": "nobody"}]}', '{"history": [{"role": "user"}]}'])
def test_a_broken_trajectory_is_told_with_its_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.traj"
    path.write_text(text)

    with pytest.raises(BadInputError, match=r"bad\.traj"):
        read_sessions(path)


def test_a_folder_without_trajectories_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="holds no"):
        read_sessions(tmp_path)


def pieces(text: str) -> int:
    """A tokenizer that knows words, and takes everything else sign by sign."""
    words = text.split()
    return sum(1 if word.isalpha() else len(word) for word in words) + text.count("\n")


def size_of(prompt: Prompt) -> int:
    contents = sum(pieces(part.content) for part in prompt.parts)
    calls = sum(pieces(f"{call.name} {call.arguments}") for part in prompt.parts for call in part.calls)
    return contents + calls + sum(pieces(json.dumps(tool)) for tool in prompt.tools)


TOOLS = PromptPlan(
    PromptKind.AGENTIC,
    prompt_tokens=2500,
    system_tokens=200,
    turns=5,
    growth_tokens=600,
    max_tokens=200,
    reuse_prefix=True,
    agent=AgentPlan(tools=4, parallel_calls=3),
)


@pytest.mark.parametrize(
    "plan",
    [
        PromptPlan(prompt_tokens=90, system_tokens=30, turns=4, growth_tokens=41, max_tokens=11),
        TOOLS,
        PromptPlan(PromptKind.LONG_CONTEXT, prompt_tokens=3000, needles=8, asked_needles=4),
        PromptPlan(PromptKind.MULTIMODAL, prompt_tokens=77, pictures=PicturePlan(1, 0, 16, 16)),
        PromptPlan(PromptKind.BATCH, prompt_tokens=3, turns=4),
    ],
    ids=lambda plan: plan.kind.value,
)
def test_a_prompt_has_exactly_the_tokens_that_it_says(plan: PromptPlan) -> None:
    vocabulary = learn_vocabulary(pieces)
    prompts = PromptMaker(plan, vocabulary).chain(0)

    assert vocabulary.exact
    assert [prompt.prompt_tokens for prompt in prompts] == [size_of(prompt) for prompt in prompts]
    assert plan.prompt_tokens == prompts[0].prompt_tokens


def test_an_agents_turn_is_a_call_and_its_results() -> None:
    prompts = PromptMaker(TOOLS).chain(0)
    last = prompts[-1].parts
    calls = [part.calls for part in last if part.role == "assistant"]
    answered = [part.answers for part in last if part.role == "tool"]

    assert 4 == len(calls)
    assert answered == [call.call_id for ones in calls for call in ones]
    assert {1, 2, 3} >= {len(ones) for ones in calls}
    assert all(later.parts[: len(prompt.parts)] == prompt.parts for prompt, later in itertools.pairwise(prompts))
    assert all(json.loads(call.arguments)["target"].startswith("at ") for ones in calls for call in ones)
    assert len({json.dumps(prompt.tools) for prompt in prompts}) == 1


def test_tools_are_shared_within_a_run_and_fresh_in_the_next() -> None:
    from dataclasses import replace

    one, other = PromptMaker(TOOLS), PromptMaker(replace(TOOLS, occasion="tuesday"))

    assert one.chain(0)[0].tools == one.chain(7)[0].tools
    assert one.chain(0)[0].tools != other.chain(0)[0].tools


def test_sub_agents_share_system_prompt_and_tools_and_have_sessions_of_their_own() -> None:
    from dataclasses import replace

    plan = replace(TOOLS, agent=AgentPlan(tools=4, agents=2, agent_turns=2))
    maker = PromptMaker(plan)
    main, helper = maker.chain(3), maker.chain(4)

    assert (3, 5, 2) == (maker.family, len(main), len(helper))
    assert (main[0].parts[0], main[0].tools) == (helper[0].parts[0], helper[0].tools)
    assert main[0].parts[1] != helper[0].parts[1]
    assert 9 == requests_in(plan, 0)
    assert (3, 27) == sessions_for(plan, 20)


def test_needles_lie_in_the_text_and_are_what_is_asked_for() -> None:
    plan = PromptPlan(PromptKind.LONG_CONTEXT, prompt_tokens=4000, needles=6, asked_needles=2, turns=2, growth_tokens=0)
    first, second = PromptMaker(plan).chain(0)
    text, question = first.text.rsplit(" Which secret numbers", 1)

    assert (2, 2) == (len(first.wanted), len(second.wanted))
    assert all(value in text and value not in question for value in first.wanted)
    assert text == second.text.rsplit(" Which secret numbers", 1)[0]
    assert 6 == text.count("The secret number of")
    assert first.wanted != PromptMaker(plan).chain(1)[0].wanted


def test_an_answer_is_scored_by_what_it_names() -> None:
    assert [1.0, 0.5, 0.0, None] == [
        haystack.score(("1234567", "7654321"), "1234567 and 7654321"),
        haystack.score(("1234567", "7654321"), "It is 1234567."),
        haystack.score(("1234567",), ""),
        haystack.score((), "1234567"),
    ]


def test_more_needles_than_there_are_cannot_be_asked_for() -> None:
    with pytest.raises(BadInputError, match="needles"):
        PromptPlan(PromptKind.LONG_CONTEXT, needles=1, asked_needles=2)


def decoded(file: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The pixels of a PNG of our own kind, each chunk checked."""
    assert file[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(file):
        (length,) = struct.unpack(">I", file[at : at + 4])
        kind, data = file[at + 4 : at + 8], file[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + data) == struct.unpack(">I", file[at + 8 + length : at + 12 + length])[0]
        chunks[kind] = data
        at += 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def test_a_picture_is_a_png_of_its_size_and_small_enough_to_send() -> None:
    pixels = picture(np.random.default_rng(1), 1024, 768)
    file = png(pixels)

    assert np.array_equal(decoded(file), pixels)
    assert (768, 1024, 3) == pixels.shape
    assert len(file) < 200_000


def test_frames_of_a_video_differ_a_little() -> None:
    rng = np.random.default_rng(2)
    first = picture(rng, 160, 160)
    shown = [first, *frames(rng, first, 3)]

    for one, later in itertools.pairwise(shown):
        changed = np.any(np.roll(one, 1, axis=1) != later, axis=2).mean()
        assert 0 < changed <= 0.011  # one patch of 16 x 16 of 160 x 160


def test_pictures_are_fresh_in_every_session_unless_they_are_to_be_seen_again() -> None:
    def shown(index: int, occasion: str, *, reuse: bool) -> tuple[str, ...]:
        plan = PromptPlan(PromptKind.MULTIMODAL, occasion=occasion, pictures=PicturePlan(1, 2, 32, 32, reuse))
        return PromptMaker(plan).chain(index)[0].parts[-1].images

    assert 3 == len(set(shown(0, "a", reuse=False)))
    assert not set(shown(0, "a", reuse=False)) & set(shown(1, "a", reuse=False))
    assert shown(0, "a", reuse=True) == shown(1, "a", reuse=True)
    assert not set(shown(0, "a", reuse=True)) & set(shown(0, "b", reuse=True))


def test_a_picture_stands_before_the_text_of_its_message() -> None:
    plan = PromptPlan(PromptKind.MULTIMODAL, prompt_tokens=20, pictures=PicturePlan(1, 0, 8, 8))
    [prompt] = PromptMaker(plan).chain(0)
    image, text = prompt.parts[0].json()["content"]

    assert base64.b64decode(image["image_url"]["url"].removeprefix("data:image/png;base64,"))[:4] == b"\x89PNG"
    assert {"type": "text", "text": prompt.parts[0].content} == text
    assert data_url(picture(np.random.default_rng(0), 8, 8)).startswith("data:image/png;base64,iVBOR")


def test_equal_seeds_have_equal_sizes_whatever_the_occasion() -> None:
    monday, tuesday = (PromptMaker(chat(occasion=day)) for day in ("monday", "tuesday"))

    for index in range(5):
        one, other = monday.chain(index), tuesday.chain(index)
        assert [(p.prompt_tokens, p.max_tokens) for p in one] == [(p.prompt_tokens, p.max_tokens) for p in other]
        assert one[0].parts[0] != other[0].parts[0]


def test_a_session_ends_before_its_context_is_too_long() -> None:
    plan = PromptPlan(PromptKind.AGENTIC, prompt_tokens=100, turns=50, growth_tokens=30, context_most=200)

    assert [100, 130, 160, 190] == session_size(plan, 0).prompt_tokens


def test_pauses_are_drawn_with_their_tail() -> None:
    plan = PromptPlan(PromptKind.AGENTIC, turns=3000, think_s=2.0, think_spread=Spread(20.0, 300.0))
    pauses = [turn.think_s for turn in session_size(plan, 0).turns[1:]]

    assert [2.0, 20.0] == pytest.approx([float(np.percentile(pauses, 50)), float(np.percentile(pauses, 90))], rel=0.15)
    assert max(pauses) <= 300.0
