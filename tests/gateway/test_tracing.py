"""A trace goes through a gateway, and durations are told, where OpenTelemetry is set up."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from typing import Any

from patience import PATIENCE

PRELUDE = """
    import asyncio, json
    from anyshape import Client, Server, ToolError
    from anyshape.gateway import Gateway

    heard = []
    up = Server("up")

    @up.middleware
    async def hear(request, proceed):
        heard.append(dict(request.meta))
        return await proceed(request)

    @up.tool
    async def good() -> int:
        return 1

    @up.tool
    async def bad() -> int:
        raise ToolError("no")

    @up.prompt
    async def greet() -> str:
        return "hello"

    @up.resource("notes://all")
    async def notes() -> str:
        return "notes"

    TRACE = "0af7651916cd43dd8448eb211c80319c"
    META = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "tracestate": "a=b"}
"""

TRACED = """
    from opentelemetry import metrics, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
"""

CALLS = """
    async def main():
        async with Client(Gateway({"up": up, "gone": ["/nothing/there"]})) as client:
            heard.clear()
            await client.call_tool("up_good", meta=META)
            await client.call_tool("up_bad", meta=META)
            await client.get_prompt("up_greet", meta=META)
            await client.read_resource("notes://all", meta=META)

    asyncio.run(main())
"""


def _run(*parts: str) -> Any:
    """Run a script in a process of its own, since providers can be set only once."""
    script = "".join(textwrap.dedent(part) for part in parts)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_spans_of_an_upstream_are_inside_those_of_the_gateway() -> None:
    found = _run(
        PRELUDE,
        TRACED,
        CALLS,
        """
    print(json.dumps([{
        "id": format(span.context.span_id, "016x"),
        "parent": format(span.parent.span_id, "016x"),
        "trace": format(span.context.trace_id, "032x"),
        "state": span.context.trace_state.get("a"),
        "kind": span.kind.name,
        "name": span.name,
        "upstream": span.attributes.get("anyshape.gateway.upstream"),
        "error": span.attributes.get("error.type"),
    } for span in exporter.get_finished_spans()]))
    """,
    )
    assert {span["trace"] for span in found} == {"0af7651916cd43dd8448eb211c80319c"}
    assert {span["state"] for span in found} == {"b"}
    # Spans end from the inside out: the upstream's, that of the request to it, the gateway's.
    for inner, middle, outer in zip(found[::3], found[1::3], found[2::3], strict=True):
        assert [each["kind"] for each in (inner, middle, outer)] == ["SERVER", "CLIENT", "SERVER"]
        assert (inner["parent"], middle["parent"]) == (middle["id"], outer["id"])
        assert outer["parent"] == "00f067aa0ba902b7"
        assert (inner["upstream"], middle["upstream"]) == (None, "up")
    assert [span["name"] for span in found[1::3]] == [
        "tools/call good",
        "tools/call bad",
        "prompts/get greet",
        "resources/read",
    ]
    assert [span["error"] for span in found[1::3]] == [None, "tool_error", None, None]


def test_durations_are_told_of_the_gateway_and_of_its_upstreams() -> None:
    found = _run(
        PRELUDE,
        TRACED,
        CALLS,
        """
    (scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
    print(json.dumps({metric.name: [
        [dict(point.attributes), point.count] for point in metric.data.data_points
    ] for metric in scope.metrics}))
    """,
    )
    assert found.keys() == {"mcp.client.operation.duration", "mcp.server.operation.duration"}
    server = [
        (each["mcp.method.name"], each["anyshape.gateway.verdict"], count)
        for each, count in found["mcp.server.operation.duration"]
    ]
    assert sorted(server) == [
        ("prompts/get", "ok", 1),
        ("resources/read", "ok", 1),
        ("tools/call", "error", 1),
        ("tools/call", "ok", 1),
    ]
    client = {
        (each["mcp.method.name"], each.get("error.type"), each["anyshape.gateway.upstream"]): count
        for each, count in found["mcp.client.operation.duration"]
    }
    assert client == {
        ("prompts/get", None, "up"): 1,
        ("resources/read", None, "up"): 1,
        ("tools/call", None, "up"): 1,
        ("tools/call", "tool_error", "up"): 1,
    }


def test_a_trace_goes_through_as_it_came_where_nobody_traces() -> None:
    found = _run(
        PRELUDE,
        CALLS,
        """
    import sys
    kept = [{key: each.get(key) for key in META} for each in heard]
    print(json.dumps([kept == [META] * 4, "opentelemetry" in sys.modules]))
    """,
    )
    assert found == [True, False]
