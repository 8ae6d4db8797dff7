"""What a witness reads and what it makes of it: each rule with planted evidence, and the same without it."""

import json
import shlex
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perfd.bench import processes
from perfd.bench.cache import Blocks, Slots
from perfd.bench.witness import Effect, Evidence, Poller, ServerFacts, findings_of, left_behind, policy_of
from perfd.bench.witness.bootlog import BootLog, parse_boot_log, read_boot_log
from perfd.bench.witness.dictionary import BY_ENGINE, LLAMACPP, SGLANG, TRTLLM, VLLM, Look, engine_of, look_of
from perfd.bench.witness.external import ask_inferlint, findings_from, program, run
from perfd.bench.witness.facts import llamacpp_facts, sglang_facts, vllm_facts
from perfd.bench.witness.findings import Ours, asked_for
from perfd.bench.witness.peek import Answer, body_of, dechunk, peek
from perfd.bench.witness.prometheus import parse

LLAMACPP_TEXT = """# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed, excluding cached tokens
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 1609
llamacpp:prompt_tokens_cached_total 5396
llamacpp:tokens_predicted_total 480
llamacpp:requests_processing 3
llamacpp:requests_deferred 2
"""
VLLM_TEXT = """vllm:cache_config_info{block_size="16",enable_prefix_caching="True",num_gpu_blocks="43"} 1.0
vllm:num_requests_running{engine="0",model_name="m"} 7.0
vllm:num_requests_running{engine="1",model_name="m"} 3.0
vllm:num_requests_waiting{engine="0",model_name="m"} 22.0
vllm:kv_cache_usage_perc{engine="0"} 0.9523809523809523
vllm:kv_cache_usage_perc{engine="1"} 0.5
vllm:num_preemptions_total{engine="0"} 21.0
vllm:prompt_tokens_total{engine="0"} 2816.0
vllm:generation_tokens_total{engine="0"} 32000.0
vllm:prefix_cache_hits_total{engine="0"} 16.0
"""
SGLANG_TEXT = """sglang:num_running_reqs{tp_rank="0"} 29.0
sglang:num_queue_reqs{tp_rank="0"} 3.0
sglang:num_retracted_reqs{tp_rank="0"} 0.0
sglang:max_total_num_tokens{tp_rank="0"} 32096.0
sglang:page_size{tp_rank="0"} 1.0
sglang:prompt_tokens_total{tp_rank="0"} 2816.0
"""


def look(text: str) -> Look:
    scrape = parse(text)
    names = engine_of(scrape)
    assert names is not None
    return look_of(scrape, names, 0, 0.001)


def test_llama_cpp_counts_computed_and_cached_prompt_tokens_apart() -> None:
    seen = look(LLAMACPP_TEXT)

    assert (seen.prompt_tokens, seen.cached_tokens, seen.output_tokens) == (7005, 5396, 480)
    assert (seen.running, seen.waiting, seen.preempted) == (3, 2, None)


def test_engines_of_one_server_are_added_and_shares_are_not() -> None:
    seen = look(VLLM_TEXT)

    assert (seen.running, seen.waiting, seen.preempted) == (10, 22, 21)
    assert seen.kv_share == pytest.approx(0.952, abs=0.001)


def test_a_counter_that_appears_with_its_first_count_is_zero_before() -> None:
    assert look(SGLANG_TEXT).preempted == 0
    assert look(SGLANG_TEXT + "sglang:num_retracted_requests_total 4\n").preempted == 4


def test_a_missing_series_is_absent_and_never_zero() -> None:
    seen = look("vllm:num_requests_running 1\n")

    assert (seen.waiting, seen.preempted, seen.output_tokens) == (None, None, None)


@pytest.mark.parametrize(("text", "names"), [(LLAMACPP_TEXT, LLAMACPP), (VLLM_TEXT, VLLM), (SGLANG_TEXT, SGLANG)])
def test_the_engine_is_told_by_its_names(text: str, names: object) -> None:
    assert engine_of(parse(text)) is names


@pytest.mark.parametrize("text", ["", "python_gc_objects 5\n", "<html>hello</html>", '{"iter": 5}', "vllm:x{ 5", "vllm:x nan\n"])
def test_what_is_no_known_metrics_page_names_no_engine(text: str) -> None:
    assert engine_of(parse(text)) is None


def test_hostile_metrics_are_read_without_harm() -> None:
    scrape = parse('vllm:a{l="x\\"} 5"} 1\nvllm:b 1e999\nvllm:c -inf\nvllm:d 1 2 3 4\nvllm:e\n' + "x" * 100_000 + "\nvllm:f 2\n")

    assert set(scrape.values) == {"vllm:a", "vllm:f"}


BOOT = """0.00.003.581 I srv    load_model: loading model 'm.gguf'
0.05.107.355 I cmn          init: llama threadpool init, n_threads = 1
0.00.002.031 W srv          init: security: no API key is set and CORS allows all origins
0.00.001.851 I srv  init_listene: Use --ui/--no-ui (or deprecated --webui/--no-webui) to enable/disable
0.05.346.295 I srv    load_model: initializing, n_slots = 8, n_ctx_slot = 2048, kv_unified = 'false'
0.05.833.173 I slot launch_slot_: id  7 | task 2 | processing task, is_child = 0
0.06.000.000 W slot update_slots: id  7 | cache reuse is not supported - ignoring
"""
VERBOSE = """llama_model_load: offloaded 0/31 layers to GPU
llama_kv_cache:        CPU KV buffer size =   360.00 MiB
llama_kv_cache: size =  360.00 MiB ( 16384 cells,  30 layers,  8/8 seqs), K (f16):  180.00 MiB, V (f16):  180.00 MiB
W llama_context: flash_attn not supported, set to disabled
warning: no usable GPU found, --gpu-layers option will be ignored
"""


def test_a_quiet_boot_log_tells_slots_and_context_and_has_nothing_ignored() -> None:
    log = parse_boot_log(BOOT)

    assert log == BootLog(slots=8, slot_context_tokens=2048, unified=False)


def test_a_verbose_boot_log_tells_the_pool_and_what_was_ignored() -> None:
    log = parse_boot_log(VERBOSE)

    assert (log.kv_bytes, log.kv_cells, log.offloaded) == (360 * 1024**2, 16384, (0, 31))
    assert log.ignored == (
        "llama_context: flash_attn not supported, set to disabled",
        "warning: no usable GPU found, --gpu-layers option will be ignored",
    )


def test_a_log_that_is_not_there_tells_nothing(tmp_path: Path) -> None:
    assert read_boot_log(tmp_path / "none.log") == BootLog()


PROPERTIES = {"total_slots": 8, "default_generation_settings": {"n_ctx": 2048}}


def test_the_pool_of_llama_cpp_is_its_slots_together_or_one_for_all() -> None:
    apart = llamacpp_facts(PROPERTIES, parse_boot_log(BOOT))
    shared = llamacpp_facts(PROPERTIES, BootLog(unified=True))

    assert (apart.kv_pool_tokens, shared.kv_pool_tokens) == (16384, 2048)
    assert llamacpp_facts(PROPERTIES, parse_boot_log(VERBOSE)).kv_pool_bytes == 377_487_360


@pytest.mark.parametrize(
    "properties", [None, [], {"total_slots": "8"}, {"total_slots": True}, {"default_generation_settings": 5}]
)
def test_properties_that_are_nonsense_leave_what_the_log_told(properties: Any) -> None:
    assert llamacpp_facts(properties, parse_boot_log(BOOT)).kv_pool_tokens == 16384
    assert llamacpp_facts(properties, BootLog()).kv_pool_tokens is None


def test_vllm_keeps_one_block_for_itself() -> None:
    facts = vllm_facts(parse(VLLM_TEXT))

    assert (facts.kv_pool_tokens, facts.block_tokens, facts.prefix_caching) == (16 * 42, 16, True)


def test_sglang_tells_its_pool_in_tokens() -> None:
    facts = sglang_facts(parse(SGLANG_TEXT))

    assert (facts.kv_pool_tokens, facts.block_tokens) == (32096, 1)


def test_each_server_has_the_cache_of_its_kind() -> None:
    assert policy_of(ServerFacts("llama.cpp", slots=8)) == Slots(8)
    assert policy_of(vllm_facts(parse(VLLM_TEXT))) == Blocks(16, 42)
    assert policy_of(ServerFacts("vLLM", block_tokens=16, kv_pool_tokens=160, prefix_caching=False)) == Blocks(16, 0)
    assert policy_of(ServerFacts("unknown")) == Blocks(1, None)


OURS = Ours(32, 0, 2816, 0, 32_000, 32, 32)
CALM = Evidence(
    names=VLLM,
    facts=ServerFacts("vLLM"),
    before=Look(0, 0.0, preempted=0, prompt_tokens=100, cached_tokens=5, output_tokens=50),
    after=Look(0, 0.0, preempted=0, prompt_tokens=2916, cached_tokens=5, output_tokens=32_050),
    during=[Look(0, 0.0, running=32, waiting=0)] * 20,
    log=BootLog(),
    command=("vllm", "serve"),
    ours=OURS,
    device="cpu",
)


def told(evidence: Evidence) -> dict[str, tuple[Effect, str]]:
    return {finding.name: (finding.effect, finding.sentence) for finding in findings_of(evidence)}


def counted(**changes: float) -> Evidence:
    assert CALM.after is not None
    return replace(CALM, after=replace(CALM.after, **changes))  # type: ignore[arg-type]


def test_a_calm_run_has_no_finding() -> None:
    assert told(CALM) == {}


def test_preemptions_annotate_with_their_number_in_the_engines_own_word() -> None:
    assert told(counted(preempted=21))["preemptions"][1].startswith("21 preemptions")
    assert told(replace(counted(preempted=3), names=SGLANG))["preemptions"] == (
        Effect.ANNOTATE,
        "3 retractions during the Run: those requests were computed again, and no log line says so",
    )


def test_paused_requests_are_told_where_no_counter_is() -> None:
    paused = replace(CALM, names=TRTLLM, during=[Look(0, 0.0, running=32, paused=2)])

    assert "up to 2 requests stood paused" in told(paused)["preemptions"][1]


def test_counters_that_go_back_void_the_run() -> None:
    effect, sentence = told(counted(output_tokens=10))["server_restarted"]

    assert effect is Effect.VOID
    assert "from 50 to 10" in sentence


@pytest.mark.parametrize(
    ("output", "effect"), [(32_050, None), (32_051, Effect.ANNOTATE), (33_000, Effect.VOID), (31_000, Effect.VOID)]
)
def test_output_tokens_of_server_and_client_must_agree(output: int, effect: Effect | None) -> None:
    found = told(counted(output_tokens=output)).get("output_tokens_differ")

    assert (None if found is None else found[0]) == effect


def test_a_server_may_have_worked_for_requests_that_were_given_up() -> None:
    lost = replace(CALM.ours, unfinished=3)

    assert told(replace(counted(output_tokens=40_000), ours=lost)) == {}
    assert "output_tokens_differ" in told(replace(counted(output_tokens=20_000), ours=lost))


def test_prompt_tokens_must_agree_and_cached_ones_only_annotate() -> None:
    assert told(counted(prompt_tokens=9000))["prompt_tokens_differ"][0] is Effect.VOID
    assert told(counted(cached_tokens=900))["cached_prompt_tokens_differ"][0] is Effect.ANNOTATE


def test_what_the_client_was_not_told_is_not_compared() -> None:
    silent = replace(CALM.ours, prompt_tokens=None, cached_tokens=None)

    assert told(replace(counted(prompt_tokens=9000, cached_tokens=900), ours=silent)) == {}


def test_a_server_that_cannot_be_read_is_not_accused() -> None:
    assert told(replace(CALM, before=None, after=None, during=[])) == {}


def test_a_concurrency_above_the_slots_is_told_without_a_look() -> None:
    few = replace(CALM, facts=ServerFacts("llama.cpp", slots=4), during=[])

    assert "has 4 slots" in told(few)["concurrency_not_reached"][1]
    assert told(replace(few, facts=ServerFacts("llama.cpp", slots=32))) == {}


def test_requests_that_wait_while_fewer_run_than_asked_are_told_from_one_look() -> None:
    held = replace(CALM, during=[Look(0, 0.0, running=10, waiting=22)])

    assert "at most 10 were seen running in 1 looks, while up to 22 waited" in told(held)["concurrency_not_reached"][1]


def test_few_looks_without_a_queue_prove_nothing() -> None:
    assert told(replace(CALM, during=[Look(0, 0.0, running=10, waiting=0)] * 9)) == {}
    assert "concurrency_not_reached" in told(replace(CALM, during=[Look(0, 0.0, running=10, waiting=0)] * 10))


def test_one_look_at_the_full_number_is_enough() -> None:
    assert told(replace(CALM, during=[Look(0, 0.0, running=n, waiting=5) for n in (3, 32, 9)])) == {}


def test_an_open_load_asks_for_no_concurrency() -> None:
    assert told(replace(CALM, ours=replace(OURS, asked_concurrency=None), during=[Look(0, 0.0, running=1, waiting=9)])) == {}


COMMAND = ("llama-server", "--ctx-size", "16384", "-np=8")


def test_a_server_with_less_than_its_launch_asked_for_is_told() -> None:
    facts = ServerFacts("llama.cpp", slots=4, kv_pool_tokens=8192)
    closed = replace(CALM, facts=facts, command=COMMAND, ours=replace(OURS, asked_concurrency=4))

    assert set(told(closed)) == {"context_smaller_than_asked", "slots_differ"}
    assert told(replace(closed, facts=ServerFacts("llama.cpp", slots=8, kv_pool_tokens=16384))) == {}


@pytest.mark.parametrize(
    ("command", "value"),
    [
        (COMMAND, 16384),
        (("x", "-c", "5"), 5),
        (("x", "--ctx-size=7"), 7),
        (("x", "--ctx-size"), None),
        (("x", "-c", "auto"), None),
        ((), None),
    ],
)
def test_the_asked_context_is_read_from_the_launch(command: tuple[str, ...], value: int | None) -> None:
    assert asked_for(command, "--ctx-size", "-c") == value


def test_a_model_that_was_left_on_the_cpu_voids_a_gpu_run_only() -> None:
    none, some, full = (BootLog(offloaded=(count, 31)) for count in (0, 20, 31))

    assert told(replace(CALM, log=none, device="NVIDIA H200"))["backend_ignored"][0] is Effect.VOID
    assert told(replace(CALM, log=some, device="NVIDIA H200"))["backend_ignored"][0] is Effect.ANNOTATE
    assert told(replace(CALM, log=full, device="NVIDIA H200")) == {}
    assert told(replace(CALM, log=none, device="cpu")) == {}


def test_an_ignored_setting_is_told_in_the_engines_words() -> None:
    assert "flash_attn not supported" in told(replace(CALM, log=parse_boot_log(VERBOSE)))["setting_ignored"][1]


def test_other_engines_are_named() -> None:
    others = [f"llama-server (pid {pid})" for pid in range(5)]

    assert told(replace(CALM, others=others))["other_engines"][1].endswith("llama-server (pid 2) …")


def test_what_voids_stands_first() -> None:
    both = replace(counted(output_tokens=99_000, preempted=2), others=["x (pid 1)"])

    assert [finding.effect for finding in findings_of(both)] == [Effect.VOID, Effect.ANNOTATE, Effect.ANNOTATE]


def test_processes_that_outlived_the_engine_stand_among_the_findings() -> None:
    extra = left_behind({"witness": {"findings": [{"name": "x"}]}, "load": 1}, ["VLLM::EngineCor (pid 1030)"])

    assert [one["name"] for one in extra["witness"]["findings"]] == ["x", "engine_left_behind"]
    assert extra["annotations"] == ["1 processes of the engine outlived it and held their memory until perfd ended them"]
    assert left_behind({"load": 1}, []) == {"load": 1}


def test_a_process_id_that_was_given_to_another_is_no_survivor() -> None:
    own = processes.births([1])

    assert processes.survivors(own, 0.0) == [1]
    assert processes.survivors({1: "12345"}, 0.0) == []
    assert processes.survivors({2**22 + 1: "5"}, 0.0) == []


def http(status: str, body: bytes, *fields: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode() + body


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (http("200 OK", b"a 1\n", "Content-Length: 4"), "a 1\n"),
        (http("200 OK", b"4\r\na 1\n\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), "a 1\n"),
        (http("404 Not Found", b"no"), None),
        (http("200 OK", b"4\r\na", "Transfer-Encoding: chunked"), None),
        (http("200 OK", b"zz\r\n", "Transfer-Encoding: chunked"), None),
        (b"HTTP/1.1 200 OK\r\nContent-Le", None),
        (b"", None),
        (b"\r\n\r\n", None),
    ],
)
def test_an_answer_is_read_whole_or_not_at_all(raw: bytes, body: str | None) -> None:
    assert body_of(raw) == body


def test_a_negative_chunk_is_refused() -> None:
    assert dechunk(b"-5\r\nabc") is None


@contextmanager
def serving(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A little server on loopback that does `answer` with each connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def loop() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    answer(connection)

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(5)


def test_a_server_that_does_not_answer_is_no_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        silent = peek(port, "/metrics", timeout_s=0.05)
    gone = peek(port, "/metrics", timeout_s=0.05)

    assert (silent.raw, gone.raw) == (b"", b"")


def test_the_poller_looks_at_once_and_until_it_is_stopped() -> None:
    page = http("200 OK", VLLM_TEXT.encode())
    seen = threading.Semaphore(0)

    def answer(connection: socket.socket) -> None:
        connection.sendall(page)
        seen.release()

    with serving(answer) as port:
        poller = Poller(port, "/metrics", every_s=0.01)
        poller.start()
        assert all(seen.acquire(timeout=10) for _ in range(3))
        poller.stop()
    after = len(poller.answers)

    assert after >= 3
    assert all(body_of(one.raw) == VLLM_TEXT for one in poller.answers[:2])
    assert poller.cost()["looks"] == after
    assert poller.cpu_s > 0


def test_looks_that_come_too_late_are_left_out_and_counted() -> None:
    first = threading.Event()

    def answer(connection: socket.socket) -> None:
        if not first.is_set():
            time.sleep(0.2)  # a server that is busy with a long prompt
            first.set()
        connection.sendall(http("200 OK", b"x 1\n"))

    with serving(answer) as port:
        poller = Poller(port, "/metrics", every_s=0.05)
        poller.start()
        assert first.wait(10)
        poller.stop()

    assert poller.missed >= 3


def test_a_poller_without_a_page_reads_energy_only() -> None:
    counter = iter(range(1000))
    poller = Poller(1, None, lambda: float(next(counter)), every_s=0.01)
    poller.start()
    poller.stop()

    assert poller.answers == []
    assert len(poller.energy) >= 2


def growing(at: int) -> Answer:
    text = VLLM_TEXT.replace("32000.0", str(32_000 + 1000 * at))
    return Answer(at * 10**9, at * 10**9 + 1000, http("200 OK", text.encode()), 1.7e9 + at)


ANSWERS = [growing(at) for at in range(3)]
FAKE = Path(__file__).parents[1] / "engines" / "fake_inferlint.py"
CHECKS = [
    {"tripwire": "T1", "status": "fail", "message": "21 preemptions during the run"},
    {"tripwire": "T5", "status": "warn", "message": "attention block size forced to 784 tokens"},
    {"tripwire": "T12", "status": "pass", "message": "no failure in log"},
]


def test_inferlint_is_not_asked_about_llama_cpp(tmp_path: Path) -> None:
    found, used = ask_inferlint(LLAMACPP, ANSWERS, tmp_path / "engine.log", tmp_path / "lint", 8)

    assert (found, used["used"]) == ([], False)


def test_a_machine_without_inferlint_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    found, used = ask_inferlint(VLLM, ANSWERS, tmp_path / "engine.log", tmp_path / "lint", 8)

    assert found == []
    assert "inferlint is not installed" in used["why"]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """A program named inferlint, first on the PATH, that answers the given text."""

    def install(text: str) -> str:
        path = tmp_path / "bin" / "inferlint"
        path.parent.mkdir()
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(FAKE))} "$@"\n')
        path.chmod(0o755)
        monkeypatch.setenv("FAKE_INFERLINT", text)
        monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
        monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
        return str(path)

    return install


def test_what_inferlint_finds_is_told_and_what_we_found_ourselves_is_not_told_twice(
    fake: Callable[[str], str], tmp_path: Path
) -> None:
    fake(json.dumps(CHECKS))

    found, used = ask_inferlint(VLLM, ANSWERS, tmp_path / "engine.log", tmp_path / "lint", 8)

    assert [finding.name for finding in found] == ["inferlint_T5"]
    assert used == {"used": True, "verdicts": {"T1": "fail", "T5": "warn", "T12": "pass"}}


@pytest.mark.parametrize("text", ["", "Traceback", "5", '["x"]'])
def test_an_inferlint_that_answers_nonsense_fails_nothing(text: str, fake: Callable[[str], str], tmp_path: Path) -> None:
    fake(text)

    found, _ = ask_inferlint(VLLM, ANSWERS, tmp_path / "engine.log", tmp_path / "lint", None)

    assert found == []


def test_a_program_that_cannot_be_run_fails_nothing(tmp_path: Path) -> None:
    assert run(str(tmp_path / "none"), [], tmp_path)[1]["used"] is False


def test_too_few_looks_are_not_handed_over(fake: Callable[[str], str], tmp_path: Path) -> None:
    fake("[]")

    assert "fewer than twice" in ask_inferlint(VLLM, ANSWERS[:1], tmp_path / "l", tmp_path / "lint", None)[1]["why"]


@pytest.mark.skipif(program() is None, reason="inferlint is not installed here (pip install inferlint)")
def test_the_real_inferlint_reads_our_recording(tmp_path: Path) -> None:
    found, used = ask_inferlint(VLLM, ANSWERS, tmp_path / "engine.log", tmp_path / "lint", 32)

    assert used["used"], used
    assert used["verdicts"]["T8"] == "fail"
    assert "inferlint_T8" not in {finding.name for finding in found}


def test_statuses_other_than_warnings_and_failures_are_no_findings() -> None:
    assert findings_from([{"tripwire": "T5", "status": status} for status in ("pass", "unknown", "not_applicable")]) == []


def test_every_engine_of_the_dictionary_has_a_name_of_its_own() -> None:
    assert len(BY_ENGINE) == 4
