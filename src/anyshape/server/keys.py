"""Secrets that the replicas of a server share, and the one of a server that was given none."""

from __future__ import annotations

from typing import Final

__all__ = ["check_keys", "process_key"]

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
    """Return a secret that this process has, and those it started by way of multiprocessing.

    Random, and the same in uvicorn's workers.
    """
    from multiprocessing import current_process

    return bytes(current_process().authkey)
