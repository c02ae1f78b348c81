"""When the envelope of an upstream's tool is taken off: where its SDK has marked it.

A value that is no object travels as `{"result": …}` to clients of 2025, and some SDKs send it so at
every revision. What is inside is natural for clients of 2026-07-28. But an object may have that one
member because its author meant it, and such an object is never opened. So the listed schema has to
show that an SDK made it, and it alone decides, once, when the tool is listed: what clients are told
of the tool, and what they are sent, always agree.

| SDK | its mark, beside an object with the one property `result` |
| --- | --- |
| FastMCP from 2.10 on; Anyshape, to a gateway | `"x-fastmcp-wrap-result": true` |
| Python SDK from 1.10 on | the title: that of the tool, with `Output` behind it |
| TypeScript SDK 2 | the dialect of the value, said inside and repeated outside |

Without a mark the object stays what it is; so do those of the TypeScript SDK 1, whose authors wrap
by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from anyshape.protocol.shapes.envelope import (
    ENVELOPE_KEY,
    MARKER,
    has_only_envelope_key,
    open_envelope,
)

_KEYWORDS: Final = frozenset({"$schema", "$defs", "definitions", "type", "properties", "required"})
"""What there may be in an envelope that has no marker: an author's own has more to say."""


def opened(tool: str, document: Mapping[str, Any]) -> dict[str, Any] | bool | None:
    """Return the schema of the values in an envelope; `None` if there is none to take off."""
    if not (_is_marked(document) or _is_titled(tool, document) or _is_said_twice(document)):
        return None
    return open_envelope(dict(document))


def is_unmarked(tool: str, document: Mapping[str, Any]) -> bool:
    """Tell whether a schema is that of an envelope which nobody has marked, so that it stays."""
    return _inner(document) is not None and opened(tool, document) is None


def _is_marked(document: Mapping[str, Any]) -> bool:
    return document.get(MARKER) is True and _inner(document) is not None


def _is_titled(tool: str, document: Mapping[str, Any]) -> bool:
    is_bare = document.keys() <= _KEYWORDS | {"title"} and _inner(document) is not None
    return is_bare and document.get("title") == f"{tool}Output"


def _is_said_twice(document: Mapping[str, Any]) -> bool:
    inner, dialect = _inner(document), document.get("$schema")
    if document.keys() - _KEYWORDS or inner is None or dialect is None:
        return False
    return inner.get("$schema") == dialect


def _inner(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of the one property `result`, `None` if it is not so."""
    properties = document.get("properties")
    if document.get("type") != "object" or document.get("required") != [ENVELOPE_KEY]:
        return None
    if not has_only_envelope_key(properties):
        return None
    inner: object = cast("dict[str, object]", properties)[ENVELOPE_KEY]
    if isinstance(inner, bool):
        return {}
    return cast("Mapping[str, Any]", inner) if isinstance(inner, dict) else None
