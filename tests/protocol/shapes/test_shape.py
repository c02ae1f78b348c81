from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from anyshape.protocol.completed import Caching, encode_page
from anyshape.protocol.content import Text, encode_content
from anyshape.protocol.description import ToolDescription
from anyshape.protocol.result import ABSENT, EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import Carriage, ShapeOptions, carriage_of, shape

INFO = b'{"name":"s","version":"1"}'


def test_the_text_of_a_value_is_carried_as_it_was_serialized() -> None:
    value = b'{"b":1.0,"a":12345678901234567890123,"c":"\\u00e9"}'
    for revision in Revision:
        if revision.has_structured_content:
            encode = shape(revision).result_encoder({"type": "object"})
            assert b'"structuredContent":' + value in encode(EncodedResult(value))


def test_the_text_beside_a_string_is_the_string_up_to_2025_and_json_after_that() -> None:
    for revision in Revision:
        encode = shape(revision).result_encoder({"type": "string"})
        text = json.loads(encode(EncodedResult(b'"Gr\\u00fc\\u00dfe \\"x\\""')))["content"][0][
            "text"
        ]
        assert text == ('"Gr\\u00fc\\u00dfe \\"x\\""' if revision.is_natural else 'Grüße "x"')


def test_an_author_may_have_the_string_itself_everywhere() -> None:
    for revision in Revision:
        encode = shape(revision).result_encoder(ABSENT, ShapeOptions(raw_strings=True))
        [string] = json.loads(encode(EncodedResult(b'"null"')))["content"]
        [number] = json.loads(encode(EncodedResult(b"7")))["content"]
        assert (string["text"], number["text"]) == ("null", "7")


def test_a_string_that_the_tool_wrote_itself_is_not_said_twice() -> None:
    own = encode_content(Text("Paris"))
    for revision in Revision:
        answer = json.loads(
            shape(revision).result_encoder(ABSENT)(EncodedResult(b'"Paris"', (own,)))
        )
        texts = [block["text"] for block in answer["content"]]
        assert texts == (["Paris", '"Paris"'] if revision.is_natural else ["Paris"])


def test_server_information_is_said_where_there_is_no_handshake() -> None:
    for revision in Revision:
        answer = json.loads(
            shape(revision).result_encoder(ABSENT, server_info=INFO)(EncodedResult())
        )
        expected = {"io.modelcontextprotocol/serverInfo": json.loads(INFO)}
        assert answer.get("_meta") == (expected if revision.is_modern else None)
        assert answer.get("resultType") == ("complete" if revision.is_modern else None)


def test_a_listing_page_says_where_the_next_begins() -> None:
    for revision in Revision:
        entries = [b'{"name":"a"}', b'{"name":"b"}']
        page = json.loads(
            encode_page(revision, "tools", entries, 'c"', caching=Caching(5, "public"))
        )
        assert [tool["name"] for tool in page["tools"]] == ["a", "b"]
        assert page["nextCursor"] == 'c"'
        assert page.get("ttlMs") == (5 if revision.is_modern else None)
        assert page.get("cacheScope") == ("public" if revision.is_modern else None)


def test_an_empty_listing_is_an_empty_array() -> None:
    assert json.loads(encode_page(Revision.V2025_11_25, "tools", [])) == {"tools": []}


@pytest.mark.parametrize(
    ("schema", "carriage", "as_object"),
    [
        (ABSENT, Carriage.BY_VALUE, Carriage.BY_VALUE),
        (True, Carriage.ENVELOPE, Carriage.ENVELOPE),
        (False, Carriage.ENVELOPE, Carriage.ENVELOPE),
        ({}, Carriage.ENVELOPE, Carriage.ENVELOPE),
        ({"not": {}}, Carriage.ENVELOPE, Carriage.ENVELOPE),
        ({"type": "object"}, Carriage.AS_IT_IS, Carriage.AS_IT_IS),
        ({"type": "object", "not": {}}, Carriage.AS_IT_IS, Carriage.AS_IT_IS),
        ({"type": ["object"]}, Carriage.AS_IT_IS, Carriage.AS_IT_IS),
        ({"type": "null"}, Carriage.ENVELOPE, Carriage.ENVELOPE),
        ({"type": ["object", "null"]}, Carriage.ENVELOPE, Carriage.OBJECT_OR_NOTHING),
        (
            {"oneOf": [{"type": "object"}, {"const": None}]},
            Carriage.ENVELOPE,
            Carriage.OBJECT_OR_NOTHING,
        ),
        ({"type": ["object", "array"]}, Carriage.ENVELOPE, Carriage.ENVELOPE),
    ],
)
def test_how_values_are_carried_to_clients_that_know_only_objects(
    schema: Any, carriage: Carriage, as_object: Carriage
) -> None:
    assert carriage_of(schema, ShapeOptions()) is carriage
    assert carriage_of(schema, ShapeOptions(nullable_objects="object")) is as_object


def test_a_nullable_reference_of_draft_07_still_says_object() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/Maybe",
        "definitions": {"Maybe": {"type": ["object", "null"]}},
    }
    listed = shape(Revision.V2025_11_25).output_schema(
        schema, ShapeOptions(nullable_objects="object")
    )
    assert listed == {
        "$schema": schema["$schema"],
        "type": "object",
        "$ref": "#/definitions/Maybe",
        "definitions": schema["definitions"],
    }


def test_a_title_finds_its_place_before_there_were_titles() -> None:
    tool = ToolDescription("t", {"type": "object"}, title="T", annotations={"readOnlyHint": True})
    assert shape(Revision.V2025_03_26).entry(tool)["annotations"] == {
        "title": "T",
        "readOnlyHint": True,
    }
    own = ToolDescription("t", {"type": "object"}, title="T", annotations={"title": "Own"})
    assert shape(Revision.V2025_03_26).entry(own)["annotations"] == {"title": "Own"}
    bare = ToolDescription("t", {"type": "object"}, title="T")
    assert shape(Revision.V2025_03_26).entry(bare)["annotations"] == {"title": "T"}
    assert "annotations" not in shape(Revision.V2024_11_05).entry(tool)


def test_the_input_schema_is_published_as_written() -> None:
    schema = {"type": "object", "properties": {"a": True}, "if": {"$ref": "#"}, "x": None}
    for revision in filter(lambda each: each.is_natural, Revision):
        assert shape(revision).entry(ToolDescription("t", schema))["inputSchema"] is schema


def test_up_to_2025_booleans_in_the_input_schema_are_written_as_objects() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "default": True,
            "a": {"items": False, "default": True, "additionalProperties": False},
            "b": {"anyOf": [True, {"$ref": "#/$defs/none"}], "const": {"properties": {"x": True}}},
        },
        "$defs": {"none": False},
        "unevaluatedProperties": False,
    }
    written: dict[str, Any] = {
        "type": "object",
        "properties": {
            "default": {},
            "a": {"items": {"not": {}}, "default": True, "additionalProperties": False},
            "b": {"anyOf": [{}, {"$ref": "#/$defs/none"}], "const": {"properties": {"x": True}}},
        },
        "$defs": {"none": {"not": {}}},
        "unevaluatedProperties": False,
    }
    before = deepcopy(schema)
    for revision in filter(lambda each: not each.is_natural, Revision):
        assert shape(revision).entry(ToolDescription("t", schema))["inputSchema"] == written
    assert schema == before


def test_up_to_2025_an_input_schema_always_has_properties() -> None:
    schema: dict[str, Any] = {"type": "object", "oneOf": [{"required": ["a"]}]}
    for revision in Revision:
        listed = shape(revision).entry(ToolDescription("t", schema))["inputSchema"]
        assert listed == (schema if revision.is_natural else {**schema, "properties": {}})


def test_an_input_schema_without_booleans_is_published_as_written() -> None:
    schema = {"type": "object", "properties": {"a": {"default": True}}, "x": None}
    for revision in Revision:
        assert shape(revision).entry(ToolDescription("t", schema))["inputSchema"] is schema


@pytest.mark.parametrize("revision", Revision, ids=str)
def test_own_content_comes_first_and_an_identical_mirror_once(revision: Revision) -> None:
    encode = shape(revision).result_encoder({"type": "array"})
    summary = encode_content(Text("two numbers"))
    mirror = encode_content(Text("[1,2]"))
    for content in [(summary,), (summary, mirror), (mirror, summary), (mirror,)]:
        sent = json.loads(encode(EncodedResult(b"[1,2]", content)))["content"]
        expected = content if mirror in content else (*content, mirror)
        assert sent == [json.loads(block) for block in expected]


def test_a_mirror_with_annotations_of_its_own_is_not_identical() -> None:
    encode = shape(Revision.V2026_07_28).result_encoder({"type": "array"})
    annotated = encode_content(Text("[1]", annotations={"audience": ["user"]}))
    assert len(json.loads(encode(EncodedResult(b"[1]", (annotated,))))["content"]) == 2
