"""The rest of the tools and base pages, requirement by requirement, through the public face."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anyshape import (
    Audio,
    EmbeddedResource,
    Image,
    ResourceLink,
    Server,
    Text,
    Tool,
    ToolDefinitionError,
    ToolResult,
)

from .visiting import META


def _ok(arguments: dict[str, Any]) -> str:
    return "ok"


async def _ask(server: Server, method: str, params: Any = None, sent: Any = None) -> Any:
    messages: list[bytes] = [] if sent is None else sent
    connection = server.connect(messages.append)
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {"_meta": META, **(params or {})},
    }
    answer = await connection.handle(json.dumps(body).encode())
    assert answer is not None
    return json.loads(answer)


async def _listed(server: Server) -> Any:
    return (await _ask(server, "tools/list"))["result"]["tools"]


async def _called(server: Server, name: str, arguments: Any = None) -> Any:
    answer = await _ask(server, "tools/call", {"name": name, "arguments": arguments or {}})
    return answer["result"]


@pytest.mark.behaviour("tools.capability")
async def test_the_tools_capability_is_declared_even_without_tools() -> None:
    server = Server("empty")
    discovered = (await _ask(server, "server/discover"))["result"]
    assert discovered["capabilities"]["tools"] == {"listChanged": True}
    assert await _listed(server) == []


@pytest.mark.behaviour("discover.result")
async def test_a_server_may_say_that_it_has_no_icons() -> None:
    discovered = (await _ask(Server("plain", icons=None), "server/discover"))["result"]
    info = discovered["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert info["name"] == "plain"
    assert "icons" not in info


@pytest.mark.behaviour("tools.entry")
async def test_a_listed_tool_has_every_field_its_author_gave() -> None:
    server = Server("s")

    @server.tool(
        title="Weather",
        description="Look up the weather.",
        annotations={"readOnlyHint": True},
        icons=[{"src": "https://example.com/i.png", "mimeType": "image/png"}],
        meta={"com.example/cost": 3},
    )
    async def weather(city: str) -> dict[str, float]:
        return {}

    assert weather.__name__ == "weather"
    (tool,) = await _listed(server)
    assert tool["name"] == "weather"
    assert tool["title"] == "Weather"
    assert tool["description"] == "Look up the weather."
    assert tool["annotations"] == {"readOnlyHint": True}
    assert tool["icons"] == [{"src": "https://example.com/i.png", "mimeType": "image/png"}]
    assert tool["_meta"] == {"com.example/cost": 3}
    assert tool["inputSchema"]["type"] == "object"
    assert tool["outputSchema"]["type"] == "object"


@pytest.mark.behaviour("tools.schema.unchanged")
async def test_a_schema_is_published_as_it_was_written() -> None:
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$anchor": "here", "const": None}},
        "if": {"required": ["a"]},
        "then": {"maxProperties": 1},
        "allOf": [{"anyOf": [True, {"not": {}}]}],
        "x-own": [1, None],
    }
    server = Server("s")
    server.add_tool(Tool(name="t", handler=_ok, input_schema=schema))
    (tool,) = await _listed(server)
    assert tool["inputSchema"] == schema


@pytest.mark.behaviour("tools.schema.no-parameters")
async def test_a_tool_without_parameters_takes_only_an_empty_object() -> None:
    server = Server("s")

    @server.tool
    async def now() -> str:
        return "now"

    assert now.__name__ == "now"
    (tool,) = await _listed(server)
    assert tool["inputSchema"] == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
    assert (await _called(server, "now", {"extra": 1}))["isError"] is True


@pytest.mark.behaviour("tools.schema.dialects")
async def test_a_schema_is_enforced_in_the_dialect_it_names() -> None:
    server = Server("s")
    # `prefixItems` is a keyword of 2020-12, and in draft-07 it is not.
    rule = {"type": "object", "properties": {"a": {"prefixItems": [{"type": "string"}]}}}
    draft = {"$schema": "http://json-schema.org/draft-07/schema#", **rule}
    server.add_tool(Tool(name="old", handler=_ok, input_schema=draft))
    server.add_tool(Tool(name="new", handler=_ok, input_schema=rule))
    assert "isError" not in await _called(server, "old", {"a": [1]})
    assert (await _called(server, "new", {"a": [1]}))["isError"] is True


@pytest.mark.behaviour("tools.schema.rejected")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "$schema": "https://example.com/unknown-dialect"},
        {"type": "object", "properties": {"a": {"$ref": "https://example.com/schema"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
        {"type": "object", "properties": {"a": {"type": "nonsense"}}},
        {"type": "array"},
        {},
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_when_the_tool_is_defined(schema: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        Tool(name="t", handler=_ok, input_schema=schema)


@pytest.mark.behaviour("tools.header-annotations")
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "no spaces"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "a\r\nb"}}},
        {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "array", "x-mcp-header": "A"}}},
        {
            "properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"},
            }
        },
        {"properties": {"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}}},
        {"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}},
    ],
)
def test_a_header_annotation_that_breaks_the_rules_is_refused(schema: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        Tool(name="t", handler=_ok, input_schema={"type": "object", **schema})


@pytest.mark.behaviour("tools.names")
@pytest.mark.parametrize("name", ["", "a b", "a,b", "é", "a/b", "x" * 129])
def test_a_name_outside_the_recommended_characters_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError):
        Tool(name=name, handler=_ok, input_schema={"type": "object"})


@pytest.mark.behaviour("tools.names")
@pytest.mark.parametrize("name", ["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "x" * 128])
async def test_a_name_of_the_recommended_characters_works(name: str) -> None:
    server = Server("s")
    server.add_tool(Tool(name=name, handler=_ok, input_schema={"type": "object"}))
    assert "isError" not in await _called(server, name)


@pytest.mark.behaviour("tools.content")
async def test_every_kind_of_content_goes_over_the_wire() -> None:
    server = Server("s")

    @server.tool
    async def everything() -> list[Text | Image | Audio | ResourceLink | EmbeddedResource]:
        return [
            Text("hi", annotations={"audience": ["user"], "priority": 0.5}),
            Image(b"i", "image/png"),
            Audio(b"a", "audio/wav"),
            ResourceLink("file:///x", "x", mime_type="text/plain"),
            EmbeddedResource("file:///y", text="y", mime_type="text/plain"),
        ]

    assert everything.__name__ == "everything"
    assert (await _called(server, "everything"))["content"] == [
        {"type": "text", "text": "hi", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": "aQ==", "mimeType": "image/png"},
        {"type": "audio", "data": "YQ==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///x", "name": "x", "mimeType": "text/plain"},
        {
            "type": "resource",
            "resource": {"uri": "file:///y", "text": "y", "mimeType": "text/plain"},
        },
    ]


@pytest.mark.behaviour("tools.structured")
@pytest.mark.parametrize(
    "value", [{"a": 1}, {}, [1, "a"], [], "text", "", 7, 0, 1.5, True, False, None]
)
async def test_structured_content_is_any_json_value_and_mirrored_as_text(value: Any) -> None:
    def give(arguments: dict[str, Any]) -> Any:
        return value

    server = Server("s")
    server.add_tool(
        Tool(
            name="t",
            handler=give,
            input_schema={"type": "object"},
            output_schema=True,
        )
    )
    result = await _called(server, "t")
    assert result["structuredContent"] == value
    assert "structuredContent" in result
    assert [json.loads(block["text"]) for block in result["content"]] == [value]


@pytest.mark.behaviour("tools.output-conforms")
async def test_a_value_that_breaks_the_output_schema_never_leaves() -> None:
    def misreport(arguments: dict[str, Any]) -> dict[str, str]:
        return {"celsius": "warm"}

    server = Server("s")
    server.add_tool(
        Tool(
            name="t",
            handler=misreport,
            input_schema={"type": "object"},
            output_schema={"type": "object", "properties": {"celsius": {"type": "number"}}},
        )
    )
    result = await _called(server, "t")
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert "warm" not in json.dumps(result)


@pytest.mark.behaviour("tools.structured.absent")
async def test_no_structured_content_is_not_the_same_as_null() -> None:
    def without(arguments: dict[str, Any]) -> ToolResult[None]:
        return ToolResult(content=["x"])

    def null(arguments: dict[str, Any]) -> ToolResult[None]:
        return ToolResult(structured=None)

    server = Server("s")
    for handler in (without, null):
        server.add_tool(
            Tool(name=handler.__name__, handler=handler, input_schema={"type": "object"})
        )
    assert "structuredContent" not in await _called(server, "without")
    assert (await _called(server, "null"))["structuredContent"] is None


@pytest.mark.behaviour("base.id.echoed")
@pytest.mark.parametrize(
    ("id", "seen"),
    [
        (b"7", 7),
        (b"-7", -7),
        (b"1.5", 1.5),
        (b"9" * 30, int("9" * 30)),
        (b'"\\u0061\\n"', "a\n"),
        (b"1e400", "1e400"),
        (b"-" + b"9" * 5000, "-" + "9" * 5000),
    ],
)
async def test_a_tool_sees_the_id_and_the_answer_repeats_it_to_the_letter(
    id: bytes, seen: object
) -> None:
    from anyshape import Context

    server = Server("s")
    ids: list[object] = []

    @server.tool
    async def who(context: Context) -> None:
        ids.append(context.request_id)

    assert who.__name__ == "who"
    params = json.dumps({"name": "who", "_meta": META}).encode()
    answer = await server.connect(print).handle(
        b'{"jsonrpc":"2.0","id":%b,"method":"tools/call","params":%b}' % (id, params)
    )
    assert answer is not None
    assert answer.startswith(b'{"jsonrpc":"2.0","id":%b,"result":' % id)
    assert ids == [seen]


@pytest.mark.behaviour("base.stateless")
async def test_a_modern_request_needs_nothing_before_it_and_leaves_nothing_behind() -> None:
    server = Server("s")

    @server.tool
    async def one() -> int:
        return 1

    assert one.__name__ == "one"
    connection = server.connect(print)
    bare = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
    for _ in range(2):
        modern = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "one", "_meta": META},
        }
        answer = await connection.handle(json.dumps(modern).encode())
        assert answer is not None
        assert json.loads(answer)["result"]["structuredContent"] == 1
        refused = await connection.handle(bare)
        assert refused is not None
        assert json.loads(refused)["error"]["code"] == -32602


@pytest.mark.behaviour("base.no-server-requests")
async def test_a_server_sends_answers_and_notifications_and_never_asks() -> None:
    from anyshape import Context

    server = Server("s")

    @server.tool
    async def steps(context: Context) -> int:
        context.progress(1)
        return 1

    assert steps.__name__ == "steps"
    sent: list[bytes] = []
    meta = {**META, "progressToken": 1}
    await _ask(server, "tools/call", {"name": "steps", "_meta": meta}, sent)
    assert sent
    assert all("id" not in json.loads(message) for message in sent)


@pytest.mark.behaviour("transport.one-line")
async def test_a_message_holds_no_newline_whatever_its_values_hold() -> None:
    server = Server("s", instructions="one\ntwo\r\nthree\u2028four")

    @server.tool(description="first\nsecond")
    async def lines() -> str:
        return "a\nb\r\nc"

    assert lines.__name__ == "lines"
    connection = server.connect(print)
    asked: list[tuple[str, dict[str, Any]]] = [
        ("server/discover", {}),
        ("tools/list", {}),
        ("tools/call", {"name": "lines"}),
    ]
    for method, params in asked:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        # The request may be spread over lines where the transport can tell where it ends.
        answer = await connection.handle(json.dumps(body, indent=1).encode())
        assert answer is not None
        assert b"\n" not in answer
        assert b"\r" not in answer


@pytest.mark.behaviour("base.extensions")
async def test_no_extension_is_advertised_and_those_of_clients_are_ignored() -> None:
    server = Server("s")
    meta: dict[str, Any] = {
        **META,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"com.example/x": {}}},
    }
    result = (await _ask(server, "server/discover", {"_meta": meta}))["result"]
    assert "extensions" not in result["capabilities"]


@pytest.mark.behaviour("tools.call.extra-parameters")
async def test_parameters_of_other_features_do_not_disturb_a_call() -> None:
    server = Server("s")

    @server.tool
    async def one() -> int:
        return 1

    assert one.__name__ == "one"
    params = {
        "name": "one",
        "inputResponses": {"x": {"action": "accept"}},
        "requestState": "abc",
        "task": {"ttl": 5},
    }
    assert (await _ask(server, "tools/call", params))["result"]["structuredContent"] == 1


@pytest.mark.behaviour("tools.call.no-arguments")
@pytest.mark.parametrize("arguments", [{}, None, "absent"])
async def test_arguments_may_be_left_out(arguments: Any) -> None:
    server = Server("s")

    @server.tool
    async def one() -> int:
        return 1

    assert one.__name__ == "one"
    params: dict[str, Any] = {"name": "one"}
    if arguments != "absent":
        params["arguments"] = arguments
    assert (await _ask(server, "tools/call", params))["result"]["structuredContent"] == 1
