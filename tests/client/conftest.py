"""Servers to talk to: ours, and ones that do exactly what a test says, in memory and over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web
from patience import PATIENCE, turn_until

from anyshape import UNSTRUCTURED, Context, Server, ToolError, ToolResult
from anyshape.protocol.revision import RELEASED

Answer = Callable[[dict[str, Any]], Any]
Json = dict[str, Any]


class Refusal(Exception):
    """Answers a request with a JSON-RPC error."""

    def __init__(self, code: int, message: str = "no", data: Any = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Scripted:
    """A server in memory: methods are answered by functions of their `params`.

    An answer may be an awaitable; `None` is silence. `seen` has every message that came.
    """

    def __init__(self, **answers: Answer) -> None:
        self.answers: dict[str, Answer] = {
            "server/discover": lambda params: {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
            },
            **{name.replace("__", "/"): answer for name, answer in answers.items()},
        }
        self.seen: list[Json] = []
        self.send: Callable[[bytes], None] = lambda frame: None

    def connect(self, send: Callable[[bytes], None], /) -> Scripted:
        self.send = send
        return self

    def say(self, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.send(json.dumps(message).encode())

    async def handle(self, frame: bytes) -> bytes | None:
        message = json.loads(frame)
        self.seen.append(message)
        if "id" not in message or "method" not in message:
            return None
        try:
            answer = self.answers.get(message["method"])
            if answer is None:
                raise Refusal(-32601, "Method not found")
            result: Any = answer(message.get("params", {}))
            outcome: Json = {"result": await result if inspect.isawaitable(result) else result}
        except Refusal as refusal:
            outcome = {"error": refusal.error}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}).encode()

    async def close(self) -> None:
        pass

    def asked(self, method: str) -> list[Json]:
        return [
            message.get("params", {}) for message in self.seen if message.get("method") == method
        ]


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def refusal() -> type[Refusal]:
    return Refusal


@pytest.fixture(params=[revision.value for revision in RELEASED])
def revision(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def server() -> Server:
    """Return one of our servers with a tool for every kind of outcome."""
    server = Server("example", version="1.2.3", instructions="Ask.")
    users = [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Grace"}]

    @server.tool(annotations={"readOnlyHint": True})
    async def get_count() -> int:
        return 42

    @server.tool
    async def list_users() -> list[dict[str, Any]]:
        return users

    @server.tool
    async def no_users() -> list[dict[str, Any]]:
        return []

    @server.tool
    async def find_user(id: int) -> dict[str, Any] | None:
        return next((user for user in users if user["id"] == id), None)

    @server.tool
    async def greet(name: str) -> str:
        return f"Hello, {name}"

    @server.tool
    async def nothing() -> None:
        return None

    @server.tool(output_schema={"type": "object", "properties": {"result": {"type": "integer"}}})
    async def own_result() -> Any:
        return {"result": 5}

    @server.tool(output_schema=UNSTRUCTURED)
    async def words_only() -> ToolResult[Any]:
        return ToolResult(content=["just", "words"])

    @server.tool
    async def fail(reason: str) -> int:
        raise ToolError(reason)

    @server.tool
    async def count_to(number: int, context: Context) -> int:
        for done in range(1, number + 1):
            context.progress(done, number, f"{done} of {number}")
            await asyncio.sleep(0)
        return number

    @server.tool(
        input_schema={
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        }
    )
    async def where(arguments: dict[str, Any]) -> str:
        return arguments.get("region", "nowhere")

    return server


Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
ServeHttp = Callable[[Handler], contextlib.AbstractAsyncContextManager[str]]


@pytest.fixture
def serve_http() -> ServeHttp:
    """Return what serves a handler on a free port, and gives its URL."""

    @contextlib.asynccontextmanager
    async def serve(handler: Handler) -> AsyncGenerator[str, None]:
        server = web.Server(handler)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
        finally:
            await runner.cleanup()

    return serve


@pytest.fixture
async def proxy() -> AsyncIterator[tuple[str, list[bytes]]]:
    """Serve a proxy for plain HTTP, and note the first line of what it is asked."""
    asked: list[bytes] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        asked.append(line)
        host, port = line.split(b" ")[1].split(b"/")[2].split(b":")
        upstream, downstream = await asyncio.open_connection(host.decode(), int(port))
        downstream.write(line)
        await asyncio.gather(pipe(reader, downstream), pipe(upstream, writer))

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()


@pytest.fixture
async def url(server: Server) -> AsyncIterator[str]:
    """Serve our server over HTTP in this loop."""
    import uvicorn

    configuration = uvicorn.Config(
        server.asgi(), port=0, log_level="error", lifespan="on", timeout_graceful_shutdown=1
    )
    service = uvicorn.Server(configuration)
    service.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(service.serve())
    await turn_until(lambda: service.started or task.done(), 0.01)
    assert not task.done(), task
    yield f"http://127.0.0.1:{service.servers[0].sockets[0].getsockname()[1]}/mcp"
    service.should_exit = True
    async with asyncio.timeout(PATIENCE):
        await task
