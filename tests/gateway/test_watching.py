"""What is written down about the requests that a server answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from anyshape import Client, Server, ToolError
from anyshape.errors import ProtocolError, RateLimited
from anyshape.gateway.audit import AuditLog, AuditOptions
from anyshape.gateway.metrics import GatewayMetrics
from anyshape.gateway.watching import Watching, note
from anyshape.server import MiddlewareAnswer, MiddlewareRequest, Proceed


@pytest.fixture
def audit(tmp_path: Path) -> Iterator[AuditLog]:
    audit = AuditLog(tmp_path / "audit.log", AuditOptions(arguments="full"))
    yield audit
    audit.close(PATIENCE)


@pytest.fixture
def metrics() -> GatewayMetrics:
    return GatewayMetrics()


@pytest.fixture
def server(audit: AuditLog, metrics: GatewayMetrics) -> Server:
    server = Server("watched")
    seconds = iter(range(1_000))
    watching = Watching(
        lambda method, name: f"up of {name}",
        audit=audit,
        metrics=metrics,
        clock=lambda: float(next(seconds)),
    )
    server.middleware(watching)

    @server.tool
    async def double(n: int) -> int:
        if n < 0:
            raise ToolError("no")
        return 2 * n

    @server.tool
    async def away() -> int:
        note("down", "nobody is there")
        raise ToolError("nobody is there")

    @server.tool
    async def endless() -> int:
        await asyncio.Event().wait()
        return 0

    @server.prompt
    async def greet(name: str) -> str:
        return f"hello {name}"

    @server.resource("watched://notes")
    async def notes() -> str:
        return "notes"

    return server


def written(audit: AuditLog, tmp_path: Path) -> list[dict[str, Any]]:
    audit.close(PATIENCE)
    return [json.loads(line) for line in (tmp_path / "audit.log").read_text().splitlines()]


async def test_calls_prompts_and_resources_leave_a_line_each(
    server: Server, audit: AuditLog, tmp_path: Path
) -> None:
    async with Client(server) as client:
        await client.list_tools()
        await client.call_tool("double", {"n": 4})
        await client.get_prompt("greet", {"name": "ann"})
        await client.read_resource("watched://notes")
    lines = written(audit, tmp_path)
    assert [(line["method"], line["name"], line["verdict"]) for line in lines] == [
        ("tools/call", "double", "ok"),
        ("prompts/get", "greet", "ok"),
        ("resources/read", "watched://notes", "ok"),
    ]
    call = lines[0]
    assert (call["caller"], call["upstream"]) == ("local", "up of double")
    assert call["arguments"] == {"n": 4}
    assert call["milliseconds"] == 1000
    assert call["requestBytes"] > 20
    assert call["answerBytes"] > 20


async def test_the_verdict_says_what_became_of_a_call(
    server: Server, audit: AuditLog, metrics: GatewayMetrics, tmp_path: Path
) -> None:
    async with Client(server, check_arguments=False) as client:
        await client.call_tool("double", {"n": -1})
        await client.call_tool("double", {"n": "x"})
        await client.call_tool("away")
        with pytest.raises(ProtocolError):
            await client.read_resource("watched://nothing")
    lines = written(audit, tmp_path)
    assert [line["verdict"] for line in lines] == ["error", "error", "down", "refused"]
    assert lines[2]["why"] == "nobody is there"
    assert lines[3]["why"]
    text = metrics.registry.text()
    assert 'upstream="up of double",method="tools/call",verdict="error"} 2\n' in text
    assert 'upstream="up of away",method="tools/call",verdict="down"} 1\n' in text


async def test_a_call_that_is_cancelled_or_limited_is_written_down_as_that(
    server: Server, audit: AuditLog, tmp_path: Path
) -> None:
    reached = asyncio.Event()

    @server.middleware
    async def limit(request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        if request.name == "double":
            raise RateLimited("slowly", 1.0)
        if request.name == "endless":
            reached.set()
        return await proceed(request)

    async with Client(server) as client:
        await client.call_tool("double", {"n": 1})
        call = asyncio.create_task(client.call_tool("endless"))
        async with asyncio.timeout(PATIENCE):
            await reached.wait()
        call.cancel()
        await asyncio.wait([call])
    lines = written(audit, tmp_path)
    assert [line["verdict"] for line in lines] == ["limited", "cancelled"]


async def test_the_trace_of_a_request_is_named(
    server: Server, audit: AuditLog, tmp_path: Path
) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    async with Client(server) as client:
        for parent in (f"00-{trace}-00f067aa0ba902b7-01", "nonsense"):
            await client.call_tool("double", {"n": 1}, meta={"traceparent": parent})
    assert [line.get("trace") for line in written(audit, tmp_path)] == [trace, None]


async def test_a_note_outside_of_a_request_is_not_taken_for_the_next_one(
    server: Server, audit: AuditLog, tmp_path: Path
) -> None:
    note("down")
    async with Client(server) as client:
        await client.call_tool("double", {"n": 1})
    assert [line["verdict"] for line in written(audit, tmp_path)] == ["ok"]
