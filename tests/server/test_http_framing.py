"""Requests over HTTP as they may be framed: with offers to upgrade, and with trailers."""

from __future__ import annotations

import json
import socket
from http.client import HTTPResponse

import pytest

from .conftest import MODERN, Web, headers_for, message, with_meta

OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
"""What Java's client sends with its first request, and others do."""


def _call(number: int, framing: bytes = b"", *, chunked: bool = False) -> bytes:
    """Return a call as it is on the wire, with headers of its own."""
    params = {"name": "add", "arguments": {"a": number, "b": 0}}
    body = json.dumps(message("tools/call", with_meta(MODERN, params), number)).encode()
    needed = headers_for(MODERN, "tools/call", params).items()
    fields = b"".join(f"{name}: {value}\r\n".encode() for name, value in needed)
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Accept: application/json\r\n" + fields + framing
    if chunked:
        return head + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n" % (len(body), body)
    return head + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _answer(connection: socket.socket) -> int:
    """Return what the next response says the sum is."""
    response = HTTPResponse(connection)
    response.begin()
    answer = json.loads(response.read())
    assert (response.status, answer["id"]) == (200, answer["result"]["structuredContent"])
    return answer["id"]


@pytest.mark.behaviour("transport.http.json-answer")
@pytest.mark.parametrize("framing", [OFFER, OFFER.replace(b"h2c", b"websocket")])
@pytest.mark.parametrize("cut", [1, 100_000], ids=["in pieces", "whole"])
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_a_request_that_offers_an_upgrade_is_answered_as_any_other(
    web: Web, framing: bytes, cut: int, chunked: bool
) -> None:
    first = _call(1, framing, chunked=chunked) + b"\r\n" * chunked
    with web.open() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(first), cut):
            connection.sendall(first[start : start + cut])
        assert _answer(connection) == 1
        for number in (2, 3):
            connection.sendall(_call(number, framing))
            assert _answer(connection) == number
    with web.open() as connection, connection.makefile("rb") as stream:
        connection.sendall(first + _call(2, framing) + _call(3))
        for number in (1, 2, 3):
            while not (line := stream.readline()).startswith(b"content-length: "):
                assert line
            assert stream.readline() == b"\r\n"
            assert json.loads(stream.read(int(line[16:])))["id"] == number


@pytest.mark.behaviour("headers.repeated")
@pytest.mark.parametrize("trailer", [b"Host: other", b"Mcp-Name: other", b"Origin: http://other"])
def test_trailers_are_no_headers(web: Web, trailer: bytes) -> None:
    with web.open() as connection:
        connection.sendall(_call(1, chunked=True) + trailer + b"\r\n\r\n")
        assert _answer(connection) == 1
        connection.sendall(_call(2, b"Mcp-Name: add\r\n", chunked=True) + b"\r\n")
        response = HTTPResponse(connection)
        response.begin()
        assert response.status == 400
