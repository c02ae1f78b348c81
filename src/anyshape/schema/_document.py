"""Schema documents as they are given: are they JSON, of what size, and fit for their place.

What may stand at the root is said by MCP 2026-07-28, "Tools", and by SEP-2106: an input schema is
an object with `"type": "object"`, an output schema any schema. A document may be hostile even
before it is read as a schema: cyclic, bottomless, huge, or no JSON at all.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import msgspec

from anyshape.errors import InvalidSchema, LimitExceeded, NotJson
from anyshape.schema._instance import read_json
from anyshape.schema._json import is_object
from anyshape.schema._limits import Limits

__all__ = ["Document", "Role", "admit_document", "canonical", "check_role"]

Document: TypeAlias = "dict[str, Any] | bool"
Role: TypeAlias = Literal["input", "output"]

canonical = msgspec.json.Encoder(order="sorted", decimal_format="number")
"""Writes equal documents equally, and `true`, `1` and `1.0` differently."""


def admit_document(document: object, limits: Limits, uri: str = "") -> tuple[Document, bytes]:
    """Return a private copy of a schema document, and its canonical text."""
    try:
        copied = _Copier(limits).copy(document)
        text = canonical.encode(copied)
    except (_UnusualError, ValueError):
        copied = _read_document(document, limits, uri)
        text = canonical.encode(copied)
    if len(text) > limits.document_bytes:
        raise _too_long(limits, len(text), uri)
    if not isinstance(copied, bool) and not is_object(copied):
        raise InvalidSchema(
            f"expected a schema{_at(uri)} (an object, true or false), got {_name(copied)}"
        )
    return copied, text


class _UnusualError(Exception):
    """The value is not plain JSON, or too large; `read_json` can tell."""


class _Copier:
    """Copies plain JSON within bounds: several times as fast as `read_json`, and as silent."""

    __slots__ = ("_depth", "_left")

    def __init__(self, limits: Limits) -> None:
        self._left = limits.document_bytes
        self._depth = limits.depth

    def copy(self, value: Any) -> Any:
        kind = cast("object", type(value))
        self._left -= len(value) + 2 if kind is str else 1
        if self._left < 0:
            raise _UnusualError
        if kind is str or kind is bool or kind is int or value is None:
            return value
        if kind is float:
            if value - value != 0.0:  # NaN and the infinities alone
                raise _UnusualError
            return value
        self._depth -= 1
        if self._depth < 0:
            raise _UnusualError
        if kind is dict:
            copied: dict[str, Any] = {}
            for key, item in value.items():
                if type(key) is not str:
                    raise _UnusualError
                self._left -= len(key)
                copied[key] = self.copy(item)
            self._depth += 1
            return copied
        if kind is list:
            items = [self.copy(item) for item in value]
            self._depth += 1
            return items
        raise _UnusualError


def _read_document(document: object, limits: Limits, uri: str) -> object:
    try:
        return read_json(
            document, depth=limits.depth, most=limits.document_bytes, what=f"document{_at(uri)}"
        )
    except NotJson as error:
        raise InvalidSchema(f"the schema{_at(uri)} is not JSON: {error}", path=error.path) from None


def _at(uri: str) -> str:
    return f" {uri}" if uri else ""


def _name(value: object) -> str:
    if value is None:
        return "null"
    return _shown(value)


def _shown(value: object) -> str:
    text = canonical.encode(value).decode()
    return text if len(text) <= 60 else text[:59] + "…"


def _too_long(limits: Limits, found: int, uri: str) -> LimitExceeded:
    return LimitExceeded(
        f"the schema{_at(uri)} has {found} bytes as JSON, more than {limits.document_bytes} "
        "(limit: document_bytes)",
        limit="document_bytes",
        allowed=limits.document_bytes,
        found=found,
    )


def check_role(document: Document, role: Role | None) -> None:
    if role != "input":
        return
    if isinstance(document, bool):
        raise InvalidSchema(
            'expected an object with "type": "object" as input schema, '
            f"got {'true' if document else 'false'}"
        )
    if document.get("type") != "object":
        got = f"got {_shown(document['type'])}" if "type" in document else "got none"
        raise InvalidSchema(
            f'expected "type": "object" at the root of an input schema, {got}', path="/type"
        )
