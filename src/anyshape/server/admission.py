"""Who may come in over HTTP: what a request's access token proves, or how it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyshape.errors import VerifierUnavailable
from anyshape.protocol.jsonrpc import INTERNAL_ERROR, encode_error
from anyshape.server.authorization import Refusal
from anyshape.server.failures import translate
from anyshape.server.response import Send, refuse, send_json

if TYPE_CHECKING:
    from anyshape.server.authorization import AccessToken, Authorization
    from anyshape.server.headers import RequestHeaders


async def admit(
    authorization: Authorization, headers: RequestHeaders, send: Send
) -> AccessToken | None:
    """Return what the access token of a request proves, or refuse the request."""
    try:
        admitted = await authorization.admit(headers.get(b"authorization"))
    except VerifierUnavailable:
        message = "Access tokens cannot be checked at the moment"
        await send_json(send, 503, encode_error(None, INTERNAL_ERROR, message))
        return None
    except Exception as error:
        failure = translate(error, "verifying an access token")
        await send_json(send, 500, encode_error(None, failure.code, failure.message))
        return None
    if isinstance(admitted, Refusal):
        await challenge(send, admitted)
        return None
    return admitted


async def challenge(send: Send, refusal: Refusal) -> None:
    """Refuse a request, and say what it would need."""
    header = (b"www-authenticate", refusal.challenge.encode("latin-1", "replace"))
    await refuse(send, refusal.status, refusal.message, header)
