"""What is remembered is what would be made: one making for many, nothing stale, and never more than fits."""

import threading
import time

import pytest
from starlette.requests import Request
from starlette.responses import Response

from perfd.site.memory import Memory


def asking(encoding: str = "gzip") -> Request:
    return Request({"type": "http", "headers": [(b"accept-encoding", encoding.encode())]})


def test_many_who_ask_at_once_wait_for_one_making() -> None:
    memory, made = Memory(), []

    def make() -> int:
        time.sleep(0.05)
        made.append(1)
        return len(made)

    told: list[int] = []
    threads = [threading.Thread(target=lambda: told.append(memory.fact("home", make))) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert [1] * 8 == told
    assert 2 == memory.fact("home at another version", make)


def test_what_failed_is_made_again() -> None:
    memory = Memory()

    def fail() -> str:
        raise LookupError

    with pytest.raises(LookupError):
        memory.fact("page", fail)
    assert "made" == memory.fact("page", lambda: "made")


def test_an_answer_reads_the_same_packed_and_plain() -> None:
    text = "Series " * 1000
    packed = Memory().answer("all", lambda: Response(text, media_type="text/csv", headers={"Content-Disposition": "inline"}))
    plain, small = packed.answer(asking("identity")), packed.answer(asking())

    assert text == bytes(plain.body).decode()
    assert ("gzip", "Accept-Encoding") == (small.headers["content-encoding"], small.headers["vary"])
    assert len(small.body) < len(text) / 10
    assert {"inline"} == {one.headers["content-disposition"] for one in (plain, small)}
    assert {"text/csv; charset=utf-8"} == {one.headers["content-type"] for one in (plain, small)}


def test_what_was_not_asked_for_longest_is_forgotten_first() -> None:
    memory, made = Memory(most_bytes=50_000), []

    def fact(name: str) -> str:
        return memory.fact(name, lambda: made.append(name) or name)

    for name in ("one", "two", "one", "three", "one", "two"):
        assert name == fact(name)
    assert ["one", "two", "three", "two"] == made


def test_what_is_recent_is_asked_for_once_a_while_and_without_one_each_time() -> None:
    memory, asked = Memory(), []

    def ask() -> int:
        asked.append(1)
        return len(asked)

    assert [1, 2] == [memory.recent("version", ask, 0.0) for _ in range(2)]
    assert 1 == len({memory.recent("version", ask, 3600.0) for _ in range(3)})
    memory.written()
    assert [4, 4] == [memory.recent("version", ask, 3600.0) for _ in range(2)]
