"""OpenTelemetry spans when somebody has set up tracing: one per call of an author's function.

Names and attributes follow the semantic conventions for MCP
(https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/); the trace context comes from the `_meta`
of the request. Without the API package, or with nothing behind it, a call pays for one lookup.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET

from anyshape._version import __version__
from anyshape.protocol.methods import PROMPTS_GET, RESOURCES_READ, TOOLS_CALL
from anyshape.protocol.result import EncodedResult
from anyshape.server.failures import told_of
from anyshape.tools.context import Unanswered

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from anyshape.server.parameters import Meta
    from anyshape.server.request import OpenRequest

Given = TypeVar("Given")

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


class Traced(NamedTuple):
    """What a span is about: a tool or a prompt by name, or a resource by its URI.

    A URI is no part of the name of a span: there may be any number of them.
    """

    method: str
    target: str | None
    attributes: Mapping[str, str]

    @classmethod
    def tool(cls, name: str) -> Traced:
        """Return what a call of a tool is about."""
        attributes = {"gen_ai.tool.name": name, "gen_ai.operation.name": "execute_tool"}
        return cls(TOOLS_CALL, name, attributes)

    @classmethod
    def prompt(cls, name: str) -> Traced:
        """Return what a request for a prompt is about."""
        return cls(PROMPTS_GET, name, {"gen_ai.prompt.name": name})

    @classmethod
    def resource(cls, uri: str) -> Traced:
        """Return what a request for a resource is about."""
        return cls(RESOURCES_READ, None, {"mcp.resource.uri": uri})


def traced_if_wanted(
    about: Traced, meta: Meta, request: OpenRequest, call: Coroutine[Any, Any, Given]
) -> Coroutine[Any, Any, Given]:
    """Return a call that is awaited inside a span of its own, if there is a tracer."""
    tracer = active_tracer()
    return call if tracer is None else traced(tracer, about, meta, request, call)


async def traced(
    tracer: Tracer,
    about: Traced,
    meta: Meta,
    request: OpenRequest,
    call: Coroutine[Any, Any, Given],
) -> Given:
    """Await a call inside a span of its own."""
    from opentelemetry.trace import SpanKind, Status, StatusCode

    attributes: dict[str, str | int] = {
        "mcp.method.name": about.method,
        **about.attributes,
        "jsonrpc.request.id": request.id.decode().strip('"'),
        "network.transport": request.peer.transport,
        "mcp.protocol.version": request.revision.value,
    }
    with tracer.start_as_current_span(
        about.method if about.target is None else f"{about.method} {about.target}",
        context=_remote_context(meta),
        kind=SpanKind.SERVER,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            result = await call
        except Exception as error:
            failure = told_of(error)
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
        if isinstance(result, EncodedResult) and result.is_error:
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
