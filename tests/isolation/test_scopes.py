"""Callers with other scopes who list and call at the same time are told of their own alone."""

from __future__ import annotations

import asyncio
import random
from itertools import combinations
from typing import Any

import pytest
from tests.server.visiting import Visit, call

from anyshape import Server, Tool
from anyshape.gateway import Gateway
from anyshape.server import AccessToken, Authorization, HttpOptions

RESOURCE = "https://mcp.example.com/mcp"
MODERN = "2026-07-28"
SCOPES = [f"scope{number}" for number in range(4)]


class Letters:
    """Tokens that spell their scopes; all are of one person."""

    async def verify(self, token: str) -> AccessToken:
        await asyncio.sleep(0)
        return AccessToken("ada", scopes=frozenset(token.split("-")), audience=(RESOURCE,))


def answering(scope: str) -> Any:
    async def answer(_arguments: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"for {scope}"

    return answer


def application(kind: str) -> Any:
    server = Server("s")
    for scope in SCOPES:
        server.add_tool(
            Tool(name=f"use_{scope}", handler=answering(scope), input_schema={"type": "object"})
        )
    authorization = Authorization(
        Letters(),
        RESOURCE,
        ("https://auth.example.com",),
        tool_scopes={f"use_{scope}": (scope,) for scope in SCOPES},
    )
    served = Gateway({"up": server}) if kind == "gateway" else server
    return served.asgi(HttpOptions(authorization=authorization))


def listing(headers: dict[str, str]) -> Visit:
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/list",
        "params": {"_meta": meta},
    }
    named = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    return Visit(body, headers={**named, **headers})


@pytest.mark.parametrize("kind", ["server", "gateway"])
async def test_listings_and_calls_of_callers_with_other_scopes_do_not_mix(kind: str) -> None:
    callers = [chosen for size in range(1, 5) for chosen in combinations(SCOPES, size)]
    random.Random(7).shuffle(callers)
    served = application(kind)

    async def visit(scopes: tuple[str, ...]) -> None:
        headers = {"authorization": f"Bearer {'-'.join(scopes)}"}
        listed = (await listing(headers).to(served)).json["result"]
        assert {tool["name"] for tool in listed["tools"]} == {f"use_{each}" for each in scopes}
        assert listed["cacheScope"] == "private"
        for scope in SCOPES:
            reply = await call(f"use_{scope}", headers=headers).to(served)
            if scope in scopes:
                assert reply.json["result"]["content"][0]["text"] == f"for {scope}"
            else:
                assert reply.status == 403

    async with served.lifespan():
        await asyncio.gather(*(visit(scopes) for scopes in callers * 5))
