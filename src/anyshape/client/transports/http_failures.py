"""What went wrong over HTTP, as the exception that says so and shows nothing secret."""

from __future__ import annotations

import ssl

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from anyshape.client.quoting import conceal, shorten, without_secrets
from anyshape.client.transports.direct_requests import BadResponse, Unwritten
from anyshape.client.transports.frames import read_frame
from anyshape.client.transports.responses import HttpResponse
from anyshape.client.transports.transport import ConnectionLost, HttpStatus
from anyshape.errors import ProtocolError, TransportError
from anyshape.protocol.jsonrpc import INVALID_REQUEST, Malformed

JSON = "application/json"
EVENTS = "text/event-stream"

_EXCERPT = 2048


def media_type_of(response: HttpResponse) -> str:
    """Return the media type of a response."""
    value = response.header("content-type") or ""
    return value.partition(";")[0].strip().lower()


def explain_refusal(
    place: str, method: str, response: HttpResponse, body: bytes, *, has_auth: bool
) -> TransportError | ProtocolError:
    """Return the exception for a response that holds no answer to `method`."""
    status = response.status
    sent = [
        value.partition(" ")[2]
        for name, value in response.sent.items()
        if name.lower() == "authorization"
    ]
    said = f": {conceal(shorten(body[:_EXCERPT]), sent)!r}" if body.strip() else ""
    if status == 401:
        hint = "" if has_auth else "; pass Client(auth=…)"
        return HttpStatus(f"{place} wants other credentials (HTTP 401){hint}", status=401)
    if status >= 300 or status in (202, 204):
        reason = f"HTTP {status}" + (f" {response.reason}" if response.reason else "")
        message = f"{place} answered {method} with {shorten(reason, 60)}{said}"
        return HttpStatus(message, status=status)
    kind = media_type_of(response)
    if kind != JSON:
        return HttpStatus(
            f"{place} answered {method} with {shorten(kind or 'no content type', 60)}, "
            f"expected {JSON} or {EVENTS}{said}",
            status=status,
        )
    message = read_frame(body)[0]
    if isinstance(message, Malformed):
        what, code = f"what is no JSON-RPC message ({message.message})", message.code
    else:
        what, code = "an answer to something else", INVALID_REQUEST
    return ProtocolError(f"{place} answered {method} with {what}{said}", code=code)


def explain_loss(place: str, url: str, error: aiohttp.ClientError) -> TransportError:
    """Return the exception for a connection that could not be made or kept."""
    said = words_of(error).replace(url, without_secrets(url))
    if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return TransportError(f"cannot trust {place}: {said}")
    if isinstance(error, aiohttp.InvalidURL):
        return TransportError(f"cannot send to {place}: not a valid URL")
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return ConnectionLost(f"cannot reach {place}: {said}", sent=False)
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return TransportError(f"cannot reach {place}: {said}")
    if isinstance(error, aiohttp.ClientResponseError | BadResponse):
        return TransportError(f"{place} does not speak HTTP: {said}")
    if isinstance(error, Unwritten):
        return ConnectionLost(f"the connection to {place} broke: {said}", sent=False)
    # Nothing says how much of the request was read before the connection broke.
    return ConnectionLost(f"the connection to {place} broke: {said}", sent=True)


def cause_of(error: Exception) -> Exception | None:
    """Return what may be shown as the cause of a failure.

    What a proxy said comes with its URL, and that with our password.
    """
    return None if isinstance(error, aiohttp.ClientHttpProxyError) else error


def words_of(error: Exception) -> str:
    """Return what an exception of aiohttp says, in one line without secrets."""
    cause = error.__cause__
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"the proxy refuses it, HTTP {error.status} {shorten(error.message, 60)}"
    if isinstance(cause, ssl.SSLError):
        return shorten(str(cause))
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "the server hung up"
    if isinstance(error, aiohttp.ClientPayloadError) and isinstance(cause, HttpProcessingError):
        return shorten(cause.message)
    if isinstance(error, aiohttp.ClientResponseError):
        return shorten(error.message)
    return shorten(str(error) or type(error).__name__, 400)
