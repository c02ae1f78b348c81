"""Frames as they come from a server, read so that a part that cannot be read spoils only itself.

The JSON decoder refuses a frame that is nested beyond what its stack holds, or that spells half of
a surrogate pair, and with it everything else in that frame: of a listing, all the good tools. Such
a frame is mended and read again. It is cut where it gets too deep, far below what anyone accepts,
and `LONE_SURROGATE` stands in for what is no character; `decode_value` refuses both, so that no
mended part is ever taken for what the server said.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

import msgspec

from anyshape.protocol.jsonrpc import (
    PARSE_ERROR,
    Batch,
    Malformed,
    Notification,
    Request,
    Response,
    decode,
)
from anyshape.protocol.shapes.ordinary_result import DEPTH, ORDINARY_BYTES, OrdinaryResult
from anyshape.protocol.surrogates import replace_lone_surrogates

CUT_DEPTH: Final = 400
"""How deep a frame is kept; more than `Bounds.max_depth` may be."""

LONE_SURROGATE: Final = b"\\ufdd0"
"""The escape of a code point that Unicode keeps from ever being a character."""

_MOST_TOKENS: Final = 200_000
_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def read_frame(frame: bytes) -> tuple[Request | Notification | Response | Malformed, ...]:
    """Return the messages that a frame holds; never raises for what a server sent."""
    message = decode(frame)
    if type(message) is Response:
        return (message,)
    if isinstance(message, Malformed) and message.code == PARSE_ERROR:
        mended = _mend(frame)
        if mended is not frame:
            message = decode(mended)
    return message.messages if isinstance(message, Batch) else (message,)


class _OrdinaryAnswer(msgspec.Struct, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    id: int
    result: OrdinaryResult


@cache
def _ordinary_decoder() -> msgspec.json.Decoder[_OrdinaryAnswer]:
    """Return what reads ordinary answers; it takes milliseconds to make, so the first call does."""
    return msgspec.json.Decoder(_OrdinaryAnswer)


def read_ordinary(frame: bytes, id: int, max_depth: int) -> OrdinaryResult | None:
    """Return the result in a frame that answers the call `id` as nearly all do, else `None`.

    That is all there is to check about such a frame; any other is for `read_frame`.
    """
    if max_depth < DEPTH or len(frame) > ORDINARY_BYTES:
        return None
    try:
        answer = _ordinary_decoder().decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return answer.result if answer.id == id else None


def _mend(frame: bytes) -> bytes:
    frame = replace_lone_surrogates(frame, LONE_SURROGATE)
    # Cutting takes time for every bracket and string, so it is bounded by their number.
    opened = frame.count(b"[") + frame.count(b"{")
    if opened > CUT_DEPTH and 2 * opened + frame.count(b'"') <= _MOST_TOKENS:
        frame = _cut(frame)
    return frame


def _cut(frame: bytes) -> bytes:
    """Return the frame with `null` for every array and object that is nested too deeply."""
    kept: list[bytes] = []
    depth = 0
    start = 0
    for token in _TOKEN.finditer(frame):
        letter = frame[token.start()]
        if letter in b"[{":
            depth += 1
            if depth == CUT_DEPTH + 1:
                kept += (frame[start : token.start()], b"null")
        elif letter in b"]}":
            depth -= 1
            if depth == CUT_DEPTH:
                start = token.end()
    if depth > CUT_DEPTH:
        # It ends inside of what was cut: broken, and to be refused as it is.
        return frame
    kept.append(frame[start:])
    return b"".join(kept)
