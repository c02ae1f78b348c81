from __future__ import annotations

from typing import Any

import pytest

from anyshape.protocol.shapes.folding import fold_root
from anyshape.protocol.shapes.nulls import NullDropper

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string"},
        "b": {"type": ["string", "null"]},
        "any": {},
        "part": {"$ref": "#/$defs/part"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/part"}},
        "perhaps": {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]},
        "either": {"anyOf": [{"$ref": "#/$defs/part"}, {"properties": {"n": {}}}]},
        "listed": {"anyOf": [{"items": {"$ref": "#/$defs/part"}}, {"type": ["string", "object"]}]},
        "pair": {"prefixItems": [{}], "items": {"$ref": "#/$defs/part"}},
    },
    "allOf": [{"properties": {"c": {"enum": ["x"]}}}],
    "oneOf": [{"properties": {"d": {"type": "integer"}}}, {"required": ["a"]}],
    "$defs": {"part": {"type": "object", "properties": {"n": {"type": "number"}, "m": True}}},
}


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        (b'{"a":null}', b"{}"),
        (b'{ "b" : null, "any":null}', b'{ "b" : null, "any":null}'),
        (b'{"a":null,"b":1.50,"z":null}', b'{"b":1.50,"z":null}'),
        (b'{"c":null}', b"{}"),
        (b'{"d":null}', b'{"d":null}'),
        (b'{"part":{"n":null,"m":null}}', b'{"part":{"m":null}}'),
        (b'{"part":null}', b"{}"),
        (b'{"parts":[{"n":null},{"n":1},null]}', b'{"parts":[{},{"n":1},null]}'),
        (b'{"perhaps":{"n":null}}', b'{"perhaps":{}}'),
        (b'{"perhaps":null}', b'{"perhaps":null}'),
        (b'{"either":{"n":null}}', b'{"either":{"n":null}}'),
        (b'{"listed":[{"n":null}]}', b'{"listed":[{}]}'),
        (b'{"pair":[{"n":null},{"n":null}]}', b'{"pair":[{"n":null},{"n":null}]}'),
        (b'{"x":[1e400,0.10,-0.0,1E5],"a":null}', b'{"x":[1e400,0.10,-0.0,1E5]}'),
        (b'{"a":"null"}', b'{"a":"null"}'),
        (b'{"a":12345678901234567890123,"c":null}', b'{"a":12345678901234567890123}'),
        (b'{"a":null,', b'{"a":null,'),
    ],
)
def test_nulls_are_dropped_where_null_cannot_be_and_nothing_else_changes(
    sent: bytes, left: bytes
) -> None:
    assert NullDropper(fold_root(SCHEMA)).drop(sent) == left


@pytest.mark.parametrize("dialect", ["https://json-schema.org/draft/2020-12/schema",
                                     "http://json-schema.org/draft-07/schema#"])  # fmt: skip
def test_a_schema_that_leads_back_to_itself_in_place_is_read_once(dialect: str) -> None:
    loop: dict[str, Any] = {"$ref": "#/definitions/loop"}
    schema: dict[str, Any] = {
        "$schema": dialect,
        "type": "object",
        "properties": {"x": loop, "a": {"type": "string"}},
        "definitions": {"loop": loop},
    }
    assert NullDropper(fold_root(schema)).drop(b'{"x":{"y":null},"a":null}') == b'{"x":{"y":null}}'


def test_nulls_are_dropped_however_deep_they_are() -> None:
    sent = b'{"x":' * 100 + b'{"a":null,"pad":"' + b"y" * 100_000 + b'"}' + b"}" * 100
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "x": {"$ref": "#"}},
    }
    assert NullDropper(fold_root(schema)).drop(sent) == sent.replace(b'"a":null,', b"")


def test_more_than_a_model_writes_is_left_as_it_is() -> None:
    sent = b'{"a":null,"pad":"' + b"y" * 300_000 + b'"}'
    assert NullDropper(fold_root(SCHEMA)).drop(sent) == sent


def test_nested_beyond_measure_is_left_for_the_tool_to_refuse() -> None:
    recursive: dict[str, Any] = {"type": "object", "properties": {"x": {"$ref": "#"}}}
    sent = b'{"x":' * 5000 + b"null" + b"}" * 5000
    assert NullDropper(fold_root(recursive)).drop(sent) == sent
