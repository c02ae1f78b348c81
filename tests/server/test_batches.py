"""Batches of 2025-03-26 are bounded in messages and in answers, and can be cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Server
from anyshape.server import ServerOptions

from .test_http_application import Visit

Exchange = Callable[[Server, Any], Awaitable[Any]]

MODERN = "2026-07-28"


def _request(id: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


async def _over_http(server: Server, batch: Any) -> Any:
    return (
        await Visit(batch, headers={"mcp-protocol-version": "2025-03-26"}).to(server.asgi())
    ).json


async def _on_a_pipe(server: Server, batch: Any) -> Any:
    connection = await _greeted(server)
    answer = await connection.handle(json.dumps(batch).encode())
    return None if answer is None else json.loads(answer)


async def _greeted(server: Server) -> Any:
    connection = server.connect(lambda _: None)
    hello = _request(0, "initialize", protocolVersion="2025-03-26", capabilities={})
    await connection.handle(json.dumps(hello).encode())
    return connection


TRANSPORTS = pytest.mark.parametrize("exchange", [_over_http, _on_a_pipe])


@TRANSPORTS
@pytest.mark.parametrize("member", [{}, 1, [], _request(1, "ping")])
async def test_a_batch_of_too_many_messages_is_refused_as_a_whole(
    exchange: Exchange, member: Any
) -> None:
    server = Server("s", options=ServerOptions(max_batch=5))
    answer = await exchange(server, [member] * 6)
    assert answer["error"]["code"] == -32600
    assert "5 messages" in answer["error"]["message"]
    assert len(await exchange(server, [member] * 5)) == 5


@TRANSPORTS
async def test_what_answers_take_together_is_bounded_and_the_rest_is_not_begun(
    exchange: Exchange,
) -> None:
    server = Server("s", options=ServerOptions(max_batch_bytes=10_000))
    begun: list[int] = []

    @server.tool(inline=True)
    def repeat(times: int) -> str:
        begun.append(times)
        return "x" * times

    sizes = [1000, 2000, 7000, 10, 20]
    batch = [
        _request(id, "tools/call", name="repeat", arguments={"times": size})
        for id, size in enumerate(sizes)
    ]
    answers = {answer["id"]: answer for answer in await exchange(server, batch)}
    assert ["result" in answers[id] for id in range(5)] == [True, True, False, False, False]
    assert {answers[id]["error"]["code"] for id in (2, 3, 4)} == {413}
    assert begun == [1000, 2000, 7000]


@TRANSPORTS
async def test_what_answers_take_that_wait_for_others_is_bounded_over_all_batches(
    exchange: Exchange,
) -> None:
    server = Server("s", options=ServerOptions(max_batch_bytes=10_000))
    over = asyncio.Event()

    @server.tool
    async def wait() -> None:
        await over.wait()

    @server.tool
    async def repeat() -> str:
        return "x" * 7000

    batch = [_request(id, "tools/call", name=name) for id, name in enumerate(("repeat", "wait"))]
    async with asyncio.timeout(PATIENCE):
        held = [asyncio.ensure_future(exchange(server, batch)) for _ in range(10)]
        await turn_until(lambda: server._service.waiting == 10)
        refused, listed = await exchange(server, [batch[0], _request(2, "ping")])
        over.set()
        answers = await asyncio.gather(*held)
    assert (refused["error"]["code"], listed["result"]) == (503, {})
    assert sum("result" in first for first, _ in answers) == 5
    assert "result" in (await exchange(server, batch))[0]


@TRANSPORTS
async def test_a_request_that_cancels_its_own_task_leaves_the_others_their_answers(
    exchange: Exchange,
) -> None:
    server = Server("s")

    @server.tool
    async def cancel(wait: bool) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if wait:
            await asyncio.sleep(PATIENCE)
        return "done"

    batch = [
        _request(0, "tools/call", name="cancel", arguments={"wait": True}),
        _request(1, "tools/call", name="cancel", arguments={"wait": False}),
        _request(2, "ping"),
    ]
    failed, *answered = await exchange(server, batch)
    assert failed["error"]["code"] == -32603
    assert [answer["id"] for answer in answered if "result" in answer] == [1, 2]


@TRANSPORTS
async def test_many_listings_in_one_batch_do_not_multiply(exchange: Exchange) -> None:
    server = Server("s", options=ServerOptions(max_batch_bytes=50_000))
    for number in range(100):
        server.tool(name=f"tool_{number}", description="x" * 100)(lambda: None)
    answers = await exchange(server, [_request(id, "tools/list") for id in range(100)])
    assert len(answers) == 100
    assert len(json.dumps(answers)) < 100_000


@TRANSPORTS
async def test_others_have_their_turn_between_the_requests_of_a_batch(exchange: Exchange) -> None:
    server = Server("s")
    journal: list[str] = []

    @server.tool
    async def work() -> None:
        journal.append("batch")

    async def take_turns() -> None:
        while True:
            journal.append("other")
            await asyncio.sleep(0)

    other = asyncio.create_task(take_turns())
    batch = [_request(id, "tools/call", name="work", arguments={}) for id in range(30)]
    answers = await exchange(server, batch)
    other.cancel()
    assert [answer["id"] for answer in answers] == list(range(30))
    assert journal.count("batch") == 30
    assert all("other" in pair for pair in pairwise(journal))


@TRANSPORTS
async def test_few_requests_of_a_batch_wait_at_once_and_the_others_after_them(
    exchange: Exchange,
) -> None:
    server = Server("s")
    waiting = most = 0

    @server.tool
    async def wait() -> None:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        for _ in range(200):
            await asyncio.sleep(0)
        waiting -= 1

    batch = [_request(id, "tools/call", name="wait", arguments={}) for id in range(100)]
    answers = await exchange(server, batch)
    assert [answer["id"] for answer in answers] == list(range(100))
    assert 1 < most <= 8


async def test_a_batch_that_is_given_up_begins_no_more_requests() -> None:
    server = Server("s")
    begun: list[int] = []
    is_waiting = asyncio.Event()

    @server.tool
    async def wait(tag: int) -> None:
        begun.append(tag)
        if len(begun) == 8:
            is_waiting.set()
        await asyncio.Event().wait()

    batch = [_request(id, "tools/call", name="wait", arguments={"tag": id}) for id in range(20)]
    async with asyncio.timeout(PATIENCE):
        giving_up = asyncio.create_task(_over_http(server, batch))
        await is_waiting.wait()
        giving_up.cancel()
        await asyncio.wait([giving_up])
    assert giving_up.cancelled()
    assert begun == list(range(8))


async def test_a_request_of_a_batch_can_be_cancelled_at_once() -> None:
    server = Server("s")
    begun: list[str] = []

    @server.tool
    async def wait(tag: str) -> str:
        begun.append(tag)
        await asyncio.sleep(0)
        return tag

    connection = await _greeted(server)
    batch = [
        _request(1, "tools/call", name="wait", arguments={"tag": "unwanted"}),
        _request(2, "tools/call", name="wait", arguments={"tag": "wanted"}),
    ]
    cancellation = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    }
    answering = asyncio.ensure_future(connection.handle(json.dumps(batch).encode()))
    await asyncio.sleep(0)
    assert await connection.handle(json.dumps(cancellation).encode()) is None
    answers = json.loads(await answering)
    assert [answer["id"] for answer in answers] == [2]
    assert begun == ["wanted"]
    # What was cancelled is forgotten with its batch.
    assert len(json.loads(await connection.handle(json.dumps(batch).encode()))) == 2


@pytest.mark.parametrize(
    ("meta", "named"),
    [
        ({"io.modelcontextprotocol/protocolVersion": MODERN}, MODERN),
        ({"io.modelcontextprotocol/protocolVersion": "2025-11-25"}, "2025-11-25"),
        ({}, "before any handshake"),
    ],
)
async def test_a_peer_without_a_handshake_is_told_of_the_revision_it_speaks(
    meta: dict[str, str], named: str
) -> None:
    connection = Server("s").connect(lambda _: None)
    batch = [_request(1, "tools/list", _meta=meta)]
    answer = await connection.handle(json.dumps(batch).encode())
    assert answer is not None
    error = json.loads(answer)["error"]
    assert error["code"] == -32600
    assert named in error["message"]
