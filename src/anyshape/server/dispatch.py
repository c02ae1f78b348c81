"""From a request to its answer; knows no transport.

The service knows every method. Which era a request belongs to is decided here, per message, as
"Backward Compatibility" in the versioning page of revision 2026-07-28 says: by the revision named
in `_meta`, else by what the peer's transport knows.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from anyshape.errors import ProtocolError
from anyshape.protocol.jsonrpc import INVALID_REQUEST, encode_response
from anyshape.protocol.meta import CLIENT_CAPABILITIES
from anyshape.protocol.revision import BY_NAME, MODERN
from anyshape.server.failures import method_not_found, missing_meta, unsupported_version
from anyshape.server.features.feature import Handler, Method
from anyshape.server.parameters import BareParameters, CallParameters, Parameters
from anyshape.server.request import Answer, OpenRequest

__all__ = ["dispatch"]

_EMPTY: Final = msgspec.Raw(b"{}")
_UNKNOWN: Final = Method(BareParameters)


async def dispatch(
    request: OpenRequest, name: str, parameters: CallParameters | msgspec.Raw | None
) -> Answer:
    """Return the answer to a request for the method of that name.

    `parameters` are raw, or read already where a transport has read a call in one go.
    """
    try:
        method = request.peer.service.methods.get(name, _UNKNOWN)
        if isinstance(parameters, CallParameters):
            read: Parameters = parameters
        else:
            read = _read(request, name, method, parameters or _EMPTY)
        handle = _choose(request, name, method, read)
        return Answer(encode_response(request.id, await handle(read, request)))
    except Exception as error:
        return request.refuse(error, name)


def _read(request: OpenRequest, name: str, method: Method, raw: msgspec.Raw) -> Any:
    try:
        return method.decode(raw)
    except msgspec.ValidationError:
        # Whether the method is there at all comes before whether its parameters are right.
        _choose(request, name, method, _UNKNOWN.decode(raw))
        raise


def _choose(request: OpenRequest, name: str, method: Method, parameters: Parameters) -> Handler:
    """Settle the revision of a request, and return who answers the method there."""
    peer = request.peer
    meta = parameters.meta
    version = meta.protocol_version
    subject = None if method.named is None else getattr(parameters, method.named, None)
    repeated = True
    if version is UNSET:
        revision = peer.assumed_revision(name)
    else:
        repeated = peer.repeats(version, name, subject)
        if not repeated:
            peer.check_version(version)
        revision = BY_NAME.get(version)
        if revision is None:
            raise unsupported_version(version)
    request.revision = revision
    if revision in MODERN:
        if meta.client_capabilities is UNSET:
            raise missing_meta(CLIENT_CAPABILITIES)
        if not repeated:
            peer.check_subject(name, subject)
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
