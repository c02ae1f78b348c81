"""What an upstream logs while it works reaches the client that waits for it, and nobody else."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Client, Context, Server
from anyshape.client import LogMessage
from anyshape.gateway import Gateway, Upstream

MODERN, LATER = "2026-07-28", "2025-11-25"
ERAS = [(MODERN, MODERN), (MODERN, LATER), (LATER, MODERN), (LATER, LATER)]


@pytest.fixture
def talkative() -> Server:
    server = Server("talkative")

    @server.tool
    async def work(who: str, context: Context) -> str:
        context.log("debug", {"who": who}, "shop.detail")
        context.log("warning", {"who": who}, "shop")
        return who

    return server


@pytest.mark.parametrize(("upstream", "front"), ERAS)
@pytest.mark.parametrize("wanted", ["debug", "info", "error"])
async def test_a_client_is_told_what_it_wants_of_what_its_call_logs(
    talkative: Server, upstream: str, front: str, wanted: Any
) -> None:
    heard: list[LogMessage] = []
    gateway = Gateway({"up": Upstream(target=talkative, revision=upstream, log_level="debug")})
    async with Client(gateway, revision=front, on_log=heard.append) as client:
        await client.set_log_level(wanted)
        assert (await client.call_tool("work", {"who": "Ann"})).value == "Ann"
    told = [
        LogMessage("debug", {"who": "Ann"}, "shop.detail"),
        LogMessage("warning", {"who": "Ann"}, "shop"),
    ]
    assert heard == {"debug": told, "info": told[1:], "error": []}[wanted]


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_nobody_is_told_what_the_call_of_another_logs(
    talkative: Server, upstream: str, front: str
) -> None:
    gateway = Gateway({"up": Upstream(target=talkative, revision=upstream)})

    async def one(who: str) -> None:
        heard: list[LogMessage] = []
        async with Client(gateway, revision=front, on_log=heard.append) as client:
            for _ in range(5):
                await client.call_tool("work", {"who": who})
        assert {each.data["who"] for each in heard} <= {who}

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(one(f"caller {number}") for number in range(8)))


@pytest.mark.parametrize("revision", [MODERN, LATER])
async def test_an_upstream_is_asked_for_no_more_than_the_operator_says(
    talkative: Server, revision: str
) -> None:
    heard: list[LogMessage] = []
    gateway = Gateway({"up": Upstream(target=talkative, revision=revision, log_level="error")})
    async with Client(gateway, on_log=heard.append) as client:
        await client.call_tool("work", {"who": "Ann"})
    assert heard == []


def test_a_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="log_level='loud'"):
        Upstream(target=Server("x"), log_level=loud())


def loud() -> Any:
    return "loud"
