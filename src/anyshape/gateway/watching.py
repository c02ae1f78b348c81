"""What is written down about every request: a line of the audit log, and the counts.

This is middleware, so a gateway that writes nothing down does nothing for it. Code further in that
knows better than the answer what became of a request says so by `note`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import msgspec

from anyshape.errors import ProtocolError, RateLimited
from anyshape.gateway.audit import AuditLog, AuditRecord
from anyshape.gateway.metrics import GatewayMetrics
from anyshape.gateway.telemetry import ServerDurations
from anyshape.protocol.encoding import encode_data
from anyshape.server.middleware import MiddlewareAnswer, MiddlewareRequest, Proceed

_noted: ContextVar[list[str] | None] = ContextVar("anyshape_gateway_noted", default=None)


def note(verdict: str, why: str | None = None) -> None:
    """Say in a word what becomes of the request that is being answered, such as `down`."""
    noted = _noted.get()
    if noted is not None:
        noted[:] = [verdict] if why is None else [verdict, why]


def name_caller(request: MiddlewareRequest) -> str:
    """Return what the log calls whoever asks: by their token, their address, or as `local`."""
    if request.access is not None:
        return request.access.subject
    return "local" if request.address is None else f"address {request.address}"


class Watching:
    """Writes down every request for a tool, a prompt or a resource.

    `upstream_of` returns the name of the upstream that has what a method and a name ask for. `own`
    is the upstream whose path this is, if it is that of one.
    """

    def __init__(
        self,
        upstream_of: Callable[[str, str], str],
        *,
        audit: AuditLog | None = None,
        metrics: GatewayMetrics | None = None,
        durations: ServerDurations | None = None,
        own: str | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._upstream_of = upstream_of
        self._audit = audit
        self._metrics = metrics
        self._durations = durations
        self._own = own
        self._clock = clock

    async def __call__(self, request: MiddlewareRequest, proceed: Proceed) -> MiddlewareAnswer:
        """Have a request answered, and write down what became of it."""
        if request.name is None:
            return await proceed(request)
        noted: list[str] = []
        token = _noted.set(noted)
        started = self._clock()
        verdict, size = "failed", 0
        try:
            answer = await proceed(request)
            verdict, size = "error" if answer.is_error else "ok", len(answer.text)
            return answer
        except RateLimited:
            verdict = "limited"
            raise
        except ProtocolError as error:
            verdict = "refused"
            noted = noted or [verdict, error.message]
            raise
        except asyncio.CancelledError:
            verdict = "cancelled"
            raise
        finally:
            _noted.reset(token)
            self._write(request, noted or [verdict], self._clock() - started, size)

    def _write(
        self, request: MiddlewareRequest, noted: list[str], seconds: float, size: int
    ) -> None:
        name = request.name or ""
        upstream = self._upstream_of(request.method, name) or self._own or ""
        source = request.opened.source
        asked = 0 if source is None else memoryview(source).nbytes
        if self._metrics is not None:
            self._metrics.observe(
                upstream=upstream,
                method=request.method,
                verdict=noted[0],
                seconds=seconds,
                request_bytes=asked,
                answer_bytes=size,
            )
        if self._durations is not None:
            self._durations.record(upstream, request.method, noted[0], seconds)
        if self._audit is not None:
            self._audit.record(
                AuditRecord(
                    caller=name_caller(request),
                    method=request.method,
                    name=name,
                    upstream=upstream,
                    path=None if self._own is None else f"/{self._own}",
                    verdict=noted[0],
                    why=noted[1] if len(noted) > 1 else None,
                    seconds=seconds,
                    request_bytes=asked,
                    answer_bytes=size,
                    arguments=_arguments(request),
                    trace=_trace(request),
                )
            )


def _arguments(request: MiddlewareRequest) -> bytes | None:
    """Return the text of the arguments, if the request brought any."""
    raw: Any = getattr(request._read, "arguments", None)
    if isinstance(raw, msgspec.Raw):
        return bytes(raw)
    given = request.params.get("arguments")
    return None if given is None else encode_data(given)


def _trace(request: MiddlewareRequest) -> str | None:
    """Return the id of the trace that a request belongs to: https://www.w3.org/TR/trace-context/."""
    parent: object = request.meta.get("traceparent")
    parts = parent.split("-") if isinstance(parent, str) else []
    return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 else None
