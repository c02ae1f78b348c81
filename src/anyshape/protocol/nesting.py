"""How deeply a message nests, bounded before anything reads it.

A decoder recurses once per level, so without a bound of our own the depth that is refused would be
whatever the interpreter's stack has left. Looking at every byte would cost more than reading the
message does; most messages are cleared by their length, nearly all others by counting brackets.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final

_STEPS: Final = bytes.maketrans(b"[]{}", b"\x01\xff\x01\xff")
"""Down for an opening bracket, up for a closing one, as signed bytes."""
_OTHERS: Final = bytes(byte for byte in range(256) if byte not in b'[]{}"')


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
    if b"\\" in frame:
        # Without escapes every quote begins or ends a string.
        frame = frame.replace(b"\\\\", b"").replace(b'\\"', b"")
    # What is left of a string without brackets is a pair of quotes.
    steps = frame.translate(_STEPS, _OTHERS).replace(b'""', b"")
    if b'"' in steps:
        steps = b"".join(steps.split(b'"')[::2])
    return max(accumulate(memoryview(steps).cast("b"), initial=0))
