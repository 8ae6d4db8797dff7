"""The decoders give the same whatever way the bytes are cut."""

import itertools
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfd.bench.load.endwatch import EndWatch
from perfd.bench.load.http import ChunkDecoder, MalformedHttpError, ResponseDecoder
from perfd.bench.load.sse import EventDecoder


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


PLACES = st.lists(st.integers(0, 10_000), max_size=30)
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20), max_size=8)


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=8), PLACES)
def test_chunks_join_to_the_body_whatever_the_cuts(pieces: list[bytes], places: list[int]) -> None:
    coded = b"".join(b"%X;ext=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nTrailer: x\r\n\r\n"
    decoder = ChunkDecoder()

    body = b"".join(decoder.feed(part) for part in cut(coded, places))

    assert (b"".join(pieces), True) == (body, decoder.finished)


@given(TEXTS, PLACES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_events_are_the_same_whatever_the_cuts_and_line_ends(texts: list[str], places: list[int], end: str) -> None:
    coded = "".join(f": keep-alive{end}event: x{end}data: {json.dumps(text, ensure_ascii=False)}{end}{end}" for text in texts)
    decoder = EventDecoder()

    events = [event for ns, part in enumerate(cut(coded.encode(), places)) for event in decoder.feed(ns, part)]
    events += decoder.close(99)

    assert texts == [json.loads(event.data) for event in events]


@given(st.binary(max_size=300), PLACES)
def test_any_bytes_give_the_same_events_whole_or_cut(data: bytes, places: list[int]) -> None:
    whole, parts = EventDecoder(), EventDecoder()

    expected = [event.data for event in [*whole.feed(0, data), *whole.close(0)]]
    actual = [event.data for part in cut(data, places) for event in parts.feed(0, part)]
    actual += [event.data for event in parts.close(0)]

    assert expected == actual


def test_an_event_has_the_time_of_the_read_that_completed_its_data_line() -> None:
    decoder = EventDecoder()

    events = [*decoder.feed(1, b"data: on"), *decoder.feed(2, b"e\n"), *decoder.feed(3, b"\ndata: two\n\n")]

    assert [(2, "one"), (3, "two")] == [(event.ns, event.data) for event in events]


def test_several_data_lines_are_one_event() -> None:
    assert ["a\nb"] == [event.data for event in EventDecoder().feed(0, b"data: a\ndata:b\n\n")]


def test_a_character_cut_in_two_is_whole() -> None:
    raw = "data: é漢\n\n".encode()
    decoder = EventDecoder()

    assert ["é漢"] == [event.data for place in range(len(raw)) for event in decoder.feed(0, raw[place : place + 1])]


CODED = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'b\r\ndata: {"a"}\r\n2\r\n\n\n\r\n9\r\ndata: 10\n\r\n1\r\n\n\r\n0\r\n\r\n'
)


@given(PLACES)
def test_the_end_of_a_chunked_response_is_seen_exactly_at_its_end(places: list[int]) -> None:
    watch = EndWatch()
    parts = [part for part in cut(CODED, places) if part]

    seen = [watch.see(part) for part in parts]

    assert [False] * (len(parts) - 1) + [True] == seen


@given(PLACES)
def test_the_end_of_a_crlf_stream_is_seen_exactly_at_its_end(places: list[int]) -> None:
    body = b"".join(b"%x\r\n%s\r\n" % (len(data), data) for data in [b"data: 10\r\n\r\n", b"data: 0\r\n\r\n"]) + b"0\r\n\r\n"
    watch = EndWatch()
    parts = [part for part in cut(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + body, places) if part]

    assert [False] * (len(parts) - 1) + [True] == [watch.see(part) for part in parts]


@given(PLACES)
def test_a_body_of_known_length_ends_at_its_length(places: list[int]) -> None:
    decoder = ResponseDecoder()

    body = b"".join(decoder.feed(part) for part in cut(b"HTTP/1.0 404 Not Found\r\ncontent-length: 5\r\n\r\nhello", places))

    assert (b"hello", True, 404) == (body, decoder.finished, decoder.head.status if decoder.head else 0)


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc no\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20_000,
    ],
)
def test_what_is_no_http_is_told(raw: bytes) -> None:
    with pytest.raises(MalformedHttpError):
        ResponseDecoder().feed(raw)


@given(st.binary(max_size=400))
def test_any_bytes_are_http_or_told_and_none_are_invented(raw: bytes) -> None:
    for begun in (b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with suppress(MalformedHttpError):
            assert len(ResponseDecoder().feed(begun + raw)) <= len(raw)
