"""The requests that every server answers, whatever its features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST
from anyshape.protocol.methods import DISCOVER, INITIALIZE, LISTEN, PING
from anyshape.protocol.revision import negotiate
from anyshape.server.features.feature import Method
from anyshape.server.parameters import BareParameters, InitializeParameters, ListenParameters
from anyshape.server.subscriptions import listen

if TYPE_CHECKING:
    from anyshape.server.exchange import Exchange

__all__ = ["METHODS"]


def _initialize(parameters: InitializeParameters, exchange: Exchange) -> bytes:
    if exchange.batched:
        raise ProtocolError("Invalid Request: initialize inside a batch", code=INVALID_REQUEST)
    revision = exchange.revision = negotiate(parameters.protocol_version)
    exchange.greet(revision, parameters)
    introduction = exchange.service.introduction
    return introduction.greeting(revision, tells_changes=exchange.tells_changes)


def _ping(_parameters: BareParameters, _exchange: Exchange) -> bytes:
    return b"{}"


def _discover(_parameters: BareParameters, exchange: Exchange) -> bytes:
    return exchange.service.introduction.discovery(exchange.revision)


METHODS: Final[Mapping[str, Method]] = {
    INITIALIZE: Method(InitializeParameters, handshake=_initialize),
    PING: Method(BareParameters, handshake=_ping),
    DISCOVER: Method(BareParameters, modern=_discover),
    LISTEN: Method(ListenParameters, modern=listen),
}
