"""The default engines as they ship: built, launched by their own stanza, and asked for everything that perfd needs of them.

These fetch wheels, and compile llama.cpp for minutes, so they run only where PERFD_TEST_ENGINES names a state folder to use:
    PERFD_TEST_ENGINES=.perfd python -m pytest tests/builders/test_default_engines.py
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from perfd.builders import build, describe, fetch_weights, revisions
from perfd.config import load_config
from perfd.domain.subject import Engine

STATE = os.environ.get("PERFD_TEST_ENGINES", "")
pytestmark = pytest.mark.skipif(not STATE, reason="fetches and compiles: set PERFD_TEST_ENGINES to a state folder to run it")
CHAT = {"messages": [{"role": "user", "content": "Why is the sky blue?"}], "max_tokens": 8, "temperature": 0}
CONFIG = load_config(None, {})


@pytest.fixture(scope="module", params=CONFIG.engines, ids=lambda engine: engine.name)
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the launched engine; it ends well when asked to."""
    engine: Engine = request.param
    state = Path(STATE)
    spec = describe(engine.name, engine.source, revisions(engine.source, state)[-1], engine.recipe, engine.recipe_options, state)
    outcome = build(spec, engine.source, engine.recipe_options, state)
    assert outcome.artifact is not None, outcome.log_tail
    weights = fetch_weights(CONFIG.models[0], state)
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    own = outcome.artifact / "venv" / "bin" / "python"
    facts = {"artifact": outcome.artifact, "python": own if own.exists() else sys.executable, "host": "127.0.0.1", "port": number}
    command = [word.format(**facts, weights=weights, threads=1) for word in engine.launch.command]
    with (
        (tmp_path_factory.mktemp("log") / "engine.log").open("wb") as log,
        subprocess.Popen(command, stderr=log, stdout=log) as server,
    ):
        wait_ready(number, engine, server)
        yield number
        server.send_signal(signal.SIGTERM)
        assert 0 == server.wait(timeout=20)


def wait_ready(port: int, engine: Engine, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + engine.launch.ready_timeout_s
    while server.poll() is None and time.monotonic() < until:
        try:
            if get(port, engine.launch.ready_path)[0] == 200:
                return
        except ConnectionError:
            time.sleep(0.05)
    pytest.fail(f"{engine.name} never got ready, or ended with {server.poll()}")


def get(port: int, path: str) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def post(port: int, path: str, body: dict[str, Any]) -> str:
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
    assert 200 == answer.status, text
    return text


def test_a_chat_is_streamed_token_by_token_with_its_usage(port: int) -> None:
    said = post(port, "/v1/chat/completions", CHAT | {"stream": True, "stream_options": {"include_usage": True}})
    events = [line.removeprefix("data: ") for line in said.split("\n\n") if line]
    chunks = [json.loads(event) for event in events[:-1]]
    tokens = [choice["delta"]["content"] for chunk in chunks for choice in chunk["choices"] if choice["delta"].get("content")]

    assert "[DONE]" == events[-1]
    assert 8 == len(tokens) == chunks[-1]["usage"]["completion_tokens"]


def test_the_same_question_has_the_same_answer(port: int) -> None:
    answers = {json.loads(post(port, "/v1/chat/completions", CHAT))["choices"][0]["message"]["content"] for _ in range(3)}

    assert 1 == len(answers)


def test_top_log_probabilities_of_a_chosen_prompt_are_told(port: int) -> None:
    asked = {"prompt": "The sky is", "n_predict": 1, "n_probs": 5, "temperature": 0, "cache_prompt": False}
    (position,) = json.loads(post(port, "/completion", asked))["completion_probabilities"]

    assert 5 == len(position["top_logprobs"])
    assert position["logprob"] == max(one["logprob"] for one in position["top_logprobs"]) < 0


def test_the_prompt_cache_obeys(port: int) -> None:
    prompt = {
        "prompt": "A long enough prompt to be worth remembering, said twice.",
        "n_predict": 1,
        "temperature": 0,
        "id_slot": 0,
    }
    post(port, "/completion", prompt)

    assert 0 == json.loads(post(port, "/completion", prompt | {"cache_prompt": False}))["timings"]["cache_n"]
    assert 0 < json.loads(post(port, "/completion", prompt | {"cache_prompt": True}))["timings"]["cache_n"]


def test_metrics_and_tokens_are_told(port: int) -> None:
    status, text = get(port, "/metrics")

    assert 200 == status
    assert "llamacpp:tokens_predicted_total" in text
    assert json.loads(post(port, "/tokenize", {"content": "The sky is"}))["tokens"]


def test_eight_requests_are_served_at_once(port: int) -> None:
    assert 8 == len(json.loads(get(port, "/slots")[1]))
