"""Server-sent events: the framing of a response that is streamed.

One JSON-RPC message is one event. A message is encoded without newlines, so an event is one `data`
line; comment lines keep idle connections open. See "Receiving Messages" in the Streamable HTTP page
of revision 2026-07-28, and https://html.spec.whatwg.org/multipage/server-sent-events.html.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["KEEP_ALIVE", "STREAM_HEADERS", "frame", "frames"]

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment: carries nothing, and shows intermediaries that the connection lives."""

STREAM_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]
"""What a streamed response is headed with: never cached, never held back by a proxy."""


def frame(message: bytes) -> bytes:
    """Return one JSON-RPC message as an event."""
    return b"data: " + message + b"\n\n"


def frames(messages: Iterable[bytes]) -> bytes:
    """Return several messages as events, in one piece."""
    return b"".join([b"data: " + message + b"\n\n" for message in messages])
