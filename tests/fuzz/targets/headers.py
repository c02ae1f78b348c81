"""Values of HTTP headers as either side reads them; a line of input is a value."""

from __future__ import annotations

import contextlib
from pathlib import Path

from mutator import read_json
from trees import members_of

from anyshape.client.auth.challenge import read_challenge
from anyshape.errors import AnyshapeError, NotJson
from anyshape.protocol.headers import decode_header_value, encode_header_value, header_plan
from anyshape.protocol.revision import Revision
from anyshape.server.guard import Guard
from anyshape.server.headers import RequestHeaders, is_json, read_accept

from . import Target

PLAN = header_plan(
    {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
        },
    }
)
NAMES = tuple(
    f"mcp-{name}".encode()
    for name in ("protocol-version", "method", "name", "param-region", "param-count")
)
GUARD = Guard(is_local=True)
SEEDS = (
    b"application/json; charset=utf-8\napplication/json;q=0.5, text/event-stream\n127.0.0.1:80",
    b"*/*;q=0\ntext/*;q=0.000\nlocalhost\nhttp://localhost:3000",
    b"=?base64?w6k=?=\n=?base64?\xc3\xa9?=\n=?base64?==?=",
    b'Bearer realm="x", error="invalid_token", scope="a b", resource_metadata="https://a/b"',
    b'DPoP algs="ES256", Bearer scope=a\nBasic realm="a\\"b", bearer',
    b"2026-07-28\n12\n012\n1e2\n-0\n1.0",
    b"[::1]:8080\nhttp://[::1%25eth0]\nhttp://a@b:99999",
    b'{"region":"\xc3\xa9 ","count":12345678901234567890}',
)


def run(data: bytes) -> None:
    """Read every line as each of the headers."""
    lines = data.split(b"\n")
    for line in lines:
        text = line.decode("latin-1")
        is_json(line)
        read_accept(line)
        read_challenge([text])
        GUARD.refusal(line, line, "127.0.0.1")
        round_trip(line.decode("utf-8", "replace"))
        with contextlib.suppress(AnyshapeError, ValueError):
            decode_header_value(text)
    headers = RequestHeaders.joined(
        [(name, line) for name, line in zip(NAMES, lines, strict=False)]
    )
    for method in ("tools/call", "ping"):
        with contextlib.suppress(AnyshapeError):
            assert isinstance(headers.version, str | None)
            assert isinstance(headers.revision, Revision | None)
            headers.repeat("2026-07-28", method, "name")
            headers.check(method, "name")
            headers.check_version("2026-07-28")
            headers.check_arguments(PLAN, lines[-1] if lines[-1].startswith(b"{") else None)
    compare(lines[-1])


def round_trip(text: str) -> None:
    """Hold that a text comes through a header as it was, in visible characters."""
    written = encode_header_value(text)
    assert written.isascii(), written
    assert written.replace("\t", "").isprintable(), written
    assert decode_header_value(written) == text


def compare(line: bytes) -> None:
    """Hold that what a plan writes of some arguments is what it expects of them."""
    arguments = members_of(read_json(line))
    if isinstance(arguments.get("count"), int):
        return  # It may be too large for any header, and is then refused for want of one.
    try:
        written = {name.lower(): text for name, text in PLAN.extract(arguments).items()}
    except NotJson:
        return
    assert PLAN.flaw(arguments, written) is None, (arguments, written)


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, max_bytes=2_048, short=1000)
