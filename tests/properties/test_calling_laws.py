"""Whatever a model sends, it gets a result: no arguments lead to an exception or to our mistake."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anyshape import Client, Server
from anyshape.providers import PROFILES

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", 1, None, {"x": 1}]},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "tree": {"$ref": "#/$defs/tree"},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        "free": True,
        "odd name!": {"type": ["string", "null"], "maxLength": 3},
    },
    "required": ["kind"],
    "if": {"required": ["map"]},
    "then": {"required": ["tree"]},
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
        }
    },
}
server = Server("laws")


@server.tool(input_schema=SCHEMA)
def echo(arguments: dict[str, Any]) -> Any:
    return arguments


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
NAMED = st.dictionaries(st.sampled_from([*SCHEMA["properties"], "odd_name_", "other"]), VALUES)


@pytest.mark.parametrize("profile", PROFILES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arguments=NAMED | st.text() | NAMED.map(json.dumps) | st.binary())
async def test_every_call_has_a_result_that_is_true(
    profile: str, arguments: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "anyshape.agents")
    async with Client(server) as client:
        tools = await client.toolbox(profile, format="plain")
        answer = await tools.call({"name": "echo", "arguments": arguments})
        assert answer["content"]
        if not answer["is_error"]:
            assert tools.tools["echo"].lowered.original.accepts(json.loads(answer["content"]))
    assert not caplog.records
