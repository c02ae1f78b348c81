"""The requests that every server answers, whatever its features: who it is, and what changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from anyshape.errors import ProtocolError
from anyshape.protocol.completed import SERVER_INFO_KEY
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_notification
from anyshape.protocol.meta import SERVER_INFO, SUBSCRIPTION_ID
from anyshape.protocol.methods import CANCELLED, DISCOVER, INITIALIZE, LISTEN, LISTENING, PING
from anyshape.protocol.revision import SUPPORTED, negotiate
from anyshape.server.failures import not_acceptable
from anyshape.server.features.announcements import Position, Topic
from anyshape.server.features.feature import Method
from anyshape.server.parameters import BareParameters, InitializeParameters, ListenParameters
from anyshape.server.request import OpenRequest

_ID_KEY: Final = encode_data(SUBSCRIPTION_ID)


async def _initialize(parameters: InitializeParameters, request: OpenRequest) -> bytes:
    if request.batched:
        raise ProtocolError("Invalid Request: initialize inside a batch", code=INVALID_REQUEST)
    revision = request.revision = negotiate(parameters.protocol_version)
    peer = request.peer
    peer.greet(revision, parameters)
    return _introduce(
        request,
        {
            "protocolVersion": revision.value,
            "capabilities": peer.service.capabilities(revision, tells_changes=peer.tells_changes),
            "serverInfo": msgspec.Raw(request.server_info),
        },
    )


async def _ping(_parameters: BareParameters, _request: OpenRequest) -> bytes:
    return b"{}"


async def _discover(_parameters: BareParameters, request: OpenRequest) -> bytes:
    service = request.peer.service
    caching = service.options.caching
    return _introduce(
        request,
        {
            "resultType": "complete",
            "supportedVersions": list(SUPPORTED),
            "capabilities": service.capabilities(request.revision, tells_changes=True),
            "ttlMs": caching.ttl_ms,
            "cacheScope": caching.scope,
            "_meta": {SERVER_INFO: msgspec.Raw(request.server_info)},
        },
    )


def _introduce(request: OpenRequest, wire: dict[str, Any]) -> bytes:
    """Return the text of a result that introduces the server, with instructions if it has some."""
    instructions = request.peer.service.identity.instructions
    if instructions is not None:
        wire["instructions"] = instructions
    return encode_data(wire)


async def _listen(parameters: ListenParameters, request: OpenRequest) -> bytes:
    """Acknowledge a subscription, tell of changes, and answer when the server ends it.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
    """
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


METHODS: Final[Mapping[str, Method]] = {
    INITIALIZE: Method(InitializeParameters, handshake=_initialize),
    PING: Method(BareParameters, handshake=_ping),
    DISCOVER: Method(BareParameters, modern=_discover),
    LISTEN: Method(ListenParameters, modern=_listen),
}
