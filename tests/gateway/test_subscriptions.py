"""Changes to resources reach the clients that watch them, whatever the age of either side."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Client, Server
from anyshape.errors import AnyshapeError, TransportError
from anyshape.gateway import Gateway, Upstream, subscriptions
from anyshape.gateway import upstream as upstream_module

MODERN, LATER = "2026-07-28", "2025-11-25"
ERAS = [(MODERN, MODERN), (MODERN, LATER), (LATER, MODERN), (LATER, LATER)]
ORDERS = "shop://orders"


class Watched(Server):
    """A server that knows which requests it was sent, and can be made to break down."""

    is_there = True

    def __init__(self) -> None:
        super().__init__("watched")
        self.sent: list[tuple[str, Any]] = []

    def connect(self, send: Any) -> Any:
        if not self.is_there:
            raise TransportError("it is not there")
        return _Recording(super().connect(send), self)

    def count(self, method: str) -> int:
        return sum(each == method for each, _ in self.sent)


class _Recording:
    def __init__(self, connection: Any, server: Watched) -> None:
        self._connection, self._server = connection, server

    async def handle(self, frame: bytes) -> bytes | None:
        if not self._server.is_there:
            raise TransportError("it is not there")
        message = json.loads(frame)
        self._server.sent.append((message.get("method"), message.get("params")))
        return await self._connection.handle(frame)

    async def close(self) -> None:
        await self._connection.close()


@pytest.fixture
def shop() -> Watched:
    server = Watched()

    @server.resource(ORDERS)
    async def orders() -> str:
        return "none"

    @server.resource("shop://orders/{number}")
    async def order(number: int) -> str:
        return f"order {number}"

    @server.tool
    async def ping() -> str:
        return "pong"

    return server


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_module, "_FIRST_DELAY", 0.01)


class Ear:
    """Hears of changes, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._news = asyncio.Event()

    def __call__(self, uri: str) -> None:
        self.heard.append(uri)
        self._news.set()

    async def next(self) -> str:
        async with asyncio.timeout(PATIENCE):
            while not self.heard:
                self._news.clear()
                await self._news.wait()
        return self.heard.pop(0)


@pytest.mark.parametrize(("upstream", "front"), ERAS)
@pytest.mark.parametrize("uri", [ORDERS, "shop://orders/7"])
async def test_a_change_upstream_reaches_the_client_that_watches(
    shop: Watched, upstream: str, front: str, uri: str
) -> None:
    gateway = Gateway({"shop": Upstream(target=shop, revision=upstream), "other": Server("other")})
    async with Client(gateway, revision=front) as client:
        ear = Ear()
        await client.subscribe(uri, ear)
        shop.resource_changed(uri)
        assert await ear.next() == uri
        shop.resource_changed(uri)
        assert await ear.next() == uri
        await client.unsubscribe(uri)


@pytest.mark.parametrize("front", [MODERN, LATER])
async def test_an_upstream_is_asked_once_and_told_when_the_last_client_leaves(
    shop: Watched, front: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway({"shop": Upstream(target=shop, revision=LATER)})
    async with Client(gateway, revision=front) as first:
        ears = Ear(), Ear()
        async with Client(gateway, revision=front) as second:
            for client, ear in zip((first, second), ears, strict=True):
                await client.subscribe(ORDERS, ear)
            shop.resource_changed(ORDERS)
            assert [await ear.next() for ear in ears] == [ORDERS, ORDERS]
        assert shop.count("resources/subscribe") == 1
        shop.resource_changed(ORDERS)
        assert await ears[0].next() == ORDERS
        assert shop.count("resources/unsubscribe") == 0
        # Only here: who is about to listen would be given up, too, if that took longer.
        with monkeypatch.context() as impatiently:
            impatiently.setattr(subscriptions, "_LINGER", 0.01)
            await first.unsubscribe(ORDERS)
            await turn_until(lambda: shop.count("resources/unsubscribe") == 1)
        await first.subscribe(ORDERS, ears[0])
        assert shop.count("resources/subscribe") == 2
        shop.resource_changed(ORDERS)
        assert await ears[0].next() == ORDERS


@pytest.mark.parametrize(("upstream", "front"), ERAS)
async def test_an_upstream_that_comes_back_is_watched_again(
    shop: Watched, upstream: str, front: str
) -> None:
    gateway = Gateway({"shop": Upstream(target=shop, revision=upstream)})
    async with Client(gateway, revision=front) as client:
        ear = Ear()
        await client.subscribe(ORDERS, ear)
        shop.is_there = False
        assert (await client.call_tool("ping")).is_error
        await turn_until(lambda: not gateway.upstreams["shop"].is_up)
        shop.is_there = True
        assert await ear.next() == ORDERS  # what happened in between is not known
        shop.resource_changed(ORDERS)
        assert await ear.next() == ORDERS


@pytest.mark.parametrize("front", [MODERN, LATER])
async def test_what_no_upstream_tells_of_cannot_be_watched(shop: Watched, front: str) -> None:
    gateway = Gateway({"shop": shop})
    async with Client(gateway, revision=front) as client:
        with pytest.raises(AnyshapeError):
            await client.subscribe("shop://elsewhere", Ear())
        assert shop.count("resources/subscribe") == 0


@pytest.mark.parametrize("front", [MODERN, LATER])
async def test_a_refusal_of_the_upstream_reaches_the_client(shop: Watched, front: str) -> None:
    gateway = Gateway({"shop": Upstream(target=shop, revision=LATER)})
    async with Client(gateway, revision=front) as client:
        await client.list_resources()
        shop.remove_resource(ORDERS)  # the gateway has yet to hear of it
        with pytest.raises(AnyshapeError):
            await client.subscribe(ORDERS, Ear())


async def test_what_is_watched_again_while_another_is_being_asked_for_is_answered(
    shop: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, may_answer = "shop://orders/2", asyncio.Event()

    class Slow(_Recording):
        async def handle(self, frame: bytes) -> bytes | None:
            if b"resources/subscribe" in frame and slow.encode() in frame:
                shop.sent.append(("slow", None))
                await may_answer.wait()
            return await super().handle(frame)

    def connect(send: Any) -> Any:
        return Slow(Server.connect(shop, send), shop)

    monkeypatch.setattr(shop, "connect", connect)
    gateway = Gateway({"shop": Upstream(target=shop, revision=LATER)})
    async with Client(gateway) as first, Client(gateway) as second, asyncio.timeout(PATIENCE):
        watched = gateway.upstreams["shop"].subscriptions
        ear = Ear()
        await first.subscribe(ORDERS, ear)
        waiting = asyncio.create_task(second.subscribe(slow, Ear()))
        await turn_until(lambda: shop.count("slow"))
        with monkeypatch.context() as impatiently:
            impatiently.setattr(subscriptions, "_LINGER", 0.01)
            await first.unsubscribe(ORDERS)
            await turn_until(lambda: not watched.count_owners(ORDERS), 0.01)
        again = asyncio.create_task(first.subscribe(ORDERS, ear))
        await turn_until(lambda: watched.count_owners(ORDERS))
        may_answer.set()
        await asyncio.gather(waiting, again)
        shop.resource_changed(ORDERS)
        assert await ear.next() == ORDERS
