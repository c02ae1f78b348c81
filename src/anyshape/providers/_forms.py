"""A piece of a lowered schema on its way to being written: its node, its codec, its words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from anyshape.providers._codecs import AsText, Codec
from anyshape.providers._losses import described
from anyshape.providers._source import arranged

BARE: Final = frozenset(("string", "integer", "number", "boolean", "array", "null"))
"""Types that may share a node in a list of types."""


@dataclass(slots=True)
class LoweredForm:
    """One schema of the lowered document, without its description yet."""

    node: dict[str, Any]
    codec: Codec
    notes: list[str] = field(default_factory=list[str])
    description: str = ""
    null: bool = False
    """Whether null, as itself, is one of its values."""
    joined: bool = False
    """Whether it is an enumeration made of several, whose notes name the values."""

    def remark(self, words: str, *, beside: bool) -> None:
        """Add a note, in each alternative where nothing may stand `beside` them."""
        if "anyOf" in self.node and not beside:
            for inner in self.node["anyOf"]:
                inner["description"] = described(inner.get("description", ""), [words])
            self.node["anyOf"] = [arranged(inner) for inner in self.node["anyOf"]]
        elif "$ref" not in self.node:
            self.notes.append(words)

    def written(self) -> dict[str, Any]:
        """Return the node with its description and notes."""
        text = described(self.description, self.notes)
        return arranged({**self.node, "description": text} if text else self.node)


def text_form(what: str, notes: Iterable[str] = ()) -> LoweredForm:
    """Return the form of values that are given as JSON text."""
    return LoweredForm({"type": "string"}, AsText(), [f"JSON text: {what}", *notes])
