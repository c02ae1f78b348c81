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

from anyshape.decoding import decode_json
from anyshape.errors import InvalidSchema, LimitExceeded, NotJson
from anyshape.schema._instance import read_json
from anyshape.schema._limits import Limits

Document: TypeAlias = "dict[str, Any] | bool"
Role: TypeAlias = Literal["input", "output"]

DOCUMENT_BYTES: Final = 256_000
"""How long a document may be, its prose apart, to be compiled in the process."""
_SMALL_DOCUMENT: Final = 16_000
"""Bytes of a document that is copied and analysed on an event loop without others noticing."""

canonical = msgspec.json.Encoder(order="sorted", decimal_format="number")
"""Writes equal documents equally, and `true`, `1` and `1.0` differently."""

_ordered: Final = msgspec.json.Encoder()
_read_root: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_PROSE: Final = re.compile(rb'"description":"[^"\\]*+(?:\\.[^"\\]*+)*+"')
"""A description in canonical text, or a key that ends in `"description`, which is no keyword."""
_BLANK: Final = b'"description":""'
_AT_ROOT: Final = ("$schema", "type")
"""What has to be known of a long document that is compiled elsewhere."""
_CONSTANTS: Final = frozenset(("const", "enum"))
_SCALARS: Final[frozenset[object]] = frozenset((bool, int, type(None)))


class Admitted(msgspec.Struct, eq=False):
    """A private copy of a document, its canonical text, and what is known of it.

    One that is plain JSON has a text in its own `order`, too, and can be read back from it. Of a
    `long` one that is the only text, and the document its root alone. Descriptions are prose where
    no constant of the document could hold one.
    """

    document: Document
    text: bytes
    order: bytes | None = None
    has_prose: bool = False
    long: bytes | None = None

    def essence(self) -> bytes:
        """Return what is equal for documents that differ in their prose alone."""
        return _PROSE.sub(_BLANK, self.text)

    def keep(self) -> Document | bytes:
        """Return the document or, smaller and quicker to copy, its text in the order it has."""
        return self.document if self.order is None else self.order

    def whole(self) -> Document:
        """Return all of the document."""
        return self.document if self.long is None else decode_json(self.long)

    def without_prose(self) -> Document:
        """Return a copy with descriptions blank, in the order of the document."""
        return cast("Document", decode_json(_PROSE.sub(_BLANK, self.order or self.text)))


def admit_document(
    document: object, limits: Limits, uri: str = "", when_long: Callable[[], None] | None = None
) -> Admitted:
    """Return a private copy of a schema document, and what is known of it.

    `when_long` is called before work on a document begins that is too much for an event loop.
    """
    most = limits.document_bytes
    short = most if when_long is None else min(most, _SMALL_DOCUMENT)
    has_constants, copied = False, None
    try:
        has_constants = _check_plain(document, limits.depth, short)
        text = _ordered.encode(document)
    except (_UnusualError, ValueError) as reason:
        if when_long is not None:
            when_long()
            return admit_document(document, limits, uri)
        if isinstance(reason, _TooLongError):
            raise _too_long(limits, None, uri) from None
        copied, text = _read_document(document, limits, uri)
    if when_long is not None and len(text) > _SMALL_DOCUMENT:
        when_long()
    if len(text) > limits.document_bytes:
        raise _too_long(limits, len(text), uri)
    if text[:1] != b"{" and text not in (b"true", b"false"):
        raise InvalidSchema(
            f"expected a schema{_at(uri)} (an object, true or false), got {_shown(text)}"
        )
    return _read_back(text, has_constants) if copied is None else Admitted(copied, text)


def _read_back(order: bytes, has_constants: bool) -> Admitted:
    """Return the document whose text is `order`: all that is known of it comes from that."""
    has_prose = not has_constants and b'"description":"' in order
    if len(_PROSE.sub(_BLANK, order) if has_prose else order) > DOCUMENT_BYTES:
        # A hundred thousand arrays take longer to make than all that is done with them here.
        root = {key: part for key, part in _read_root(order).items() if key in _AT_ROOT}
        return Admitted(decode_json(_ordered.encode(root)), order, order, long=order)
    document = decode_json(order)
    return Admitted(document, canonical.encode(document), order, has_prose)


class _UnusualError(Exception):
    """The value is not plain JSON, or too deep; `read_json` can tell."""


class _TooLongError(_UnusualError):
    """Its text is longer than allowed, for certain."""


def _check_plain(document: object, depth: int, most: int) -> bool:
    """Raise for what is not plain JSON; tell if `const` or `enum` has arrays or objects in it.

    A member takes two bytes of text at least, so no more of them are looked at than there may be.
    Several times as fast as `read_json`, and as silent. Level by level, because recursion is many
    times as slow at those depths at which every call makes the interpreter's stack grow.
    """
    level: Any = [[document]]
    has_constants = False
    for _ in range(depth + 1):
        found: list[Any] = []
        for source in level:
            most -= 2 * len(source)
            if most < 0:
                raise _TooLongError
            has_keys = cast("object", type(source)) is dict
            for key in source:
                item = key
                if has_keys:
                    if type(key) is not str:
                        raise _UnusualError
                    most -= len(key)
                    item = source[key]
                    if key in _CONSTANTS and _holds_containers(item):
                        has_constants = True
                kind = cast("object", type(item))
                if kind is str:
                    most -= len(item)
                elif kind is dict or kind is list:
                    found.append(item)
                elif kind not in _SCALARS and (kind is not float or item - item != 0.0):
                    raise _UnusualError  # NaN and the infinities, and what JSON does not have
            if most < 0:
                raise _TooLongError
        if not found:
            return has_constants
        level = found
    raise _UnusualError


def _holds_containers(value: Any) -> bool:
    return type(value) is dict or (
        type(value) is list and any(type(item) in (dict, list) for item in cast("Any", value))
    )


def _read_document(document: object, limits: Limits, uri: str) -> tuple[Any, bytes]:
    try:
        copied = read_json(
            document, depth=limits.depth, most=limits.document_bytes, what=f"document{_at(uri)}"
        )
        return copied, canonical.encode(copied)
    except NotJson as error:
        raise InvalidSchema(f"the schema{_at(uri)} is not JSON: {error}", path=error.path) from None
    except ValueError as error:  # Python may be told to write no integers of so many digits.
        raise InvalidSchema(f"the schema{_at(uri)} cannot be written as JSON: {error}") from None


def _at(uri: str) -> str:
    return f" {uri}" if uri else ""


def _shown(json: bytes) -> str:
    text = json.decode()
    return text if len(text) <= 60 else text[:59] + "…"


def _too_long(limits: Limits, found: int | None, uri: str) -> LimitExceeded:
    counted = "" if found is None else f", {found}"
    return LimitExceeded(
        f"the schema{_at(uri)} has more than {limits.document_bytes} bytes as JSON{counted} "
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
        given = canonical.encode(document["type"]) if "type" in document else b"none"
        raise InvalidSchema(
            f'expected "type": "object" at the root of an input schema, got {_shown(given)}',
            path="/type",
        )
