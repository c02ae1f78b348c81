"""Laws of the news: whoever comes back is told what they missed, and ids say no more than that."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from anyshape.protocol.clients import KnownClients
from anyshape.server import Sessions
from anyshape.server.features.announcements import Listeners, Topic
from anyshape.server.sessions import SessionIds
from anyshape.server.streams.event_ids import (
    NewsId,
    ReplyId,
    is_of_session,
    new_stream,
    read_event_id,
    sealed_stream,
)

TOPICS = [Topic("changed", b'"n":%d' % number) for number in range(5)]
NUMBERS = st.integers(min_value=0, max_value=10**15)


@given(st.lists(st.sampled_from(TOPICS), max_size=40), st.data())
@settings(max_examples=200)
def test_what_changed_behind_a_position_is_told_once_in_order(
    changes: list[Topic], data: st.DataObject
) -> None:
    listeners = Listeners()
    positions = [listeners.position]
    for topic in changes:
        listeners.notify(topic)
        positions.append(listeners.position)
    at = data.draw(st.integers(0, len(changes)))
    wanted = data.draw(st.lists(st.sampled_from(TOPICS), unique=True))
    told = [topic for topic, _ in listeners.since(positions[at], wanted)]
    missed = changes[at:]
    last_first = list(dict.fromkeys(reversed(missed)))
    assert told == [topic for topic in reversed(last_first) if topic in wanted]


@given(st.tuples(NUMBERS, NUMBERS))
def test_who_was_somewhere_else_is_told_of_everything(position: tuple[int, int]) -> None:
    listeners = Listeners()
    start = listeners.position
    told = [topic for topic, _ in listeners.since(position, TOPICS)]
    assert told == ([] if position == start else TOPICS)


@given(NUMBERS, NUMBERS)
def test_an_event_id_is_read_as_it_was_written(time: int, number: int) -> None:
    news, reply = NewsId((time, number), new_stream()), ReplyId(new_stream(), number)
    assert read_event_id(bytes(news)) == news
    assert read_event_id(bytes(reply)) == reply


@given(st.binary(max_size=200) | st.from_regex(rb"[nr](\.[\w-]{0,30}){1,4}", fullmatch=True))
@settings(max_examples=500)
def test_any_event_id_is_read_or_refused(text: bytes) -> None:
    found = read_event_id(text)
    assert found is None or read_event_id(bytes(found)) == found


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=40))
def test_a_stream_is_of_the_session_it_was_named_for(one: str, other: str, forged: str) -> None:
    ids = SessionIds(Sessions(keys=(b"k" * 32,)), KnownClients(()))
    stream = sealed_stream(ids, one)
    assert is_of_session(ids, one, stream)
    assert is_of_session(ids, other, stream) == (one == other)
    assert not is_of_session(ids, one, forged)
    stranger = SessionIds(Sessions(keys=(b"o" * 32,)), KnownClients(()))
    assert not is_of_session(stranger, one, stream)
