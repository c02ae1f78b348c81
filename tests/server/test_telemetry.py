"""Spans, when somebody has set up tracing, and nothing when nobody has."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from patience import PATIENCE


def _run(script: str) -> Any:
    """Run a script in a process of its own, since a tracer provider can be set only once."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PRELUDE = """
    import asyncio, json, sys
    from anyshape import Server, ToolError

    server = Server("traced")

    @server.tool
    async def good() -> int:
        return 1

    @server.tool
    async def bad() -> int:
        raise ToolError("no")

    async def call(name, **meta):
        frame = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
            "name": name, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}, **meta}}}
        return await server.connect(print).handle(json.dumps(frame).encode())
"""


TRACED = """
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
"""


@pytest.mark.behaviour("base.trace-context")
def test_a_call_is_a_span_in_the_trace_its_client_names() -> None:
    spans = _run(
        PRELUDE
        + TRACED
        + """
    async def main():
        await call("good", traceparent="00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01")
        await call("bad")

    asyncio.run(main())
    print(json.dumps([{
        "name": span.name,
        "kind": span.kind.name,
        "trace": format(span.context.trace_id, "032x"),
        "parent": format(span.parent.span_id, "016x") if span.parent else None,
        "attributes": dict(span.attributes),
        "status": span.status.status_code.name,
    } for span in exporter.get_finished_spans()]))
    """
    )
    good, bad = spans
    assert good == {
        "name": "tools/call good",
        "kind": "SERVER",
        "trace": "0af7651916cd43dd8448eb211c80319c",
        "parent": "00f067aa0ba902b7",
        "attributes": {
            "mcp.method.name": "tools/call",
            "mcp.protocol.version": "2026-07-28",
            "gen_ai.tool.name": "good",
            "gen_ai.operation.name": "execute_tool",
            "jsonrpc.request.id": "9",
            "network.transport": "pipe",
        },
        "status": "UNSET",
    }
    assert bad["attributes"]["error.type"] == "tool_error"
    assert (bad["status"], bad["parent"]) == ("ERROR", None)


@pytest.mark.behaviour("base.trace-context")
def test_prompts_and_resources_are_spans_as_tools_are() -> None:
    spans = _run(
        PRELUDE
        + TRACED
        + """
    from anyshape import ResourceNotFound

    @server.prompt
    async def greet(name: str) -> str:
        if name == "nobody":
            raise ToolError("there is nobody")
        return name

    @server.resource("notes://{number}")
    async def note(number: int) -> str:
        if number == 404:
            raise ResourceNotFound
        return "note"

    async def main():
        for method, params in [
            ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
            ("prompts/get", {"name": "greet", "arguments": {"name": "nobody"}}),
            ("resources/read", {"uri": "notes://7"}),
            ("resources/read", {"uri": "notes://404"}),
        ]:
            frame = {"jsonrpc": "2.0", "id": 9, "method": method, "params": {**params, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}}}
            await server.connect(print).handle(json.dumps(frame).encode())

    asyncio.run(main())
    print(json.dumps([{
        "name": span.name,
        "parent": format(span.parent.span_id, "016x"),
        "about": {key: value for key, value in span.attributes.items()
                  if key in ("gen_ai.prompt.name", "mcp.resource.uri", "error.type")},
        "status": span.status.status_code.name,
    } for span in exporter.get_finished_spans()]))
    """
    )
    assert {span.pop("parent") for span in spans} == {"00f067aa0ba902b7"}
    prompt, uri, failed = "gen_ai.prompt.name", "mcp.resource.uri", "error.type"
    assert spans == [
        {"name": "prompts/get greet", "about": {prompt: "greet"}, "status": "UNSET"},
        {
            "name": "prompts/get greet",
            "about": {prompt: "greet", failed: "-32603"},
            "status": "ERROR",
        },
        {"name": "resources/read", "about": {uri: "notes://7"}, "status": "UNSET"},
        {
            "name": "resources/read",
            "about": {uri: "notes://404", failed: "-32602"},
            "status": "ERROR",
        },
    ]


@pytest.mark.behaviour("base.trace-context")
def test_a_trace_context_that_makes_no_sense_is_not_there() -> None:
    answers, parents = _run(
        PRELUDE
        + TRACED
        + """
    async def main():
        contexts = ["junk", "", None, 7, [], {"a": 1}]
        answers = [await call("good", traceparent=c, tracestate=c, baggage=c) for c in contexts]
        return [json.loads(answer)["result"]["structuredContent"] for answer in answers]

    answers = asyncio.run(main())
    print(json.dumps([answers, [span.parent for span in exporter.get_finished_spans()]]))
    """
    )
    assert answers == [1] * 6
    assert parents == [None] * 6


def test_a_span_covers_a_call_that_waits_and_one_that_is_cancelled() -> None:
    spans = _run(
        PRELUDE
        + TRACED
        + """
    @server.tool
    async def waits() -> bool:
        with trace.get_tracer("inner").start_as_current_span("inside"):
            await asyncio.sleep(0.01)
        return True

    @server.tool(timeout=0.01)
    async def slow() -> int:
        await asyncio.sleep(60)
        return 1

    async def main():
        await asyncio.gather(call("waits"), call("waits"), call("slow"))
        connection = server.connect(print)
        frame = {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {
            "name": "waits", "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}}}
        asking = asyncio.create_task(connection.handle(json.dumps(frame).encode()))
        await asyncio.sleep(0)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled",
                  "params": {"requestId": "c"}}
        await connection.handle(json.dumps(cancel).encode())
        assert await asking is None

    asyncio.run(main())
    print(json.dumps(sorted([
        span.name,
        span.status.status_code.name,
        span.attributes.get("error.type", ""),
        span.parent is not None,
    ] for span in exporter.get_finished_spans())))
    """
    )
    assert spans == [
        ["inside", "UNSET", "", True],
        ["inside", "UNSET", "", True],
        ["inside", "UNSET", "", True],
        ["tools/call slow", "ERROR", "tool_error", False],
        ["tools/call waits", "ERROR", "cancelled", False],
        ["tools/call waits", "UNSET", "", False],
        ["tools/call waits", "UNSET", "", False],
    ]


def test_what_fails_inside_a_span_is_logged_once() -> None:
    logged, (name, error, status) = _run(
        PRELUDE
        + TRACED
        + """
    import logging
    from anyshape import Tool

    class Broken(Tool):
        async def call(self, arguments, context=None):
            raise KeyError("inside")

    schema = {"type": "object"}
    server.add_tool(Broken(name="broken", handler=lambda given: given, input_schema=schema))
    logged = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())
    logging.getLogger("anyshape").addHandler(handler)
    asyncio.run(call("broken"))
    span, = exporter.get_finished_spans()
    told = span.name, span.attributes["error.type"], span.status.description
    print(json.dumps([logged, told]))
    """
    )
    assert (name, error, status) == ("tools/call broken", "-32603", "Internal error")
    assert logged == ["tools/call failed"]


def test_without_tracing_the_api_is_not_even_imported() -> None:
    assert (
        _run(
            PRELUDE
            + """
    asyncio.run(call("good"))
    print(json.dumps([name for name in sys.modules if name.startswith("opentelemetry")]))
    """
        )
        == []
    )


def test_an_api_with_nothing_behind_it_makes_no_spans() -> None:
    assert _run(
        PRELUDE
        + """
    from opentelemetry import trace
    from anyshape.server.telemetry import active_tracer

    asyncio.run(call("good"))
    print(json.dumps(active_tracer() is None))
    """
    )
