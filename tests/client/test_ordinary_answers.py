"""Results read in one typed pass: never another outcome than reading them patiently."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape import Client, Text
from anyshape.client import Bounds
from anyshape.client.answers import decode_value
from anyshape.client.transports.frames import read_frame, read_ordinary
from anyshape.errors import AnyshapeError, LimitExceeded, ProtocolError
from anyshape.protocol.jsonrpc import PARSE_ERROR, Response
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.ordinary_result import DEPTH
from anyshape.protocol.shapes.result_reader import result_reader

if TYPE_CHECKING:
    from .conftest import Scripted

Json = dict[str, Any]

SCHEMAS: list[Json] = [
    {"type": "object"},
    {"type": "object", "properties": {"result": {}}, "required": ["result"]},
    {"type": "object", "properties": {"result": {}}, "x-fastmcp-wrap-result": True},
]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=2) | st.just("result"), inner, max_size=2)
    ),
)
texts = st.fixed_dictionaries({"type": st.just("text"), "text": values.map(json.dumps)})
results = st.fixed_dictionaries(
    {},
    optional={
        "resultType": st.just("complete") | st.just("input_required") | values,
        "content": st.lists(texts | values, max_size=2) | values,
        "structuredContent": values,
        "isError": st.booleans() | values,
        "_meta": values | st.just({"fastmcp": {"wrap_result": True}}),
        "other": values,
    },
)


def answer(result: bytes, id: int = 1) -> bytes:
    return b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (id, result)


def nested(levels: int) -> Any:
    value: Any = 5
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def read_patiently(frame: bytes, max_depth: int) -> Any:
    (message,) = read_frame(frame)
    assert isinstance(message, Response)
    assert message.result is not None
    return decode_value(message.result, max_depth)


@given(results, st.sampled_from(SCHEMAS), st.sampled_from(list(Revision)))
def test_both_ways_of_reading_agree(result: Json, schema: Json, revision: Revision) -> None:
    frame = answer(json.dumps(result).encode())
    quick = read_ordinary(frame, 1, 200)
    if quick is None:
        return
    wire = read_patiently(frame, DEPTH)
    assert quick.wire() == wire == result
    read = result_reader(revision, schema)
    one, other = read(quick), read(wire)
    assert (one.value, one.structured, one.is_error) == (
        other.value,
        other.structured,
        other.is_error,
    )
    assert (one.wire, one.content, one.meta) == (other.wire, other.content, other.meta)


@given(st.data())
def test_no_broken_frame_is_taken_for_an_ordinary_one(data: st.DataObject) -> None:
    whole = answer(
        b'{"resultType":"complete","content":[{"type":"text","text":"\\u00e9\\"1"}],'
        b'"structuredContent":{"a":[1.5e3,-2,null]},"isError":false,"_meta":{"b":"\xc3\xa9"}}'
    )
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 3)))
    frame = whole[:start] + data.draw(st.binary(max_size=3)) + whole[end:]
    quick = read_ordinary(frame, 1, 200)
    if quick is not None:
        assert quick.wire() == json.loads(frame)["result"]


@pytest.mark.parametrize(
    "result",
    [
        b'{"content":[{"type":"text","text":"\\ud800"}]}',
        b'{"content":[{"type":"text","text":"\xff"}]}',
        b'{"content":[{"type":"text","text":"a\nb"}]}',
        b'{"content":[{"priority":1e999}]}',
        b'{"content":[{"priority":NaN}]}',
        b'{"content":[{"priority":01}]}',
        b'{"structuredContent":{"a":[9223372036854775808]}}',
        b'{"_meta":{"a":-9223372036854775809}}',
        b'{"content":{}}',
        b'{"content":null}',
        b'{"isError":null}',
        b'{"isError":1}',
        b'{"resultType":"task"}',
        b'{"task":{}}',
        b"[]",
        b"null",
    ],
)
def test_unusual_results_are_left_to_patience(result: bytes) -> None:
    assert read_ordinary(answer(result), 1, 200) is None


@pytest.mark.parametrize(
    "frame",
    [
        answer(b"{}", id=2),
        b'{"jsonrpc":"2.0","id":"1","result":{}}',
        b'{"jsonrpc":"1.0","id":1,"result":{}}',
        b'{"id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"no"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
        b"[%b]" % answer(b"{}"),
    ],
)
def test_unusual_answers_are_left_to_patience(frame: bytes) -> None:
    assert read_ordinary(frame, 1, 200) is None


@pytest.mark.parametrize("levels", range(1, 12))
@pytest.mark.parametrize("max_depth", range(1, 12))
def test_depth_is_bounded_either_way(levels: int, max_depth: int) -> None:
    """The result itself is a level, and so is the array of content."""
    for result, depth in (
        ({"structuredContent": nested(levels)}, levels + 1),
        ({"_meta": nested(levels)}, levels + 1),
        ({"content": [nested(levels)]}, levels + 2),
    ):
        frame = answer(json.dumps(result).encode())
        quick = read_ordinary(frame, 1, max_depth)
        if quick is not None:
            assert depth <= max_depth
            assert quick.wire() == result
        elif depth > max_depth:
            with pytest.raises(LimitExceeded):
                read_patiently(frame, max_depth)
        else:
            assert read_patiently(frame, max_depth) == result


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"structuredContent": None},
        {"content": [{"type": "text", "text": "5"}], "structuredContent": 5},
        {"content": [{"type": "odd", "x": 1}], "isError": True, "_meta": {"a": {"b": 1}}},
        {"resultType": "complete", "structuredContent": nested(6)},
        {"resultType": "complete", "structuredContent": nested(60)},
        {"structuredContent": {"result": 1}, "vendor": {"more": True}},
    ],
)
async def test_a_result_shows_all_that_came(scripted: type[Scripted], result: Json) -> None:
    server = scripted(
        tools__list=lambda params: {
            "tools": [{"name": "ask", "inputSchema": {"type": "object"}}],
        },
        tools__call=lambda params: result,
    )
    async with Client(server) as client:
        got = await client.call_tool("ask")
    assert got.raw == result
    assert got.raw is got.raw
    assert got.has_value == ("structuredContent" in result)
    assert got.value is got.raw.get("structuredContent")
    assert got.is_error == result.get("isError", False)
    assert got.meta == result.get("_meta", {})
    assert [block.wire() for block in got.content] == result.get("content", [])
    assert [block.text for block in got.content if isinstance(block, Text)] == got.text.split()


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ({"content": 5}, ProtocolError),
        ({"isError": "no"}, ProtocolError),
        ({"resultType": "other"}, ProtocolError),
        ({"structuredContent": nested(20)}, LimitExceeded),
        ({"content": [nested(20)]}, LimitExceeded),
        ({"_meta": nested(20)}, LimitExceeded),
        ({"other": nested(20)}, LimitExceeded),
    ],
)
async def test_what_is_wrong_with_a_result_is_found_at_the_call(
    scripted: type[Scripted], result: Json, kind: type[AnyshapeError]
) -> None:
    server = scripted(
        tools__list=lambda params: {
            "tools": [{"name": "ask", "inputSchema": {"type": "object"}}],
        },
        tools__call=lambda params: result,
    )
    async with Client(server, bounds=Bounds(max_depth=12)) as client:
        with pytest.raises(kind):
            await client.call_tool("ask")


async def test_bytes_that_are_no_utf8_are_no_answer(scripted: type[Scripted]) -> None:
    class Latin(scripted):
        async def handle(self, frame: bytes) -> bytes | None:
            frame = await super().handle(frame) or b""
            return frame.replace(b"umlaut", b"\xfc")

    server = Latin(
        tools__list=lambda params: {
            "tools": [{"name": "ask", "inputSchema": {"type": "object"}}],
        },
        tools__call=lambda params: {"content": [{"type": "text", "text": "umlaut"}]},
    )
    async with Client(server) as client:
        with pytest.raises(ProtocolError) as raised:
            await client.call_tool("ask")
        assert raised.value.code == PARSE_ERROR
