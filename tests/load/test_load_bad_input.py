"""Whatever a server does, each request has an outcome and a reason, the rest go on, and the totals add up."""

import signal
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from scripted_server import (
    DONE,
    HEAD,
    LAST,
    Close,
    Forever,
    Reset,
    Script,
    Wait,
    chunk,
    delta,
    event,
    finish,
    plain,
    response,
    scripted,
    stream,
    usage,
)

from perfd.bench.load import LoadPlan, LoadReport, PromptPlan, RequestOutcome, report_json, run_load
from perfd.bench.load.events import Reason
from perfd.errors import BadInputError

TOKEN = chunk(event(delta(content="w ")))
BAD: dict[str, tuple[Script, Reason, str]] = {
    "an error status": (response("503 Busy", b'{"error": {"message": "queue full"}}'), Reason.HTTP_STATUS, "queue full"),
    "a redirect": (response("307 Temporary Redirect", b"", "Location: http://127.0.0.1:1/v1"), Reason.REDIRECT, "give that URL"),
    "an error in mid-stream": (
        [HEAD, TOKEN, chunk(event({"error": {"message": "out of memory"}})), LAST],
        Reason.SERVER_ERROR,
        "out of memory",
    ),
    "a reset in mid-stream": ([HEAD, TOKEN, Reset()], Reason.RESET, "reset"),
    "a close in mid-stream": ([HEAD, TOKEN, Close()], Reason.TRUNCATED, "after 1 events"),
    "a close before anything": ([Close()], Reason.TRUNCATED, "before an answer"),
    "a body that ends too soon": (stream(delta(content="w ")), Reason.TRUNCATED, "without [DONE]"),
    "a stall": ([HEAD, TOKEN, Wait()], Reason.STALL, "no byte for 0.4 s"),
    "malformed JSON": ([HEAD, TOKEN, chunk(b'data: {"choices": [\n\n'), LAST], Reason.MALFORMED_JSON, "choices"),
    "an array instead of an object": (stream([1, 2], DONE), Reason.MALFORMED_JSON, "expected an object"),
    "another content type": (response("200 OK", b"<html>", "Content-Type: text/html"), Reason.WRONG_CONTENT_TYPE, "text/html"),
    "no HTTP": ([b"SSH-2.0-OpenSSH_9.2\r\n\r\n", Close()], Reason.MALFORMED_HTTP, "SSH-2.0"),
    "a broken chunk": ([HEAD, b"zz\r\n", Close()], Reason.MALFORMED_HTTP, "hexadecimal"),
    "no tokens": (stream(delta(role="assistant", content=""), finish("stop"), usage(0), DONE), Reason.NO_TOKENS, "no token"),
    "more tokens than asked": (
        stream(*[delta(content="w ")] * 9, finish(), usage(9), DONE),
        Reason.IGNORED_MAX_TOKENS,
        "9 tokens, 8",
    ),
    "tokens without end": ([HEAD, Forever(TOKEN)], Reason.IGNORED_MAX_TOKENS, "8 tokens were asked"),
    "empty events without end": ([HEAD, Forever(chunk(event(delta(content=""))))], Reason.ENDLESS, "cut after"),
}


def plan(url: str, **changes: Any) -> LoadPlan:
    given: dict[str, Any] = {
        "requests": 3,
        "concurrency": 1,
        "prompts": PromptPlan(max_tokens=8, prompt_tokens=20),
        "stall_s": 0.4,
        "ahead_s": 0.005,  # every window begins so long after the call
        **changes,
    }
    return LoadPlan(url=url, model="m", **given)


def totals(report: LoadReport) -> tuple[int, int, int, int]:
    assert report.sent == report.completed + report.failed + report.cancelled
    return report.sent, report.completed, report.failed, report.cancelled


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_a_failed_request_with_its_reason_and_the_rest_go_on(name: str) -> None:
    script, reason, words = BAD[name]
    with scripted(lambda number: script if number == 1 else plain()) as server:
        report = run_load(plan(server.url, keep_alive=False))

    assert (3, 2, 1, 0) == totals(report)
    assert [Reason.NONE, reason, Reason.NONE] == [trace.reason for trace in report.traces]
    assert words in report.traces[1].detail


def test_all_bad_answers_at_once_add_up() -> None:
    scripts = [script for script, _, _ in BAD.values()]
    with scripted(lambda number: scripts[number] if number < len(scripts) else plain()) as server:
        report = run_load(plan(server.url, requests=len(scripts) + 10, concurrency=len(scripts), keep_alive=False))

    expected: dict[str, int] = {}
    for _, reason, _ in BAD.values():
        expected[reason.value] = expected.get(reason.value, 0) + 1
    assert (len(scripts) + 10, 10, len(scripts), 0) == totals(report)
    assert expected == report.failures


def test_comments_without_end_are_a_time_out() -> None:
    with scripted(lambda _: [HEAD, Forever(chunk(b": ping\n\n"))]) as server:
        report = run_load(plan(server.url, requests=1, request_timeout_s=0.3))

    assert {"timeout": 1} == report.failures


def test_a_server_that_is_not_there_fails_every_request() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    report = run_load(plan(f"http://127.0.0.1:{port}", rate_rps=100.0, concurrency=None))

    assert ((3, 0, 3, 0), {"connect": 3}, False) == (totals(report), report.failures, report.valid)
    assert "ECONNREFUSED" in report.why_invalid[0]


def test_what_is_under_way_when_the_drain_ends_is_cancelled() -> None:
    with scripted(lambda number: plain() if number else [HEAD, TOKEN, Wait()]) as server:
        report = run_load(plan(server.url, concurrency=None, rate_rps=50.0, drain_s=0.3, stall_s=30.0))

    assert ((3, 2, 0, 1), {"window_end": 1}) == (totals(report), report.failures)


def test_a_host_that_does_not_exist_is_told() -> None:
    with pytest.raises(BadInputError, match="cannot be resolved"):
        run_load(plan("http://no-such-host.invalid"))


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x", "http://", "http://x:port"])
def test_what_is_no_url_is_told(url: str) -> None:
    with pytest.raises(BadInputError, match=r"no (http or https )?URL"):
        run_load(plan(url))


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "漢"])
def test_a_header_that_http_cannot_carry_is_told(value: str) -> None:
    with pytest.raises(BadInputError, match="a header holds"):
        run_load(plan("http://127.0.0.1:1", headers={"Authorization": value}))


def test_ctrl_c_ends_the_window_and_reports_what_was_measured() -> None:
    finished = threading.Event()

    def script(number: int) -> Script:
        if number == 3:
            finished.set()
            return [HEAD, TOKEN, Wait()]
        return plain()

    def press() -> None:
        finished.wait(20)
        signal.raise_signal(signal.SIGINT)

    with scripted(script) as server:
        thread = threading.Thread(target=press)
        thread.start()
        report = run_load(plan(server.url, requests=100, stall_s=30.0))
        thread.join()

    assert ((4, 3, 0, 1), {"interrupted": 1}) == (totals(report), report.failures)
    assert report_json(report)["window"]["interrupted"]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    path = folder / "server.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += [
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout",
        str(folder / "key.pem"),
        "-out",
        str(folder / "cert.pem"),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed, and it makes the certificate that this test needs")
    path.write_text((folder / "key.pem").read_text() + (folder / "cert.pem").read_text())
    return path


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_https_with_a_known_certificate_is_measured(certificate: Path) -> None:
    with scripted(lambda _: plain(), server_context(certificate)) as server:
        url = server.url.replace("http:", "https:")
        report = run_load(plan(url, ca_file=certificate.with_name("cert.pem")))

    assert (3, 3, 0, 0) == totals(report)


def test_a_long_prompt_over_tls_arrives_whole_and_is_encrypted_slice_by_slice(certificate: Path) -> None:
    from perfd.bench.load.connection import SLICE_BYTES

    tokens = 3 * SLICE_BYTES // 4
    with scripted(lambda _: plain(), server_context(certificate)) as server:
        long = PromptPlan(max_tokens=8, prompt_tokens=tokens)
        report = run_load(plan(server.url.replace("http:", "https:"), verify_tls=False, prompts=long, requests=2))

    assert (2, 2, 0, 0) == totals(report)
    assert [tokens, tokens] == [len(body["messages"][0]["content"].split()) for body in server.requests]
    assert all(trace.body_sent_ns is not None and trace.sent_ns is not None for trace in report.traces)


def test_an_unknown_certificate_is_a_tls_failure(certificate: Path) -> None:
    with scripted(lambda _: plain(), server_context(certificate)) as server:
        report = run_load(plan(server.url.replace("http:", "https:")))

    assert ({"tls": 3}, "certificate" in report.traces[0].detail) == (report.failures, True)


def test_an_unknown_certificate_is_accepted_where_asked(certificate: Path) -> None:
    with scripted(lambda _: plain(), server_context(certificate)) as server:
        report = run_load(
            plan(server.url.replace("http:", "https:"), verify_tls=False, requests=6, rate_rps=100.0, keep_alive=False)
        )

    assert (6, 6, 0, 0) == totals(report)


def test_https_to_a_plain_server_is_a_tls_failure() -> None:
    with scripted(lambda _: plain()) as server:
        report = run_load(plan(server.url.replace("http:", "https:"), requests=1, connect_timeout_s=0.5))

    assert RequestOutcome.FAILED is report.traces[0].outcome
