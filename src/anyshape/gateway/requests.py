"""One request to an upstream on behalf of a caller: who that is, and what goes with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from anyshape.client.client import Client
from anyshape.client.lifecycle import RESERVED
from anyshape.gateway.refusal import UpstreamError
from anyshape.gateway.telemetry import current_trace
from anyshape.gateway.upstream import UpstreamLink
from anyshape.gateway.watching import note
from anyshape.server.telemetry import Traced
from anyshape.tools.context import Context
from anyshape.tools.routine import RoutineError

Given = TypeVar("Given")


def caller_of(context: Context | None) -> str:
    """Return what tells the caller of a request from others: what its token proves."""
    access = None if context is None else context.access
    return "" if access is None else str(access.subject)


def passed_on(context: Context | None) -> dict[str, Any] | None:
    """Return the metadata of a request that goes upstream: all but what the protocol keeps.

    A trace that goes on here goes on there: the upstream's spans are inside of ours.
    """
    meta: dict[str, Any] = {}
    if context is not None:
        meta = {key: value for key, value in context.meta.items() if key not in RESERVED}
    trace = current_trace()
    return ({**meta, **trace} if trace else meta) or None


async def ask_upstream(
    link: UpstreamLink,
    context: Context | None,
    about: Traced,
    ask: Callable[[Client, dict[str, Any] | None], Awaitable[Given]],
) -> Given:
    """Return what an upstream answers; `RoutineError` says why it could not be asked."""

    async def begin() -> Given:
        async with link.using(caller_of(context)) as client:
            return await ask(client, passed_on(context))

    asking = link.held.run(begin, context)
    if link.telemetry.is_wanted:
        asking = link.telemetry.observe(about, link.revision, asking)
    try:
        return await asking
    except UpstreamError as error:
        note(error.verdict, error.why)
        raise RoutineError(str(error)) from None
