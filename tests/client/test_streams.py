"""Server-sent events and frames, read piece by piece and mended where they must be."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.client.answers import decode_value
from anyshape.client.transports.events import EventReader, ReceivedEvent, pieces_of
from anyshape.client.transports.frames import read_frame
from anyshape.errors import AnyshapeError, LimitExceeded, ProtocolError, TransportError
from anyshape.protocol.jsonrpc import Malformed, Notification, Response

STREAM = (
    b"\xef\xbb\xbf: comment\nevent: endpoint\ndata: /a\n\n"
    b'id: 7\nretry: 1500\ndata: {"a":\ndata: 1}\n\n'
    b"data\n\ndata:  two\nunknown: x\n\nid: with\0null\nretry: soon\n\ndata: lost"
)
EVENTS = [
    ReceivedEvent(b"/a", b"endpoint"),
    ReceivedEvent(b'{"a":\n1}'),
    ReceivedEvent(b""),
    ReceivedEvent(b" two"),
]


@given(st.sampled_from([b"\n", b"\r\n", b"\r"]), st.lists(st.integers(0, len(STREAM) * 2)))
def test_events_are_the_same_however_they_are_cut(ending: bytes, cuts: list[int]) -> None:
    text = STREAM.replace(b"\n", ending)
    reader = EventReader("the server", 1000)
    events: list[ReceivedEvent] = []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(text)], strict=True):
        events += reader.feed(text[start:end])
    assert events == EVENTS
    assert (reader.last_id, reader.retry) == ("7", 1.5)


def test_every_line_counts_of_a_stream_that_comes_byte_by_byte() -> None:
    reader = EventReader("the server", 100)
    pieces = [b"data: x", b"\r", b"\n", b"\n", b"data: y", b"\r", b"\n", b"\r", b"\n"]
    assert [event.data for piece in pieces for event in reader.feed(piece)] == [b"x", b"y"]


def test_a_chunk_of_many_lines_is_read_in_pieces_and_any_other_at_once() -> None:
    for chunk in (b"", b":\n" * 4096, b"data: x\n\n" * 500 + b"x" * 300_000):
        assert [*pieces_of(chunk)] == [chunk]
    for lines in (b":\n", b"\r", b"\n", b"data: xy\r\n"):
        pieces = [*pieces_of(lines * 30_000)]
        assert b"".join(pieces) == lines * 30_000
        assert max(map(len, pieces)) == 8192


def test_an_id_that_no_header_can_carry_is_as_good_as_none() -> None:
    reader = EventReader("the server", 100_000)
    for length, is_kept in ((8192, True), (8193, False), (1, True), (50_000, False)):
        reader.feed(b"id: %b\n\n" % (b"x" * length))
        assert reader.last_id == ("x" * length if is_kept else None)


@pytest.mark.parametrize("text", [b"data: " + b"x" * 200, b"data: xxxxxxxxx\n" * 20])
def test_an_event_that_grows_without_end_is_refused(text: bytes) -> None:
    reader = EventReader("the server", 100)
    pieces = [text[start : start + 7] for start in range(0, len(text), 7)]
    with pytest.raises(TransportError, match="100 bytes"):
        any(map(reader.feed, pieces))


def test_many_small_events_are_not_one_large_one() -> None:
    reader = EventReader("the server", 100)
    assert len(reader.feed(b"data: x\n\n" * 1000)) == 1000


@pytest.mark.parametrize("lines", [4095, 4096, 4097, 4098, 10_000])
def test_an_event_of_many_lines_is_whole(lines: int) -> None:
    reader = EventReader("the server", 100_000)
    texts = [b"%d" % number for number in range(lines)]
    for last in (b"", b"x"):
        said = b"\n".join([*texts, last])
        written = b"".join(b"data: %b\n" % text for text in said.split(b"\n"))
        for start in range(0, len(written), 1000):
            assert reader.feed(written[start : start + 1000]) == []
        assert reader.feed(b"\n") == [ReceivedEvent(said)]


def test_an_event_of_many_short_lines_takes_little_more_than_its_length() -> None:
    reader = EventReader("the server", 1_000_000)
    tracemalloc.start()
    try:
        for _ in range(300):
            reader.feed(b"data: xy\n" * 1000)
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def frame(result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"result":%b}' % result


@pytest.mark.parametrize("levels", [500, 3000, 20_000])
def test_a_part_that_is_too_deep_spoils_only_itself(levels: int) -> None:
    text = b'{"good":{"a":"]["},"deep":%b,"after":"\\"[{"}' % nested(levels)
    (message,) = read_frame(frame(text))
    assert isinstance(message, Response)
    assert message.result is not None
    assert b'"after":"\\"[{"' in bytes(message.result)
    with pytest.raises(LimitExceeded):
        decode_value(message.result, 300)


def test_half_a_surrogate_pair_spoils_only_itself() -> None:
    whole = json.dumps({"pair": "\U0001f600", "backslash": "\\ud800"})
    (message,) = read_frame(frame(whole.encode()))
    assert isinstance(message, Response)
    assert message.result is not None
    assert decode_value(message.result, 100) == json.loads(whole)
    for half in (b'"\\ud800"', b'"\\udc00\\ud800"', b'"x\\uDBFFy"'):
        (message,) = read_frame(frame(b'{"a":1,"b":%b}' % half))
        assert isinstance(message, Response)
        assert message.result is not None
        with pytest.raises(ProtocolError, match="surrogate"):
            decode_value(message.result, 100)


def test_broken_depth_stays_broken() -> None:
    (message,) = read_frame(b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 5000)
    assert isinstance(message, Malformed)


def test_a_batch_is_its_messages() -> None:
    note = b'{"jsonrpc":"2.0","method":"n"}'
    messages = read_frame(b"[%b,%b,5]" % (note, frame(b"{}")))
    assert [type(message) for message in messages] == [Notification, Response, Malformed]


@given(st.binary(max_size=200))
def test_no_frame_raises(data: bytes) -> None:
    read_frame(data)
    read_frame(frame(data))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        ),
    ),
    st.integers(1, 6),
)
def test_depth_is_counted_exactly(value: object, limit: int) -> None:
    def depth(part: object) -> int:
        if isinstance(part, dict):
            return 1 + max(map(depth, part.values()), default=0)  # pyright: ignore
        if isinstance(part, list):
            return 1 + max(map(depth, part), default=0)  # pyright: ignore
        return 0

    text = json.dumps(value).encode()
    try:
        assert decode_value(text, limit) == value
        assert depth(value) <= limit
    except AnyshapeError:
        assert depth(value) > limit or b"\\ud" in text or b"\\ufdd0" in text
