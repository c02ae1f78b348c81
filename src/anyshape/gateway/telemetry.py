"""What OpenTelemetry is told of a gateway, where somebody has set it up: spans and durations.

A request to an upstream is a client span inside the server span of the request that caused it, and
its context goes upstream in `_meta`
(https://modelcontextprotocol.io/specification/2026-07-28/basic#meta). Names follow the semantic
conventions for MCP (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/). Without the API
package, or with nothing behind it, a request pays for one lookup.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from anyshape._version import __version__
from anyshape.client.result import CallResult
from anyshape.errors import OutputMismatch, ProtocolError
from anyshape.gateway.refusal import UpstreamError
from anyshape.protocol.revision import Revision
from anyshape.server.telemetry import Traced, active_tracer
from anyshape.tools.context import Unanswered

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Span, Tracer

Given = TypeVar("Given")

_API: Final = "opentelemetry.metrics"
_NAMED_PROVIDER: Final = "OTEL_PYTHON_METER_PROVIDER" in os.environ
_UPSTREAM: Final = "anyshape.gateway.upstream"
_VERDICT: Final = "anyshape.gateway.verdict"
_BOUNDARIES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""Seconds; what the conventions advise."""
_PORTS: Final = {"http": 80, "https": 443}


def duration_histogram(name: str, description: str) -> Histogram | None:
    """Return a histogram of seconds if metrics have been set up in this process."""
    metrics: Any = sys.modules.get(_API)
    if metrics is None:
        if not _NAMED_PROVIDER:
            return None
        try:
            from opentelemetry import metrics
        except ImportError:
            return None
    provider = metrics.get_meter_provider()
    if type(provider).__module__.startswith(_API):  # nothing is behind the API
        return None
    meter = provider.get_meter("anyshape", __version__)
    return meter.create_histogram(
        name,
        unit="s",
        description=description,
        explicit_bucket_boundaries_advisory=list(_BOUNDARIES),
    )


def current_trace() -> dict[str, str]:
    """Return the trace context that goes upstream with a request: nothing, if there is no trace."""
    if active_tracer() is None:
        return {}
    from opentelemetry.propagate import inject

    carrier: dict[str, str] = {}
    inject(carrier)
    return carrier


class ServerDurations:
    """How long requests to a gateway took, for whoever has set up metrics."""

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram

    @classmethod
    def find(cls) -> ServerDurations | None:
        """Return what takes durations, if metrics have been set up."""
        found = duration_histogram("mcp.server.operation.duration", "Requests to the gateway.")
        return None if found is None else cls(found)

    def record(self, upstream: str, method: str, verdict: str, seconds: float) -> None:
        """Take the duration of one request; `verdict` is what became of it, in a word."""
        attributes = {"mcp.method.name": method, _UPSTREAM: upstream, _VERDICT: verdict}
        if verdict != "ok":
            attributes["error.type"] = verdict
        self._histogram.record(seconds, attributes)


class UpstreamTelemetry:
    """What is told of the requests to one upstream."""

    def __init__(self, name: str, target: object) -> None:
        self._attributes: dict[str, str | int] = {_UPSTREAM: name, **_address(target)}
        self._durations = duration_histogram(
            "mcp.client.operation.duration", "Requests to upstreams."
        )

    @property
    def is_wanted(self) -> bool:
        """Whether anybody wants to know."""
        return self._durations is not None or active_tracer() is not None

    async def observe(
        self, about: Traced, revision: Revision, call: Coroutine[Any, Any, Given]
    ) -> Given:
        """Await a request inside a span of its own, and take how long it took."""
        attributes: dict[str, str | int] = {
            "mcp.method.name": about.method,
            "mcp.protocol.version": revision.value,
            **self._attributes,
        }
        tracer = active_tracer()
        started, problem = time.perf_counter(), ""
        with ExitStack() as stack:
            span = None
            if tracer is not None:
                span = stack.enter_context(_span(tracer, about, attributes))
            try:
                result = await call
                problem = "tool_error" if isinstance(result, CallResult) and result.is_error else ""
                return result
            except Unanswered:
                raise  # It goes on in another request.
            except BaseException as error:
                problem = _name(error)
                raise
            finally:
                if problem and span is not None:
                    _mark(span, problem)
                if self._durations is not None:
                    if problem:
                        attributes["error.type"] = problem
                    self._durations.record(time.perf_counter() - started, attributes)


def _span(tracer: Tracer, about: Traced, attributes: dict[str, str | int]) -> Any:
    from opentelemetry.trace import SpanKind

    return tracer.start_as_current_span(
        about.method if about.target is None else f"{about.method} {about.target}",
        kind=SpanKind.CLIENT,
        attributes={**attributes, **about.attributes},
        record_exception=False,
        set_status_on_exception=False,
    )


def _mark(span: Span, problem: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", problem)
    span.set_status(Status(StatusCode.ERROR))


def _name(error: BaseException) -> str:
    """Return the kind of a failure, in a word of which there are few."""
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    if isinstance(error, OutputMismatch):
        return "mismatch"
    if isinstance(error, ProtocolError):
        return str(error.code)
    return error.verdict if isinstance(error, UpstreamError) else type(error).__name__


def _address(target: object) -> dict[str, str | int]:
    """Return where an upstream is, as far as the conventions have a name for it."""
    if not isinstance(target, str):
        return {"network.transport": "pipe"} if isinstance(target, list | tuple) else {}
    parts = urlsplit(target)
    port = parts.port or _PORTS.get(parts.scheme, 0)
    return {
        "network.transport": "tcp",
        "server.address": parts.hostname or "",
        **({"server.port": port} if port else {}),
    }
