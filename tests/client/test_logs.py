"""What a server logs: asked for in the way of each era, and handed to a callback."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest

from anyshape import Client
from anyshape.client import LogMessage

if TYPE_CHECKING:
    from .conftest import Scripted

Json = dict[str, Any]
LEVEL = "io.modelcontextprotocol/logLevel"


def discovered(params: Json) -> Json:
    return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "logging": {}}}


def initialized(params: Json) -> Json:
    return {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    }


async def test_every_modern_request_asks_for_the_level(scripted: type[Scripted]) -> None:
    server = scripted(server__discover=discovered, tools__list=lambda params: {"tools": []})
    async with Client(server, on_log=lambda message: None) as client:
        await client.list_tools()
        await client.set_log_level("debug")
        await client.list_tools()
    asked = [params["_meta"].get(LEVEL) for params in server.asked("tools/list")]
    assert asked == ["info", "debug"]


async def test_nothing_is_asked_for_if_nobody_wants_to_hear(scripted: type[Scripted]) -> None:
    server = scripted(server__discover=discovered, tools__list=lambda params: {"tools": []})
    async with Client(server) as client:
        await client.list_tools()
    assert LEVEL not in server.asked("tools/list")[0]["_meta"]


async def test_an_older_server_is_told_the_level(scripted: type[Scripted]) -> None:
    server = scripted(initialize=initialized, logging__setLevel=lambda params: {})
    async with Client(server, revision="2025-11-25", on_log=lambda message: None) as client:
        await client.set_log_level("warning")
        with pytest.raises(ValueError, match="expected one of debug"):
            await client.set_log_level(cast("Any", "loud"))
    assert server.asked("logging/setLevel") == [{"level": "warning"}]


async def test_messages_reach_the_callback_and_bad_ones_do_not(scripted: type[Scripted]) -> None:
    heard: list[LogMessage] = []
    server = scripted(server__discover=discovered)
    async with Client(server, on_log=heard.append):
        server.say("notifications/message", level="error", logger="db", data={"host": "x"})
        server.say("notifications/message", level="info", data=None)
        server.say("notifications/message", level="loud", data=1)
        server.say("notifications/message", level="info")
        server.say("notifications/message")
    assert heard == [LogMessage("error", {"host": "x"}, "db"), LogMessage("info", None)]


async def test_a_callback_that_was_busy_when_the_client_closed_hears_on_after_it_is_opened_again(
    scripted: type[Scripted],
) -> None:
    heard: list[object] = []

    async def stay(message: LogMessage) -> None:
        heard.append(message.data)
        await asyncio.Event().wait()

    server = scripted(server__discover=discovered)
    client = Client(server, on_log=stay)
    for turn in (1, 2):
        async with client:
            server.say("notifications/message", level="info", data=turn)
            await asyncio.sleep(0)
    assert heard == [1, 2]


async def test_a_callback_that_fails_costs_nothing(
    scripted: type[Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(message: LogMessage) -> None:
        raise RuntimeError("no")

    server = scripted(server__discover=discovered, tools__list=lambda params: {"tools": []})
    async with Client(server, on_log=fail) as client:
        server.say("notifications/message", level="info", data=1)
        assert await client.list_tools() == []
    assert "a log callback failed" in caplog.text
