"""From a request to whoever answers it; knows no transport.

The service knows every method. Which era a request belongs to is decided here, per message, as
"Backward Compatibility" in the versioning page of revision 2026-07-28 says: by the revision named
in `_meta`, else by what the peer's transport knows.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.protocol.revision import BY_NAME, MODERN
from anyshape.server.failures import method_not_found, missing_meta, unsupported_version
from anyshape.server.features.feature import Handler, Method
from anyshape.server.parameters import BareParameters, CallParameters

if TYPE_CHECKING:
    from anyshape.server.request import OpenRequest

_EMPTY: Final = msgspec.Raw(b"{}")
_UNKNOWN: Final = Method(BareParameters)


def dispatch(
    request: OpenRequest, name: str, parameters: CallParameters | msgspec.Raw | None
) -> Coroutine[Any, Any, bytes]:
    """Return the coroutine that answers a request for that method with the text of a result.

    `parameters` are raw, or read already where a transport has read a call in one go.
    """
    method = request.peer.service.methods.get(name, _UNKNOWN)
    if isinstance(parameters, CallParameters):
        read: BareParameters = parameters
    else:
        read = _read(request, name, method, parameters or _EMPTY)
    handler = _choose(request, name, method, read)
    layers = request.peer.service.layers
    if layers is not None:
        return layers.answer(method, handler, name, read, request)
    return handler(read, request)


def _read(request: OpenRequest, name: str, method: Method, raw: msgspec.Raw) -> Any:
    try:
        return method.read(raw)
    except ProtocolError:
        # Whether the method is there at all comes before whether its parameters are right.
        _choose(request, name, method, _UNKNOWN.read(raw))
        raise


def _choose(request: OpenRequest, name: str, method: Method, parameters: BareParameters) -> Handler:
    """Settle the revision of a request, and return who answers the method there."""
    peer = request.peer
    meta = parameters.meta
    version = meta.protocol_version
    headers, subject = peer.headers, None
    if headers is not None and method.named is not None:
        subject = getattr(parameters, method.named, None)
    if version is UNSET:
        revision = peer.assumed_revision(name)
    else:
        if headers is not None:
            if headers.repeat(version, name, subject):
                headers = None  # There is nothing left to check.
            else:
                headers.check_version(version)
        revision = BY_NAME.get(version)
        if revision is None:
            raise unsupported_version(version)
    request.revision = revision
    if revision in MODERN:
        if meta.client_capabilities is UNSET:
            raise missing_meta(CLIENT_CAPABILITIES)
        if headers is not None:
            headers.check(name, subject, may_omit=method.may_omit_name)
        handler = method.modern
    else:
        handler = method.handshake
    if handler is None:
        raise method_not_found(name)
    if request.batched and not revision.has_batches:
        raise ProtocolError(
            f"Invalid Request: revision {revision} has no batches", code=INVALID_REQUEST
        )
    return handler
