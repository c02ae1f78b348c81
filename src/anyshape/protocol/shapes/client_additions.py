"""Arguments without what known clients add to them although nobody asked for it.

Some hosts add an argument of their own to every call, and some send null for every argument that
their model left out. A tool would refuse either, so both are taken out before the tool sees them.
"""

from __future__ import annotations

from typing import Final

import msgspec

from anyshape.documents.json import is_object
from anyshape.documents.positions import Node
from anyshape.protocol.clients import OWN_ARGUMENTS, Need, Needs
from anyshape.protocol.encoding import encode_data
from anyshape.protocol.shapes.folding import fold_root
from anyshape.protocol.shapes.nulls import NullDropper

_decode: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_OWN: Final = tuple(name.encode() for name in OWN_ARGUMENTS)


class ClientAdditions:
    """Takes out of the arguments for one tool what a client does not mean to say by them."""

    def __init__(self, schema: Node) -> None:
        folded = fold_root(schema)
        named = folded.get("properties")
        self._foreign = set(OWN_ARGUMENTS) - (named.keys() if is_object(named) else set())
        self._nulls = NullDropper(folded)

    def removed_from(self, arguments: bytes, needs: Needs) -> bytes:
        """Return what a client with these needs means; `arguments` is the text of an object."""
        if Need.OWN_ARGUMENTS in needs and any(name in arguments for name in _OWN):
            arguments = self._without_foreign(arguments)
        if Need.NULL_FOR_ABSENT in needs and b"null" in arguments:
            arguments = self._nulls.drop(arguments)
        return arguments

    def _without_foreign(self, arguments: bytes) -> bytes:
        try:
            given = _decode(arguments)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return arguments  # What is wrong with them is for the tool to say.
        if self._foreign.isdisjoint(given):
            return arguments
        return encode_data({name: raw for name, raw in given.items() if name not in self._foreign})
