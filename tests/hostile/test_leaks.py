"""Exceptions, paths, the environment and command lines never reach a client, wherever they arise."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from pydantic import BeforeValidator

from anyshape import (
    Client,
    Complete,
    LimitExceeded,
    Problem,
    ProtocolError,
    Server,
    ValidationError,
)
from anyshape.client import Frame
from anyshape.gateway import Gateway, Upstream
from anyshape.server import AccessToken, Authorization, HttpOptions

LEAK = "LEAK"
OLDER, MODERN = "2025-11-25", "2026-07-28"


class LeakError(Exception):
    """An exception whose name, too, is nobody's business."""


def chained() -> BaseException:
    error = RuntimeError(LEAK)
    error.__cause__ = OSError(LEAK)
    error.add_note(LEAK)
    return error


def name_of(make: Callable[[], BaseException]) -> str:
    return type(make()).__name__


EXCEPTIONS: list[Callable[[], BaseException]] = [
    lambda: LeakError(f"{LEAK} {os.environ} {sys.argv}"),
    lambda: FileNotFoundError(2, "No such file", f"/home/{LEAK}"),
    lambda: KeyError(LEAK),
    lambda: UnicodeDecodeError("utf-8", LEAK.encode(), 0, 1, LEAK),
    lambda: json.JSONDecodeError(LEAK, LEAK, 0),
    lambda: ValueError(LEAK),
    lambda: TypeError(LEAK),
    lambda: RecursionError(LEAK),
    lambda: MemoryError(LEAK),
    lambda: TimeoutError(LEAK),
    lambda: ConnectionError(LEAK),
    lambda: AssertionError(LEAK),
    lambda: StopIteration(LEAK),
    lambda: ExceptionGroup(LEAK, [ValueError(LEAK)]),
    lambda: SystemExit(LEAK),
    lambda: GeneratorExit(LEAK),
    lambda: msgspec.ValidationError(LEAK),
    lambda: msgspec.DecodeError(LEAK),
    lambda: ValidationError([Problem("type", f"/{LEAK}", LEAK, "")]),
    lambda: LimitExceeded(LEAK, limit="instance_depth", allowed=1),
    chained,
]


def leaking(make: Callable[[], BaseException]) -> Server:
    """Return a server that raises an exception wherever an author's code runs for a request."""
    server = Server("s")

    @server.tool
    def in_thread() -> str:
        raise make()

    @server.tool
    async def on_loop() -> str:
        await asyncio.sleep(0)
        raise make()

    @server.tool
    def while_written() -> Any:
        class Written(dict[str, str]):
            def items(self) -> Any:
                raise make()

        return Written(a="b")

    def suggest(typed: str) -> list[str]:
        raise make()

    @server.resource("note:{name}")
    def note(name: Annotated[str, Complete(suggest)]) -> str:
        raise make()

    @server.prompt
    def greet() -> str:
        raise make()

    return server


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "in_thread", "arguments": {}}),
    ("tools/call", {"name": "on_loop", "arguments": {}}),
    ("tools/call", {"name": "while_written", "arguments": {}}),
    ("resources/read", {"uri": "note:a"}),
    ("prompts/get", {"name": "greet"}),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "note:{name}"},
            "argument": {"name": "name", "value": "a"},
        },
    ),
]
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/logLevel": "debug",
}


@pytest.mark.parametrize("make", EXCEPTIONS, ids=name_of)
async def test_what_an_authors_code_raises_reaches_nobody(
    make: Callable[[], BaseException],
) -> None:
    sent: list[bytes] = []
    server = leaking(make)
    connection = server.connect(sent.append)
    for number, (method, params) in enumerate(REQUESTS):
        frame = {"jsonrpc": "2.0", "id": number, "method": method}
        answer = await connection.handle(
            json.dumps({**frame, "params": {**params, "_meta": META}}).encode()
        )
        assert answer is not None
        sent.append(answer)
    await connection.close()
    assert len(sent) >= len(REQUESTS)
    for answer in sent:
        assert b"LEAK" not in answer.upper(), answer
        assert b".py" not in answer


@pytest.mark.parametrize(
    "make", [each for each in EXCEPTIONS if isinstance(each(), Exception)], ids=name_of
)
async def test_what_middleware_raises_reaches_nobody(make: Callable[[], BaseException]) -> None:
    server = Server("s")

    @server.middleware
    async def break_down(request: Any, proceed: Any) -> Any:
        if request.method == "tools/list":
            raise make()
        return await proceed(request)

    @server.tool
    def hello() -> str:
        return "hello"

    frames: list[Frame] = []
    async with Client(server, on_frame=frames.append) as client:
        await asyncio.gather(client.list_tools(), return_exceptions=True)
    (said,) = (frame.text for frame in frames if b'"error"' in frame.text)
    assert b"Internal error" in said
    assert b"LEAK" not in said.upper()


@pytest.mark.parametrize(
    "make",
    [
        lambda: RecursionError(LEAK),
        lambda: ValidationError([Problem("type", f"/{LEAK}", LEAK, "")]),
        lambda: LimitExceeded(LEAK, limit="instance_depth", allowed=1),
    ],
    ids=name_of,
)
async def test_what_a_validator_crashes_with_is_not_told_as_the_callers_mistake(
    make: Callable[[], BaseException],
) -> None:
    def crash(value: Any) -> Any:
        raise make()

    server = Server("s")

    @server.prompt
    def greet(name: Annotated[str, BeforeValidator(crash)]) -> str:
        return name

    @server.resource("note:{name}")
    def note(name: Annotated[str, BeforeValidator(crash)]) -> str:
        return name

    async with Client(server) as client:
        for ask in (client.get_prompt("greet", {"name": "a"}), client.read_resource("note:a")):
            with pytest.raises(ProtocolError) as raised:
                await ask
            assert raised.value.message == "Internal error"


async def test_what_a_verifier_raises_reaches_nobody_and_lets_nobody_in() -> None:
    class Verifier:
        async def verify(self, token: str) -> AccessToken | None:
            raise LeakError(f"{LEAK} {token}")

    authorization = Authorization(
        verifier=Verifier(),
        resource="https://example.com/mcp",
        authorization_servers=("https://issuer.example.com",),
    )
    status, answer = await post(Server("s").asgi(HttpOptions(authorization=authorization)))
    assert status >= 400
    assert b"LEAK" not in answer.upper()


async def post(application: Any) -> tuple[int, bytes]:
    """Return the status and everything else that comes of one request."""
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    ).encode()
    headers = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "authorization": "Bearer LEAK-token",
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/list",
        "content-length": str(len(body)),
    }
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1234),
    }
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        told.append(message)

    await application(scope, receive, send)
    return int(told[0]["status"]), repr(told).encode()


async def test_the_last_words_of_an_upstream_are_for_the_operator_alone() -> None:
    script = str(Path(__file__).with_name("leaking_server.py"))
    upstream = Upstream(target=[sys.executable, script, "--token=LEAK"], env={"KEY": "LEAK"})
    gateway = Gateway({"up": upstream})
    frames: list[Frame] = []

    async with Client(gateway, on_frame=frames.append) as client:
        await client.list_tools()
        attempts: list[Callable[[], Any]] = [
            lambda: client.call_tool("die", {}),
            lambda: client.call_tool("die", {}),
            lambda: client.read_resource("x:one"),
            lambda: client.get_prompt("one"),
        ]
        for attempt in attempts:
            await asyncio.gather(attempt(), return_exceptions=True)
    received = [frame.text for frame in frames if frame.direction == "received"]
    assert any(b"upstream 'up'" in text for text in received)
    for text in received:
        for secret in (b"LEAK", b"leaking_server", b"python", b"exit status", b"Traceback"):
            assert secret not in text


@pytest.mark.parametrize(
    "upstream",
    [
        Upstream(target=["/no/such/LEAK", "--token=LEAK"], env={"KEY": "LEAK"}),
        Upstream(target=[sys.executable, "-c", "0"], cwd="/no/such/LEAK"),
        Upstream(
            target="http://127.0.0.1:9/LEAK?token=LEAK", headers={"X-Key": "LEAK"}, auth="LEAK"
        ),
    ],
    ids=["command", "directory", "address"],
)
async def test_where_an_upstream_should_be_is_for_the_operator_alone(upstream: Upstream) -> None:
    frames: list[Frame] = []
    async with Client(Gateway({"up": upstream}), on_frame=frames.append) as client:
        await asyncio.gather(
            client.list_tools(),
            client.call_tool("any", {}, check_arguments=False),
            client.read_resource("x:one"),
            return_exceptions=True,
        )
    assert not any(b"LEAK" in frame.text for frame in frames if frame.direction == "received")
