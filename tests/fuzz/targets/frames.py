"""What a server writes, as a client first sees it: frames, events, and lines."""

from __future__ import annotations

from pathlib import Path

from anyshape.client.transports.events import EventReader, ReceivedEvent
from anyshape.client.transports.frames import read_frame, read_ordinary
from anyshape.errors import TransportError
from anyshape.protocol.jsonrpc import (
    Malformed,
    Notification,
    Request,
    Response,
    decode,
    encode_answer,
    request_key,
)
from anyshape.protocol.lines import Line, LineSplitter

from . import Target

SEEDS = (
    b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}',
    b'{"jsonrpc":"2.0","id":"a\\u0041","method":"ping"}',
    b'[{"jsonrpc":"2.0","id":1.0,"result":{}},{"jsonrpc":"2.0","id":2}]',
    b'{"jsonrpc":"2.0","id":1,"result":{"a":"\\ud800"}}',
    b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}',
    b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 500 + b"]" * 500 + b"}",
    b'id: 1\nevent: message\nretry: 10\ndata: {"jsonrpc":"2.0"}\n\n: comment\r\ndata: x\r\r',
    b"\xef\xbb\xbfdata: a\ndata: b\n\nid: \0\ndata\n\n",
)


def run(data: bytes) -> None:
    """Read it as each of them, whole and in pieces."""
    for message in read_frame(data):
        assert isinstance(message, Request | Notification | Response | Malformed)
        if isinstance(message, Response):
            assert isinstance(decode(encode_answer(message)), Response)
        if isinstance(message, Malformed):
            assert "\n" not in message.message
        elif not isinstance(message, Notification) and message.id is not None:
            assert request_key(message.id) == request_key(request_key(message.id))
    read_ordinary(data, 1, 200)
    cut = len(data) // 2
    # A long line that means nothing is refused only where it has to be kept.
    found = [events(data), events(data[:cut], data[cut:])]
    if len(data) < 300:
        found.append(events(*(data[at : at + 1] for at in range(len(data)))))
    assert len({tuple(each) for each in found if each is not None}) <= 1, found
    assert lines(data[:cut], data[cut:]) == lines(data)


def lines(*chunks: bytes) -> list[Line]:
    """Return the lines that have ended."""
    splitter = LineSplitter(512, 16)
    found = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()
    return [line for line in found if isinstance(line, bytes) or line.tail is not None]


def events(*chunks: bytes) -> list[ReceivedEvent] | None:
    """Return the events of a stream, `None` if it was refused."""
    reader = EventReader("the server", 512)
    try:
        return [event for chunk in chunks for event in reader.feed(chunk)]
    except TransportError:
        return None


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, max_bytes=4_096, short=500)
