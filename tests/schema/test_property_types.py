"""The types that one property can have, wherever a schema speaks of it."""

from __future__ import annotations

from typing import Any

import pytest

from anyshape.documents.property_types import property_types
from anyshape.documents.types import Types

STRING = {"type": "string"}
INTEGER = {"type": "integer"}


def said(schema: dict[str, Any]) -> dict[str, Any]:
    return {"properties": {"a": schema}}


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({}, None),
        ({"properties": {"b": STRING}}, None),
        (said(STRING), Types.STRING),
        (said({}), Types.ANYTHING),
        (said({"enum": [1, None]}), Types.NUMBER | Types.NULL),
        (said({"$ref": "#/$defs/x"}) | {"$defs": {"x": INTEGER}}, Types.NUMBER),
        ({"$ref": "#/$defs/x", "$defs": {"x": said(INTEGER)}}, Types.NUMBER),
        ({"allOf": [said(STRING), said({"type": ["string", "null"]})]}, Types.STRING),
        ({"anyOf": [said(STRING), said(INTEGER)]}, Types.STRING | Types.NUMBER),
        ({"oneOf": [said(INTEGER), {"properties": {"b": STRING}}]}, Types.NUMBER),
        (said({}) | {"oneOf": [said(INTEGER)]}, Types.NUMBER),
        (
            {"if": said(STRING), "then": said(INTEGER), "else": said({"type": "null"})},
            Types.NUMBER | Types.NULL,
        ),
        ({"allOf": [{"$ref": "#"}], **said(STRING)}, Types.STRING),
    ],
)
def test_alternatives_unite_and_conditions_narrow(
    schema: dict[str, Any], types: Types | None
) -> None:
    assert property_types(schema, "a") == types


def test_a_doubling_schema_is_answered_at_once() -> None:
    levels = {
        str(n): {"anyOf": [{"$ref": f"#/$defs/{n + 1}"}, {"$ref": f"#/$defs/{n + 1}"}]}
        for n in range(60)
    }
    schema = {"$ref": "#/$defs/0", "$defs": {**levels, "60": said(INTEGER)}}
    assert property_types(schema, "a") == Types.NUMBER
