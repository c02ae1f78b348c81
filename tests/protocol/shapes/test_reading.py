"""Answers as other SDKs write them, read back to what their tools returned."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anyshape.errors import ProtocolError
from anyshape.protocol.content import Text, UnknownContent
from anyshape.protocol.result import ABSENT
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes.result_reader import is_envelope, result_reader

OLDER = Revision.V2025_11_25
NEWER = Revision.V2026_07_28

PLAIN = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}
PYTHON = {
    "properties": {"result": {"title": "Result", "type": "integer"}},
    "required": ["result"],
    "title": "get_countOutput",
    "type": "object",
}
PYTHON_MODEL = {**PYTHON, "title": "CountOutput"}
FASTMCP = {
    "properties": {"result": {"type": "integer"}},
    "required": ["result"],
    "type": "object",
    "x-fastmcp-wrap-result": True,
}
ZOD_OBJECT = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"result": {"type": "integer"}},
    "required": ["result"],
    "additionalProperties": False,
}


def answer(structured: Any, *texts: str, **members: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text} for text in texts]
    return {"content": content, "structuredContent": structured, **members}


@pytest.mark.parametrize(
    ("schema", "wire", "older", "newer"),
    [
        # Ours, TypeScript and C#: the exact envelope, at the revisions that need one.
        (PLAIN, answer({"result": 5}, "5"), 5, {"result": 5}),
        (PLAIN, answer({"result": 5}, "Five of them."), 5, {"result": 5}),
        (PLAIN, answer({"result": 5}), 5, {"result": 5}),
        ({**PLAIN, "$schema": "x", "$defs": {}}, answer({"result": 5}), 5, {"result": 5}),
        # Python: the same at every revision, known by its title.
        (PYTHON, answer({"result": 5}, "5"), 5, 5),
        (PYTHON, answer({"result": [1, 2]}, "1", "2"), [1, 2], [1, 2]),
        (PYTHON, answer({"result": None}), None, None),
        # FastMCP: marked, in the schema or in the result.
        (FASTMCP, answer({"result": 5}, "5"), 5, 5),
        (FASTMCP, answer({"result": {"result": 1}}, '{"result":1}'), {"result": 1}, {"result": 1}),
        (ABSENT, answer({"result": 5}, _meta={"fastmcp": {"wrap_result": True}}), 5, 5),
        ({"type": "object"}, answer({"result": 5}, _meta={"fastmcp": {"wrap_result": True}}), 5, 5),
        # The tool's own object: the text repeats it whole.
        (PLAIN, answer({"result": 5}, '{"result":5}'), {"result": 5}, {"result": 5}),
        (PLAIN, answer({"result": 5}, "five", '{ "result" : 5 }'), {"result": 5}, {"result": 5}),
        (PYTHON_MODEL, answer({"result": 5}, '{\n  "result": 5\n}'), {"result": 5}, {"result": 5}),
        (
            PLAIN,
            answer({"result": {"result": 5}}, '{"result":5}'),
            {"result": 5},
            {"result": {"result": 5}},
        ),
        # The tool's own object: an author's keyword in the schema.
        (ZOD_OBJECT, answer({"result": 5}, "five"), {"result": 5}, {"result": 5}),
        (ZOD_OBJECT, answer({"result": 5}, '{"result":5}'), {"result": 5}, {"result": 5}),
        ({**PLAIN, "description": "d"}, answer({"result": 5}), {"result": 5}, {"result": 5}),
        ({**PLAIN, "title": "Count"}, answer({"result": 5}), {"result": 5}, {"result": 5}),
        ({**PLAIN, "required": []}, answer({"result": 5}), {"result": 5}, {"result": 5}),
        (
            {**PLAIN, "properties": {"result": {}, "more": {}}},
            answer({"result": 5}),
            {"result": 5},
            {"result": 5},
        ),
        # Closed to other properties, as authors of older servers write by hand: the text decides.
        (ZOD_OBJECT, answer({"result": 5}, "5"), 5, {"result": 5}),
        (ZOD_OBJECT, answer({"result": "Paris"}, "Paris"), "Paris", {"result": "Paris"}),
        (ZOD_OBJECT, answer({"result": {"a": 1}}, '{"a":1}'), {"a": 1}, {"result": {"a": 1}}),
        # No schema: the text decides.
        (ABSENT, answer({"result": [1]}, "[1]"), [1], [1]),
        (ABSENT, answer({"result": "Paris"}, '"Paris"'), "Paris", "Paris"),
        (ABSENT, answer({"result": None}, "null"), None, None),
        (ABSENT, answer({"result": "x"}, "x", '{"result":"x"}'), {"result": "x"}, {"result": "x"}),
        (ABSENT, answer({"result": [1]}, "one"), {"result": [1]}, {"result": [1]}),
        (
            ABSENT,
            answer({"result": {"a": 1}}, '{"a":1}'),
            {"result": {"a": 1}},
            {"result": {"a": 1}},
        ),
        (ABSENT, answer({"result": [1]}, '{"result":[1]}'), {"result": [1]}, {"result": [1]}),
        # No envelope at all.
        (
            PLAIN,
            answer({"result": 5, "more": 1}),
            {"result": 5, "more": 1},
            {"result": 5, "more": 1},
        ),
        (
            FASTMCP,
            answer({"result": 5, "more": 1}, "5", _meta={"fastmcp": {"wrap_result": True}}),
            {"result": 5, "more": 1},
            {"result": 5, "more": 1},
        ),
        (PLAIN, answer({}), {}, {}),
        ({"type": "array"}, answer([1], "[1]"), [1], [1]),
        (ABSENT, answer(None, "null"), None, None),
        ({"type": "array"}, answer(False), False, False),
    ],
)
def test_the_value_is_what_the_tool_returned(
    schema: Any, wire: Any, older: Any, newer: Any
) -> None:
    assert result_reader(OLDER, schema)(wire).value == older
    if schema is not ABSENT or "_meta" in wire:
        assert result_reader(NEWER, schema)(wire).value == newer


@pytest.mark.parametrize("schema", [PLAIN, PYTHON, FASTMCP, ABSENT])
def test_without_unwrapping_the_value_is_what_came(schema: Any) -> None:
    wire = answer({"result": 5}, "5", _meta={"fastmcp": {"wrap_result": True}})
    read = result_reader(OLDER, schema, unwrap=False)(wire)
    assert read.value == read.structured == {"result": 5}


def test_absent_and_null_stay_different() -> None:
    read = result_reader(NEWER)
    assert read({"content": []}).value is ABSENT
    assert read({"content": [], "structuredContent": None}).value is None


def test_an_answer_without_content_is_read() -> None:
    read = result_reader(OLDER, PLAIN)({"structuredContent": {"result": 5}})
    assert (read.value, read.content, read.is_error, read.meta) == (5, (), False, {})


@pytest.mark.parametrize(
    ("wire", "value"),
    [
        ({"content": []}, None),
        ({}, None),
        ({"content": [{"type": "text", "text": "null"}]}, None),
        ({"content": [{"type": "text", "text": "nothing"}]}, ABSENT),
        ({"content": [], "isError": True}, ABSENT),
    ],
)
def test_a_nullable_object_sent_as_nothing_is_null(wire: Any, value: Any) -> None:
    read = result_reader(OLDER, {"type": "object"})(wire)
    assert read.value is value
    assert read.structured is ABSENT
    assert result_reader(NEWER, {"type": "object"})(wire).value is ABSENT
    assert result_reader(OLDER, ABSENT)(wire).value is ABSENT


@pytest.mark.parametrize("schema", [PLAIN, PYTHON, FASTMCP, ZOD_OBJECT])
@pytest.mark.parametrize("wire", [{"content": []}, {}, {"content": [], "structuredContent": None}])
def test_nothing_in_place_of_an_envelope_is_no_null(schema: Any, wire: Any) -> None:
    assert result_reader(OLDER, schema)(wire).value is ABSENT


def test_an_error_is_never_unwrapped() -> None:
    read = result_reader(OLDER, FASTMCP)(answer({"result": 5}, "failed", isError=True))
    assert (read.value, read.is_error) == ({"result": 5}, True)


def test_unknown_blocks_are_kept() -> None:
    read = result_reader(NEWER)({"content": [{"type": "text", "text": "a"}, 5, {"type": "new"}]})
    assert read.content == (Text("a"), UnknownContent(5), UnknownContent({"type": "new"}))


@pytest.mark.parametrize(
    "wire",
    [
        None,
        [],
        "x",
        {"content": {}},
        {"content": "text"},
        {"content": [], "isError": "no"},
        {"content": [], "resultType": "input_required"},
        {"content": [], "resultType": 5},
        {"content": None},
    ],
)
def test_what_is_no_result_is_a_protocol_error(wire: Any) -> None:
    with pytest.raises(ProtocolError, match="tools/call"):
        result_reader(NEWER)(wire)


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"result":' * 50_000, '{"result":1e999}', '{"result":', "\ud800"]
)
def test_hostile_texts_decide_nothing(text: str) -> None:
    assert result_reader(OLDER, PLAIN)(answer({"result": 5}, text)).value == 5


def test_texts_of_an_odd_kind_decide_nothing() -> None:
    wire = {"content": [{"text": 5}, {"text": None}, None], "structuredContent": {"result": 5}}
    assert result_reader(OLDER, PLAIN)(wire).value == 5


@pytest.mark.parametrize(
    "schema",
    [
        ABSENT,
        True,
        [],
        "x",
        None,
        {"type": "object", "properties": []},
        {"properties": {"result": {}}},
    ],
)
def test_what_is_no_schema_is_no_envelope(schema: Any) -> None:
    assert not is_envelope(schema, OLDER)


def test_pythons_own_envelope_is_recognised() -> None:
    from mcp.server.mcpserver.utilities.func_metadata import func_metadata

    def list_people() -> list[dict[str, int]]:
        return []

    schema = func_metadata(list_people, structured_output=True).output_schema
    assert schema is not None
    assert is_envelope(schema, OLDER)
    assert is_envelope(schema, NEWER)


def test_fastmcps_own_envelope_is_recognised() -> None:
    from fastmcp.tools import Tool

    def list_people() -> list[dict[str, int]]:
        return []

    schema = Tool.from_function(list_people).output_schema
    assert is_envelope(json.loads(json.dumps(schema)), NEWER)
