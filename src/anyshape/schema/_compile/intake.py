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
from anyshape.documents.json import is_object
from anyshape.errors import InvalidSchema, LimitExceeded, NotJson
from anyshape.schema._instance import read_json
from anyshape.schema._limits import Limits

Document: TypeAlias = "dict[str, Any] | bool"
Role: TypeAlias = Literal["input", "output"]

_SMALL_DOCUMENT: Final = 16_000
"""Bytes of a document that is copied and analysed on an event loop without others noticing."""

canonical = msgspec.json.Encoder(order="sorted", decimal_format="number")
"""Writes equal documents equally, and `true`, `1` and `1.0` differently."""

_ordered: Final = msgspec.json.Encoder()
_PROSE: Final = re.compile(rb'"description":"[^"\\]*+(?:\\.[^"\\]*+)*+"')
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
        return cast("Document", decode_json(text))


def admit_document(
    document: object, limits: Limits, uri: str = "", when_long: Callable[[], None] | None = None
) -> Admitted:
    """Return a private copy of a schema document, and what is known of it.

    `when_long` is called before work on a document begins that is too much for an event loop.
    """
    most = limits.document_bytes
    short = most if when_long is None else min(most, _SMALL_DOCUMENT)
    plain, has_constants = True, False
    try:
        copied, has_constants = _copy_plain(document, limits.depth, short)
        text = canonical.encode(copied)
    except (_UnusualError, ValueError) as reason:
        if when_long is not None:
            when_long()
            return admit_document(document, limits, uri)
        if isinstance(reason, _TooLongError):
            raise _too_long(limits, None, uri) from None
        plain = False
        copied = _read_document(document, limits, uri)
        text = canonical.encode(copied)
    if when_long is not None and len(text) > _SMALL_DOCUMENT:
        when_long()
    if len(text) > limits.document_bytes:
        raise _too_long(limits, len(text), uri)
    if not isinstance(copied, bool) and not is_object(copied):
        raise InvalidSchema(
            f"expected a schema{_at(uri)} (an object, true or false), got {_shown(copied)}"
        )
    has_prose = plain and not has_constants and b'"description":"' in text
    return Admitted(copied, text, plain, has_prose)


class _UnusualError(Exception):
    """The value is not plain JSON, or too deep; `read_json` can tell."""


class _TooLongError(_UnusualError):
    """Its text is longer than allowed, for certain."""


def _copy_plain(document: object, depth: int, most: int) -> tuple[Any, bool]:
    """Return a copy of plain JSON, and whether `const` or `enum` has arrays or objects in it.

    A member takes two bytes of text at least, so no more of them are looked at than there may be.
    Several times as fast as `read_json`, and as silent. Level by level, because recursion is many
    times as slow at those depths at which every call makes the interpreter's stack grow; and what
    is made is held in two plain lists, because the garbage collector looks through anything else.
    """
    root: list[Any] = []
    sources: Any = [[document]]
    copies: Any = [root]
    has_constants = False
    for _ in range(depth + 1):
        found: list[Any] = []
        made: list[Any] = []
        for source, copied in zip(sources, copies, strict=True):
            most -= 2 * len(source)
            if most < 0:
                raise _TooLongError
            has_keys = type(source) is dict
            for key, item in cast("Any", source.items() if has_keys else enumerate(source)):
                kept: Any = item
                kind = cast("object", type(item))
                if kind is str:
                    most -= len(item)
                elif kind is dict or kind is list:
                    if key in ("const", "enum") and _holds_containers(item):
                        has_constants = True
                    found.append(item)
                    kept = {} if kind is dict else []
                    made.append(kept)
                elif kind not in _SCALARS and (kind is not float or item - item != 0.0):
                    raise _UnusualError  # NaN and the infinities, and what JSON does not have
                if not has_keys:
                    copied.append(kept)
                elif type(key) is str:
                    most -= len(key)
                    copied[key] = kept
                else:
                    raise _UnusualError
            if most < 0:
                raise _TooLongError
        if not found:
            return root[0], has_constants
        sources, copies = found, made
    raise _UnusualError


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


def _shown(value: object) -> str:
    text = canonical.encode(value).decode()
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
        got = f"got {_shown(document['type'])}" if "type" in document else "got none"
        raise InvalidSchema(
            f'expected "type": "object" at the root of an input schema, {got}', path="/type"
        )
