"""`subscriptions/listen`: a request whose answer is that it is over, and news until then.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

import asyncio
from functools import partial

from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.revision import Revision
from anyshape.server.exchange import Abandoned, Exchange
from anyshape.server.failures import busy, not_acceptable
from anyshape.server.parameters import ListenParameters

__all__ = ["listen"]


async def listen(parameters: ListenParameters, exchange: Exchange, revision: Revision) -> bytes:
    """Acknowledge a subscription, tell of changes, and answer when the server ends it."""
    service = exchange.service
    if not exchange.takes_stream:
        raise not_acceptable()
    allowed = service.options.max_subscriptions
    if len(service.subscriptions) >= allowed:
        raise busy(allowed, "subscriptions")
    tag = b'{"io.modelcontextprotocol/subscriptionId":%b}' % exchange.id
    wanted = parameters.notifications.tools_list_changed
    honoured = b'{"toolsListChanged":true}' if wanted else b"{}"
    exchange.send(
        encode_notification(
            "notifications/subscriptions/acknowledged",
            b'{"_meta":%b,"notifications":%b}' % (tag, honoured),
        )
    )
    changed = encode_notification("notifications/tools/list_changed", b'{"_meta":%b}' % tag)
    listener = service.listeners.add(partial(exchange.send, changed)) if wanted else None
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    service.subscriptions.add(ended)
    exchange.subscription = ended
    exchange.suspended()
    try:
        await ended
    except asyncio.CancelledError:
        if exchange.interruption is None:
            raise
        raise Abandoned from None
    finally:
        exchange.settled()
        service.subscriptions.discard(ended)
        if listener is not None:
            service.listeners.remove(listener)
    if exchange.announces_closing:
        exchange.send(
            encode_notification(
                "notifications/cancelled", b'{"_meta":%b,"requestId":%b}' % (tag, exchange.id)
            )
        )
    info = service.catalog.server_info(revision)
    return b'{"resultType":"complete","_meta":{%b,"io.modelcontextprotocol/serverInfo":%b}}' % (
        tag[1:-1],
        info,
    )
