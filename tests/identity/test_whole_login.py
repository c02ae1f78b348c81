"""A whole login with an identity provider of others: our server, our client, and that of `mcp`."""

from __future__ import annotations

import asyncio
import contextlib
import html
import json
import re
import socket
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import aiohttp
import pytest
import uvicorn
from mcp import Client as TheirClient
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from patience import PATIENCE, turn_until

from anyshape import Client, Server
from anyshape.client.auth import MemoryStorage, OAuth, sign_out
from anyshape.server import AccessToken, Authorization, HttpOptions, JwtVerifier

HERE = Path(__file__).resolve().parent
CALLBACK = "http://127.0.0.1:7/callback"


class Verifier:
    """Believes what the identity provider signed, unless it was told not to."""

    def __init__(self, issuer: str, audience: str) -> None:
        self._verifier = JwtVerifier(issuer, audience)
        self.seen: list[str] = []
        self.refused: set[str] = set()

    async def verify(self, token: str) -> AccessToken | None:
        self.seen.append(token)
        return None if token in self.refused else await self._verifier.verify(token)


class Place:
    """The server at `url`, which trusts `issuer`."""

    def __init__(self, url: str, issuer: str, verifier: Verifier) -> None:
        self.url = url
        self.issuer = issuer
        self.verifier = verifier
        self.logins = 0

    async def browse(self, url: str) -> str:
        """Sign in as a person does: fill in every form until one leads back to the client."""
        self.logins += 1
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as browser:
            form: dict[str, str] | None = None
            for _ in range(20):
                method = "GET" if form is None else "POST"
                async with browser.request(method, url, data=form, allow_redirects=False) as page:
                    if page.status in (302, 303):
                        url, form = urljoin(url, page.headers["Location"]), None
                        if url.startswith(CALLBACK):
                            return url
                        continue
                    text = await page.text()
                    assert page.status == 200, text
                    url, form = _fill_in(url, text)
        raise AssertionError("the forms do not end")

    def oauth(self, **options: Any) -> OAuth:
        chosen: dict[str, Any] = {"authorize": self.browse, "redirect_uri": CALLBACK, **options}
        return OAuth(**chosen)


def _fill_in(url: str, page: str) -> tuple[str, dict[str, str]]:
    action = re.search(r'<form[^>]*action="([^"]+)"', page)
    assert action is not None, page
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    fields = {name: html.unescape(value) for name, value in hidden}
    if 'name="login"' in page:
        fields |= {"login": "ada", "password": "any"}
    return urljoin(url, html.unescape(action[1])), fields


@contextlib.asynccontextmanager
async def serve(
    server: Server, listener: socket.socket, authorization: Authorization
) -> AsyncGenerator[None]:
    application = server.asgi(HttpOptions(authorization=authorization))
    configuration = uvicorn.Config(
        application, log_level="error", lifespan="on", timeout_graceful_shutdown=1
    )
    service = uvicorn.Server(configuration)
    task = asyncio.create_task(service.serve(sockets=[listener]))
    try:
        await turn_until(lambda: service.started or task.done(), 0.01)
        yield
    finally:
        service.should_exit = True
        await task


@pytest.fixture
async def place(node: Callable[..., list[str]]) -> AsyncGenerator[Place]:
    """Serve a server that needs `read`, and `write` for one tool, beside its identity provider."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    command = node(HERE / "provider.mjs", url, source=HERE)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            line = await process.stdout.readline()
        issuer: str = json.loads(line)["issuer"]
        verifier = Verifier(issuer, url)
        server = Server("locked")

        @server.tool
        def names() -> list[str]:
            return ["Ada"]

        @server.tool
        def rename() -> str:
            return "done"

        authorization = Authorization(
            verifier,
            resource=url,
            authorization_servers=(issuer,),
            required_scopes=("read",),
            tool_scopes={"rename": ("write",)},
            list_everything=True,
        )
        async with serve(server, listener, authorization):
            yield Place(url, issuer, verifier)
    finally:
        process.terminate()
        await process.wait()
        listener.close()


@pytest.mark.parametrize("revision", ["auto", "2025-11-25"])
async def test_a_person_gets_in_steps_up_and_stays_in(place: Place, revision: str) -> None:
    async with Client(place.url, auth=place.oauth(), revision=revision) as client:
        assert await client.call("names") == ["Ada"]
        assert place.logins == 1
        assert await client.call("rename") == "done"
        assert place.logins == 2
        place.verifier.refused.update(place.verifier.seen)
        assert await client.call("names") == ["Ada"]
        assert await client.call("rename") == "done"
        assert place.logins == 2
    access = await place.verifier.verify(place.verifier.seen[-1])
    assert access is not None
    assert (access.subject, access.scopes) == ("ada", {"read", "write"})


async def test_signing_out_ends_the_refresh_token_too(place: Place) -> None:
    storage = MemoryStorage()
    async with Client(place.url, auth=place.oauth(storage=storage)) as client:
        assert await client.call("names") == ["Ada"]
    kept = await storage.load(f"token {place.url}")
    assert kept is not None
    assert await sign_out(place.url, storage)
    await storage.save(f"token {place.url}", kept)  # as a thief would
    place.verifier.refused.update(place.verifier.seen)
    async with Client(place.url, auth=place.oauth(storage=storage)) as client:
        assert await client.call("names") == ["Ada"]
    assert place.logins == 2


class _Kept:
    """What the client of `mcp` keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def test_the_client_of_mcp_gets_in_the_same_way(place: Place) -> None:
    ended: list[str] = []

    async def visit(url: str) -> None:
        ended.append(await place.browse(url))

    async def answer() -> AuthorizationCodeResult:
        given = dict(parse_qsl(urlsplit(ended[-1]).query))
        return AuthorizationCodeResult.model_validate(given)

    described = OAuthClientMetadata.model_validate(
        {
            "client_name": "mcp",
            "redirect_uris": [CALLBACK],
            "application_type": "native",
            "token_endpoint_auth_method": "none",
        }
    )
    auth = OAuthClientProvider(place.url, described, _Kept(), visit, answer)
    async with (
        create_mcp_http_client(auth=auth) as http,
        TheirClient(streamable_http_client(place.url, http_client=http)) as client,
    ):
        result = await client.call_tool("names", {})
        assert result.structured_content == ["Ada"]
    assert place.logins == 1
