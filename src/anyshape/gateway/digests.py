"""One text for equal JSON values, whatever wrote them, and the digest of that text.

Members are sorted and numbers that are equal are written alike (1.0 as 1), so that a server which
serializes its tools in another order, or in another language, has changed nothing.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, cast


def canonical(value: object) -> bytes:
    """Return the text of a JSON value that all equal values have."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":")).encode()


def digest(value: object) -> str:
    """Return the digest of a JSON value, with the name of the function that made it."""
    return f"sha256:{hashlib.sha256(canonical(value)).hexdigest()}"


def _plain(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {key: _plain(each) for key, each in members.items()}
    if isinstance(value, list):
        return [_plain(each) for each in cast("list[Any]", value)]
    return value
