"""One HTTP GET to an address that was vetted before, within a deadline and a number of bytes.

`http.client` parses the answer; name resolution, proxies, cookies, credentials, connection reuse
and decompression, which it or its callers could bring along, have no place here: the socket is
connected to an IP address and every read goes through `_BoundedReader`. RFC 9110, RFC 9112.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from anyshape._version import __version__
from anyshape.schema._remote.vetting import Destination, Refused, shorten

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Status line, headers, chunk framing and trailers, beside the document itself.
FRAMING_BYTES = 64 * 1024
# What raw file hosts answer for a `.json` file; the body must still parse as a schema.
NEUTRAL_TYPES = frozenset({"text/plain", "application/octet-stream"})


@dataclass(frozen=True, slots=True)
class Download:
    """A document's bytes, or where the server says to look instead."""

    body: bytes = b""
    location: str | None = None


def remaining(ends: float) -> float:
    """Return the seconds until `ends` on the monotonic clock; none left is `Refused`."""
    seconds = ends - time.monotonic()
    if seconds <= 0:
        raise Refused("the time for fetching ran out", limit="timeout")
    return seconds


def resolve_name(host: str, port: int) -> list[str]:
    """Return the addresses of `host`, as the operating system resolves it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def resolve_within(
    resolve: Callable[[str, int], Sequence[str]], target: Destination, ends: float
) -> list[str]:
    """Resolve the host of `target` once, without outliving the deadline.

    The resolver cannot be interrupted, so it runs in a daemon thread that is left behind when it
    is too slow; the operating system's own resolver time-out ends that thread.
    """
    outcome: queue.SimpleQueue[Sequence[str] | BaseException] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put(resolve(target.host, target.port))
        except BaseException as error:
            outcome.put(error)

    threading.Thread(target=run, name="anyshape-resolve", daemon=True).start()
    try:
        result = outcome.get(timeout=remaining(ends))
    except queue.Empty:
        raise Refused("resolving its host took too long", limit="timeout") from None
    if isinstance(result, (OSError, UnicodeError)):
        raise Refused(f"host {target.host} does not resolve") from result
    if isinstance(result, BaseException):
        raise result
    addresses = list(dict.fromkeys(result))
    if not addresses:
        raise Refused(f"host {target.host} does not resolve")
    return addresses


def default_tls() -> ssl.SSLContext:
    """Return a context that trusts the system's certificates and checks names."""
    return ssl.create_default_context()


def get(
    target: Destination,
    addresses: Sequence[str],
    *,
    ends: float,
    max_bytes: int,
    tls: ssl.SSLContext | None,
) -> Download:
    """Ask the first of `addresses` that can be reached for `target`; `tls` is set for https."""
    try:
        with _connect(target, addresses, ends) as plain:
            if tls is None:
                return _converse(plain, target, ends, max_bytes)
            plain.settimeout(remaining(ends))
            with tls.wrap_socket(plain, server_hostname=target.host) as secure:
                return _converse(secure, target, ends, max_bytes)
    except TimeoutError as error:
        raise Refused("the time for fetching ran out", limit="timeout") from error
    except ssl.SSLCertVerificationError as error:
        reason = shorten(error.verify_message)
        raise Refused(f"the certificate of {target.host} is not accepted: {reason}") from error
    except ssl.SSLError as error:
        raise Refused(f"TLS with {target.host} failed: {error.reason or 'no reason'}") from error
    except OSError as error:
        raise Refused(f"{target.host} broke the connection off") from error
    except (http.client.HTTPException, ValueError) as error:
        kind = type(error).__name__
        raise Refused(f"{target.host} does not answer in proper HTTP ({kind})") from error


def _connect(target: Destination, addresses: Sequence[str], ends: float) -> socket.socket:
    """Connect to one of `addresses` and nothing else; one that is silent leaves time for others."""
    failure: OSError | None = None
    for tried, address in enumerate(addresses):
        share = remaining(ends) / (len(addresses) - tried)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        connection: socket.socket | None = None
        try:
            connection = socket.socket(family, socket.SOCK_STREAM)
            connection.settimeout(share)
            connection.connect((address, target.port))
        except OSError as error:
            failure = error
            if connection is not None:
                connection.close()
        else:
            return connection
    remaining(ends)
    reason = failure.strerror if failure else None
    raise Refused(f"cannot connect to {target.authority}: {reason or 'no answer'}") from failure


def _converse(
    connection: socket.socket, target: Destination, ends: float, max_bytes: int
) -> Download:
    """Send the request and read what is worth reading of the answer."""
    connection.settimeout(remaining(ends))
    connection.sendall(_request(target))
    # Chunk framing can outweigh the bytes it carries, so the wire gets twice the room.
    reader = _BoundedReader(connection, ends, 2 * max_bytes + FRAMING_BYTES)
    response = http.client.HTTPResponse(cast("socket.socket", _Channel(reader)), method="GET")
    with response:
        response.begin()
        if response.status in REDIRECTS:
            location = response.headers.get("Location")
            if not location:
                raise Refused(f"{target.host} redirects (status {response.status}) to nowhere")
            return Download(location=location)
        if response.status != http.client.OK:
            raise Refused(f"{target.host} answered with status {response.status}, not 200")
        _check_headers(response, target)
        return Download(body=_read_body(response, max_bytes))


def _request(target: Destination) -> bytes:
    """Write the request; `Destination` holds URI characters only, so no line can be smuggled in."""
    lines = (
        f"GET {target.path} HTTP/1.1",
        f"Host: {target.authority}",
        f"User-Agent: anyshape/{__version__}",
        "Accept: application/schema+json, application/json;q=0.9, */*;q=0.1",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _check_headers(response: http.client.HTTPResponse, target: Destination) -> None:
    """Refuse codings, character sets and media types that are not plain JSON in UTF-8."""
    for header, plain in (("Content-Encoding", "identity"), ("Transfer-Encoding", "chunked")):
        coding = response.headers.get(header, plain)
        if coding.strip().lower() != plain:
            raise Refused(f"{target.host} answered with {header} {shorten(coding)}")
    media, *parameters = response.headers.get("Content-Type", "text/plain").lower().split(";")
    media = media.strip()
    is_json = media in {"application/json", "text/json"} or media.endswith("+json")
    if not is_json and media not in NEUTRAL_TYPES:
        raise Refused(f"{target.host} answered with {shorten(media)}, not with JSON")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        value = value.strip().strip('"')
        if name.strip() == "charset" and value not in {"utf-8", "utf8", "us-ascii"}:
            raise Refused(f"{target.host} answered in charset {shorten(value)}; JSON is UTF-8")


def _read_body(response: http.client.HTTPResponse, max_bytes: int) -> bytes:
    """Read the body, stopping at the byte that is one too many."""
    declared = response.length
    if declared is not None and declared > max_bytes:
        raise Refused("the answer is too long", limit="max_bytes", found=declared)
    body = bytearray()
    while piece := response.read(min(65536, max_bytes + 1 - len(body))):
        body += piece
        if len(body) > max_bytes:
            raise Refused("the answer is too long", limit="max_bytes")
    if declared is not None and len(body) < declared:
        raise Refused(f"the answer ended after {len(body)} of {declared} bytes")
    return bytes(body)


class _BoundedReader(io.RawIOBase):
    """The incoming bytes of a socket, until the deadline or `room` bytes, however they drip."""

    def __init__(self, connection: socket.socket, ends: float, room: int) -> None:
        self._connection = connection
        self._ends = ends
        self._room = room

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        self._connection.settimeout(remaining(self._ends))
        count = self._connection.recv_into(buffer)
        self._room -= count
        if self._room < 0:
            raise Refused("the answer has too much around its document", limit="max_bytes")
        return count


class _Channel:
    """The one thing `HTTPResponse` asks of a socket."""

    def __init__(self, reader: io.RawIOBase) -> None:
        self._reader = reader

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self._reader)
