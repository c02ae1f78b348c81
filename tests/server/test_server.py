"""A server by its Python face: tools in and out, listings, limits."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from patience import PATIENCE, turn_until

from anyshape import Server, Tool, ToolDefinitionError, ToolResult
from anyshape.server import Caching, HttpOptions, ServerOptions
from anyshape.server.failures import SERVER_BUSY
from anyshape.tools.workers import WorkerThreads

from .visiting import META


class Peer:
    """A client in this process, as raw as can be."""

    def __init__(self, server: Server) -> None:
        self.sent: list[Any] = []
        self.connection = server.connect(lambda message: self.sent.append(json.loads(message)))

    async def ask(self, method: str, params: dict[str, Any] | None = None, id: Any = 1) -> Any:
        body = {"jsonrpc": "2.0", "id": id, "method": method}
        body["params"] = {"_meta": META, **(params or {})}
        answer = await self.connection.handle(json.dumps(body).encode())
        return None if answer is None else json.loads(answer)

    async def names(self) -> list[str]:
        names: list[str] = []
        cursor: str | None = None
        while True:
            params = {} if cursor is None else {"cursor": cursor}
            result = (await self.ask("tools/list", params))["result"]
            names += [tool["name"] for tool in result["tools"]]
            cursor = result.get("nextCursor")
            if cursor is None:
                return names

    async def until(self, count: int) -> None:
        """Let the loop turn until that many messages have been sent."""
        await turn_until(lambda: len(self.sent) >= count)


def _tool(name: str) -> Tool:
    def handle(arguments: dict[str, Any]) -> str:
        return name

    return Tool(name=name, handler=handle, input_schema={"type": "object"})


def test_the_decorator_returns_the_function_as_it_was() -> None:
    server = Server("s")

    def plain(a: int) -> int:
        return a

    async def waiting(a: int) -> int:
        return a

    class Thing:
        def method(self, a: int) -> int:
            return a

    thing = Thing()
    assert server.tool(plain) is plain
    assert server.tool(name="other")(plain) is plain
    assert server.tool()(waiting) is waiting
    assert server.tool(thing.method) == thing.method
    assert list(server.tools) == ["plain", "other", "waiting", "method"]


async def test_a_method_is_called_on_its_object() -> None:
    class Counter:
        def __init__(self) -> None:
            self.count = 0

        async def bump(self, by: int = 1) -> int:
            self.count += by
            return self.count

    counter = Counter()
    server = Server("s")
    server.tool(counter.bump)
    await Peer(server).ask("tools/call", {"name": "bump", "arguments": {"by": 5}})
    assert counter.count == 5


@pytest.mark.behaviour("tools.names")
def test_a_name_can_be_taken_only_once() -> None:
    server = Server("s")
    server.add_tool(_tool("a"))
    with pytest.raises(ToolDefinitionError, match="already"):
        server.add_tool(_tool("a"))


@pytest.mark.parametrize("given", ["sampling", ["sampling"], {"sampling": True}, {1: {}}, 5])
def test_capabilities_that_no_client_could_declare_are_refused(given: Any) -> None:
    server = Server("s")
    with pytest.raises(ToolDefinitionError, match=r"^ask: requires has to be capabilities"):
        server.tool(name="ask", requires=given)(lambda: None)
    assert not server.tools


def test_removing_what_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Server("s").remove_tool("a")


@pytest.mark.behaviour("tools.list.deterministic")
async def test_tools_are_listed_in_the_order_they_were_added() -> None:
    server = Server("s")
    names = ["zebra", "ant", "moth", "bee"]
    for name in names:
        server.add_tool(_tool(name))
    assert await Peer(server).names() == names


@pytest.mark.behaviour("tools.list.pages")
@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 1), (5, 1), (5, 2), (6, 3), (5, 100)])
async def test_every_tool_is_on_exactly_one_page(count: int, size: int) -> None:
    server = Server("s", options=ServerOptions(page_size=size))
    names = [f"tool{number}" for number in range(count)]
    for name in names:
        server.add_tool(_tool(name))
    assert await Peer(server).names() == names


@pytest.mark.behaviour("tools.list.stable-cursors")
async def test_a_cursor_stays_good_when_the_tools_around_it_change() -> None:
    server = Server("s", options=ServerOptions(page_size=2))
    for name in ("a", "b", "c", "d"):
        server.add_tool(_tool(name))
    peer = Peer(server)
    cursor = (await peer.ask("tools/list"))["result"]["nextCursor"]
    server.remove_tool("a")
    server.add_tool(_tool("e"))
    page = (await peer.ask("tools/list", {"cursor": cursor}))["result"]
    assert [tool["name"] for tool in page["tools"]] == ["c", "d"]
    server.remove_tool("b")
    assert (await peer.ask("tools/list", {"cursor": cursor}))["error"]["code"] == -32602


@pytest.mark.behaviour("tools.list-changed.subscription")
async def test_changes_in_one_turn_are_told_once() -> None:
    server = Server("s")
    peer = Peer(server)
    listening = asyncio.create_task(
        peer.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id=8)
    )
    await peer.until(1)
    for number in range(50):
        server.add_tool(_tool(f"tool{number}"))
    await peer.until(2)
    server.remove_tool("tool1")
    await peer.until(3)
    for _ in range(5):
        await asyncio.sleep(0)
    assert [message["method"] for message in peer.sent] == [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/tools/list_changed",
    ]
    await peer.connection.close()
    assert await listening is None


async def test_a_change_from_another_thread_is_told_on_the_loop() -> None:
    server = Server("s")
    peer = Peer(server)
    listening = asyncio.create_task(
        peer.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    )
    await peer.until(1)
    await asyncio.to_thread(server.add_tool, _tool("late"))
    await peer.until(2)
    await peer.connection.close()
    await listening


@pytest.mark.behaviour("tools.list.deterministic")
async def test_a_listing_made_while_tools_change_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from anyshape.server.features import tools

    server = Server("s")
    server.add_tool(_tool("first"))
    peer = Peer(server)
    unpatched = tools.shape

    def change_meanwhile(revision: Any) -> Any:
        monkeypatch.setattr(tools, "shape", unpatched)
        server.add_tool(_tool("second"))
        server.remove_tool("first")
        return unpatched(revision)

    monkeypatch.setattr(tools, "shape", change_meanwhile)

    async def listed() -> list[str]:
        return [tool["name"] for tool in (await peer.ask("tools/list"))["result"]["tools"]]

    assert await listed() == ["first"]
    assert await listed() == ["second"]


@pytest.mark.behaviour("limits.subscriptions")
async def test_subscriptions_beyond_the_limit_are_told_that_the_server_is_busy() -> None:
    server = Server("s", options=ServerOptions(max_subscriptions=1))
    peer = Peer(server)
    params = {"notifications": {"toolsListChanged": True}}
    listening = asyncio.create_task(peer.ask("subscriptions/listen", params, id=1))
    await peer.until(1)
    assert (await peer.ask("subscriptions/listen", params, id=2))["error"]["code"] == 503
    await peer.connection.close()
    await listening


async def test_blocked_tools_starve_the_others_only_with_a_clear_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("anyshape.tools.routine.WORKERS", WorkerThreads(limit=2, patience=0.05))
    release = threading.Event()
    server = Server("s")

    @server.tool
    def block() -> bool:
        return release.wait(PATIENCE)

    @server.tool
    async def think() -> int:
        return 1

    peer = Peer(server)
    blocked = [
        asyncio.create_task(peer.ask("tools/call", {"name": "block"}, id=id)) for id in (1, 2)
    ]
    await asyncio.sleep(0)
    refused = await peer.ask("tools/call", {"name": "block"}, id=3)
    assert refused["error"]["code"] == SERVER_BUSY
    assert "2 threads" in refused["error"]["message"]
    assert (await peer.ask("tools/call", {"name": "think"}, id=4))["result"][
        "structuredContent"
    ] == 1
    release.set()
    for answer in await asyncio.gather(*blocked):
        assert answer["result"]["structuredContent"] is True


@pytest.mark.behaviour("limits.depth")
@pytest.mark.parametrize("plain", [True, False])
async def test_a_message_nests_as_deeply_as_it_may_and_no_deeper(plain: bool) -> None:
    server = Server("s", options=ServerOptions(max_message_depth=10))
    server.add_tool(_tool("t"))
    connection = server.connect(lambda _: None)
    # An escape in the name of the method takes the call off the beaten track.
    method = b"tools/call" if plain else b"tools\\/call"
    meta = json.dumps(META).encode()

    async def call(depth: int) -> Any:
        value = b"[" * (depth - 3) + b"]" * (depth - 3)
        answer = await connection.handle(
            b'{"jsonrpc":"2.0","id":1,"method":"%b","params":{"name":"t","_meta":%b,'
            b'"arguments":{"brackets":"[[[[[[[[[[[[","a":%b}}}' % (method, meta, value)
        )
        assert answer is not None
        return json.loads(answer)

    assert "result" in await call(10)
    refused = await call(11)
    assert refused["error"]["code"] == -32700
    assert "10 levels" in refused["error"]["message"]
    assert refused["id"] == 1


@pytest.mark.behaviour("limits.time")
async def test_a_call_that_takes_too_long_is_an_error_the_model_can_read(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s", options=ServerOptions(call_timeout=0.02))
    cancelled = asyncio.Event()

    @server.tool
    async def slow() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "late"

    @server.tool(timeout=5)
    async def patient() -> str:
        await asyncio.sleep(0.06)
        return "in time"

    @server.tool
    async def stubborn() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return "I do not stop"
        return "late"

    assert server.tools.keys() == {"slow", "patient", "stubborn"}
    peer = Peer(server)
    result = (await peer.ask("tools/call", {"name": "slow"}))["result"]
    assert result["isError"] is True
    assert "0.02 seconds" in result["content"][0]["text"]
    assert cancelled.is_set()
    assert "isError" not in (await peer.ask("tools/call", {"name": "patient"}))["result"]
    assert (await peer.ask("tools/call", {"name": "stubborn"}))["result"]["isError"] is True
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_a_call_that_cancels_the_task_of_whoever_awaits_it_is_answered() -> None:
    server = Server("s")

    @server.tool
    async def cancel(turns: int) -> None:
        for _ in range(turns):
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(PATIENCE)

    peer = Peer(server)
    for turns in range(3):
        call: dict[str, Any] = {"name": "cancel", "arguments": {"turns": turns}}
        assert (await peer.ask("tools/call", call))["error"]["code"] == -32603
        task = asyncio.current_task()
        assert task is not None
        assert task.cancelling() == 0


async def test_whoever_awaits_a_call_can_give_it_up() -> None:
    server = Server("s")
    begun = asyncio.Event()

    @server.tool
    async def stubborn() -> str:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            await asyncio.sleep(PATIENCE)
        return "late"

    peer = Peer(server)
    asking = asyncio.create_task(peer.ask("tools/call", {"name": "stubborn"}))
    await begun.wait()
    for _ in range(2):
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.behaviour("cancellation.stops-work")
async def test_closing_a_connection_cancels_what_is_in_flight() -> None:
    server = Server("s")
    seen: list[str] = []

    @server.tool
    async def slow() -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "late"

    peer = Peer(server)
    calls = [asyncio.create_task(peer.ask("tools/call", {"name": "slow"}, id=n)) for n in range(3)]
    await turn_until(lambda: peer.connection.in_flight == 3)
    await peer.connection.close()
    assert [await call for call in calls] == [None, None, None]
    assert seen == ["cancelled"] * 3
    assert server.tools["slow"].name == "slow"


@pytest.mark.behaviour("cancellation.logged")
async def test_the_reason_of_a_cancellation_is_logged_on_one_short_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = Server("s")

    @server.tool
    async def slow() -> str:
        await asyncio.sleep(60)
        return "late"

    assert server.tools.keys() == {"slow"}
    peer = Peer(server)
    asking = asyncio.create_task(peer.ask("tools/call", {"name": "slow"}, id="w"))
    await turn_until(lambda: peer.connection.in_flight == 1)
    reason = "bored\nERROR forged line " + "x" * 5000
    with caplog.at_level(logging.INFO, "anyshape.server"):
        await peer.connection.handle(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": "w", "reason": reason},
                }
            ).encode()
        )
    assert await asking is None
    (record,) = caplog.records
    assert record.getMessage().startswith('request "w" cancelled: \'bored\\nERROR forged')
    assert len(record.getMessage()) < 300
    assert "\n" not in record.getMessage()


async def test_closing_does_not_wait_for_what_the_caller_does_afterwards() -> None:
    server = Server("s", options=ServerOptions(grace=600))

    @server.tool
    async def slow() -> str:
        await asyncio.sleep(600)
        return "late"

    assert server.tools.keys() == {"slow"}
    peer = Peer(server)

    async def ask_and_linger() -> None:
        await peer.ask("tools/call", {"name": "slow"})
        await asyncio.sleep(600)

    asking = asyncio.create_task(ask_and_linger())
    await turn_until(lambda: peer.connection.in_flight == 1)
    async with asyncio.timeout(PATIENCE):
        await peer.connection.close()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_cancelling_the_task_that_asks_is_passed_on() -> None:
    server = Server("s")

    @server.tool
    async def slow() -> str:
        await asyncio.sleep(30)
        return "late"

    peer = Peer(server)
    asking = asyncio.create_task(peer.ask("tools/call", {"name": "slow"}))
    await turn_until(lambda: peer.connection.in_flight == 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert peer.connection.in_flight == 0


@pytest.mark.behaviour("progress.monotonic")
async def test_progress_that_does_not_grow_is_not_sent() -> None:
    from anyshape import Context

    server = Server("s")

    @server.tool
    async def steps(context: Context) -> str:
        for progress in (1, 1, 0.5, 2, 2, 3):
            context.progress(progress)
        return "done"

    peer = Peer(server)
    await peer.ask(
        "tools/call",
        {
            "name": "steps",
            "_meta": {
                **META,
                "progressToken": "t",
            },
        },
    )
    assert [message["params"]["progress"] for message in peer.sent] == [1, 2, 3]


@pytest.mark.behaviour("progress.monotonic")
@pytest.mark.parametrize("waits", [False, True])
async def test_a_flood_of_progress_is_thinned_and_the_last_report_always_sent(waits: bool) -> None:
    from anyshape import Context

    server = Server("s")

    @server.tool
    async def flood(context: Context) -> str:
        for step in range(1, 20_001):
            reported = context.progress(step)
            if waits and step % 100 == 0:
                await reported
        return "done"

    peer = Peer(server)
    began = time.monotonic()
    await peer.ask("tools/call", {"name": "flood", "_meta": {**META, "progressToken": "t"}})
    seconds = time.monotonic() - began
    reports = [message["params"]["progress"] for message in peer.sent]
    assert reports[:10] == list(range(1, 11))
    assert reports == sorted(set(reports))
    assert reports[-1] == 20_000
    assert len(reports) <= 51 * (seconds + 1) + 1


@pytest.mark.behaviour("progress.stops")
async def test_a_report_that_waits_for_its_turn_is_sent_while_the_call_goes_on() -> None:
    from anyshape import Context

    server = Server("s")
    release = asyncio.Event()

    @server.tool
    async def flood(context: Context) -> str:
        for step in range(1, 101):
            context.progress(step)
        await release.wait()
        return "done"

    peer = Peer(server)
    call = peer.ask("tools/call", {"name": "flood", "_meta": {**META, "progressToken": "t"}})
    asking = asyncio.create_task(call)
    await turn_until(lambda: bool(peer.sent) and peer.sent[-1]["params"]["progress"] == 100)
    sent = len(peer.sent)
    release.set()
    await asking
    assert len(peer.sent) == sent < 100


@pytest.mark.behaviour("base.error-codes")
@pytest.mark.parametrize("method", ["tools/call", "tools/list", "server/discover"])
async def test_a_log_level_that_is_none_is_an_invalid_parameter(method: str) -> None:
    server = Server("s")
    server.add_tool(_tool("t"))
    peer = Peer(server)

    async def ask(level: Any) -> Any:
        meta = {**META, "io.modelcontextprotocol/logLevel": level}
        return await peer.ask(method, {"name": "t", "_meta": meta})

    for level in ("loud", "", "ERROR", 3, None):
        assert (await ask(level))["error"]["code"] == -32602
    assert "result" in await ask("warning")


@pytest.mark.behaviour("base.server-info")
@pytest.mark.parametrize(
    ("meta", "name"),
    [
        ({"a": {"io.modelcontextprotocol/serverInfo": {"name": "x"}}}, "s"),
        ({"a": "io.modelcontextprotocol/serverInfo"}, "s"),
        ({"io.modelcontextprotocol/serverInfo": {"name": "x"}}, "x"),
        ({"a": 1}, "s"),
    ],
)
async def test_a_result_says_who_sends_it_unless_its_author_does(
    meta: dict[str, Any], name: str
) -> None:
    server = Server("s")

    @server.tool
    async def tagged() -> ToolResult[int]:
        return ToolResult(structured=1, meta=meta)

    answer = await Peer(server).ask("tools/call", {"name": "tagged"})
    said = answer["result"]["_meta"]
    assert said["io.modelcontextprotocol/serverInfo"]["name"] == name
    assert {**said, **meta} == said


@pytest.mark.behaviour("progress.stops")
async def test_progress_after_the_answer_is_not_sent() -> None:
    from anyshape import Context

    server = Server("s")
    kept: list[Context] = []

    @server.tool
    async def keep(context: Context) -> str:
        kept.append(context)
        return "done"

    peer = Peer(server)
    await peer.ask(
        "tools/call",
        {
            "name": "keep",
            "_meta": {
                **META,
                "progressToken": "t",
            },
        },
    )
    kept[0].progress(5)
    assert peer.sent == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: Caching(ttl_ms=-1),
        lambda: Caching(ttl_ms=1.5),  # pyright: ignore[reportArgumentType]
        lambda: Caching(scope="shared"),  # pyright: ignore[reportArgumentType]  # on purpose
        lambda: ServerOptions(page_size=0),
        lambda: ServerOptions(max_concurrent_calls=0),
        lambda: ServerOptions(max_subscriptions=0),
        lambda: ServerOptions(max_message_bytes=0),
        lambda: ServerOptions(max_message_depth=0),
        lambda: ServerOptions(call_timeout=0),
        lambda: ServerOptions(grace=-1),
        lambda: HttpOptions(path="mcp"),
        lambda: HttpOptions(keep_alive=0),
    ],
)
def test_options_that_cannot_work_are_refused_when_they_are_made(make: Any) -> None:
    with pytest.raises(ValueError, match="has to"):
        make()


def test_an_unknown_transport_is_refused() -> None:
    with pytest.raises(ValueError, match="stdio"):
        Server("s").run("carrier pigeon")  # pyright: ignore[reportArgumentType, reportCallIssue]


@pytest.mark.parametrize("settings", [{"workers": 4}, {"reload": True}])
def test_settings_that_one_process_would_ignore_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="this process alone"):
        Server("s").run("http", port=0, **settings)


def _run(script: str) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    return done.stdout.strip(), done.stderr


def test_making_a_server_touches_nothing() -> None:
    script = (
        "import sys, logging\n"
        "before = (sys.stdout, sys.stderr, list(logging.root.handlers), logging.root.level)\n"
        "from anyshape import Server\n"
        "server = Server('quiet')\n"
        "@server.tool\n"
        "def f() -> int: return 1\n"
        "server.asgi()\n"
        "assert before == (sys.stdout, sys.stderr, logging.root.handlers, logging.root.level)\n"
        "heavy = {'uvicorn', 'uvloop', 'aiohttp', 'typer', 'rich', 'starlette', 'opentelemetry'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    assert _run(script) == ("[]", "")


def test_a_server_in_memory_or_on_stdio_loads_nothing_of_http_and_of_clients() -> None:
    script = (
        "import sys\n"
        "from anyshape import Server\n"
        "Server('quiet').connect(print)\n"
        "unused = ('http', 'http_options', 'http_peer', 'authorization', 'sessions', 'streams')\n"
        "others = {'anyshape.protocol.shapes.result_reader', 'anyshape.client', 'pydantic'}\n"
        "others |= {f'anyshape.server.{name}' for name in unused}\n"
        "print(sorted(others & set(sys.modules)))\n"
    )
    assert _run(script)[0] == "[]"


def test_the_log_of_the_server_has_no_handlers_of_ours() -> None:
    assert logging.getLogger("anyshape").handlers == []
    assert logging.getLogger("anyshape.server").handlers == []


def test_a_server_says_what_it_is() -> None:
    server = Server("weather", version="2.0")
    server.add_tool(_tool("a"))
    assert (server.name, server.version) == ("weather", "2.0")
    assert repr(server) == "Server('weather', 1 tools)"


@pytest.mark.parametrize(
    "words",
    [
        {"name": 5},
        {"name": None},
        {"version": 2},
        {"version": 1.0},
        {"version": None},
        {"title": b"t"},
        {"instructions": ["be", "kind"]},
        {"description": 5},
        {"website_url": 5},
    ],
    ids=repr,
)
def test_a_server_says_nothing_of_itself_that_is_no_string(words: dict[str, Any]) -> None:
    (name,) = words
    with pytest.raises(TypeError, match=f"{name} has to be a string"):
        Server(**words)
