"""Arguments that are null where null cannot be, left out: what some clients mean by it.

They fill a form that has a place for every argument, and send null for those nobody named. Where
the schema admits null it is a value and stays; where it provably does not, a call with it could
only be refused. The text of everything else stays as it came.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from anyshape.documents.json import is_array, is_object
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place
from anyshape.documents.positions import Node
from anyshape.documents.types import Types, admits_at
from anyshape.protocol.shapes.folding import fold_root

__all__ = ["NullDropper"]

_decode_object: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_array: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode: Final = msgspec.json.Encoder().encode

_NULL: Final = b"null"


class _Plan(NamedTuple):
    """What holds of every value at one place of a schema."""

    never_null: frozenset[str]
    """The properties that cannot be null."""
    properties: dict[str, Place]
    items: Place | None


class NullDropper:
    """Leaves out the nulls that an input schema does not admit where they stand."""

    def __init__(self, schema: Node) -> None:
        self._document = Outline(fold_root(schema))
        self._plans: dict[Place, _Plan] = {}

    def drop(self, arguments: bytes) -> bytes:
        """Return arguments, which are the JSON text of an object, without those nulls."""
        try:
            return self._within(arguments, ())
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return arguments  # What is wrong with them is for the tool to say.

    def _within(self, text: bytes, place: Place) -> bytes:
        if _NULL not in text:
            return text
        plan = self._plans.get(place)
        if plan is None:
            plan = self._plans[place] = _plan(self._document, place)
        if text[:1] == b"{":
            return self._within_object(text, plan)
        if text[:1] == b"[" and plan.items is not None:
            before = [bytes(item) for item in _decode_array(text)]
            after = [self._within(item, plan.items) for item in before]
            return text if after == before else _encode([msgspec.Raw(item) for item in after])
        return text

    def _within_object(self, text: bytes, plan: _Plan) -> bytes:
        before = {name: bytes(raw) for name, raw in _decode_object(text).items()}
        after = {
            name: self._within(value, plan.properties[name]) if name in plan.properties else value
            for name, value in before.items()
            if value != _NULL or name not in plan.never_null
        }
        if after == before:
            return text
        return _encode({name: msgspec.Raw(value) for name, value in after.items()})


def _plan(document: Outline, place: Place) -> _Plan:
    """Gather what the schema at a place says, and what holds together with it."""
    never_null: set[str] = set()
    properties: dict[str, Place] = {}
    items: Place | None = None
    seen: set[Place] = set()
    waiting = [place]
    while waiting:
        at = waiting.pop()
        if at in seen or at not in document.schemas:
            continue
        seen.add(at)
        node = document.schema_at(at)
        reference = node.get("$ref")
        if isinstance(reference, str):
            target = document.resolve(at, reference)
            waiting += [] if target is None else [target]
            if document.schemas[at].dialect.reference_hides_siblings:
                continue
        together = node.get("allOf")
        if is_array(together):
            waiting += [(*at, "allOf", str(index)) for index in range(len(together))]
        named = node.get("properties")
        for name in named if is_object(named) else ():
            there = (*at, "properties", name)
            properties.setdefault(name, there)
            if not admits_at(document, there) & Types.NULL:
                never_null.add(name)
        if items is None and is_object(node.get("items")):
            items = (*at, "items")
    return _Plan(frozenset(never_null), properties, items)
