"""A tiny streaming engine: an OpenAI-compatible server that answers on a fixed timetable, in one file of the standard library.

It stands in for no real engine's speed; it is a real server whose truth is known. Token i of an answer leaves at
`first token + i * TOKEN_S` on an absolute timetable, so that sleeps that come late do not add up. Change TOKEN_S and it is
slower; nothing else decides the time per token. Knobs for its misbehaviour are in `Knobs`, read from the environment
(`TINY_DIE_AFTER=5`, …); the address comes from `--host` and `--port`.
"""

import argparse
import hashlib
import json
import math
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, ClassVar

TOKEN_S = 0.002
"""Time between two tokens of an answer."""
FIRST_TOKEN_S = 0.004
"""Time from the end of a request to its first token, whatever the prompt."""
VOCABULARY = 256
"""Token ids are below this; a token is a word with the white space before it, its id a byte of its hash."""
WORD = re.compile(r"\s*\S+")


@dataclass(frozen=True)
class Knobs:
    """How the engine misbehaves; 0 or "" means that it does not."""

    token_s: float = TOKEN_S
    first_token_s: float = FIRST_TOKEN_S
    die_after: int = 0
    """Ends the process (exit 7) in the middle of the answer to this request, counted from 1."""
    hang_after: int = 0
    """Never finishes the answer to this request and all that follow."""
    ready_after_s: float = 0.0
    never_ready: int = 0
    die_at_start: int = 0
    ignore_term: int = 0
    nonsense: int = 0
    """Answers 200 with something that is no answer."""
    no_usage: int = 0
    no_logprobs: int = 0
    error_after: int = 0
    """Answers 500 to this request and all that follow."""
    blur: float = 0.0
    """Adds noise of this size to the logits: a wrong kernel, as far as accuracy can tell."""
    slow_file: str = ""
    """Where this file is at the start, a token takes as many times as long as it says: a machine that has a bad night."""
    forget_pid: str = ""
    """Starts a grandchild in a session of its own and writes its process id into this file."""


def knobs_from(environment: dict[str, str]) -> Knobs:
    """Knobs with the values of TINY_NAME where they are set."""
    kinds: dict[str, Any] = {field.name: field.type for field in fields(Knobs)}
    seen = {name: environment.get(f"TINY_{name.upper()}") for name in kinds}
    return Knobs(**{name: kinds[name](text) for name, text in seen.items() if text is not None})


def logits(previous: int, blur: float) -> list[float]:
    """What the engine thinks may follow the token `previous`: fixed numbers between -2 and 5, a quarter of them favoured."""
    seed = hashlib.sha256(bytes([previous])).digest() * 8
    noise = hashlib.sha256(bytes([previous, 1])).digest() * 8
    favour = [2.0 if token % 4 == previous % 4 else 0.0 for token in range(VOCABULARY)]
    return [
        favour[token] + seed[token] / 64 - 2 + ((seed[token] * 31 + token * 17) % 97) / 97 + blur * (noise[token] / 128 - 1)
        for token in range(VOCABULARY)
    ]


@cache
def log_probs(previous: int, blur: float) -> list[float]:
    """Normalised natural logarithms, by token."""
    raw = logits(previous, blur)
    top = max(raw)
    total = top + math.log(sum(math.exp(value - top) for value in raw))
    return [value - total for value in raw]


def answer_token(prompt: str, index: int) -> str:
    """The token at `index` of the greedy answer to `prompt`: decided by both, so that prompts can be told apart."""
    return " w" + hashlib.sha256(f"{prompt}\0{index}".encode()).hexdigest()[:3]


class Handler(BaseHTTPRequestHandler):
    """One connection; HTTP/1.1 with keep-alive."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "TinyEngine"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Nothing: an access log would cost time between tokens."""

    def do_GET(self) -> None:
        """Readiness, the model's name, counters."""
        if self.path == "/health":
            ready = self.server.is_ready()
            self.send_json({"status": "ok" if ready else "loading"}, 200 if ready else 503)
        elif self.path == "/v1/models":
            self.send_json({"object": "list", "data": [{"id": "tiny", "object": "model"}]})
        elif self.path == "/metrics":
            self.send_text(self.server.counters(), "text/plain")
        else:
            self.send_json({"error": {"message": f"no such path: {self.path}"}}, 404)

    def do_POST(self) -> None:
        """Answers, tokens, log-probabilities."""
        arrived = time.perf_counter()
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self.path in {"/v1/chat/completions", "/v1/completions"}:
            self.complete(body, arrived, chat=self.path.endswith("chat/completions"))
        elif self.path == "/completion":
            self.send_json(self.score(body))
        elif self.path == "/tokenize":
            self.send_json({"tokens": token_ids(str(body.get("content", "")))})
        else:
            self.send_json({"error": {"message": f"no such path: {self.path}"}}, 404)

    def complete(self, body: dict[str, Any], arrived: float, *, chat: bool) -> None:
        """Stream (or send whole) an answer of exactly `max_tokens` tokens."""
        number, knobs = self.server.count_request(), self.server.knobs
        if knobs.error_after and number >= knobs.error_after:
            self.send_json({"error": {"message": "the tiny engine was told to fail"}}, 500)
            return
        if knobs.nonsense:
            self.send_text("<html>moo</html>", "text/html")
            return
        prompt = flatten(body.get("messages")) if chat else str(body.get("prompt", ""))
        count = int(body.get("max_tokens") or body.get("max_completion_tokens") or 16)
        self.server.count_tokens(len(token_ids(prompt)), count)
        events = self.events(body, prompt, count, chat=chat)
        if body.get("stream"):
            self.stream(events, arrived, number, count)
        else:
            time.sleep(knobs.first_token_s + knobs.token_s * count)
            answer = whole_answer(prompt, count, chat=chat)
            if body.get("logprobs") and not knobs.no_logprobs:
                answer["choices"][0]["logprobs"] = legacy_logprobs(prompt, answer["choices"][0]["text"], knobs.blur, body)
            self.send_json(answer)

    def events(self, body: dict[str, Any], prompt: str, count: int, *, chat: bool) -> Iterator[dict[str, Any]]:
        """The chunks of an answer in order: tokens, the end, and usage where it was asked for."""
        for index in range(count):
            yield chunk(chat=chat, text=answer_token(prompt, index))
        yield chunk(chat=chat, text="", finish="length")
        asked = (body.get("stream_options") or {}).get("include_usage")
        if asked and not self.server.knobs.no_usage:
            yield {"object": "chunk", "choices": [], "usage": usage(prompt, count)}

    def stream(self, events: Iterator[dict[str, Any]], arrived: float, number: int, count: int) -> None:
        """Send every event at its time; the connection stays open for the next request."""
        knobs = self.server.knobs
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for index, event in enumerate(events):
            if index < count:
                sleep_until(arrived + knobs.first_token_s + index * knobs.token_s)
            self.misbehave(number, index)
            self.send_chunk(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.send_chunk(b"data: [DONE]\n\n")
        self.send_chunk(b"")

    def misbehave(self, number: int, index: int) -> None:
        """Die or hang after the second token, when the knobs say so."""
        knobs = self.server.knobs
        if index == 2 and knobs.die_after and number >= knobs.die_after:
            sys.stdout.write("tiny engine: told to die\n")
            sys.stdout.flush()
            os._exit(7)
        if index == 2 and knobs.hang_after and number >= knobs.hang_after:
            time.sleep(3600)

    def score(self, body: dict[str, Any]) -> dict[str, Any]:
        """llama-server's /completion with n_probs: greedy tokens after the prompt, each with its likeliest candidates."""
        prompt, blur = body.get("prompt", []), self.server.knobs.blur
        tokens = token_ids(prompt) if isinstance(prompt, str) else [int(token) for token in prompt]
        steps, previous = [], tokens[-1] if tokens else 0
        for _ in range(int(body.get("n_predict", 1))):
            steps.append(step(log_probs(previous, blur), int(body.get("n_probs", 0))))
            previous = steps[-1]["id"]
        content = "".join(one["token"] for one in steps)
        return {"content": content, "tokens_evaluated": len(tokens), "completion_probabilities": steps}

    def send_chunk(self, data: bytes) -> None:
        """One HTTP chunk in one write."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def send_json(self, document: dict[str, Any], status: int = 200) -> None:
        """A whole JSON answer."""
        self.send_text(json.dumps(document), "application/json", status)

    def send_text(self, text: str, kind: str, status: int = 200) -> None:
        """A whole answer."""
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class TinyEngine(ThreadingHTTPServer):
    """The server: a thread for each connection."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256
    names: ClassVar[tuple[str, ...]] = ("prompt_tokens", "generation_tokens")

    def __init__(self, address: tuple[str, int], knobs: Knobs) -> None:
        super().__init__(address, Handler)
        self.knobs = knobs
        self.started = time.monotonic()
        self.requests = 0
        self.tokens = dict.fromkeys(self.names, 0)

    def is_ready(self) -> bool:
        """Whether /health says so."""
        return not self.knobs.never_ready and time.monotonic() - self.started >= self.knobs.ready_after_s

    def count_request(self) -> int:
        """The number of this request, from 1."""
        self.requests += 1
        return self.requests

    def count_tokens(self, prompt: int, output: int) -> None:
        """Add to the counters that /metrics shows."""
        self.tokens["prompt_tokens"] += prompt
        self.tokens["generation_tokens"] += output

    def counters(self) -> str:
        """Prometheus text, named as llama-server names them."""
        prompt, output = self.tokens["prompt_tokens"], self.tokens["generation_tokens"]
        return f"llamacpp:prompt_tokens_total {prompt}\nllamacpp:tokens_predicted_total {output}\n"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


def sleep_until(due: float) -> None:
    """Return at `due` (of perf_counter), or at once when it has passed."""
    wait = due - time.perf_counter()
    if wait > 0:
        time.sleep(wait)


def token_ids(text: str) -> list[int]:
    """One token a word."""
    return [hashlib.sha256(word.encode()).digest()[0] for word in WORD.findall(text)]


def flatten(messages: list[dict[str, Any]] | None) -> str:
    """All messages as one text."""
    return "\n".join(str(message.get("content", "")) for message in messages or [])


def chunk(*, chat: bool, text: str, finish: str | None = None) -> dict[str, Any]:
    """One streamed chunk."""
    payload: dict[str, Any] = {"delta": {"content": text} if text else {}} if chat else {"text": text}
    return {"object": "chunk", "choices": [{"index": 0, "finish_reason": finish, **payload}]}


def usage(prompt: str, count: int) -> dict[str, Any]:
    """What was counted."""
    prompt_tokens = len(token_ids(prompt))
    details = {"cached_tokens": 0}
    total = prompt_tokens + count
    return {"prompt_tokens": prompt_tokens, "completion_tokens": count, "total_tokens": total, "prompt_tokens_details": details}


def whole_answer(prompt: str, count: int, *, chat: bool) -> dict[str, Any]:
    """An answer that is not streamed."""
    text = "".join(answer_token(prompt, index) for index in range(count))
    payload: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    return {"choices": [{"index": 0, "finish_reason": "length", **payload}], "usage": usage(prompt, count)}


def step(table: list[float], top_k: int) -> dict[str, Any]:
    """One greedy token in llama-server's form, with its `top_k` likeliest candidates."""
    order = sorted(range(VOCABULARY), key=lambda token: -table[token])
    top = [{"id": token, "token": f" {token}", "logprob": table[token]} for token in order[:top_k]]
    return {"id": order[0], "token": f" {order[0]}", "logprob": table[order[0]], "top_logprobs": top}


def legacy_logprobs(prompt: str, answer: str, blur: float, body: dict[str, Any]) -> dict[str, Any]:
    """The legacy form of log-probabilities: of the prompt too where `echo` asks for it."""
    text = prompt + answer if body.get("echo") else answer
    words = list(WORD.finditer(text))
    ids = token_ids(text)
    values = [None, *(log_probs(before, blur)[after] for before, after in pairwise(ids))]
    told = {"tokens": [word.group() for word in words], "token_logprobs": values, "text_offset": [word.start() for word in words]}
    if int(body["logprobs"]) > 1:
        steps = [step(log_probs(before, blur), int(body["logprobs"])) for before in ids[:-1]]
        told["top_logprobs"] = [None, *({top["token"]: top["logprob"] for top in one["top_logprobs"]} for one in steps)]
    return told


def forget_grandchild(path: str) -> None:
    """Leave a sleeping process in a session of its own behind, as a careless engine would."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would double the start-up time
            file.write(str(os.getpid()))
        time.sleep(3600)
        os._exit(0)


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    knobs = knobs_from(dict(os.environ))
    if knobs.die_at_start:
        sys.exit("tiny engine: told to die at start")
    if knobs.slow_file and os.path.exists(knobs.slow_file):  # noqa: PTH110 - pathlib would double the start-up time
        with open(knobs.slow_file, encoding="utf-8") as file:  # noqa: PTH123
            knobs = replace(knobs, token_s=knobs.token_s * float(file.read()))
    if knobs.forget_pid:
        forget_grandchild(knobs.forget_pid)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if knobs.ignore_term else lambda *_: os._exit(0))
    server = TinyEngine((options.host, options.port), knobs)
    sys.stdout.write(f"tiny engine: listening on {options.host}:{options.port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
