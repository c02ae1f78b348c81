"""Definitions and results are what each provider's API has, to the last member."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from workshop import PICTURE, make_server

from anyshape import Client, Server
from anyshape.agents import FormatName, Toolbox, toolbox
from anyshape.providers import PROFILES, check

ENCODED = base64.b64encode(PICTURE).decode()
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
OPEN = {key: value for key, value in SCHEMA.items() if key != "additionalProperties"}


@pytest.fixture
async def weather() -> AsyncGenerator[Client]:
    server = Server("weather")

    @server.tool(input_schema=SCHEMA)
    def forecast(city: str) -> str:
        """Tell the weather."""
        return f"rain in {city}"

    async with Client(server) as client:
        yield client


@pytest.fixture
async def workshop() -> AsyncGenerator[Client]:
    async with Client(make_server()) as client:
        yield client


TOLD = {"name": "forecast", "description": "Tell the weather."}


@pytest.mark.parametrize(
    ("profile", "format", "definitions"),
    [
        (
            "openai",
            None,
            [{"type": "function", "function": {**TOLD, "parameters": SCHEMA, "strict": False}}],
        ),
        (
            "openai-strict",
            None,
            [{"type": "function", "function": {**TOLD, "parameters": SCHEMA, "strict": True}}],
        ),
        (
            "openai-strict",
            "openai-responses",
            [{"type": "function", **TOLD, "parameters": SCHEMA, "strict": True}],
        ),
        ("anthropic", None, [{**TOLD, "input_schema": SCHEMA}]),
        ("anthropic-strict", None, [{**TOLD, "input_schema": SCHEMA, "strict": True}]),
        ("gemini", None, [{"functionDeclarations": [{**TOLD, "parameters": OPEN}]}]),
        (
            "gemini-json",
            None,
            [{"functionDeclarations": [{**TOLD, "parametersJsonSchema": SCHEMA}]}],
        ),
        ("bedrock", None, [{"toolSpec": {**TOLD, "inputSchema": {"json": SCHEMA}}}]),
        (
            "mistral",
            None,
            [{"type": "function", "function": {**TOLD, "parameters": SCHEMA, "strict": False}}],
        ),
        ("openai", "plain", [{**TOLD, "parameters": SCHEMA}]),
    ],
)
async def test_a_definition_is_what_the_request_has(
    weather: Client, profile: str, format: FormatName | None, definitions: list[dict[str, Any]]
) -> None:
    tools = await weather.toolbox(profile, format=format)
    assert tools.definitions == definitions


CALLS: list[tuple[str, FormatName | None, Any, Any]] = [
    (
        "openai",
        "openai-chat",
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "forecast", "arguments": '{"city": "Paris"}'},
        },
        {"role": "tool", "tool_call_id": "c1", "content": "rain in Paris"},
    ),
    (
        "openai",
        "openai-responses",
        {
            "type": "function_call",
            "id": "fc1",
            "call_id": "c1",
            "name": "forecast",
            "arguments": '{"city": "Paris"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "rain in Paris"},
    ),
    (
        "anthropic",
        None,
        {"type": "tool_use", "id": "c1", "name": "forecast", "input": {"city": "Paris"}},
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "text", "text": "rain in Paris"}],
        },
    ),
    (
        "gemini",
        None,
        {"functionCall": {"id": "c1", "name": "forecast", "args": {"city": "Paris"}}},
        {
            "functionResponse": {
                "id": "c1",
                "name": "forecast",
                "response": {"output": "rain in Paris"},
            }
        },
    ),
    (
        "gemini-json",
        None,
        {"function_call": {"name": "forecast", "args": {"city": "Paris"}}},
        {"functionResponse": {"name": "forecast", "response": {"output": "rain in Paris"}}},
    ),
    (
        "bedrock",
        None,
        {"toolUse": {"toolUseId": "c1", "name": "forecast", "input": {"city": "Paris"}}},
        {
            "toolResult": {
                "toolUseId": "c1",
                "content": [{"text": "rain in Paris"}],
                "status": "success",
            }
        },
    ),
    (
        "mistral",
        None,
        {"id": "c1", "function": {"name": "forecast", "arguments": {"city": "Paris"}}},
        {"role": "tool", "tool_call_id": "c1", "content": "rain in Paris", "name": "forecast"},
    ),
    (
        "openai",
        "plain",
        {"id": "c1", "name": "forecast", "arguments": {"city": "Paris"}},
        {"id": "c1", "name": "forecast", "content": "rain in Paris", "is_error": False},
    ),
]


@pytest.mark.parametrize(("profile", "format", "call", "result"), CALLS)
async def test_a_call_is_answered_in_the_same_format(
    weather: Client, profile: str, format: FormatName | None, call: Any, result: Any
) -> None:
    tools = await weather.toolbox(profile, format=format)
    assert await tools.call(call) == result


class Attributes:
    """An object such as SDKs make, out of a dict."""

    def __init__(self, members: dict[str, Any]) -> None:
        for name, value in members.items():
            setattr(self, name, Attributes(value) if name.startswith("function") else value)


@pytest.mark.parametrize(("profile", "format", "call", "result"), CALLS[:4])
async def test_objects_of_an_sdk_are_read_as_dicts_are(
    weather: Client, profile: str, format: FormatName | None, call: Any, result: Any
) -> None:
    tools = await weather.toolbox(profile, format=format)
    assert await tools.call(Attributes(call)) == result


@pytest.mark.parametrize(
    ("profile", "format", "result"),
    [
        ("openai", "openai-chat", {"role": "tool", "content": "Error: too late"}),
        (
            "openai",
            "openai-responses",
            {"type": "function_call_output", "output": "Error: too late"},
        ),
        (
            "anthropic",
            None,
            {
                "type": "tool_result",
                "content": [{"type": "text", "text": "too late"}],
                "is_error": True,
            },
        ),
        ("gemini", None, {"functionResponse": {"name": "fail", "response": {"error": "too late"}}}),
        ("bedrock", None, {"toolResult": {"content": [{"text": "too late"}], "status": "error"}}),
        ("mistral", None, {"role": "tool", "content": "Error: too late", "name": "fail"}),
        ("openai", "plain", {"name": "fail", "content": "too late", "is_error": True}),
    ],
)
async def test_a_failure_is_marked_as_the_format_marks_it(
    workshop: Client, profile: str, format: FormatName | None, result: Any
) -> None:
    tools = await workshop.toolbox(profile, format=format)
    assert await tools.call("fail", {"reason": "too late"}) == result


WORDS = [
    "words",
    "(image: image/svg+xml, 6 bytes)",
    "(audio: audio/wav, 5 bytes)",
    "resource: a.txt <file:///a.txt> a file",
    "resource: <file:///b.txt>",
    "inside b",
    "resource: <file:///c.png>",
    "resource: <file:///d.bin> (application/octet-stream, 3 bytes)",
    '{"n":1}',
]


async def test_every_content_block_is_told_and_shown_where_it_can_be(workshop: Client) -> None:
    tools = await workshop.toolbox("anthropic")
    content = (await tools.call("everything"))["content"]
    assert [part["text"] for part in content if part["type"] == "text"] == WORDS
    image = {"type": "base64", "media_type": "image/png", "data": ENCODED}
    assert [part["source"] for part in content if part["type"] == "image"] == [image, image]


@pytest.mark.parametrize(
    ("profile", "format", "result"),
    [
        (
            "openai",
            "openai-responses",
            {
                "type": "function_call_output",
                "output": [
                    {"type": "input_image", "image_url": f"data:image/png;base64,{ENCODED}"}
                ],
            },
        ),
        (
            "gemini",
            None,
            {
                "functionResponse": {
                    "name": "draw",
                    "response": {"output": "see the image"},
                    "parts": [{"inlineData": {"mimeType": "image/png", "data": PICTURE}}],
                }
            },
        ),
        (
            "bedrock",
            None,
            {
                "toolResult": {
                    "content": [{"image": {"format": "png", "source": {"bytes": PICTURE}}}],
                    "status": "success",
                }
            },
        ),
        (
            "mistral",
            None,
            {"role": "tool", "content": "(image: image/png, 21 bytes)", "name": "draw"},
        ),
    ],
)
async def test_an_image_is_where_the_format_has_it(
    workshop: Client, profile: str, format: FormatName | None, result: Any
) -> None:
    tools = await workshop.toolbox(profile, format=format)
    assert await tools.call("draw") == result


async def test_images_follow_the_messages_of_tools_in_the_chat_format(workshop: Client) -> None:
    tools = await workshop.toolbox("openai")
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for id, name in (("c1", "draw"), ("c2", "nothing"))
    ]
    assert await tools.call_all(calls) == [
        {"role": "tool", "tool_call_id": "c1", "content": "(image: image/png, 21 bytes)"},
        {"role": "tool", "tool_call_id": "c2", "content": "(the tool gave no output)"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Images that draw returned:"},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/png;base64,{ENCODED}"},
                },
            ],
        },
    ]


async def test_a_model_that_sees_nothing_is_shown_nothing(workshop: Client) -> None:
    for profile in ("openai", "anthropic", "gemini", "bedrock"):
        tools = await workshop.toolbox(profile, images=False)
        told = await tools.call_all([{"id": "c1", "name": "draw", "input": {}}])
        assert len(told) == 1
        assert ENCODED not in str(told)
        assert "(image: image/png, 21 bytes)" in str(told)


def schemas_of(tools: Toolbox) -> list[dict[str, Any]]:
    return [dict(tool.document) for tool in tools.tools.values()]


@pytest.mark.parametrize("profile", PROFILES)
async def test_every_profile_accepts_every_definition(workshop: Client, profile: str) -> None:
    tools = await toolbox(workshop, profile)
    assert tools.definitions
    assert not tools.left_out
    assert len(tools) == 6
    for schema in schemas_of(tools):
        assert check(schema, PROFILES[profile]) == []


async def test_a_profile_of_ones_own_needs_a_format_when_its_name_is_new(workshop: Client) -> None:
    from dataclasses import replace

    own = replace(PROFILES["openai"], name="mine", tool_names="[a-z_0-9]{1,20}")
    with pytest.raises(ValueError, match="format="):
        await workshop.toolbox(own)
    tools = await workshop.toolbox(own, format="plain")
    assert [it["name"] for it in tools.definitions][:2] == ["draw", "everything"]


@pytest.mark.parametrize("options", [{"format": "xml"}, {"tokens": 0}])
async def test_what_makes_no_sense_is_refused(workshop: Client, options: Any) -> None:
    with pytest.raises(ValueError, match="expected"):
        await workshop.toolbox("openai", **options)


async def test_an_unknown_profile_is_refused(workshop: Client) -> None:
    with pytest.raises(ValueError, match="openai-strict"):
        await workshop.toolbox("gpt")
