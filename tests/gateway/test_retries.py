"""Calls that an upstream did not answer are made again only where it is safe and agreed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from patience import turn_until

from anyshape import Client, Context, Server
from anyshape.client import ElicitAnswer, Elicitation
from anyshape.errors import TransportError
from anyshape.gateway import (
    BreakerOptions,
    Gateway,
    GatewayMetrics,
    RetryOptions,
    Upstream,
    retries,
)
from anyshape.gateway import upstream as upstream_module

AGREED = RetryOptions(most=3, pause=1.0, longest_pause=3.0)
PATIENT = BreakerOptions(failures=100, of=100)


class Flaky(Server):
    """Breaks the connection at the first calls of a tool, and notes which calls came."""

    def __init__(self, breaks: int) -> None:
        super().__init__("flaky")
        self.breaks = breaks
        self.calls: list[str] = []
        for name, hints in (
            ("look", {"readOnlyHint": True}),
            ("put", {"idempotentHint": True}),
            ("add", {"readOnlyHint": False}),
            ("tell", {}),
        ):
            self.tool(name=name, annotations=hints)(self._made(name))

    def _made(self, name: str) -> Any:
        async def call() -> str:
            self.calls.append(name)
            if len(self.calls) <= self.breaks:
                raise TransportError("it broke")
            return "done"

        return call

    def connect(self, send: Any) -> Any:
        return _Breaking(super().connect(send), self)


class _Breaking:
    def __init__(self, connection: Any, server: Flaky) -> None:
        self._connection, self._server = connection, server

    async def handle(self, frame: bytes) -> bytes | None:
        answer = await self._connection.handle(frame)
        if b'"tools/call"' in frame and len(self._server.calls) <= self._server.breaks:
            raise TransportError("it broke")
        return answer

    async def close(self) -> None:
        await self._connection.close()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that there would have been."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)
        await asyncio.sleep(0)

    monkeypatch.setattr(retries, "_pause", pause)
    monkeypatch.setattr(upstream_module, "_FIRST_DELAY", 0.01)
    return waited


def behind(server: Server, **options: Any) -> Gateway:
    upstream = Upstream(target=server, breaker=PATIENT, retry=AGREED)
    return Gateway({"up": replace(upstream, **options)}, metrics=GatewayMetrics())


@pytest.mark.parametrize("tool", ["look", "put"])
async def test_what_does_no_harm_twice_is_called_again_after_growing_pauses(
    tool: str, pauses: list[float]
) -> None:
    server = Flaky(breaks=3)
    gateway = behind(server)
    async with Client(gateway) as client:
        assert (await client.call_tool(tool)).value == "done"
        assert server.calls == [tool] * 4
        assert gateway.health.upstreams[0].repeated == 3
    for waited, most in zip(pauses, (1.0, 2.0, 3.0), strict=True):
        assert most / 2 <= waited <= most


@pytest.mark.parametrize("tool", ["add", "tell"])
async def test_what_the_upstream_does_not_call_safe_is_called_once(
    tool: str, pauses: list[float]
) -> None:
    server = Flaky(breaks=1)
    async with Client(behind(server)) as client:
        assert "did not answer" in (await client.call_tool(tool)).text
    assert (server.calls, pauses) == ([tool], [])


async def test_without_the_operator_nothing_is_called_again(pauses: list[float]) -> None:
    server = Flaky(breaks=1)
    async with Client(behind(server, retry=None)) as client:
        assert (await client.call_tool("look")).is_error
    assert (server.calls, pauses) == (["look"], [])


async def test_after_so_many_attempts_the_caller_is_told(pauses: list[float]) -> None:
    server = Flaky(breaks=100)
    async with Client(behind(server)) as client:
        assert (await client.call_tool("look")).is_error
    assert (len(server.calls), len(pauses)) == (4, 3)


async def test_an_open_breaker_ends_it(pauses: list[float]) -> None:
    server = Flaky(breaks=100)
    gateway = behind(server, breaker=BreakerOptions(failures=2, of=2, pause=60))
    async with Client(gateway) as client:
        assert "did not answer" in (await client.call_tool("look")).text
        assert gateway.health.upstreams[0].breaker == "open"
    assert (len(server.calls), len(pauses)) == (2, 1)


async def test_a_caller_who_gives_up_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, over = asyncio.Event(), asyncio.Event()

    async def pause(_seconds: float) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            over.set()

    monkeypatch.setattr(retries, "_pause", pause)
    server = Flaky(breaks=1)
    async with Client(behind(server)) as client:
        call = asyncio.create_task(client.call_tool("look"))
        await waiting.wait()
        call.cancel()
        await over.wait()
    assert server.calls == ["look"]


async def test_an_upstream_that_is_only_slow_is_not_asked_twice(pauses: list[float]) -> None:
    server = Server("slow")
    calls: list[str] = []

    @server.tool(annotations={"readOnlyHint": True})
    async def look() -> str:
        calls.append("look")
        await asyncio.Event().wait()
        return ""

    async with Client(behind(server, timeout=0.5)) as client:
        assert "did not answer" in (await client.call_tool("look")).text
    assert (calls, pauses) == (["look"], [])


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
async def test_nobody_is_asked_twice(pauses: list[float], revision: str) -> None:
    asked: list[str] = []
    server = Flaky(breaks=-1)

    @server.tool(annotations={"readOnlyHint": True})
    async def ask(context: Context) -> str:
        await context.elicit("Really?", {"type": "object", "properties": {}})
        server.breaks = 100
        return "done"

    def answer(question: Elicitation) -> ElicitAnswer:
        asked.append(question.message)
        return "decline"

    gateway = behind(server, revision=revision)
    async with Client(gateway, on_elicit=answer) as client:
        await turn_until(lambda: gateway.upstreams["up"].is_up)
        assert (await client.call_tool("ask")).is_error
    assert (asked, pauses) == (["Really?"], [])


def test_options_that_make_no_sense_are_refused() -> None:
    for wrong in ({"most": 0}, {"most": 11}, {"pause": 0}, {"pause": 9.0}):
        with pytest.raises(ValueError, match="expected"):
            RetryOptions(**wrong)  # pyright: ignore[reportArgumentType]
