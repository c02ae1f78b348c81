"""The token of a caller goes nowhere: not to upstreams, tools, logs or answers."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import pytest
import uvicorn
from patience import turn_until

from anyshape import Context, Server
from anyshape.gateway import Gateway
from anyshape.server import AccessToken, Authorization, HttpOptions, MiddlewareRequest, Proceed

from .issuing import RESOURCE
from .visiting import call

TOKEN = "token-of-ada-which-nobody-else-may-see"


class Anybody:
    """Believes every token."""

    async def verify(self, token: str) -> AccessToken:
        return AccessToken("ada", audience=(RESOURCE,), claims={"jti": token})


class Broken:
    """Fails as a careless verifier may."""

    async def verify(self, token: str) -> AccessToken | None:
        raise ValueError("the token is odd")


def _options(verifier: Any) -> HttpOptions:
    authorization = Authorization(verifier, RESOURCE, ("https://issuer.example.com",))
    return HttpOptions(authorization=authorization)


class Recorder:
    """An application that remembers every byte that is sent to another."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self.heard = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def overhear() -> Any:
            event = await receive()
            self.heard += event.get("body", b"")
            return event

        for name, value in scope.get("headers", ()):
            self.heard += name + b": " + value + b"\n"
        await self._application(scope, overhear, send)


async def test_a_gateway_keeps_the_token_of_its_caller_from_upstreams(
    caplog: pytest.LogCaptureFixture,
) -> None:
    upstream = Server("upstream")

    @upstream.tool
    def double(n: int) -> int:
        return 2 * n

    recorder = Recorder(upstream.asgi())
    with socket.create_server(("127.0.0.1", 0)) as listener, caplog.at_level(logging.DEBUG):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        service = uvicorn.Server(uvicorn.Config(recorder, log_level="error", lifespan="on"))
        serving = asyncio.create_task(service.serve(sockets=[listener]))
        await turn_until(lambda: service.started or serving.done(), 0.01)
        try:
            application = Gateway({"up": url}).asgi(_options(Anybody()))
            async with application.lifespan():
                visit = call(
                    double.__name__, {"n": 4}, headers={"authorization": f"Bearer {TOKEN}"}
                )
                reply = await visit.to(application)
        finally:
            service.should_exit = True
            await serving
    assert reply.json["result"]["structuredContent"] == 8
    assert b'"double"' in recorder.heard
    assert TOKEN.encode() not in recorder.heard + reply.body
    assert TOKEN not in caplog.text


async def test_tools_and_middleware_learn_what_a_token_proves_and_not_the_token() -> None:
    server = Server("here")
    shown: list[str] = []

    @server.middleware
    async def watch(request: MiddlewareRequest, proceed: Proceed) -> Any:
        shown.append(repr(request) + repr(request.access))
        return await proceed(request)

    @server.tool
    def whoami(context: Context) -> str:
        shown.append(repr(context) + repr(context.access))
        return context.access.subject

    visit = call(whoami.__name__, headers={"authorization": f"Bearer {TOKEN}"})
    reply = await visit.to(server.asgi(_options(Anybody())))
    assert reply.json["result"]["structuredContent"] == "ada"
    assert watch
    assert len(shown) == 2
    assert TOKEN not in "".join(shown)


async def test_a_verifier_that_fails_tells_callers_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    visit = call("any", headers={"authorization": f"Bearer {TOKEN}"})
    with caplog.at_level(logging.DEBUG):
        reply = await visit.to(Server("here").asgi(_options(Broken())))
    assert reply.status == 500
    assert TOKEN not in reply.body.decode() + caplog.text
    assert "odd" not in reply.body.decode()
