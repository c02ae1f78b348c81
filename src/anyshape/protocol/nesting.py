"""How deeply a message nests and how many parts it has, bounded before anything reads it.

A decoder recurses once per level, so without a bound of our own the depth that is refused would be
whatever the interpreter's stack has left. And what it makes of `[],[],[],` takes thirty times the
room of the text and a second for fifteen megabytes, in which nothing else runs. Looking at every
byte would cost more than reading the message does; most messages are cleared by their length,
nearly all others by counting brackets.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final

_STEPS: Final = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
"""Down for an opening bracket, up for a closing one, as signed bytes."""
_OTHERS: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_NO_PARTS: Final = bytes(byte for byte in range(256) if byte not in b'[{:"')
MOST_PARTS: Final = 500_000
"""Arrays, objects and members of objects that a message may hold together: to make that many takes
a tenth of a second. Numbers are bounded well enough by the length of the message."""


def is_too_deep(frame: bytes, limit: int) -> bool:
    """Tell whether arrays and objects nest more than `limit` deep; the outermost is one level."""
    return not is_surely_shallow(frame, limit) and nesting(frame) > limit


def is_surely_shallow(frame: bytes, limit: int) -> bool:
    """Tell whether a frame is too short, or has too few brackets, to nest more than `limit` deep.

    If not, `nesting` has to find out.
    """
    if len(frame) <= 2 * limit:
        return True
    # Taking brackets out skips from one to the next, where `count` compares byte by byte: it takes
    # half the time, and ends where there are too many.
    rest = frame.replace(b"{", b"", limit + 1).replace(b"[", b"", limit + 1)
    return len(frame) - len(rest) <= limit


def nesting(frame: bytes) -> int:
    """Return how deeply arrays and objects nest, whether or not the rest of the frame is JSON."""
    steps = _outside_strings(frame, _STEPS, _OTHERS)
    return max(accumulate(memoryview(steps).cast("b"), initial=0))


def has_too_many_parts(frame: bytes, most: int = MOST_PARTS) -> bool:
    """Tell whether a frame holds more arrays, objects and members of objects than that.

    Four times as many texts are too many as well: a short one takes sixteen times its room.
    """
    if len(frame) <= 2 * most:
        return False
    if frame.count(b'"') > 8 * most and _without_escapes(frame).count(b'"') > 8 * most:
        return True
    return sum(map(frame.count, (b"[", b"{", b":"))) > most and count_parts(frame) > most


def count_parts(frame: bytes) -> int:
    """Return how many arrays, objects and members of objects a frame holds."""
    return len(_outside_strings(frame, None, _NO_PARTS))


def _outside_strings(frame: bytes, table: bytes | None, others: bytes) -> bytes:
    """Return what `table` makes of the characters outside strings, without `others`."""
    # What is left of a string without such characters is a pair of quotes.
    found = _without_escapes(frame).translate(table, others).replace(b'""', b"")
    return b"".join(found.split(b'"')[::2]) if b'"' in found else found


def _without_escapes(frame: bytes) -> bytes:
    """Return a frame in which every quote begins or ends a string."""
    if b"\\" not in frame:
        return frame
    return frame.replace(b"\\\\", b"").replace(b'\\"', b"")
