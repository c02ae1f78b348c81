"""The requests that every server answers, whatever its features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST
from anyshape.protocol.methods import DISCOVER, INITIALIZE, LISTEN, PING
from anyshape.protocol.revision import negotiate
from anyshape.server.features.feature import Method
from anyshape.server.parameters import BareParameters, InitializeParameters, ListenParameters
from anyshape.server.request import OpenRequest
from anyshape.server.subscriptions import listen


async def _initialize(parameters: InitializeParameters, request: OpenRequest) -> bytes:
    if request.batched:
        raise ProtocolError("Invalid Request: initialize inside a batch", code=INVALID_REQUEST)
    revision = request.revision = negotiate(parameters.protocol_version)
    peer = request.peer
    peer.greet(revision, parameters)
    return peer.service.introduction.greeting(revision, tells_changes=peer.tells_changes)


async def _ping(_parameters: BareParameters, _request: OpenRequest) -> bytes:
    return b"{}"


async def _discover(_parameters: BareParameters, request: OpenRequest) -> bytes:
    return request.peer.service.introduction.discovery(request.revision)


METHODS: Final[Mapping[str, Method]] = {
    INITIALIZE: Method(InitializeParameters, handshake=_initialize),
    PING: Method(BareParameters, handshake=_ping),
    DISCOVER: Method(BareParameters, modern=_discover),
    LISTEN: Method(ListenParameters, modern=listen),
}
