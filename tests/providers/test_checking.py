"""The checker refuses what providers are known to refuse, and says where."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape.providers import PROFILES, check

TEXT = {"type": "string"}


def root(schema: Any, **beside: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"v": schema},
        "required": ["v"],
        "additionalProperties": False,
        **beside,
    }


CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("openai", {"properties": {}}, "type"),
    ("openai", {"type": "object"}, "properties"),
    ("openai", {"type": "object", "properties": {}, "anyOf": [{}]}, "anyOf"),
    ("openai", root({"type": "array"}), "items"),
    ("openai-strict", root({}), "type"),
    ("openai-strict", root({"type": "string", "default": "x"}), "default"),
    ("openai-strict", root({"type": "object", "properties": {}}), "additionalProperties"),
    ("openai-strict", root({"oneOf": [TEXT]}), "oneOf"),
    ("openai-strict", root({"allOf": [TEXT]}), "allOf"),
    ("openai-strict", root({**TEXT, "not": {}}), "not"),
    ("openai-strict", root({"enum": ["a", 1]}), "type"),
    ("openai-strict", root({"type": "string", "enum": ["a", 1]}), "enum"),
    ("openai-strict", root({**TEXT, "format": "uri"}), "format"),
    ("openai-strict", root({**TEXT, "pattern": "(?=a)"}), "pattern"),
    ("openai-strict", root(TEXT, required=[]), "required"),
    ("openai-strict", root({"type": "array", "items": TEXT, "uniqueItems": True}), "uniqueItems"),
    ("openai-strict", root({"$ref": "#/properties/v"}), "$ref"),
    (
        "openai-strict",
        root({"$ref": "#/$defs/a", "description": "x"}, **{"$defs": {"a": TEXT}}),
        "$ref",
    ),
    ("anthropic", root(TEXT, oneOf=[{}]), "oneOf"),
    ("anthropic", {"type": "object", "properties": {"a b": TEXT}}, "properties"),
    ("anthropic-strict", root({"type": "integer", "minimum": 1}), "minimum"),
    ("anthropic-strict", root({"type": "array", "items": TEXT, "minItems": 2}), "minItems"),
    ("anthropic-strict", root({"type": "array", "items": TEXT, "maxItems": 2}), "maxItems"),
    ("gemini", root(TEXT), "additionalProperties"),
    ("gemini", {"type": "object", "properties": {"a-b": TEXT}}, "properties"),
    ("gemini", {"type": "object", "properties": {"v": {"type": ["string", "null"]}}}, "type"),
    ("gemini", {"type": "object", "properties": {"v": {"const": "a"}}}, "const"),
    ("gemini", {"type": "object", "properties": {"v": {"type": "integer", "enum": [1]}}}, "enum"),
    ("gemini", {"type": "object", "properties": {"v": {**TEXT, "enum": [""]}}}, "enum"),
    (
        "gemini",
        {"type": "object", "properties": {"v": {"anyOf": [TEXT], "description": "x"}}},
        "anyOf",
    ),
    ("gemini", {"type": "object", "properties": {}, "required": ["v"]}, "required"),
    ("gemini-json", root({"type": "integer", "exclusiveMinimum": 0}), "exclusiveMinimum"),
    ("bedrock-nova", root(TEXT, description="x"), "description"),
    ("xgrammar", root({"type": "object", "properties": {}}), "additionalProperties"),
    ("xgrammar", root({**TEXT, "pattern": "^.*$"}), "pattern"),
    ("xgrammar", root(True), "properties"),
    ("xgrammar", root({"type": "integer", "minimum": 0.5}), "minimum"),
    ("xgrammar", root({"type": "integer", "minimum": 2**60}), "minimum"),
    ("xgrammar", root({"type": "array", "prefixItems": [TEXT]}), "prefixItems"),
    ("outlines", root({"type": ["object", "null"]}), "type"),
    ("outlines", root({"type": "array", "items": False}), "items"),
    ("outlines", root({**TEXT, "format": "email"}), "format"),
    ("llama.cpp", root(TEXT, properties={"$ref": TEXT}, required=["$ref"]), "properties"),
]


@pytest.mark.parametrize(
    ("name", "document", "keyword"), REFUSED, ids=lambda part: part if isinstance(part, str) else ""
)
def test_a_known_refusal_is_found(name: str, document: dict[str, Any], keyword: str) -> None:
    assert keyword in {violation.keyword for violation in check(document, PROFILES[name])}


def test_a_violation_says_where_and_what_in_one_line() -> None:
    (violation,) = check(root({**TEXT, "format": "uri"}), PROFILES["openai-strict"])
    assert str(violation) == "/properties/v: the format 'uri' is not accepted"


def test_limits_are_counted() -> None:
    def names(count: int) -> dict[str, Any]:
        return {f"p{n}": TEXT for n in range(count)}

    wide = {**CLOSED, "properties": names(5_001), "required": list(names(5_001))}
    assert "5001 properties" in check(wide, PROFILES["openai-strict"])[0].message
    listed = root({**TEXT, "enum": [str(n) for n in range(1_001)]})
    assert "1001 listed values" in check(listed, PROFILES["openai-strict"])[0].message
    long = root({**TEXT, "enum": [f"{n:060}" for n in range(300)]})
    assert "15000 characters" in check(long, PROFILES["openai-strict"])[0].message
    deep: dict[str, Any] = TEXT
    for _ in range(11):
        deep = root(deep)
    assert "11 levels" in check(deep, PROFILES["openai-strict"])[0].message
    loop = root({"$ref": "#/$defs/a"}, **{"$defs": {"a": root({"$ref": "#/$defs/a"})}})
    messages = [violation.message for violation in check(loop, PROFILES["anthropic-strict"])]
    assert messages == ["a definition that refers to itself"]


@pytest.mark.parametrize("most", [10**3_000, 1e300, 2.0])
def test_an_expression_is_measured_whatever_the_counts(most: float) -> None:
    schema: dict[str, Any] = {"type": "string", "maxLength": 10**400}
    for _ in range(60):
        schema = {"type": "array", "items": schema, "maxItems": most}
    (violation,) = check(root(schema), "outlines")
    assert "at least 1000000000 characters" in violation.message


def test_a_profile_goes_by_its_name_and_a_title_costs_nothing() -> None:
    document = {
        "type": "object",
        "properties": {"n": {"type": "integer", "title": "N"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    found = {violation.keyword for name in PROFILES for violation in check(document, name)}
    assert "title" not in found
    assert [violation.keyword for violation in check(document, "gemini")] == [
        "additionalProperties"
    ]
    with pytest.raises(ValueError, match=r"expected a profile, one of openai, .*; got 'gpt'"):
        check(document, "gpt")


def test_an_enum_without_a_type_is_taken_by_those_that_take_it() -> None:
    document = root({"enum": ["a", "b"]})
    assert check(document, "anthropic-strict") == []
    assert [violation.keyword for violation in check(document, "openai-strict")] == ["type", "enum"]
    assert [violation.keyword for violation in check(root({"enum": [{}]}), "anthropic-strict")] == [
        "enum"
    ]
