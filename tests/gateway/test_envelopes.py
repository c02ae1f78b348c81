"""Envelopes are taken off where an SDK has marked them, and nowhere else.

The schemas are what each SDK lists, as seen at the versions named; `make older-peers` meets them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from anyshape import Client
from anyshape.gateway import Gateway

Json = dict[str, Any]
MODERN, LATER, OLDER = "2026-07-28", "2025-11-25", "2025-03-26"
INTEGER = {"type": "integer"}
RESULT = {"properties": {"result": INTEGER}, "required": ["result"], "type": "object"}
TITLED = {"properties": {"result": {"title": "Result", **INTEGER}}, "required": ["result"]}
DIALECT = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
DRAFT_07 = {"$schema": "http://json-schema.org/draft-07/schema#"}
MARK = {"x-fastmcp-wrap-result": True}
MARKED: dict[str, tuple[Json, Json]] = {
    "FastMCP 2.11": ({**TITLED, "title": "_WrappedResult", "type": "object", **MARK}, {}),
    "FastMCP 2.14": ({"description": "Generic wrapper.", **RESULT, **MARK}, {}),
    "FastMCP 3.4": ({**RESULT, **MARK}, {"fastmcp": {"wrap_result": True}}),
    "FastMCP 4.1": ({**RESULT, **MARK}, {"fastmcp": {"wrap_result": True}}),
    "Python SDK 1.12": ({**TITLED, "title": "countOutput", "type": "object"}, {}),
    "Python SDK 2.3": ({**TITLED, "type": "object", "title": "countOutput"}, {}),
    "TypeScript SDK 2.4": (
        {**DIALECT, **RESULT, "properties": {"result": {**DIALECT, **INTEGER}}},
        {},
    ),
}
MEANT: dict[str, Json] = {
    "FastMCP 2.14 to 4.1": RESULT,
    "FastMCP 2.11": {**TITLED, "title": "Answer", "type": "object"},
    "Python SDK": {**TITLED, "title": "Answer", "type": "object"},
    "Python SDK, a name like a mark": {**TITLED, "title": "AnswerOutput", "type": "object"},
    "Python SDK, low level": RESULT,
    "TypeScript SDK 1.17": {**RESULT, "additionalProperties": False, **DRAFT_07},
    "TypeScript SDK 1.32": {**DRAFT_07, **RESULT, "additionalProperties": False},
    "TypeScript SDK 2.4": {**DIALECT, **RESULT, "additionalProperties": False},
}


class Scripted:
    """An upstream with one tool, `count`, of which all is said here; `Gateway` takes it."""

    def __init__(self, schema: Json | None, result: Json, revision: str = LATER) -> None:
        listed = {"name": "count", "inputSchema": {"type": "object"}, "outputSchema": schema}
        greeting: Json = {
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "0"},
        }
        self._answers: dict[str, Json] = {
            "initialize": {"protocolVersion": revision, **greeting},
            "tools/list": {"tools": [listed]},
            "tools/call": result,
        }

    def connect(self, send: Callable[[bytes], None]) -> Scripted:
        return self

    async def handle(self, frame: bytes) -> bytes | None:
        asked = json.loads(frame)
        if "id" not in asked:
            return None
        answer: Json = {"jsonrpc": "2.0", "id": asked["id"]}
        if asked["method"] in self._answers:
            return json.dumps({**answer, "result": self._answers[asked["method"]]}).encode()
        return json.dumps({**answer, "error": {"code": -32601, "message": "no"}}).encode()

    async def close(self) -> None:
        """Nothing is open."""


def _answer(text: str, **more: Any) -> Json:
    block = {"type": "text", "text": text}
    return {"content": [block], "structuredContent": {"result": 42}, **more}


async def _seen(upstream: Scripted, revision: str) -> tuple[Any, Json]:
    """Return the listed output schema, and a result."""
    async with Client(Gateway({"up": upstream}), revision=revision, unwrap=False) as client:
        (tool,) = await client.list_tools()
        return tool.entry.get("outputSchema"), dict((await client.call_tool("count")).raw)


@pytest.mark.parametrize("sdk", MARKED)
async def test_what_an_sdk_wrapped_is_natural_from_the_first_listing_on(sdk: str) -> None:
    schema, meta = MARKED[sdk]
    upstream = Scripted(schema, _answer("42", _meta=meta))
    listed, result = await _seen(upstream, MODERN)
    assert listed["type"] == "integer"
    assert result["structuredContent"] == 42
    listed, result = await _seen(upstream, LATER)
    assert listed["type"] == "object"
    assert result["structuredContent"] == {"result": 42}


@pytest.mark.parametrize("sdk", MEANT)
@pytest.mark.parametrize("text", ["42", '{"result": 42}'])
async def test_what_its_author_meant_stays_whatever_the_text_says(sdk: str, text: str) -> None:
    upstream = Scripted(MEANT[sdk], _answer(text))
    for revision in (MODERN, LATER):
        listed, result = await _seen(upstream, revision)
        assert listed == MEANT[sdk]
        assert result["structuredContent"] == {"result": 42}
        assert [json.loads(block["text"]) for block in result["content"]] == [json.loads(text)]


@pytest.mark.parametrize("revision", [MODERN, LATER, OLDER])
async def test_values_that_come_before_their_revision_are_text(revision: str) -> None:
    # As the TypeScript SDK 1.11 sends them.
    upstream = Scripted(MEANT["TypeScript SDK 1.17"], _answer("42"), OLDER)
    listed, result = await _seen(upstream, revision)
    assert listed is None
    assert "structuredContent" not in result
    assert result["content"] == [{"type": "text", "text": "42"}]


@pytest.mark.parametrize("revision", [MODERN, LATER, OLDER])
@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ({"structuredContent": {"result": 42}}, ["42"]),
        ({"content": [], "structuredContent": {"result": 42}}, ["42"]),
        (_answer("forty-two"), ["forty-two", "42"]),
    ],
)
async def test_a_value_that_comes_before_its_revision_is_said_in_text(
    revision: str, answer: Json, texts: list[str]
) -> None:
    upstream = Scripted({**RESULT, **MARK}, answer, OLDER)
    _, result = await _seen(upstream, revision)
    assert "structuredContent" not in result
    assert result["content"] == [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize("revision", [MODERN, LATER, OLDER])
@pytest.mark.parametrize(
    ("given", "text", "is_error"),
    [
        ("done", "done", False),
        ({"zones": [1]}, '{"zones":[1]}', False),
        ({"content": [{"type": "text", "text": "no zone"}], "isError": True}, "no zone", True),
    ],
)
async def test_the_tool_result_of_an_early_draft_is_text(
    revision: str, given: Any, text: str, is_error: bool
) -> None:
    upstream = Scripted(None, {"toolResult": given}, OLDER)
    _, result = await _seen(upstream, revision)
    assert result["content"] == [{"type": "text", "text": text}]
    assert result.get("isError", False) is is_error
