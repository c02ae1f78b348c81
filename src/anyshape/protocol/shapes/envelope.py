"""The envelope: `{"result": …}` around a value, and the schema that says so.

Older clients take only objects, so the schema `S` of any other value is listed as

    {"type": "object", "properties": {"result": S}, "required": ["result"]}

with its references still pointing where they did. `$schema` moves to the root of the envelope, and
so do `$defs` and `definitions`, which keeps `#/$defs/X` true as it stands; other pointers are
rewritten to go through `#/properties/result`. Anchors belong to the whole document and need
nothing. A schema with an `$id` of its own brings its own root along and is embedded as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from anyshape.documents.outline import Outline
from anyshape.documents.pointers import tokens_of
from anyshape.documents.positions import Node, dialect_in, own_id
from anyshape.protocol.shapes.booleans import as_object_schema
from anyshape.protocol.shapes.edits import Edits

ENVELOPE_KEY: Final = "result"
"""The one member of an envelope."""
ENVELOPE_PLACE: Final = f"#/properties/{ENVELOPE_KEY}"
"""Where the natural schema stands in that of its envelope."""
SHOWN_ENVELOPE: Final = f'{{"{ENVELOPE_KEY}": …}}'
"""How people are shown that something is in an envelope."""
MARKER: Final = "x-fastmcp-wrap-result"
"""What FastMCP writes into the schema of an envelope, and its clients look for."""

_ONLY_KEY: Final = frozenset({ENVELOPE_KEY})
_HOISTED: Final = ("$defs", "definitions")
_REFERENCES: Final = ("$ref", "$dynamicRef")

# `$recursiveRef` can only say "#", the root of its resource. So a 2019-09 schema that uses it is
# made a resource by this id; it is a name, never fetched (RFC 6761 keeps `.invalid` from existing).
_RESOURCE: Final = "https://anyshape.invalid/result"


def envelop(schema: Node | bool) -> Node:
    """Return the schema of `{"result": value}` where `value` satisfies `schema`."""
    hoisted, inner = embed(as_object_schema(schema), ENVELOPE_PLACE)
    envelope: Node = {}
    if "$schema" in hoisted:
        envelope["$schema"] = hoisted.pop("$schema")
    envelope["type"] = "object"
    envelope["properties"] = {ENVELOPE_KEY: inner}
    envelope["required"] = [ENVELOPE_KEY]
    envelope.update(hoisted)
    return envelope


def has_only_envelope_key(members: object) -> bool:
    """Return whether a value, or the properties of a schema, has that member and no other."""
    return isinstance(members, dict) and cast("Node", members).keys() == _ONLY_KEY


def open_envelope(envelope: Node) -> Node | bool | None:
    """Return the schema of the values in an envelope, with all that it refers to.

    `None` if it cannot stand by itself: something in it refers to the envelope.
    """
    inner: object = envelope["properties"][ENVELOPE_KEY]
    if isinstance(inner, bool):
        return inner
    if not isinstance(inner, dict):
        return None
    document = Outline(envelope)
    stated = {keyword: envelope[keyword] for keyword in ("$schema", "$id") if keyword in envelope}
    own = cast("Node", inner)
    if own_id(own, document.dialect) is not None:
        return {**stated, **own}
    root = _redirect(document, _release)
    if root is None:
        return None
    opened: Node = root["properties"][ENVELOPE_KEY]
    moved = {keyword: root[keyword] for keyword in _HOISTED if keyword in envelope}
    if moved.keys() & opened.keys():
        return None
    return {**stated, **opened, **moved}


def embed(schema: Node, target: str) -> tuple[Node, Node]:
    """Return what moves to the new root, and the schema as it may stand at `target` below it.

    `target` is the pointer, with its `#`, of the place where the second part will be.
    """
    dialect = dialect_in(schema)
    hoisted: Node = {}
    inner = dict(schema)
    if "$schema" in inner:
        hoisted["$schema"] = inner.pop("$schema")
    if own_id(schema, dialect) is not None:
        return hoisted, inner
    document = Outline(schema)
    if "$recursiveRef" in dialect.references and _uses(document, "$recursiveRef"):
        return hoisted, {"$id": _RESOURCE, **inner}
    own_name = inner.get(dialect.id_keyword)
    if "$ref" in inner and isinstance(own_name, str) and not own_name.startswith("#"):
        # Void beside `$ref` in this dialect, yet some engines heed it; above, all agree.
        hoisted[dialect.id_keyword] = inner.pop(dialect.id_keyword)
    moved = [keyword for keyword in _HOISTED if isinstance(inner.get(keyword), dict)]
    rewritten = cast("Node", _redirect(document, lambda one: _retarget(one, target, moved)))
    hoisted.update({keyword: rewritten[keyword] for keyword in moved})
    return hoisted, {keyword: rewritten[keyword] for keyword in inner if keyword not in moved}


def root_is_referred_to(schema: Node) -> bool:
    """Return whether a reference may lead back to the root, so that changing it changes others."""
    document = Outline(schema)
    if _uses(document, "$recursiveRef") or _uses(document, "$dynamicRef"):
        return True
    for place in document.schemas:
        reference = document.schema_at(place).get("$ref")
        if isinstance(reference, str) and document.resolve(place, reference) == ():
            return True
    return False


def _uses(document: Outline, keyword: str) -> bool:
    return any(keyword in document.schema_at(place) for place in document.schemas)


def _redirect(document: Outline, change: Callable[[str], str | None]) -> Node | None:
    """Return the root with the references of its own resource changed, `None` if one cannot be."""
    edits = Edits(document.root)
    base = document.schemas[()].base
    for place, spot in document.schemas.items():
        if spot.base != base:
            continue
        for keyword in _REFERENCES:
            reference = document.schema_at(place).get(keyword)
            if isinstance(reference, str):
                changed = change(reference)
                if changed is None:
                    return None
                if changed != reference:
                    edits.at(place)[keyword] = changed
    return edits.root


def _retarget(reference: str, target: str, moved: list[str]) -> str:
    if not reference.startswith("#"):
        return reference or target
    tokens = tokens_of(reference[1:])
    if tokens is None or (tokens and tokens[0] in moved):
        return reference
    return target + reference[1:]


def _release(reference: str) -> str | None:
    """Return a reference as it is outside of the envelope, `None` if it leads to the envelope."""
    if not reference.startswith("#"):
        return reference or None
    tokens = tokens_of(reference[1:])
    if tokens is None or (tokens and tokens[0] in _HOISTED):
        return reference
    if reference == ENVELOPE_PLACE or reference.startswith(ENVELOPE_PLACE + "/"):
        return "#" + reference[len(ENVELOPE_PLACE) :]
    return None
