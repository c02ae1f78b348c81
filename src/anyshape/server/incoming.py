"""From the bytes of one frame to the message that a transport has to answer.

Most frames a server gets are calls. Those are read in one pass, parameters included, instead of the
message first and its parameters afterwards. Whatever is not plainly a call is left to
`anyshape.protocol.jsonrpc`, which says what is wrong with it.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from anyshape.protocol.jsonrpc import PARSE_ERROR, AnyMessage, Malformed, decode
from anyshape.protocol.nesting import MOST_PARTS, has_too_many_parts, is_too_deep
from anyshape.protocol.salvage import salvage_id
from anyshape.server.parameters import CallParameters


class Call(msgspec.Struct, gc=False, frozen=True):
    """A request for `tools/call` whose parameters are read already."""

    jsonrpc: Literal["2.0"]
    method: Literal["tools/call"]
    id: msgspec.Raw
    params: CallParameters


Incoming: TypeAlias = Call | AnyMessage
"""What a frame can turn out to be."""

_decode_call: Final = msgspec.json.Decoder(Call).decode
_AFTER_NUMBERS: Final = ord("9") + 1
"""A string or a number starts below this; null, true, false, arrays and objects do not."""


def read(frame: bytes, max_depth: int, max_batch: int) -> Incoming:
    """Return what a frame holds; never raises for what a peer sent."""
    flaw = ""
    if len(frame) > 2 * max_depth and is_too_deep(frame, max_depth):
        flaw = f"is nested more than {max_depth} levels deep"
    elif len(frame) > MOST_PARTS and has_too_many_parts(frame):
        flaw = f"holds more than {MOST_PARTS} arrays, objects and members"
    if flaw:
        id = salvage_id(frame, frame)
        return Malformed(PARSE_ERROR, f"Parse error: the message {flaw}", id)
    try:
        if not frame.isascii():
            frame.decode()  # Arguments are skipped over, so nothing else looks at their UTF-8.
        call = _decode_call(frame)
    except (ValueError, RecursionError):
        return decode(frame, max_batch)
    return call if memoryview(call.id)[0] < _AFTER_NUMBERS else decode(frame, max_batch)
