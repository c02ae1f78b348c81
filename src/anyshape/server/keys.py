"""Secrets that the replicas of a server share, and how what was made with them is written.

A server that was given none has one of its own.
"""

from __future__ import annotations

import base64
import binascii
from typing import Final

_SHORTEST: Final = 16


def check_keys(keys: object, what: str) -> None:
    """Raise unless `keys` are secrets of 16 bytes or more; `what` is what messages call one."""
    if isinstance(keys, bytes | str):
        raise TypeError(f"{what} keys have to be a tuple of bytes; write (key,)")
    for key in keys:  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]
        if not isinstance(key, bytes):
            raise TypeError(f"a {what} key has to be bytes, got {type(key).__name__}")  # pyright: ignore[reportUnknownArgumentType]
        if len(key) < _SHORTEST:
            raise ValueError(
                f"a {what} key has to have {_SHORTEST} bytes or more, got {len(key)}; "
                "secrets.token_bytes(32) makes one"
            )


def process_key() -> bytes:
    """Return a random secret of this process and of those it starts by multiprocessing.

    uvicorn starts its workers that way, so all of them have the same one.
    """
    from multiprocessing import current_process

    return bytes(current_process().authkey)


def spell(made: bytes) -> bytes:
    """Return bytes as a text for headers and JSON: base64url without padding."""
    return base64.urlsafe_b64encode(made).rstrip(b"=")


def unspell(text: bytes) -> bytes | None:
    """Return the bytes of a text, `None` if it is none that `spell` gives.

    Other spellings of the same bytes are refused, so that one thing cannot pass for several.
    """
    try:
        made = base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return made if spell(made) == text else None
