"""A server that wants tokens, and the authorization server that gives them, at one address.

Tests import this by its name: its folder is on `pythonpath` in pyproject.toml.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from anyshape.client.auth import OAuth

Json = dict[str, Any]
Handler = Callable[[Any], Awaitable[web.StreamResponse]]
CALLBACK = "http://127.0.0.1:7/callback"
REVISION = "2026-07-28"


@dataclass
class World:
    """Everything at `base`: the server at `/mcp`, its authorization server with the issuer `/as`.

    Tests change what it says (`resource`, `metadata`, `answer`), replace whole endpoints
    (`instead`), and look at what it was asked (`asked`).
    """

    base: str = ""
    resource: Json = field(default_factory=dict[str, Any])
    metadata: Json = field(default_factory=dict[str, Any])
    answer: dict[str, str] = field(default_factory=dict[str, str])
    """Parameters of the authorization response that differ; an empty one is left out."""
    instead: dict[str, Handler] = field(default_factory=dict[str, Handler])
    scopes: dict[str, str] = field(default_factory=dict[str, str])
    """The scope that a method needs."""
    challenged: str = ""
    """More parameters of the challenge."""
    lifetime: int = 3600
    refreshes: bool = True
    asked: list[tuple[str, str, Json]] = field(default_factory=list[tuple[str, str, Json]])
    tokens: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    refresh_tokens: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _owners: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The client that each refresh token is for."""
    _visits: dict[str, Json] = field(default_factory=dict[str, Json])

    @property
    def url(self) -> str:
        return f"{self.base}/mcp"

    @property
    def issuer(self) -> str:
        return f"{self.base}/as"

    def start(self, base: str) -> None:
        self.base = base
        self.resource = {"resource": self.url, "authorization_servers": [self.issuer]}
        self.metadata = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
        }

    def paths(self, path: str = "") -> list[Json]:
        """Return what was sent to a path."""
        return [sent for _, where, sent in self.asked if where == path]

    def oauth(self, **options: Any) -> OAuth:
        chosen: Json = {"authorize": self.browse, "redirect_uri": CALLBACK, **options}
        return OAuth(**chosen)

    async def browse(self, url: str) -> str:
        """Agree at once, as a browser would whose user does."""
        async with (
            aiohttp.ClientSession() as browser,
            browser.get(url, allow_redirects=False) as page,
        ):
            return page.headers["Location"]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        text = await request.text()
        sent: Json = dict(request.query)
        if request.content_type == "application/json" and text:
            sent = json.loads(text)
        elif text:
            sent = dict(await request.post())
        self.asked.append((request.method, request.path, sent))
        if request.path in self.instead:
            return await self.instead[request.path](request)
        match request.path:
            case "/mcp":
                return self.serve(request, sent)
            case "/.well-known/oauth-protected-resource/mcp":
                return web.json_response(self.resource)
            case "/.well-known/oauth-authorization-server/as":
                return web.json_response(self.metadata)
            case "/as/authorize":
                return self.authorize(sent)
            case "/as/register":
                number = next(self._numbers)
                return web.json_response({"client_id": f"client-{number}"}, status=201)
            case "/as/token":
                return self.give(sent)
            case _:
                return web.Response(status=404)

    def authorize(self, sent: Json) -> web.Response:
        code = f"code-{next(self._numbers)}"
        self._visits[code] = sent
        given = {"code": code, "state": sent["state"], "iss": self.issuer, **self.answer}
        query = "&".join(f"{name}={value}" for name, value in given.items() if value)
        return web.Response(status=302, headers={"Location": f"{sent['redirect_uri']}?{query}"})

    def give(self, sent: Json) -> web.Response:
        if sent["grant_type"] == "refresh_token":
            scopes = self.refresh_tokens.pop(sent["refresh_token"], None)
            owner = self._owners.pop(sent["refresh_token"], None)
            if scopes is None or owner != sent.get("client_id"):
                return web.json_response({"error": "invalid_grant"}, status=400)
        else:
            visit = self._visits.pop(sent["code"])
            digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
            assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == visit["code_challenge"]
            assert visit["code_challenge_method"] == "S256"
            assert visit["resource"] == sent["resource"]
            scopes = visit.get("scope", "").split()
        number = next(self._numbers)
        self.tokens[f"secret-access-{number}"] = scopes
        given: Json = {
            "access_token": f"secret-access-{number}",
            "token_type": "Bearer",
            "expires_in": self.lifetime,
        }
        if self.refreshes:
            self.refresh_tokens[f"secret-refresh-{number}"] = scopes
            given["refresh_token"] = f"secret-refresh-{number}"
            self._owners[f"secret-refresh-{number}"] = sent.get("client_id")
        return web.json_response(given)

    def serve(self, request: web.BaseRequest, sent: Json) -> web.Response:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        needed = self.scopes.get(sent.get("method", ""))
        where = f'resource_metadata="{self.base}/.well-known/oauth-protected-resource/mcp"'
        if token not in self.tokens:
            challenge = f"Bearer {where}{self.challenged}"
            return web.Response(status=401, headers={"WWW-Authenticate": challenge})
        if needed is not None and needed not in self.tokens[token]:
            challenge = f'Bearer error="insufficient_scope", scope="{needed}", {where}'
            return web.Response(status=403, headers={"WWW-Authenticate": challenge})
        return self.answer_call(sent)

    def answer_call(self, sent: Json) -> web.Response:
        """Answer a request that was let in."""
        results: dict[str, Json] = {
            "server/discover": {
                "supportedVersions": [REVISION],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "locked", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "open", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "in"}]},
        }
        result = {"resultType": "complete", **results[sent["method"]]}
        return web.json_response({"jsonrpc": "2.0", "id": sent["id"], "result": result})


@contextlib.asynccontextmanager
async def locked_server() -> AsyncGenerator[World]:
    """Serve a world of its own on a free port."""
    made = World()
    runner = web.ServerRunner(web.Server(made.handle), shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.start(f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        yield made
    finally:
        await runner.cleanup()
