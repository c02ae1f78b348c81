"""One bounded HTTP exchange with an authorization server, about keys or a token.

Whom we ask was written down by whoever runs this server, or by the issuer that they trust. The
answer is bounded in bytes and time, and a redirect is none: what may hold our secret, or decide
whom we believe, comes from where it was said to be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from anyshape.addresses import is_loopback
from anyshape.errors import VerifierUnavailable

_MOST_BYTES: Final = 256 * 1024
_SECONDS: Final = 10.0


def check_url(url: str, what: str) -> None:
    """Raise `ValueError` unless nobody on the way to a URL could answer in its place."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not host or not is_safe or "@" in parts.netloc or parts.fragment:
        raise ValueError(
            f"{what}: expected an https URL (http on this machine only) without user name and "
            f"fragment, got {_shown(url)!r}"
        )


async def ask(
    url: str,
    what: str,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Return status and body of what is at a URL, or of the answer to a form.

    A redirect is returned, not followed. A failure says where, never what was sent.
    """
    shown = f"{what} at {_shown(url)}"
    try:
        async with (
            asyncio.timeout(_SECONDS),
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
            ) as session,
            session.request(
                "GET" if form is None else "POST",
                url,
                data=form,
                headers={
                    "Accept": "application/json",
                    "Accept-Encoding": "identity",
                    **(headers or {}),
                },
                allow_redirects=False,
            ) as response,
        ):
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise VerifierUnavailable(f"{shown}: longer than {_MOST_BYTES} bytes")
            return response.status, bytes(body)
    except TimeoutError:
        raise VerifierUnavailable(f"{shown}: no answer within {_SECONDS:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise VerifierUnavailable(f"{shown}: cannot be reached ({type(error).__name__})") from None


def _shown(url: str) -> str:
    """Return a URL as messages show it: short, without query and user name."""
    before, _, _ = url.partition("?")
    scheme, separator, rest = before.partition("://")
    place, slash, path = rest.partition("/")
    return f"{scheme}{separator}{place.rpartition('@')[2]}{slash}{path}"[:200]
