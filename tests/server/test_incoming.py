"""Messages that are refused before anything of them is read, and what reading others takes."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from anyshape import Server
from anyshape.decoding import decode_json
from anyshape.protocol.jsonrpc import Malformed, decode
from anyshape.protocol.nesting import MOST_PARTS


async def test_a_message_of_too_many_parts_is_refused_and_the_next_is_answered() -> None:
    server = Server("s")

    @server.tool
    async def count(items: list[float]) -> int:
        return len(items)

    connection = server.connect(lambda _: None)
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    async def call(items: list[object]) -> dict[str, object]:
        params: dict[str, Any] = {"name": "count", "arguments": {"items": items}, "_meta": meta}
        frame: dict[str, Any] = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": params,
        }
        answer: dict[str, object] = json.loads(
            await connection.handle(json.dumps(frame, separators=(",", ":")).encode()) or b""
        )
        return answer

    refused = await call([[]] * MOST_PARTS)
    assert (refused["id"], refused["error"]) == (
        1,
        {
            "code": -32700,
            "message": "Parse error: the message holds more than 500000 arrays, objects and "
            "members",
        },
    )
    answered = await call([0.5] * MOST_PARTS)
    assert "result" in answered
    await connection.close()


def seconds_of(work: Callable[[], object]) -> float:
    """Return the processor time that something takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


SLOW = b"1e308,1e-308,8e-320,123456789e300,"
"""Fractions that the JSON decoder takes up to 8 microseconds for, each."""


@pytest.mark.parametrize("spread", [b'{"a":[%b0.5]}', b'{"a":{"b":[%b0.5]}}'])
def test_fractions_that_take_long_to_read_are_what_they_are_and_hold_nothing_up(
    spread: bytes,
) -> None:
    text = spread % (SLOW * 120_000)
    read: list[Any] = []
    # The decoder alone takes 3 seconds or more where the other takes a fifth of a second.
    assert seconds_of(lambda: read.append(decode_json(text))) < 1.5
    values = read[0]["a"] if isinstance(read[0]["a"], list) else read[0]["a"]["b"]
    assert values == [float(number) for number in SLOW.split(b",")[:-1]] * 120_000 + [0.5]


@pytest.mark.parametrize("copies", [1, 20_000])
def test_a_fraction_beyond_all_floats_is_refused_however_long_the_text(copies: int) -> None:
    text = b"[%b1e309]" % (b"1e308," * copies)
    with pytest.raises(ValueError, match="Number out of range"):
        decode_json(text)


@pytest.mark.parametrize("piece", [b'"', b'"",', b"NaN,", b'"a'])
def test_what_is_wrong_with_a_long_message_is_found_out_in_time(piece: bytes) -> None:
    frame = b"[" + piece * (4_000_000 // len(piece))
    assert isinstance(decode(frame), Malformed)
    assert seconds_of(lambda: decode(frame)) < 0.25
