"""A store that fails in the middle: what was accepted is done, and what changed is told."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any, cast

import pytest
from patience import turn_until
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as StoreGone

from anyshape.server import RedisStore

from .asking import Asker
from .redis_process import RedisProcess
from .test_replicas import ACCEPTED, Replica, call, running, yes
from .test_shared_tasks import Place, turn
from .test_tasks import FINAL, TaskAsker, seen

FAILING = 2.5
"""Seconds: longer than any client of the store tries again by itself."""


@pytest.fixture
def place(tmp_path: Path, redis: RedisProcess) -> Generator[Place]:
    place = Place(tmp_path, redis.url)
    yield place
    place.stop()


@contextlib.asynccontextmanager
async def failing_store(url: str) -> AsyncGenerator[None]:
    """Have every connection to the store killed, again and again, from the block's start on."""
    client: Any = cast("Any", Redis).from_url(url)
    over = asyncio.get_running_loop().time() + FAILING

    async def kill() -> None:
        while asyncio.get_running_loop().time() < over:
            for kind in ("normal", "pubsub"):
                await client.client_kill_filter(_type=kind, skipme=True)
            await asyncio.sleep(0.005)

    killing = asyncio.create_task(kill())
    try:
        yield
        await killing
    finally:
        killing.cancel()
        await client.aclose()


async def test_a_worker_whose_store_fails_for_a_while_loses_no_accepted_task(
    place: Place, redis: RedisProcess
) -> None:
    peer = TaskAsker(place.server())
    place.work()
    names = [str(number) for number in range(5)]
    ids = [await peer.begin("wait", name=name) for name in names]
    await turn(lambda: all(place.begun_by(name) for name in names))
    accepted: list[str] = []
    async with failing_store(redis.url):
        for name in names:
            place.let_end(name)
        for number in range(50):
            given = await peer.ask("tools/call", name="double", arguments={"number": number})
            if "result" in given:
                accepted.append(given["result"]["taskId"])
            else:
                assert given["error"]["code"] == 503, given
    for id in (*ids, *accepted):
        assert await outcome(peer, id) == "completed"
    await peer.connection.close()


async def outcome(peer: TaskAsker, id: str) -> str:
    """Return how a task ended; one that is asked on a dead connection is told to ask again."""

    async def look() -> dict[str, Any]:
        answer = await peer.ask("tasks/get", taskId=id)
        assert "result" in answer or answer["error"]["code"] == 503, answer
        return answer.get("result", {"status": "unknown"})

    return (await seen(look, lambda task: task["status"] in FINAL))["status"]


async def test_who_listens_for_several_tasks_in_a_store_is_told_of_each(place: Place) -> None:
    peer = TaskAsker(place.server())
    names = ["a", "b", "c"]
    ids = [await peer.begin("wait", name=name) for name in names]
    listening = asyncio.create_task(
        peer.ask("subscriptions/listen", id=99, notifications={"taskIds": ids})
    )
    await turn(lambda: peer.sent)
    place.work()
    for name in names:
        place.let_end(name)

    def ended() -> set[str]:
        told = [each["params"] for each in peer.sent[1:]]
        return {each["taskId"] for each in told if each["status"] == "completed"}

    await turn(lambda: ended() == set(ids))
    await peer.connection.close()
    await listening


async def test_an_answer_that_is_fetched_while_the_store_fails_is_not_lost(
    redis: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        running(redis.url, "fetching") as site,
        site.session(capabilities={"elicitation": {}}) as (here, there),
    ):
        asked = call(here, "ask")
        (question,) = await asked.heard()
        client, failures = site.one.link.client, 0
        fetch = client.get

        async def fail_twice(key: str) -> Any:
            nonlocal failures
            failures += 1
            if failures <= 2:
                raise StoreGone("killed")
            return await fetch(key)

        monkeypatch.setattr(client, "get", fail_twice)
        assert (await there.start("POST", yes(question)).over()).status == 202
        await asked.over()
        assert asked.messages[-1]["result"]["structuredContent"] == ACCEPTED
        assert failures == 3


@contextlib.asynccontextmanager
async def forwarding(port: int, target: int) -> AsyncGenerator[None]:
    """Lead connections to one port on to another for the time of a block."""

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def lead_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        further, back = await asyncio.open_connection("127.0.0.1", target)
        await asyncio.gather(pour(reader, back), pour(further, writer))

    async with await asyncio.start_server(lead_on, "127.0.0.1", port):
        yield


async def test_a_replica_that_starts_without_the_store_is_told_what_it_missed(
    redis: RedisProcess,
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    near = Replica(RedisStore(redis.url, namespace="late"))
    late = Replica(RedisStore(f"redis://127.0.0.1:{port}/0", namespace="late"))
    asker = Asker(late.server)
    async with near.application.lifespan(), late.application.lifespan():
        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["note:a"]}
        listening = asyncio.ensure_future(asker.ask("subscriptions/listen", notifications=wanted))
        await turn_until(lambda: asker.sent)
        near.server.resource_changed("note:a")
        await turn_until(lambda: not near.link._unsent)
        assert not late.link.is_linked
        async with forwarding(port, redis.port):
            await turn_until(lambda: len(asker.sent) >= 2, pause=0.01)
            told = [message["method"] for message in asker.sent[1:]]
            assert "notifications/resources/updated" in told
            await asker.connection.close()
            await asyncio.gather(listening, return_exceptions=True)
