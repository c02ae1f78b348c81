from __future__ import annotations

from typing import Any

import pytest

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
        (b'{"perhaps":{"n":null}}', b'{"perhaps":{"n":null}}'),
        (b'{"a":"null"}', b'{"a":"null"}'),
        (b'{"a":12345678901234567890123,"c":null}', b'{"a":12345678901234567890123}'),
        (b'{"a":null,', b'{"a":null,'),
    ],
)
def test_nulls_are_dropped_where_null_cannot_be_and_nothing_else_changes(
    sent: bytes, left: bytes
) -> None:
    assert NullDropper(SCHEMA).drop(sent) == left


def test_nested_beyond_measure_is_left_for_the_tool_to_refuse() -> None:
    recursive: dict[str, Any] = {"type": "object", "properties": {"x": {"$ref": "#"}}}
    sent = b'{"x":' * 5000 + b"null" + b"}" * 5000
    assert NullDropper(recursive).drop(sent) == sent
