"""Answers as servers write them that are not ours, read to natural values and types."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from patience import turn_until
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from anyshape import Client
from anyshape.client import Bounds, answers
from anyshape.decoding import decode_json
from anyshape.errors import (
    LimitExceeded,
    OutputMismatch,
    ProtocolError,
    ToolError,
    TransportError,
)
from anyshape.protocol.shapes import result_reader

if TYPE_CHECKING:
    from types import ModuleType

    from .conftest import Refusal, Scripted

Json = dict[str, Any]


@pytest.fixture
def answering(scripted: type[Scripted]) -> Any:
    """Return what makes a server with one tool, `ask`, that always gives the same result."""

    def answer(result: Json, *, revision: str = "2026-07-28", **entry: Any) -> Scripted:
        tool = {"name": "ask", "inputSchema": {"type": "object"}, **entry}
        server = scripted(
            tools__list=lambda params: {"tools": [tool]}, tools__call=lambda params: result
        )
        if revision != "2026-07-28":
            del server.answers["server/discover"]
            server.answers["initialize"] = lambda params: {
                "protocolVersion": revision,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "other", "version": "1"},
            }
        return server

    return answer


async def test_formats_of_strangers_are_annotations(answering: Any) -> None:
    naive = "2026-07-28T12:00:00"
    server = answering(
        {"content": [], "structuredContent": naive},
        inputSchema={
            "type": "object",
            "properties": {"since": {"type": "string", "format": "date-time"}},
        },
        outputSchema={"type": "string", "format": "date-time"},
    )
    async with Client(server) as client:
        assert await client.call("ask", {"since": naive}, returns=datetime) == datetime(
            2026, 7, 28, 12
        )


class Loose(BaseModel):
    result: dict[str, int] | None = None


class Renamed(BaseModel):
    inner: dict[str, int] | None = Field(default=None, alias="result")


@dataclass
class Plain:
    result: dict[str, int] | None = None


class Struct(msgspec.Struct):
    result: dict[str, int] | None = None


class Typed(TypedDict, total=False):
    result: dict[str, int]


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (Loose, Loose(result={"a": 1})),
        (Renamed, Renamed(result={"a": 1})),
        (Plain, Plain({"a": 1})),
        (Struct, Struct({"a": 1})),
        (Typed, {"result": {"a": 1}}),
        (dict[str, int], {"a": 1}),
        (dict[str, dict[str, int]], {"result": {"a": 1}}),
    ],
)
async def test_a_type_with_only_a_result_is_not_mistaken_for_what_is_in_it(
    answering: Any, returns: Any, expected: object
) -> None:
    server = answering(
        {"content": [], "structuredContent": {"result": {"a": 1}}},
        revision="2025-11-25",
        outputSchema={
            "type": "object",
            "properties": {"result": {"type": ["object", "null"]}},
            "required": ["result"],
        },
    )
    async with Client(server) as client:
        assert (await client.call_tool("ask")).value == {"a": 1}
        assert await client.call("ask", returns=returns) == expected


@pytest.mark.parametrize(
    ("returns", "expected"), [(None, None), (int | None, None), (str | None, None), (str, "")]
)
async def test_a_tool_that_says_nothing_gives_none_where_that_is_wanted(
    answering: Any, returns: Any, expected: object
) -> None:
    async with Client(answering({"content": []}, revision="2025-03-26")) as client:
        assert not (await client.call_tool("ask")).has_value
        assert await client.call("ask", returns=returns) == expected
        with pytest.raises(OutputMismatch):
            await client.call("ask", returns=int)


async def test_a_type_that_cannot_be_read_is_refused_before_anything_is_sent(
    answering: Any,
) -> None:
    server = answering({"content": []})
    async with Client(server) as client:
        returns: Any = 5
        with pytest.raises(TypeError, match="returns=5"):
            await client.call("ask", returns=returns)
    assert server.asked("tools/call") == []


@pytest.mark.parametrize("schema", [None, {"type": "object"}])
@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
@pytest.mark.parametrize(
    ("content", "is_null"),
    [
        ([], True),
        ([{"type": "text", "text": "null"}], True),
        ([{"type": "text", "text": "5"}], False),
    ],
)
async def test_null_of_a_2025_server_is_no_structured_content(
    answering: Any, revision: str, schema: Json | None, content: list[Json], is_null: bool
) -> None:
    result = {"content": content, "structuredContent": None}
    async with Client(answering(result, revision=revision, outputSchema=schema)) as client:
        if schema is not None and not is_null:
            with pytest.raises(OutputMismatch, match="gave no structured content"):
                await client.call_tool("ask")
        else:
            found = await client.call_tool("ask")
            assert (found.has_value, found.value) == (is_null, None)
            assert found.raw == result


@pytest.mark.parametrize("text", ["null", "5"])
async def test_null_of_a_2026_server_is_a_value(answering: Any, text: str) -> None:
    result = {"content": [{"type": "text", "text": text}], "structuredContent": None}
    async with Client(answering(result)) as client:
        assert (await client.call_tool("ask")).has_value


FAILURE = {"content": [{"type": "text", "text": "no such zone"}], "isError": True}


@pytest.mark.parametrize(
    ("result", "text", "is_error"),
    [
        ({"toolResult": FAILURE}, "no such zone", True),
        ({"toolResult": {"content": FAILURE["content"]}}, "no such zone", False),
        ({"toolResult": {"isError": True}}, "", True),
        ({"toolResult": {"content": []}, "isError": True}, "", True),
        ({"toolResult": "done"}, "done", False),
        ({"toolResult": "broken", "isError": True}, "broken", True),
        ({"toolResult": {"zones": [1]}}, '{"zones":[1]}', False),
        ({"toolResult": None}, "null", False),
        ({"toolResult": FAILURE, "content": []}, "", False),
    ],
)
async def test_the_tool_result_of_an_early_draft_is_read(
    answering: Any, revision: str, result: Json, text: str, is_error: bool
) -> None:
    async with Client(answering(result, revision=revision)) as client:
        found = await client.call_tool("ask")
        assert (found.text, found.is_error, found.has_value) == (text, is_error, False)
        assert found.raw == result
        if is_error:
            with pytest.raises(ToolError, match=text or "gave no reason"):
                await client.call("ask")


async def test_the_value_in_the_tool_result_of_an_early_draft_can_be_typed(answering: Any) -> None:
    async with Client(answering({"toolResult": [1, 2]}, revision="2024-11-05")) as client:
        assert await client.call("ask", returns=list[int]) == [1, 2]


@pytest.mark.parametrize("inner", [{"isError": "yes"}, {"content": "text"}])
async def test_a_broken_result_inside_a_tool_result_is_an_error(
    answering: Any, inner: Json
) -> None:
    async with Client(answering({"toolResult": inner})) as client:
        with pytest.raises(ProtocolError):
            await client.call_tool("ask")


async def test_answers_in_memory_are_bounded_too(answering: Any) -> None:
    server = answering({"content": [], "structuredContent": "x" * 5_000})
    async with Client(server, bounds=Bounds(max_answer_bytes=4_000)) as client:
        with pytest.raises(TransportError, match="longer than 4000 bytes"):
            await client.call("ask")


MANY: list[Any] = [[] for _ in range(50_000)]
FEW_PARTS = Bounds(max_parts=20_000)


async def test_an_answer_of_too_many_parts_is_not_read_and_the_next_one_is(
    scripted: type[Scripted],
) -> None:
    values: list[Any] = [MANY, [1.5] * 100_000]
    server = scripted(
        tools__list=lambda params: {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]},
        tools__call=lambda params: {"content": [], "structuredContent": values.pop(0)},
    )
    async with Client(server, bounds=FEW_PARTS) as client:
        with pytest.raises(LimitExceeded, match="more than 20000 arrays, objects") as raised:
            await client.call("ask")
        assert (raised.value.limit, raised.value.allowed) == ("max_parts", 20_000)
        assert await client.call("ask") == [1.5] * 100_000


async def test_a_page_or_an_error_of_too_many_parts_is_not_read(
    scripted: type[Scripted], refusal: Any
) -> None:
    def refuse(params: Json) -> Json:
        raise refusal(-32000, "no", MANY)

    server = scripted(tools__list=lambda params: {"tools": MANY}, tools__call=refuse)
    async with Client(server, bounds=FEW_PARTS) as client:
        with pytest.raises(LimitExceeded, match="max_parts"):
            await client.list_tools()
        with pytest.raises(LimitExceeded, match="max_parts"):
            await client.call_tool("ask")


async def test_of_very_many_values_of_another_type_the_first_is_told(answering: Any) -> None:
    server = answering({"content": [], "structuredContent": ["a"] * 100_000})
    async with Client(server) as client:
        with pytest.raises(OutputMismatch) as raised:
            await client.call("ask", returns=list[int])
    assert [problem.path for problem in raised.value.problems] == ["/0"]


LONG: list[Any] = [1.5] * 500_000


def as_result(_refusal: type[Refusal]) -> Json:
    return {"content": [], "structuredContent": LONG}


def as_error(refusal: type[Refusal]) -> Json:
    raise refusal(-32000, "no", LONG)


def as_text(_refusal: type[Refusal]) -> Json:
    text = {"type": "text", "text": json.dumps(LONG)}
    return {"content": [text], "structuredContent": {"result": 1}}


@pytest.mark.parametrize(
    ("answer", "reads"),
    [(as_result, answers), (as_error, answers), (as_text, result_reader)],
    ids=["a result", "an error", "a text beside an envelope"],
)
async def test_what_is_long_is_not_read_on_the_event_loop(
    scripted: type[Scripted],
    refusal: type[Refusal],
    monkeypatch: pytest.MonkeyPatch,
    answer: Callable[[type[Refusal]], Json],
    reads: ModuleType,
) -> None:
    on_loop: list[int] = []

    def read(text: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            on_loop.append(len(bytes(text) if isinstance(text, msgspec.Raw) else text))
        return decode_json(text)

    monkeypatch.setattr(reads, "decode_json", read)
    server = scripted(
        tools__list=lambda params: {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]},
        tools__call=lambda params: answer(refusal),
    )
    async with Client(server) as client:
        with contextlib.suppress(ProtocolError):
            await client.call("ask")
    assert max(on_loop, default=0) < 100_000


async def test_what_a_server_says_at_great_length_is_passed_over(
    scripted: type[Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Any] = []
    async with Client(server := scripted(), on_log=lambda told: heard.append(told.data)):
        server.say("notifications/message", level="info", data=LONG)
        server.say("notifications/message", level="info", data="short")
    assert heard == ["short"]
    assert "sent notifications/message of more than 1000000 bytes" in caplog.text


async def test_what_a_server_says_with_too_many_parts_is_passed_over(
    scripted: type[Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Any] = []
    server = scripted(
        initialize=lambda params: {
            "protocolVersion": "2025-11-25",
            "capabilities": {"logging": {}},
            "serverInfo": {"name": "other", "version": "1"},
        },
        logging__setLevel=lambda params: {},
    )
    del server.answers["server/discover"]
    bounds = FEW_PARTS
    async with Client(server, bounds=bounds, on_log=lambda told: heard.append(told.data)) as client:
        server.say("notifications/message", level="info", data=MANY)
        server.say("notifications/message", level="info", data="short")
        server.send(
            msgspec.json.encode(
                {"jsonrpc": "2.0", "id": 7, "method": "roots/list", "params": {"a": MANY}}
            )
        )
        await client.set_log_level("debug")
        await turn_until(lambda: any("error" in message for message in server.seen))
    assert heard == ["short"]
    replies = [message for message in server.seen if "error" in message]
    assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [(7, -32602)]
    assert "arrays, objects and members" in caplog.text
