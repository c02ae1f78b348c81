"""Schema documents as they are given: are they JSON, of what size, and fit for their place.

What may stand at the root is said by MCP 2026-07-28, "Tools", and by SEP-2106: an input schema is
an object with `"type": "object"`, an output schema any schema. A document may be hostile even
before it is read as a schema: cyclic, bottomless, huge, or no JSON at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from anyshape.documents.json import is_object
from anyshape.errors import InvalidSchema, LimitExceeded, NotJson
from anyshape.schema._instance import read_json
from anyshape.schema._limits import Limits

__all__ = ["Admitted", "Document", "Role", "admit_document", "canonical", "check_role"]

Document: TypeAlias = "dict[str, Any] | bool"
Role: TypeAlias = Literal["input", "output"]

_SMALL_DOCUMENT: Final = 16_000
"""Bytes of a document that is copied and analysed on an event loop without others noticing."""

canonical = msgspec.json.Encoder(order="sorted", decimal_format="number")
"""Writes equal documents equally, and `true`, `1` and `1.0` differently."""

_ordered: Final = msgspec.json.Encoder()
_PROSE: Final = re.compile(rb'"description":"[^"\\]*(?:\\.[^"\\]*)*"')
"""A description in canonical text, or a key that ends in `"description`, which is no keyword."""
_BLANK: Final = b'"description":""'
_SCALARS: Final[frozenset[object]] = frozenset((bool, int, type(None)))


class Admitted(msgspec.Struct, eq=False):
    """A private copy of a document, its canonical text, and what is known of it.

    One that is `plain` can be read back from its text. Its descriptions are prose where no constant
    of the document could hold one.
    """

    document: Document
    text: bytes
    plain: bool
    has_prose: bool

    def essence(self) -> bytes:
        """Return what is equal for documents that differ in their prose alone."""
        return _PROSE.sub(_BLANK, self.text)

    def keep(self) -> Document | bytes:
        """Return the document or, smaller and quicker to copy, its text in the order it has."""
        return _ordered.encode(self.document) if self.plain else self.document

    def without_prose(self) -> Document:
        """Return a copy with descriptions blank, in the order of the document."""
        text = _PROSE.sub(_BLANK, _ordered.encode(self.document))
        return cast("Document", msgspec.json.decode(text))


def admit_document(
    document: object, limits: Limits, uri: str = "", when_long: Callable[[], None] | None = None
) -> Admitted:
    """Return a private copy of a schema document, and what is known of it.

    `when_long` is called before work on a document begins that is too much for an event loop.
    """
    most = limits.document_bytes
    copier = _Copier(limits.depth, most if when_long is None else min(most, _SMALL_DOCUMENT))
    plain = True
    try:
        copied = copier.copy(document)
        text = canonical.encode(copied)
    except (_UnusualError, ValueError):
        if when_long is not None:
            when_long()
            return admit_document(document, limits, uri)
        plain = False
        copied = _read_document(document, limits, uri)
        text = canonical.encode(copied)
    if when_long is not None and len(text) > _SMALL_DOCUMENT:
        when_long()
    if len(text) > limits.document_bytes:
        raise _too_long(limits, len(text), uri)
    if not isinstance(copied, bool) and not is_object(copied):
        raise InvalidSchema(
            f"expected a schema{_at(uri)} (an object, true or false), got {_name(copied)}"
        )
    has_prose = plain and not copier.has_constants and b'"description":"' in text
    return Admitted(copied, text, plain, has_prose)


class _UnusualError(Exception):
    """The value is not plain JSON, or too large; `read_json` can tell."""


class _Copier:
    """Copies plain JSON within bounds: several times as fast as `read_json`, and as silent."""

    __slots__ = ("_depth", "_left", "has_constants")

    def __init__(self, depth: int, most: int) -> None:
        self._left = most
        self._depth = depth
        self.has_constants = False
        """Whether `const` or `enum` has arrays or objects in it."""

    def copy(self, value: Any) -> Any:
        kind = cast("object", type(value))
        if kind is dict or kind is list:
            self._depth -= 1
            self._left -= len(value) + 1
            if self._depth < 0 or self._left < 0:
                raise _UnusualError
            copied = self._copy_object(value) if kind is dict else self._copy_array(value)
            self._depth += 1
        else:
            if kind is str:
                self._left -= len(value)
            elif kind is float:
                if value - value != 0.0:  # NaN and the infinities alone
                    raise _UnusualError
            elif kind not in _SCALARS:
                raise _UnusualError
            copied = value
        if self._left < 0:
            raise _UnusualError
        return copied

    def _copy_object(self, value: dict[Any, Any]) -> dict[str, Any]:
        copied: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str:
                raise _UnusualError
            self._left -= len(key)
            if type(item) is str:  # most are
                self._left -= len(item)
                copied[key] = item
            else:
                copied[key] = self.copy(item)
                if key in ("const", "enum") and _holds_containers(item):
                    self.has_constants = True
        return copied

    def _copy_array(self, value: list[Any]) -> list[Any]:
        copied: list[Any] = []
        for item in value:
            if type(item) is str:
                self._left -= len(item)
                copied.append(item)
            else:
                copied.append(self.copy(item))
        return copied


def _holds_containers(value: Any) -> bool:
    return type(value) is dict or (
        type(value) is list and any(type(item) in (dict, list) for item in cast("Any", value))
    )


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
