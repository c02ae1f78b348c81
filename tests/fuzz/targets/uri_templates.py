"""A URI template, and URIs that a client asks it for: one line each."""

from __future__ import annotations

from pathlib import Path

from anyshape.protocol.uri_templates import UriTemplate, uri_flaw

from . import Target

SEEDS = (
    b"notes://{id}\nnotes://1",
    b"notes://{id}/{+path}\nnotes://1/a/b%20c",
    b"files:///{+path}\nfiles:///etc/../passwd\nfiles:///%2e%2e/x",
    b"s:{a}.json{?q,page}\ns:x.json?q=1&page=%C3%A9",
    b"s:{a}{/b}{.c}{#d}\ns:x/y.z#w",
    b"s:{a}{;b,c}\ns:x;b=1;c",
    b"s:{+a},{b}\ns:%zz,b",
    b"s:{a\ns:x",
    b"s:{!a}\n",
    b"http://user@example.com:80/{+a}{&x}\nhttp://user@example.com:80/a&x=",
)


def run(data: bytes) -> None:
    """Match every line with the template in the first."""
    text, *uris = data.decode("utf-8", "surrogateescape").split("\n")
    uri_flaw(text)
    try:
        template = UriTemplate(text)
    except ValueError:
        return
    needed = set(template.names) - template.optional
    for uri in uris:
        found = template.match(uri)
        assert found is None or needed <= found.keys() <= set(template.names), found
        for value in (found or {}).values():
            value.encode()


def make(corpus: Path | None) -> Target:
    """Return the target."""
    return Target(run, SEEDS, max_bytes=1_024, short=4000)
