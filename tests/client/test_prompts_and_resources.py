"""Prompts, resources and completions: listed entry by entry, read, and checked like tools."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from patience import PATIENCE

from anyshape import Client, Server, Text
from anyshape.client import Bounds, PromptArgument, Suggestions
from anyshape.client import features as features_module
from anyshape.errors import LimitExceeded, ProtocolError
from anyshape.protocol.content import UnknownContent

if TYPE_CHECKING:
    from .conftest import Refusal, Scripted

Json = dict[str, Any]
ALL: Json = {"prompts": {}, "resources": {}, "completions": {}}


def discovered(**capabilities: Any) -> Callable[[Json], Json]:
    return lambda params: {
        "supportedVersions": ["2026-07-28"],
        "capabilities": capabilities or ALL,
    }


def initialized(**capabilities: Any) -> Callable[[Json], Json]:
    return lambda params: {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities or ALL,
        "serverInfo": {"name": "scripted", "version": "1"},
    }


async def test_prompts_are_listed_over_all_pages(scripted: type[Scripted]) -> None:
    review = {
        "name": "review",
        "title": "Review",
        "description": "Reviews code.",
        "arguments": [
            {"name": "code", "description": "What to review", "required": True},
            {"name": "style"},
        ],
        "icons": [{"src": "javascript:alert(1)"}],
        "x-more": 1,
    }
    pages: dict[str | None, Json] = {
        None: {"prompts": [review], "nextCursor": "2"},
        "2": {"prompts": [{"name": "plain"}]},
    }
    server = scripted(
        server__discover=discovered(), prompts__list=lambda params: pages[params.get("cursor")]
    )
    async with Client(server) as client:
        first, second = await client.list_prompts()
    assert first.arguments == (
        PromptArgument("code", description="What to review", required=True),
        PromptArgument("style"),
    )
    assert (first.title, first.description, list(first.icons)) == ("Review", "Reviews code.", [])
    assert first.entry == review
    assert (second.name, second.arguments) == ("plain", ())


@pytest.mark.parametrize(
    ("bad", "key"),
    [
        ({"name": "bad", "arguments": 5}, "bad"),
        ({"name": "bad", "arguments": [{"description": "no name"}]}, "bad"),
        ({"name": "bad", "arguments": [{"name": "a"}, {"name": "a"}]}, "bad"),
        ({"title": "no name"}, "#1"),
        ("no object", "#1"),
    ],
)
async def test_a_bad_prompt_costs_only_itself(scripted: type[Scripted], bad: Any, key: str) -> None:
    server = scripted(
        server__discover=discovered(),
        prompts__list=lambda params: {"prompts": [bad, {"name": "good"}]},
    )
    async with Client(server) as client:
        assert [prompt.name for prompt in await client.list_prompts()] == ["good"]
        assert list(client.rejected_prompts) == [key]
        assert client.rejected == {}


async def test_a_prompt_gives_messages_with_any_content(scripted: type[Scripted]) -> None:
    messages = [
        {"role": "user", "content": {"type": "text", "text": "Look:"}},
        {"role": "assistant", "content": {"type": "hologram", "data": 1}},
    ]
    server = scripted(
        server__discover=discovered(),
        prompts__get=lambda params: {"description": "d", "messages": messages},
    )
    async with Client(server) as client:
        result = await client.get_prompt("review", {"code": "x = 1"})
    assert server.asked("prompts/get")[0]["arguments"] == {"code": "x = 1"}
    assert [message.role for message in result.messages] == ["user", "assistant"]
    assert result.messages[0].content == (Text("Look:"),)
    assert result.messages[1].content == (UnknownContent({"type": "hologram", "data": 1}),)
    assert (result.description, result.text) == ("d", "Look:\n")


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"messages": 5},
        {"messages": [5]},
        {"messages": [{"role": "system", "content": {"type": "text", "text": "x"}}]},
        {"messages": [{"role": "user", "content": "x"}]},
        {"messages": [{"role": "user"}]},
    ],
)
async def test_messages_that_are_none_are_refused(scripted: type[Scripted], result: Json) -> None:
    server = scripted(server__discover=discovered(), prompts__get=lambda params: result)
    async with Client(server) as client:
        with pytest.raises(ProtocolError) as refused:
            await client.get_prompt("review")
    # The server is at fault, not who asked.
    assert refused.value.code == -32603


async def test_an_argument_of_a_prompt_is_a_string(scripted: type[Scripted]) -> None:
    server = scripted(server__discover=discovered())
    arguments: Any = {"count": 5}
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="'count': expected a string, got int"):
            await client.get_prompt("review", arguments)
    assert server.asked("prompts/get") == []


async def test_resources_and_templates_are_listed(scripted: type[Scripted]) -> None:
    server = scripted(
        server__discover=discovered(),
        resources__list=lambda params: {
            "resources": [
                {"uri": "file:///a.txt", "name": "a", "mimeType": "text/plain", "size": 3},
                {"uri": "no scheme", "name": "b"},
                {"uri": "file:///c"},
                {"uri": "file:///d", "name": "d", "size": -1, "annotations": {"priority": 1}},
            ]
        },
        resources__templates__list=lambda params: {
            "resourceTemplates": [
                {"uriTemplate": "file:///{path}", "name": "files"},
                {"uriTemplate": "file:///{path", "name": "broken"},
            ]
        },
    )
    async with Client(server) as client:
        first, last = await client.list_resources()
        (template,) = await client.list_resource_templates()
        assert set(client.rejected_resources) == {"no scheme", "file:///c", "file:///{path"}
    assert (first.uri, first.mime_type, first.size) == ("file:///a.txt", "text/plain", 3)
    assert (last.name, last.size, last.annotations) == ("d", None, {"priority": 1})
    assert (template.uri_template, template.name) == ("file:///{path}", "files")


async def test_a_resource_gives_text_and_bytes(scripted: type[Scripted]) -> None:
    blob = base64.b64encode(b"\x00\x01").decode()
    server = scripted(
        server__discover=discovered(),
        resources__read=lambda params: {
            "contents": [
                {"uri": params["uri"], "text": "one", "mimeType": "text/plain"},
                {"uri": params["uri"] + "/2", "blob": blob},
            ],
            "ttlMs": 5,
        },
    )
    async with Client(server) as client:
        read = await client.read_resource("demo://a")
    text, data = read.contents
    assert (text.uri, text.text, text.mime_type) == ("demo://a", "one", "text/plain")
    assert (data.uri, data.blob) == ("demo://a/2", b"\x00\x01")
    assert (read.text, read.data, read.raw["ttlMs"]) == ("one", b"one\x00\x01", 5)


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"contents": {}},
        {"contents": [5]},
        {"contents": [{"uri": "demo://a"}]},
        {"contents": [{"uri": "demo://a", "text": "x", "blob": "eA=="}]},
        {"contents": [{"uri": "demo://a", "blob": "no base64!"}]},
        {"contents": [{"text": "x"}]},
    ],
)
async def test_contents_that_are_none_are_refused(scripted: type[Scripted], result: Json) -> None:
    server = scripted(server__discover=discovered(), resources__read=lambda params: result)
    async with Client(server) as client:
        with pytest.raises(ProtocolError):
            await client.read_resource("demo://a")


@pytest.mark.parametrize("code", [-32602, -32002])
async def test_a_resource_that_is_not_there_says_so(
    scripted: type[Scripted], refusal: type[Refusal], code: int
) -> None:
    def read(params: Json) -> Json:
        raise refusal(code, "Resource not found", {"uri": params["uri"]})

    server = scripted(server__discover=discovered(), resources__read=read)
    async with Client(server) as client:
        with pytest.raises(ProtocolError, match="Resource not found") as raised:
            await client.read_resource("demo://gone")
    assert raised.value.code == code


async def test_the_number_of_resources_is_bounded(scripted: type[Scripted]) -> None:
    listed = [{"uri": f"demo://{number}", "name": "n"} for number in range(3)]
    server = scripted(
        server__discover=discovered(), resources__list=lambda params: {"resources": listed}
    )
    async with Client(server, bounds=Bounds(max_resources=2)) as client:
        with pytest.raises(LimitExceeded) as raised:
            await client.list_resources()
    assert raised.value.limit == "max_resources"


async def test_what_a_server_does_not_offer_is_not_asked_for(scripted: type[Scripted]) -> None:
    server = scripted()
    async with Client(server) as client:
        assert await client.list_prompts() == []
        assert await client.list_resources() == []
        assert await client.list_resource_templates() == []
    assert {message["method"] for message in server.seen} == {"server/discover"}


async def test_a_server_that_does_not_know_how_to_list_them_has_none(
    scripted: type[Scripted],
) -> None:
    server = scripted(
        server__discover=discovered(),
        resources__list=lambda params: {"resources": [{"uri": "note:1", "name": "one"}]},
    )
    async with Client(server) as client:
        assert [each.uri for each in await client.list_resources()] == ["note:1"]
        assert await client.list_resource_templates() == []
        assert await client.list_prompts() == []


async def test_lists_are_kept_until_they_expire_or_change(scripted: type[Scripted]) -> None:
    server = scripted(
        server__discover=discovered(prompts={}, resources={}),
        prompts__list=lambda params: {"prompts": [], "ttlMs": 60_000},
        resources__list=lambda params: {"resources": [], "ttlMs": 60_000},
    )
    async with Client(server) as client:
        for _ in range(2):
            await client.list_prompts()
            await client.list_resources()
        server.say("notifications/resources/list_changed")
        await client.list_prompts()
        await client.list_resources()
    assert len(server.asked("prompts/list")) == 1
    assert len(server.asked("resources/list")) == 2


async def test_a_completion_carries_what_is_known(scripted: type[Scripted]) -> None:
    server = scripted(
        server__discover=discovered(),
        completion__complete=lambda params: {
            "completion": {"values": ["python", "pytorch"], "total": 10, "hasMore": True}
        },
    )
    async with Client(server) as client:
        found = await client.complete("language", "py", prompt="review", context={"style": "dry"})
        await client.complete("path", resource="file:///{path}")
        with pytest.raises(TypeError):
            await client.complete("path")
    assert found == Suggestions(("python", "pytorch"), 10, True)
    first, second = server.asked("completion/complete")
    assert first["ref"] == {"type": "ref/prompt", "name": "review"}
    assert first["argument"] == {"name": "language", "value": "py"}
    assert first["context"] == {"arguments": {"style": "dry"}}
    assert second["ref"] == {"type": "ref/resource", "uri": "file:///{path}"}
    assert "context" not in second


@pytest.mark.parametrize("completion", [None, {}, {"values": "x"}, {"values": ["x", 5]}])
async def test_suggestions_that_are_none_are_refused(
    scripted: type[Scripted], completion: Any
) -> None:
    server = scripted(
        server__discover=discovered(),
        completion__complete=lambda params: {"completion": completion},
    )
    async with Client(server) as client:
        with pytest.raises(ProtocolError):
            await client.complete("language", prompt="review")


async def test_no_more_than_a_hundred_suggestions_are_taken(scripted: type[Scripted]) -> None:
    server = scripted(
        server__discover=discovered(),
        completion__complete=lambda params: {"completion": {"values": ["x"] * 150}},
    )
    async with Client(server) as client:
        found = await client.complete("language", prompt="review")
    assert (len(found.values), found.has_more) == (100, True)


async def test_servers_with_a_handshake_are_asked_the_same(scripted: type[Scripted]) -> None:
    server = scripted(
        initialize=initialized(),
        prompts__list=lambda params: {"prompts": [{"name": "p"}]},
        prompts__get=lambda params: {
            "messages": [{"role": "user", "content": {"type": "text", "text": params["name"]}}]
        },
        resources__read=lambda params: {"contents": [{"uri": params["uri"], "text": "t"}]},
    )
    async with Client(server, revision="2025-11-25") as client:
        assert [prompt.name for prompt in await client.list_prompts()] == ["p"]
        assert (await client.get_prompt("p")).text == "p"
        assert (await client.read_resource("demo://a")).text == "t"
    assert server.asked("prompts/get") == [{"name": "p"}]


async def test_our_own_server_is_used_whole_at_every_revision(revision: str) -> None:
    server = Server("own")

    @server.prompt
    def review(code: str, style: str = "dry") -> str:
        return f"Review {style}: {code}"

    @server.resource("demo://users/{name}")
    def user(name: str) -> str:
        return f"user {name}"

    heard: asyncio.Queue[str] = asyncio.Queue()
    async with Client(server, revision=revision) as client:
        (prompt,) = await client.list_prompts()
        assert [argument.required for argument in prompt.arguments] == [True, False]
        assert (await client.get_prompt("review", {"code": "x"})).text == "Review dry: x"
        (template,) = await client.list_resource_templates()
        assert template.uri_template == "demo://users/{name}"
        assert (await client.read_resource("demo://users/Ada")).text == "user Ada"
        await client.subscribe("demo://users/Ada", heard.put_nowait)
        server.resource_changed("demo://users/Ada")
        assert await asyncio.wait_for(heard.get(), PATIENCE) == "demo://users/Ada"


@pytest.mark.parametrize("length", [10, 1_000_000])
async def test_what_is_long_is_not_read_on_the_event_loop(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop: dict[str, bool] = {}

    def recorded(name: str) -> None:
        read = getattr(features_module, name)

        def record(*given: Any) -> Any:
            on_loop[name] = threading.current_thread() is threading.main_thread()
            return read(*given)

        monkeypatch.setattr(features_module, name, record)

    server = Server("long")
    server.prompt(name="long")(lambda: "x" * length)
    server.resource("note://long", name="long")(lambda: "x" * length)
    for name in ("read_prompt", "read_contents"):
        recorded(name)
    async with Client(server) as client:
        assert (await client.get_prompt("long")).text == "x" * length
        assert (await client.read_resource("note://long")).text == "x" * length
    is_short = length < 1000
    assert on_loop == {"read_prompt": is_short, "read_contents": is_short}
