"""An issuer of tokens on this machine: it publishes its keys, signs, and counts who asks."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, OKPKey, RSAKey

from anyshape import Context, Server
from anyshape.server import Authorization, HttpOptions

from .visiting import Reply, call

RESOURCE = "https://mcp.example.com/mcp"
START = 4_000_000_000.0
"""When tests begin by their own clock: far ahead, so that no token is old by any other."""


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class Issuer:
    """Publishes metadata and keys, or what `documents` has instead, and answers about tokens."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: list[ECKey | RSAKey | OKPKey] = [ECKey.generate_key("P-256", {"kid": "one"})]
        self.documents: dict[str, web.Response | str] = {}
        self.asked: list[str] = []
        self.forms: list[tuple[str | None, dict[str, str]]] = []
        self.active: dict[str, dict[str, Any]] = {}
        self.is_down = False

    @property
    def jwks(self) -> dict[str, Any]:
        return {"keys": [key.as_dict(private=False) for key in self.keys]}

    def claims(self, **other: Any) -> dict[str, Any]:
        """Return the claims of a good token, some of them changed; `None` leaves one out."""
        claims = {
            "iss": self.url,
            "aud": RESOURCE,
            "sub": "ada",
            "client_id": "laptop",
            "scope": "read write",
            "exp": int(START) + 600,
            **other,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def sign(
        self,
        key: ECKey | RSAKey | OKPKey | OctKey | None = None,
        algorithm: str = "ES256",
        header: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        key = key or self.keys[0]
        named = {"alg": algorithm, "typ": "at+jwt", "kid": key.kid, **(header or {})}
        named = {name: value for name, value in named.items() if value is not None}
        return jwt.encode(named, self.claims(**claims), key, algorithms=[algorithm])

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if self.is_down:
            return web.Response(status=500)
        instead = self.documents.get(request.path)
        if isinstance(instead, str):
            return web.Response(text=instead)
        if instead is not None:
            return instead
        if request.path == "/introspect":
            form = {name: str(value) for name, value in (await request.post()).items()}
            self.forms.append((request.headers.get("Authorization"), form))
            return web.json_response(self.active.get(form["token"], {"active": False}))
        if request.path == "/.well-known/openid-configuration":
            return web.json_response({"issuer": self.url, "jwks_uri": f"{self.url}/jwks"})
        if request.path == "/jwks":
            return web.json_response(self.jwks)
        return web.Response(status=404)

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncGenerator[Issuer]:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()


async def visit_with(verifier: Any, token: str) -> Reply:
    """Ask a server that believes this verifier whose a token is."""
    server = Server("here")

    @server.tool
    def whoami(context: Context) -> str:
        return context.access.subject

    authorization = Authorization(verifier, RESOURCE, ("https://issuer.example.com",))
    application = server.asgi(HttpOptions(authorization=authorization))
    visit = call(whoami.__name__, headers={"authorization": f"Bearer {token}"})
    return await visit.to(application)
