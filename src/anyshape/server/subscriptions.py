"""`subscriptions/listen`: a request whose answer is that it is over, and news until then.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

import asyncio
from typing import Final

from anyshape.protocol.completed import SERVER_INFO_KEY
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import encode_notification
from anyshape.protocol.meta import SUBSCRIPTION_ID
from anyshape.protocol.methods import CANCELLED, LISTENING
from anyshape.server.failures import not_acceptable
from anyshape.server.features.announcements import Position, Topic
from anyshape.server.parameters import ListenParameters
from anyshape.server.request import OpenRequest

_ID_KEY: Final = encode_data(SUBSCRIPTION_ID)


async def listen(parameters: ListenParameters, request: OpenRequest) -> bytes:
    """Acknowledge a subscription, tell of changes, and answer when the server ends it."""
    peer = request.peer
    service = peer.service
    asked = parameters.notifications
    grants = [
        grant for feature in service.features for grant in await feature.grants(asked, request)
    ]
    if not peer.takes_stream:
        raise not_acceptable()
    service.check_subscriptions()
    tag = b"%b:%b" % (_ID_KEY, request.id)
    meta = b"{%b}" % tag
    honoured = encode_data({grant.member: grant.value for grant in grants})
    peer.send(encode_notification(LISTENING, b'{"_meta":%b,"notifications":%b}' % (meta, honoured)))

    def tell(topic: Topic, _position: Position) -> None:
        peer.send(topic.message(meta))

    listener = service.listeners.add((topic for grant in grants for topic in grant.topics), tell)
    request.subscription = asyncio.get_running_loop().create_future()
    service.subscriptions.add(request.subscription)
    try:
        await request.subscription
    finally:
        service.subscriptions.discard(request.subscription)
        service.listeners.remove(listener)
    if peer.announces_closing:
        peer.send(
            encode_notification(CANCELLED, b'{"_meta":%b,"requestId":%b}' % (meta, request.id))
        )
    info = request.server_info
    return b'{"resultType":"complete","_meta":{%b,%b:%b}}' % (tag, SERVER_INFO_KEY, info)
