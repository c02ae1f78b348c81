"""Anyshape's client: lists once, checks arguments and results on every call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyshape import Client
from bed.clients.driving import Call, run


def _memory_server() -> Any:
    from anyshape import Server
    from bed import shop_typed_dicts

    server = Server("shop", version="1.0.0")
    for function in shop_typed_dicts.TOOLS:
        server.tool(function)
    return server


@asynccontextmanager
async def connect(target: str) -> AsyncIterator[Call]:
    async with Client(_memory_server() if target == "memory" else target) as client:
        await client.list_tools()

        async def call(tool: str, arguments: dict[str, Any]) -> Any:
            return (await client.call_tool(tool, arguments)).value

        yield call


if __name__ == "__main__":
    run(connect)
