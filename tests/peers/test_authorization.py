"""Our client gets into a server that others wrote, whose authorization server others wrote too."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from mcp.server.auth.settings import ClientRegistrationOptions
from patience import turn_until

from anyshape import Client
from anyshape.client.auth import MemoryStorage, OAuth, sign_out


@asynccontextmanager
async def fastmcp_server() -> AsyncGenerator[tuple[str, InMemoryOAuthProvider]]:
    """Serve FastMCP behind the authorization server that it brings along."""
    listener = socket.create_server(("127.0.0.1", 0))
    base = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider = InMemoryOAuthProvider(
        base_url=base,
        required_scopes=["read"],
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["read", "write"]
        ),
    )
    server: FastMCP[Any] = FastMCP("locked", auth=provider)

    @server.tool
    def names() -> list[str]:
        return ["Ada"]

    configuration = uvicorn.Config(
        server.http_app(), log_level="error", lifespan="on", timeout_graceful_shutdown=1
    )
    service = uvicorn.Server(configuration)
    task = asyncio.create_task(service.serve(sockets=[listener]))
    try:
        await turn_until(lambda: service.started or task.done(), 0.01)
        yield f"{base}/mcp", provider
    finally:
        service.should_exit = True
        await task
        listener.close()


async def agree(url: str) -> str:
    """Go where a browser would be sent."""
    async with (
        aiohttp.ClientSession() as browser,
        browser.get(url, allow_redirects=False) as page,
    ):
        return page.headers["Location"]


@pytest.mark.parametrize("revision", ["auto", "2026-07-28", "2025-11-25"])
async def test_a_person_gets_into_fastmcp_and_stays(revision: str) -> None:
    logins: list[str] = []

    async def authorize(url: str) -> str:
        logins.append(url)
        return await agree(url)

    storage = MemoryStorage()
    auth = OAuth(authorize=authorize, redirect_uri="http://127.0.0.1:7/callback", storage=storage)
    async with fastmcp_server() as (url, provider):
        async with Client(url, auth=auth, revision=revision) as client:
            assert await client.call("names") == ["Ada"]
            provider.access_tokens.clear()  # they ended; the refresh token did not
            assert await client.call("names") == ["Ada"]
        assert len(logins) == 1
        assert await sign_out(url, storage)
        async with Client(url, auth=auth, revision=revision) as client:
            assert await client.call("names") == ["Ada"]
        assert len(logins) == 2
