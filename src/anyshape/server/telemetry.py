"""OpenTelemetry spans, one per tool call, when somebody has set up tracing.

Names and attributes follow the semantic conventions for MCP
(https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/); the trace context comes from the `_meta`
of the request. Without the API package, or with nothing behind it, a call pays for one lookup.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET

from anyshape._version import __version__
from anyshape.protocol.methods import TOOLS_CALL
from anyshape.protocol.result import EncodedResult
from anyshape.server.failures import translate
from anyshape.tools.questions import Unanswered

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from anyshape.server.parameters import CallParameters, Meta
    from anyshape.server.request import OpenRequest

__all__ = ["active_tracer", "traced"]

_API: Final = "opentelemetry.trace"
_decode_text: Final = msgspec.json.Decoder(str).decode
_NAMED_PROVIDER: Final = "OTEL_PYTHON_TRACER_PROVIDER" in os.environ


def active_tracer() -> Tracer | None:
    """Return a tracer if tracing has been set up in this process.

    A provider cannot have been set up without importing the API, so nothing is imported here; the
    one exception is a provider named by the environment, which the API loads by itself.
    """
    trace: Any = sys.modules.get(_API)
    if trace is None:
        if not _NAMED_PROVIDER:
            return None
        try:
            from opentelemetry import trace
        except ImportError:
            return None
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
        return None
    return provider.get_tracer("anyshape", __version__)


async def traced(
    tracer: Tracer,
    parameters: CallParameters,
    request: OpenRequest,
    call: Coroutine[Any, Any, EncodedResult],
) -> EncodedResult:
    """Await a call inside a span of its own."""
    from opentelemetry.trace import SpanKind, Status, StatusCode

    attributes: dict[str, str | int] = {
        "mcp.method.name": TOOLS_CALL,
        "gen_ai.tool.name": parameters.name,
        "gen_ai.operation.name": "execute_tool",
        "jsonrpc.request.id": request.id.decode().strip('"'),
        "network.transport": request.peer.transport,
        "mcp.protocol.version": request.revision.value,
    }
    with tracer.start_as_current_span(
        f"{TOOLS_CALL} {parameters.name}",
        context=_remote_context(parameters.meta),
        kind=SpanKind.SERVER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            result = await call
        except Exception as error:
            failure = translate(error, TOOLS_CALL)
            span.set_attribute("error.type", str(failure.code))
            span.set_attribute("rpc.response.status_code", str(failure.code))
            span.set_status(Status(StatusCode.ERROR, failure.message))
            raise
        except Unanswered:
            raise  # It goes on in another request.
        except BaseException:
            span.set_attribute("error.type", "cancelled")
            span.set_status(Status(StatusCode.ERROR, "cancelled"))
            raise
        if result.is_error:
            span.set_attribute("error.type", "tool_error")
            span.set_status(Status(StatusCode.ERROR))
        return result


def _remote_context(meta: Meta) -> Any:
    """Return the trace context a request came with; what is not as it should be is not there."""
    if meta.traceparent is UNSET and meta.baggage is UNSET:
        return None
    from opentelemetry.propagate import extract

    carrier: dict[str, str] = {}
    for key in ("traceparent", "tracestate", "baggage"):
        raw: msgspec.Raw | msgspec.UnsetType = getattr(meta, key)
        if raw is not UNSET:
            with contextlib.suppress(msgspec.DecodeError):
                carrier[key] = _decode_text(raw)
    return extract(carrier)
