from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound

from anyshape.errors import InvalidSchema, NotJson
from anyshape.protocol.headers import (
    HeaderPlan,
    decode_header_value,
    encode_header_value,
    header_plan,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry-Run"},
        "deep": {
            "type": "object",
            "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}},
        },
        "query": {"type": "string", "default": {"x-mcp-header": "not an annotation"}},
        "x-mcp-header": {"type": "number"},
    },
}


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("", ""),
        ("a b", "a b"),
        ("=?base64?", "=?base64?"),
    ],
)
def test_values_are_encoded_as_the_specification_shows(value: str, header: str) -> None:
    assert encode_header_value(value) == header
    assert decode_header_value(header) == value


@given(st.text())
def test_every_string_survives_a_header(value: str) -> None:
    header = encode_header_value(value)
    assert header.isascii()
    assert header.isprintable() or "\t" in header
    assert header == header.strip()
    assert decode_header_value(header) == value


@given(st.text(alphabet=st.characters(codec="ascii", exclude_characters="\t")))
def test_the_official_package_decodes_what_we_encode(value: str) -> None:
    assert inbound.decode_header_value(encode_header_value(value)) == value


@pytest.mark.parametrize(
    "header",
    [
        "=?base64?!!?=",
        "=?base64?AAE?=",
        "=?base64?/w==?=",
        "=?base64?QUJD\n?=",
        "=?base64?QR==?=",
        "é",
        "a\r\nb",
        "\x00",
    ],
)
def test_a_corrupt_header_value_stands_for_nothing(header: str) -> None:
    with pytest.raises(ValueError, match="it"):
        decode_header_value(header)


def test_a_lone_surrogate_cannot_be_encoded() -> None:
    with pytest.raises(NotJson):
        encode_header_value("\ud800")


def test_a_schema_without_annotations_has_no_plan() -> None:
    assert not header_plan({"type": "object", "properties": {"a": {"type": "string"}}})
    assert not header_plan(True)
    assert header_plan({"type": "object"}).extract({"a": 1}) == {}


def test_arguments_are_extracted_by_their_exact_path() -> None:
    plan = header_plan(SCHEMA)
    arguments = {"region": "us", "count": -7, "dry": False, "deep": {"tenant": "ü"}, "query": "q"}
    headers = plan.extract(arguments)
    assert headers == {
        "Mcp-Param-Region": "us",
        "Mcp-Param-count": "-7",
        "Mcp-Param-Dry-Run": "false",
        "Mcp-Param-Tenant": "=?base64?w7w=?=",
    }
    official = inbound.x_mcp_header_map(SCHEMA)
    assert headers == inbound.mcp_param_headers(official, arguments)
    assert plan.flaw(arguments, {name.lower(): value for name, value in headers.items()}) is None


@pytest.mark.parametrize(
    ("arguments", "header"),
    [
        ({"count": "42"}, {"Mcp-Param-count": "42"}),
        ({"count": "ü"}, {"Mcp-Param-count": "=?base64?w7w=?="}),
        ({"count": 4.5}, {"Mcp-Param-count": "4.5"}),
        ({"count": True}, {"Mcp-Param-count": "true"}),
        ({"dry": "yes"}, {"Mcp-Param-Dry-Run": "yes"}),
        ({"region": False}, {"Mcp-Param-Region": "false"}),
        ({"region": 5}, {"Mcp-Param-Region": "5"}),
        ({"region": [5]}, {}),
        ({"region": {"a": 1}}, {}),
        ({"count": 2**53}, {}),
    ],
)
def test_arguments_of_a_wrong_type_are_repeated_as_they_stand(
    arguments: dict[str, Any], header: dict[str, str]
) -> None:
    plan = header_plan(SCHEMA)
    assert plan.extract(arguments) == header
    if header:
        sent = {name.lower(): value for name, value in header.items()}
        assert plan.flaw(arguments, sent) is None


@pytest.mark.parametrize(
    "arguments",
    [{}, {"region": None}, {"deep": None}, {"deep": {}}, {"deep": []}, {"deep": "tenant"}],
)
def test_nothing_and_null_have_no_header(arguments: dict[str, Any]) -> None:
    plan = header_plan(SCHEMA)
    assert plan.extract(arguments) == {}
    assert plan.flaw(arguments, {}) is None


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "us"}, {}),
        ({"region": "us"}, {"mcp-param-region": "eu"}),
        ({"region": "us"}, {"mcp-param-region": "US"}),
        ({"region": "us"}, {"mcp-param-region": "=?base64?ZXU=?="}),
        ({"region": "us"}, {"mcp-param-region": "=?base64?!!?="}),
        ({}, {"mcp-param-region": "us"}),
        ({"region": None}, {"mcp-param-region": ""}),
        ({"count": 42}, {"mcp-param-count": "43"}),
        ({"count": 42}, {"mcp-param-count": "42.5"}),
        ({"count": 42}, {"mcp-param-count": "4.2e1"}),
        ({"count": 42}, {"mcp-param-count": "٤٢"}),
        ({"count": 42}, {}),
        ({"count": 2**53}, {}),
        ({"count": 2**53}, {"mcp-param-count": str(2**53)}),
        ({"count": True}, {"mcp-param-count": "1"}),
        ({"dry": True}, {"mcp-param-dry-run": "True"}),
        ({"dry": True}, {"mcp-param-dry-run": "1"}),
        ({"count": "42"}, {"mcp-param-count": "43"}),
        ({"count": "42"}, {"mcp-param-count": "42.0"}),
        ({"count": [42]}, {"mcp-param-count": "[42]"}),
        ({"deep": {"tenant": "a"}}, {}),
    ],
)
def test_headers_that_contradict_the_body_are_found(
    arguments: dict[str, Any], headers: dict[str, str]
) -> None:
    flaw = header_plan(SCHEMA).flaw(arguments, headers)
    assert flaw is not None
    assert flaw.startswith("Mcp-Param-")


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"count": 42}, {"mcp-param-count": "42"}),
        ({"count": 42}, {"mcp-param-count": "42.0"}),
        ({"count": 42.0}, {"mcp-param-count": "42"}),
        ({"count": -(2**53) + 1}, {"mcp-param-count": str(-(2**53) + 1)}),
        ({"region": "us"}, {"mcp-param-region": "=?base64?dXM=?="}),
        ({"dry": True}, {"mcp-param-dry-run": "true"}),
        ({"region": ""}, {"mcp-param-region": ""}),
        ({"region": 5}, {}),
        ({"region": 5}, {"mcp-param-region": "5"}),
        ({"count": "42"}, {"mcp-param-count": "42"}),
        ({"count": 4.5}, {"mcp-param-count": "4.5"}),
        ({"count": True}, {"mcp-param-count": "true"}),
        ({"dry": "true"}, {"mcp-param-dry-run": "true"}),
        ({}, {"mcp-param-unknown": "x"}),
    ],
)
def test_headers_that_say_the_same_pass(arguments: dict[str, Any], headers: dict[str, str]) -> None:
    assert header_plan(SCHEMA).flaw(arguments, headers) is None


def annotated(annotation: Any = "Region", **schema: Any) -> dict[str, Any]:
    return {"type": "string", "x-mcp-header": annotation, **schema}


@pytest.mark.parametrize(
    "schema",
    [
        annotated(type="object"),
        {"properties": {"a": annotated("")}},
        {"properties": {"a": annotated("Re gion")}},
        {"properties": {"a": annotated("Region\r\n")}},
        {"properties": {"a": annotated("Région")}},
        {"properties": {"a": annotated("a:b")}},
        {"properties": {"a": annotated(5)}},
        {"properties": {"a": annotated(None)}},
        {"properties": {"a": annotated(type="number")}},
        {"properties": {"a": annotated(type="array")}},
        {"properties": {"a": annotated(type=["string", "null"])}},
        {"properties": {"a": {"x-mcp-header": "Region"}}},
        {"properties": {"a": annotated("Region"), "b": annotated("REGION")}},
        {"properties": {"a": {"items": annotated()}}},
        {"properties": {"a": {"items": {"properties": {"b": annotated()}}}}},
        {"properties": {"a": {"anyOf": [annotated(), {"type": "null"}]}}},
        {"allOf": [{"properties": {"a": annotated()}}]},
        {"if": {"properties": {"a": annotated()}}},
        {"additionalProperties": annotated()},
        {"patternProperties": {"^a": annotated()}},
        {"$defs": {"A": annotated()}},
    ],
)
def test_an_annotation_that_breaks_a_rule_is_refused(schema: dict[str, Any]) -> None:
    document = {"type": "object", **schema} if "x-mcp-header" not in schema else schema
    with pytest.raises(InvalidSchema, match="x-mcp-header"):
        header_plan(document)
    assert inbound.find_invalid_x_mcp_header(document) is not None


def test_a_plan_names_where_it_broke() -> None:
    with pytest.raises(InvalidSchema) as caught:
        header_plan({"properties": {"a/b": {"properties": {"c~": annotated("")}}}})
    assert caught.value.path == "/properties/a~1b/properties/c~0"


def test_plans_are_values() -> None:
    assert header_plan(SCHEMA) == header_plan(SCHEMA)
    assert HeaderPlan() == header_plan({})
    assert [parameter.header for parameter in header_plan(SCHEMA)] == [
        "mcp-param-count",
        "mcp-param-dry-run",
        "mcp-param-region",
        "mcp-param-tenant",
    ]


def test_a_schema_of_any_depth_is_walked() -> None:
    schema: dict[str, Any] = annotated()
    for _ in range(5_000):
        schema = {"properties": {"a": schema}}
    [parameter] = header_plan(schema)
    assert len(parameter.path) == 5_000
