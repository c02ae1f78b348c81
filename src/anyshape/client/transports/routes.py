"""Where requests go, and their text.

https://www.rfc-editor.org/rfc/rfc9112#section-3
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final

import aiohttp
from yarl import URL

from anyshape.client.transports.inflation import ENCODINGS
from anyshape.protocol.headers import HEADER_WORD

_REMEMBERED: Final = 256
"""Heads that are kept."""
_LONGEST_KEPT: Final = 16_384
"""Bytes of one: what a header repeats may be as long as an argument, and never come again."""
_LEFT_TO_AIOHTTP: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "transfer-encoding"}
)
"""Headers that change how a request is written or its response is read."""
_NAME: Final = re.compile(HEADER_WORD)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Route:
    """Where the requests of one URL go, and what all of them say."""

    def __init__(self, url: str, fixed: Mapping[str, str]) -> None:
        """Prepare requests with these headers; `InvalidURL` if nothing can be sent there."""
        self.url = url
        self.fixed = fixed
        try:
            parsed = URL(url)
        except ValueError as error:
            raise aiohttp.InvalidURL(url) from error
        if parsed.scheme not in ("http", "https"):
            raise aiohttp.NonHttpUrlClientError(url)
        self._has_user = parsed.raw_user is not None
        self.request = aiohttp.ClientRequest("POST", parsed, loop=asyncio.get_running_loop())
        """What aiohttp is asked for a connection with."""
        self._target = parsed.raw_path_qs.encode()
        said = {**self.request.headers, "Accept-Encoding": ENCODINGS}
        self._common = {
            name: said[name] for name in ("Host", "User-Agent", "Accept-Encoding") if name in said
        }
        self._heads: dict[tuple[object, ...], bytes] = {}
        """Heads that were written already: the calls of a tool all have the same."""

    def write(self, method: str, headers: Mapping[str, str], body: bytes | None) -> bytes | None:
        """Return the text of a request; `None` if writing it is left to aiohttp's session.

        Raises `ValueError` for headers that cannot be sent.
        """
        key = (method, *headers.items())
        head = self._heads.get(key)
        if head is None:
            if len(self._heads) >= _REMEMBERED:
                self._heads.clear()
            head = self._head(method, {**self.fixed, **headers})
            if head is None:
                return None
            if len(head) <= _LONGEST_KEPT:
                self._heads[key] = head
        if body is None:
            return head + b"\r\n"
        return b"".join((head, b"Content-Length: %d\r\n\r\n" % len(body), body))

    def _head(self, method: str, headers: Mapping[str, str]) -> bytes | None:
        if self._has_user or any(name.lower() in _LEFT_TO_AIOHTTP for name in headers):
            return None
        # However a header is spelled, it is said once, as it was said last.
        said = {name.lower(): (name, value) for name, value in self._common.items()}
        said.update({name.lower(): (name, value) for name, value in headers.items()})
        lines = b"".join(_line(name, value) for name, value in said.values())
        return b"%b %b HTTP/1.1\r\n%b" % (method.encode(), self._target, lines)


def is_header(name: str, value: str) -> bool:
    """Tell whether both consist of characters that a header may have."""
    return _CONTROL.search(value) is None and _NAME.fullmatch(name) is not None


def _line(name: str, value: str) -> bytes:
    if not is_header(name, value):
        raise ValueError(f"the header {name[:40]!r} has characters that no header may have")
    return f"{name}: {value}\r\n".encode()
