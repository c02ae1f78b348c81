"""`Server(lifespan=…)`: open before the first call, closed after the last, on every transport."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from patience import PATIENCE, turn_until

from anyshape import Client, Context, Server
from anyshape.errors import TransportError

from .visiting import META

SCRIPT = Path(__file__).parent / "lifespan_server.py"
CALL: dict[str, Any] = {"_meta": META, "name": "state", "arguments": {}}


class Journal(list[str]):
    """A server that writes down what its lifespan does."""

    def __init__(self) -> None:
        super().__init__()
        self.server = Server("journal", lifespan=self.lifespan)
        self.server.tool(self.state)

    @asynccontextmanager
    async def lifespan(self, server: Server) -> AsyncGenerator[dict[str, str]]:
        self.append("open")
        # A task group has to be left in the task that entered it.
        async with asyncio.TaskGroup():
            yield {"name": server.name}
        self.append("close")

    def state(self, context: Context[dict[str, str]]) -> str:
        """Tell the state."""
        self.append("call")
        return context.state["name"]


async def test_a_client_in_the_same_process_finds_it_open() -> None:
    journal = Journal()
    assert journal == []
    async with Client(journal.server) as client:
        assert await client.call("state", returns=str) == "journal"
        async with Client(journal.server) as other:
            assert await other.call("state", returns=str) == "journal"
        assert await client.call("state", returns=str) == "journal"
    assert journal == ["open", "call", "call", "call", "close"]


async def test_clients_that_come_at_once_open_it_once() -> None:
    journal = Journal()
    together = asyncio.Barrier(8)

    async def visit() -> None:
        async with Client(journal.server) as client:
            await client.call("state", returns=str)
            await together.wait()

    await asyncio.gather(*(visit() for _ in range(8)))
    assert journal == ["open", *["call"] * 8, "close"]


async def test_a_lifespan_that_fails_is_told_to_the_client_in_the_same_process() -> None:
    attempts: list[int] = []

    @asynccontextmanager
    async def lifespan(_: Server) -> AsyncGenerator[None]:
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("the database is away")
        yield

    server = Server(lifespan=lifespan)
    with pytest.raises(ConnectionError, match="the database is away"):
        async with Client(server):
            pass
    async with Client(server):
        assert len(attempts) == 2


async def test_a_client_that_gives_up_while_it_opens_leaves_nothing_open() -> None:
    opening, left = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def lifespan(_: Server) -> AsyncGenerator[None]:
        opening.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        yield

    connection = Server(lifespan=lifespan).connect(lambda _: None)
    handling = asyncio.ensure_future(connection.handle(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
    await opening.wait()
    handling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handling
    await connection.close()
    assert left.is_set()


async def test_a_client_whose_closing_is_cancelled_leaves_nothing_open() -> None:
    journal = Journal()
    started, given_up, may_end = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @journal.server.tool
    async def reluctant() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            given_up.set()
            await may_end.wait()

    async with asyncio.timeout(PATIENCE):
        client = await Client(journal.server).__aenter__()
        calling = asyncio.create_task(client.call_tool("reluctant"))
        await started.wait()
        closing = asyncio.create_task(client.__aexit__(None, None, None))
        await given_up.wait()
        closing.cancel()
        await asyncio.wait([closing])
        assert closing.cancelled()
        may_end.set()
        await asyncio.wait([calling])
    assert journal == ["open", "close"]


async def test_who_comes_while_it_closes_finds_it_opened_anew() -> None:
    journal: list[str] = []
    is_closing, may_close = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def lifespan(_server: Server) -> AsyncGenerator[None]:
        journal.append("open")
        yield
        is_closing.set()
        await may_close.wait()
        journal.append("close")

    server = Server("slow", lifespan=lifespan)
    async with asyncio.timeout(PATIENCE):
        client = await Client(server).__aenter__()
        leaving = asyncio.create_task(client.__aexit__(None, None, None))
        await is_closing.wait()
        coming = asyncio.create_task(Client(server).__aenter__())
        for _ in range(20):
            await asyncio.sleep(0)
        assert journal == ["open"]
        may_close.set()
        await leaving
        await (await coming).__aexit__(None, None, None)
    assert journal == ["open", "close", "open", "close"]


@pytest.mark.parametrize("at", ["opening", "closing", "closing, with another waiting"])
@pytest.mark.parametrize("over", ["memory", "asgi"])
async def test_a_lifespan_that_uses_its_own_server_is_told_so(at: str, over: str) -> None:
    is_closing, may_close = asyncio.Event(), asyncio.Event()

    async def use(server: Server) -> None:
        if over == "asgi":
            await Host(server.asgi()).call()
        else:
            async with Client(server):
                pass

    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncGenerator[None]:
        if at == "opening":
            await use(server)
        yield
        if not may_close.is_set():
            is_closing.set()
            await may_close.wait()
            await use(server)

    server = Server(lifespan=lifespan)

    async def visit() -> None:
        async with Client(server):
            pass

    async with asyncio.timeout(PATIENCE):
        visiting = asyncio.create_task(visit())
        if at != "opening":
            await is_closing.wait()
        others = [asyncio.create_task(visit())] if at.endswith("waiting") else []
        for _ in range(20):
            await asyncio.sleep(0)
        may_close.set()
        with pytest.raises(TransportError, match="cannot use its own server"):
            await visiting
        await asyncio.gather(*others)


async def test_what_a_lifespan_has_started_may_use_the_server_once_it_is_open() -> None:
    found: list[int] = []

    async def look(server: Server) -> None:
        async with Client(server) as client:
            found.append(await client.call("one", returns=int))

    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncGenerator[None]:
        looking = asyncio.create_task(look(server))
        for _ in range(20):
            await asyncio.sleep(0)
        yield
        await looking

    server = Server(lifespan=lifespan)
    server.tool(name="one")(lambda: 1)
    async with Client(server):
        await turn_until(lambda: found)
    assert found == [1]


def test_an_event_loop_of_its_own_opens_it_again() -> None:
    journal = Journal()

    async def visit() -> None:
        async with Client(journal.server) as client:
            await client.call("state", returns=str)

    asyncio.run(visit())
    asyncio.run(visit())
    assert journal == ["open", "call", "close"] * 2


async def test_without_a_lifespan_there_is_no_state() -> None:
    server = Server()

    async def state(context: Context) -> str:
        return repr(context.state)

    server.tool(state)
    async with Client(server) as client:
        assert await client.call("state", returns=str) == "None"


async def test_what_cannot_be_a_lifespan_is_refused_when_the_server_is_made() -> None:
    async def lifespan(_: Server) -> AsyncGenerator[None]:
        yield

    forgotten: Any = lifespan
    with pytest.raises(TypeError, match=r"decorate it with @contextlib"):
        Server(lifespan=forgotten)
    with pytest.raises(TypeError, match=r"lifespan has to be a function .* got str"):
        Server(lifespan="x")  # type: ignore[arg-type]

    def neither(_: Server) -> Iterator[None]:
        yield

    with pytest.raises(TypeError, match=r"neither\(\) is a generator; write async def"):
        Server(lifespan=cast("Any", neither))


@pytest.mark.parametrize("setting", ["limits", "options"])
def test_settings_are_objects_and_no_dicts(setting: str) -> None:
    with pytest.raises(TypeError, match=rf"^{setting} has to be [A-Z]\w+\(…\), got dict"):
        Server(**cast("Any", {setting: {}}))


class Host:
    """An ASGI host, as raw as can be."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.said: list[Any] = []
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._heard = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def tell(self, event: str) -> str:
        """Send a lifespan event and return the answer to it."""
        self._heard.clear()
        self._events.put_nowait({"type": event})
        if self._task is None:
            scope: dict[str, Any] = {"type": "lifespan", "state": {}}
            running = self.application(scope, self._events.get, self._hear)
            self._task = asyncio.create_task(running)
        await asyncio.wait_for(self._heard.wait(), PATIENCE)
        return self.said[-1]["type"]

    async def _hear(self, event: Any) -> None:
        self.said.append(event)
        self._heard.set()

    async def call(self) -> bytes:
        """Call the tool and return the body of the response."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL})
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "server": ("127.0.0.1", 80),
            "headers": [
                (b"host", b"127.0.0.1"),
                (b"content-type", b"application/json"),
                (b"mcp-protocol-version", b"2026-07-28"),
                (b"mcp-method", b"tools/call"),
                (b"mcp-name", b"state"),
            ],
        }
        sent: list[bytes] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body.encode(), "more_body": False}

        async def send(event: Any) -> None:
            sent.append(event.get("body", b""))

        await self.application(scope, receive, send)
        return b"".join(sent)


async def test_an_asgi_host_opens_and_closes_it() -> None:
    journal = Journal()
    host = Host(journal.server.asgi())
    assert await host.tell("lifespan.startup") == "lifespan.startup.complete"
    assert journal == ["open"]
    assert b'"journal"' in await host.call()
    await host.call()
    assert await host.tell("lifespan.shutdown") == "lifespan.shutdown.complete"
    assert journal == ["open", "call", "call", "close"]


async def test_an_application_that_mounts_it_opens_and_closes_it() -> None:
    journal = Journal()
    application = journal.server.asgi()
    async with application.lifespan():
        await Host(application).call()
    assert journal == ["open", "call", "close"]


async def test_a_host_without_lifespan_events_finds_it_open_all_the_same(
    caplog: pytest.LogCaptureFixture,
) -> None:
    journal = Journal()
    host = Host(journal.server.asgi())
    with caplog.at_level(logging.WARNING, "anyshape.server"):
        await asyncio.gather(host.call(), host.call())
    assert journal == ["open", "call", "call"]
    assert caplog.text.count("give the host application.lifespan") == 1


@pytest.mark.parametrize("at", ["startup", "shutdown"])
async def test_a_host_is_told_that_it_failed(at: str, caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def lifespan(_: Server) -> AsyncGenerator[None]:
        if at == "startup":
            raise ConnectionError("the database is away")
        yield
        raise ConnectionError("the database is away")

    host = Host(Server(lifespan=lifespan).asgi())
    told = await host.tell("lifespan.startup")
    if at == "shutdown":
        assert told == "lifespan.startup.complete"
        told = await host.tell("lifespan.shutdown")
    assert told == f"lifespan.{at}.failed"
    assert "the database is away" in caplog.text


@pytest.fixture
def journal_file(tmp_path: Path) -> Path:
    path = tmp_path / "journal"
    path.touch()
    return path


@pytest.mark.parametrize("how", ["stdio", "stdio-async"])
def test_a_process_on_stdio_opens_and_closes_it_once(
    start_pipe: Callable[..., Any], journal_file: Path, how: str
) -> None:
    pipe = start_pipe(sys.executable, str(SCRIPT), how, str(journal_file))
    for id in (1, 2):
        answer = pipe.ask("tools/call", CALL, id)
        assert answer["result"]["structuredContent"] == "the state of anyshape"
    assert pipe.finish() == 0
    assert journal_file.read_text().split() == ["open", "call", "call", "close"]


def test_a_process_on_stdio_that_cannot_open_it_ends_with_the_reason(
    start_pipe: Callable[..., Any], journal_file: Path
) -> None:
    pipe = start_pipe(sys.executable, str(SCRIPT), "failing", str(journal_file))
    assert pipe.process.wait(PATIENCE) != 0
    assert pipe.has_ended()
    assert b"ConnectionError: the database is away\n" in pipe.errors


@pytest.mark.parametrize("how", ["http", "http-async"])
def test_a_process_behind_http_opens_and_closes_it_once(
    start_web: Callable[..., Any], journal_file: Path, how: str
) -> None:
    async def visit(url: str) -> None:
        for _ in range(2):
            async with Client(url) as client:
                assert await client.call("state", returns=str) == "the state of anyshape"

    running = start_web(str(SCRIPT), how, str(journal_file))
    asyncio.run(visit(f"http://127.0.0.1:{running.port}/mcp"))
    running.process.terminate()
    running.process.wait(PATIENCE)
    assert journal_file.read_text().split() == ["open", "call", "call", "close"]
