"""Scopes of upstreams' tools hold however the tools are reached."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.visiting import call

from anyshape import Server
from anyshape.gateway import Gateway
from anyshape.server import AccessToken, Authorization, HttpOptions

RESOURCE = "https://mcp.example.com/mcp"


class Letters:
    """Tokens that spell their scopes."""

    async def verify(self, token: str) -> AccessToken:
        return AccessToken("ada", scopes=frozenset(token.split("-")), audience=(RESOURCE,))


def _upstream(erased: list[str]) -> Server:
    server = Server("notes")

    @server.tool
    def erase_notes() -> str:
        """Erase notes."""
        erased.append("all")
        return "erased"

    @server.tool
    def count_notes() -> int:
        """Count notes."""
        return 3

    assert list(server.tools) == [erase_notes.__name__, count_notes.__name__]
    return server


@pytest.mark.parametrize(("token", "may"), [("use", False), ("use-write", True)])
@pytest.mark.parametrize("list_everything", [False, True])
async def test_search_neither_shows_nor_calls_what_a_caller_may_not_use(
    token: str, may: bool, list_everything: bool
) -> None:
    erased: list[str] = []
    authorization = Authorization(
        Letters(),
        RESOURCE,
        ("https://auth.example.com",),
        tool_scopes={"erase_notes": ("write",)},
        list_everything=list_everything,
    )
    gateway = Gateway({"up": _upstream(erased)}, disclosure="search")
    application = gateway.asgi(HttpOptions(authorization=authorization))

    async def ask(name: str, arguments: dict[str, Any]) -> Any:
        visit = call(name, arguments, headers={"authorization": f"Bearer {token}"})
        return (await visit.to(application)).json["result"]

    async with application.lifespan():
        found = await ask("find_tools", {"query": "notes"})
        called = await ask("call_tool", {"name": "erase_notes"})
    names = {tool["name"] for tool in found["structuredContent"]}
    assert ("erase_notes" in names) is (may or list_everything)
    assert "count_notes" in names
    assert bool(erased) is may
    if not may:
        assert called["isError"]
        assert "write" in called["content"][0]["text"]
