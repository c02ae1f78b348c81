"""Formats whose names promise more than Python's values keep.

`date-time` and `time` (RFC 3339) want an offset, which a `datetime` need not have; `duration` has
neither fractions nor a sign, and a `timedelta` has both. Hosts know the standard names and some
refuse a tool for any other, so those are published: in 2020-12 a format is an annotation.

Type libraries mark such formats in the documents that they derive; a schema that an author wrote
never comes here. Two documents are made of a marked one. The published one has the standard names.
The enforced one leaves arguments to the library that reads them, and has a pattern for what Python
writes.

https://json-schema.org/draft/2020-12/json-schema-validation#section-7.2.1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from anyshape.documents.positions import Node, rebuild
from anyshape.protocol.encoding import encode_data

_MARK: Final = "loose "  # with a space, which no format has that an author may have written

_CLOCK: Final = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
_OFFSET: Final = r"([Zz]|[+-][0-9]{2}:?[0-9]{2}(:?[0-9]{2}([.][0-9]+)?)?)?"
_AMOUNT: Final = r"[0-9]+([.][0-9]+)?"
_PATTERNS: Final = {
    "date-time": rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[Tt ]{_CLOCK}{_OFFSET}$",
    "time": rf"^{_CLOCK}{_OFFSET}$",
    "duration": rf"^[+-]?P({_AMOUNT}[YMWD])*(T({_AMOUNT}[HMS])+)?$",
}


def loosen(schema: Node) -> None:
    """Mark the format of a schema if Python's values do not always keep it."""
    if schema.get("format") in _PATTERNS:
        schema["format"] = _MARK + schema["format"]


def publish(document: Node) -> Node:
    """Return a derived document with the names of formats that everyone knows."""
    return _replace_marks(document, lambda rest, name: {**rest, "format": name})


def to_read(document: Node) -> Node:
    """Return a derived document that leaves marked strings to the library that reads arguments."""
    return _replace_marks(document, lambda rest, _name: rest)


def to_write(document: Node) -> Node:
    """Return a derived document that accepts marked strings in every form that Python writes."""
    return _replace_marks(document, lambda rest, name: {"pattern": _PATTERNS[name], **rest})


def _replace_marks(document: Node, meaning: Callable[[Node, str], Node]) -> Node:
    """Return a document with marked formats given a meaning; the document itself if it has none."""
    try:
        if _MARK.encode() not in encode_data(document):
            return document
    except (TypeError, ValueError):
        pass  # a default that is no JSON is refused where it is published

    def replace_mark(schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        keywords = cast("Node", schema)
        name = keywords.get("format")
        if isinstance(name, str) and name.startswith(_MARK):
            rest = {key: value for key, value in keywords.items() if key != "format"}
            keywords = meaning(rest, name.removeprefix(_MARK))
        return rebuild(keywords, replace_mark)

    return replace_mark(document)
