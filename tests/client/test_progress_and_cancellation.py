"""Progress that arrives in order, and giving up that reaches the server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import pytest
from patience import PATIENCE

from anyshape import Client, Server
from anyshape.client import Progress
from anyshape.errors import TransportError
from anyshape.protocol.revision import RELEASED

if TYPE_CHECKING:
    from .conftest import Scripted

Json = dict[str, Any]

# Over HTTP, servers of ours keep no session to which an older client could send its cancellation;
# test_http.py has that it is sent.
WAYS = [("memory", "2025-11-25"), ("memory", "2026-07-28"), ("http", "2026-07-28")]


@contextlib.asynccontextmanager
async def opened(
    where: str, server: Server, url: str, revision: str
) -> AsyncGenerator[Client, None]:
    async with Client(server if where == "memory" else url, revision=revision) as client:
        yield client


@pytest.fixture
def stuck(server: Server) -> dict[str, asyncio.Event]:
    """Add a tool that never ends by itself, and tell when it starts and is cancelled."""
    events = {"started": asyncio.Event(), "cancelled": asyncio.Event()}

    @server.tool
    async def stuck() -> int:
        events["started"].set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            events["cancelled"].set()
            raise
        return 1

    return events


@pytest.mark.parametrize(
    ("where", "revision"),
    [
        *(("memory", revision.value) for revision in RELEASED),
        *(("http", revision.value) for revision in RELEASED[1:]),
    ],
)
async def test_progress_is_told_in_order(
    server: Server, url: str, revision: str, where: str
) -> None:
    async with opened(where, server, url, revision) as client:
        reports: list[Progress] = []
        call = client.call("count_to", {"number": 3}, returns=int, on_progress=reports.append)
        assert await call == 3
        assert [report.progress for report in reports] == [1, 2, 3]
        assert {report.total for report in reports} == {3}


async def test_a_callback_whose_own_work_was_cancelled_does_not_cancel_the_call(
    server: Server,
) -> None:
    reports: list[float] = []

    async def report(progress: Progress) -> None:
        reports.append(progress.progress)
        lost = asyncio.get_running_loop().create_future()
        lost.cancel()
        await lost

    async with Client(server) as client:
        called = client.call("count_to", {"number": 3}, returns=int, on_progress=report)
        assert await called == 3
    assert reports == [1, 2, 3]


async def test_an_async_callback_has_finished_when_the_call_has(server: Server) -> None:
    reports: list[float] = []

    async def report(progress: Progress) -> None:
        await asyncio.sleep(0)
        reports.append(progress.progress)

    async with Client(server) as client:
        await client.call_tool("count_to", {"number": 5}, on_progress=report)
        assert reports == [1, 2, 3, 4, 5]


async def test_a_callback_that_fails_costs_nothing(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(progress: Progress) -> None:
        raise RuntimeError("mine")

    async def fail_later(progress: Progress) -> None:
        raise RuntimeError("mine")

    async with Client(server) as client:
        assert await client.call("count_to", {"number": 2}, on_progress=fail) == 2
        assert await client.call("count_to", {"number": 2}, on_progress=fail_later) == 2
    assert "a progress callback failed" in caplog.text


@pytest.mark.parametrize(("where", "era"), WAYS)
async def test_cancelling_a_call_reaches_the_tool(
    server: Server, url: str, stuck: dict[str, asyncio.Event], where: str, era: str
) -> None:
    async with opened(where, server, url, era) as client, asyncio.timeout(PATIENCE):
        call = asyncio.create_task(client.call_tool("stuck"))
        await stuck["started"].wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await stuck["cancelled"].wait()
        assert await client.call("get_count", returns=int) == 42


@pytest.mark.parametrize(("where", "era"), WAYS)
async def test_a_time_limit_reaches_the_tool(
    server: Server, url: str, stuck: dict[str, asyncio.Event], where: str, era: str
) -> None:
    async with opened(where, server, url, era) as client, asyncio.timeout(PATIENCE):
        await client.list_tools()
        while not stuck["started"].is_set():  # A busy machine may need longer to reach the tool.
            with pytest.raises(TransportError, match=r"'stuck' within 0\.2 s"):
                await client.call_tool("stuck", timeout=0.2)
        await stuck["cancelled"].wait()
        assert await client.call("get_count", returns=int) == 42


@pytest.mark.parametrize("where", ["memory", "http"])
async def test_closing_the_client_ends_what_is_in_flight(
    server: Server, url: str, stuck: dict[str, asyncio.Event], where: str
) -> None:
    async with asyncio.timeout(PATIENCE):
        async with opened(where, server, url, "auto") as client:
            call = asyncio.create_task(client.call_tool("stuck"))
            await stuck["started"].wait()
        await stuck["cancelled"].wait()
        with pytest.raises((TransportError, asyncio.CancelledError)):
            await call


async def test_a_server_that_asks_to_be_asked_again_gets_its_state_back(
    scripted: type[Scripted],
) -> None:
    def call(params: Json) -> Json:
        if "requestState" not in params:
            return {"resultType": "input_required", "requestState": 'opaque "state"'}
        return {"resultType": "complete", "structuredContent": params["requestState"]}

    listed = {"tools": [{"name": "again", "inputSchema": {"type": "object"}}]}
    server = scripted(tools__list=lambda params: listed, tools__call=call)
    async with Client(server) as client:
        assert await client.call("again", {"a": 1}) == 'opaque "state"'
    first, second = server.asked("tools/call")
    assert first["arguments"] == second["arguments"] == {"a": 1}
    ids = [message["id"] for message in server.seen if message["method"] == "tools/call"]
    assert len(set(ids)) == 2
