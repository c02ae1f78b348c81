"""What revisions that treat values alike have in common, and what an author may choose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from anyshape.documents.positions import Node
from anyshape.protocol.clients import KNOWN_CLIENTS, KnownClient, Needs
from anyshape.protocol.result import Absent

OutputSchema: TypeAlias = Node | bool | Absent
"""A natural output schema, or `ABSENT` for a tool that publishes none."""

Carrier: TypeAlias = Callable[[bytes, bool], bytes]
"""From a value, and whether it belongs to an error, to the member of the result that carries it."""


@dataclass(frozen=True, slots=True)
class ShapeOptions:
    """What the author may choose about the wire.

    `natural`: whether values that are no objects go as they are at revisions where any value is
    structured content. With `False` they go in the envelope there too, schema and value alike, for
    hosts that cannot take them yet.
    `mirror_objects`: whether objects too have a text mirror at revisions where any value is
    structured content (elsewhere, and for all other values, the mirror is always there).
    `raw_strings`: whether the text beside a string is the string itself at revisions where any
    value is structured content, and where the specification asks for JSON text. Up to 2025-11-25
    it always is: that is what every other server sends, and what a model reads best.
    `nullable_objects`: how an object that may be null reaches 2025 clients: in the envelope
    (`"wrap"`), or as a plain object with null sent as no structured content (`"object"`); then a
    client that checks results against the listed schema fails every call that returns null.
    `known_clients`: the clients that are listed a form of their own, since they drop a tool or
    break on it otherwise (`anyshape.protocol.clients`); empty for none, `(*KNOWN_CLIENTS, …)` to
    add one.
    """

    natural: bool = True
    mirror_objects: bool = True
    raw_strings: bool = False
    nullable_objects: Literal["wrap", "object"] = "wrap"
    known_clients: tuple[KnownClient, ...] = KNOWN_CLIENTS


class Family(msgspec.Struct, frozen=True):
    """How some revisions list output schemas and carry values."""

    output_schema: Callable[[OutputSchema, ShapeOptions, Needs], Node | Absent]
    """From the natural schema to the one that is listed to clients with such needs."""
    carrier: Callable[[OutputSchema, ShapeOptions], Carrier]
    """From the natural schema to what carries the values of that tool."""
    listing_needs: Needs
    """The needs of clients that a listing can meet."""
