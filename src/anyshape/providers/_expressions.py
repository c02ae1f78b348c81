"""How large an expression outlines-core makes of a lowered document, once it is written out.

It writes one regular expression for the whole document, references replaced by what they stand for,
and an automaton with states for every repetition of it. Objects that require nothing are the worst:
each of their properties is once the last one, with all before it, so they grow with the square of
what is inside, level by level. Read in outlines-core 0.2.14, `src/json_schema/parsing.rs`.
"""

from __future__ import annotations

from typing import Any, Final, cast

from anyshape.providers._losses import compact
from anyshape.providers.counting import referred

_SPACE: Final = 4
"""Characters for optional whitespace: `[ ]?`."""
_CHARACTER: Final = 43
"""Characters for one character of a string."""
_STRING: Final = _CHARACTER + 3
_TYPES: Final = {"boolean": 12, "null": 4, "integer": 22, "number": 54}
_FORMATS: Final = 160
_ENDLESS: Final = 10**9
"""More than anybody takes: counts and sizes beyond it are not told apart."""


def expression_size(document: dict[str, Any]) -> int:
    """Return how many characters the expression has at least, its repetitions written out."""
    return min(_Sizes(document).of(document), _ENDLESS)


class _Sizes:
    """Sizes of the parts of one document; definitions are measured once."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._bodies: dict[str, Any] = document.get("$defs", {})
        self._known: dict[str, int] = {}

    def of(self, node: dict[str, Any]) -> int:
        """Return the size of what is made of one schema."""
        if "properties" in node:
            return self._object(node)
        if "anyOf" in node:
            return 2 + sum(1 + self.of(inner) for inner in node["anyOf"])
        if "enum" in node:
            return 2 + sum(1 + len(compact(value)) for value in node["enum"])
        if "$ref" in node:
            return self._definition(referred(node) or "")
        kinds: Any = node.get("type")
        if isinstance(kinds, list):
            return 2 + sum(5 + self._typed(kind, node) for kind in cast("list[str]", kinds))
        return self._typed(str(kinds), node)

    def _definition(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = 0  # where a definition leads to itself, which is refused elsewhere
            self._known[name] = self.of(self._bodies[name])
        return self._known[name]

    def _object(self, node: dict[str, Any]) -> int:
        sizes = [
            3 * _SPACE + 3 + len(name) + self.of(inner)
            for name, inner in node["properties"].items()
        ]
        around = _SPACE + 4
        if node.get("required"):
            return around + sum(size + _SPACE + 4 for size in sizes)
        last = sum(sizes) + len(sizes) + 3
        before = sum(
            (len(sizes) - number) * (size + _SPACE + 4)
            for number, size in enumerate(sizes, start=1)
        )
        return around + last + before

    def _typed(self, kind: str, node: dict[str, Any]) -> int:
        if kind == "string":
            return self._string(node)
        if kind == "array":
            item = self.of(node["items"]) if node.get("items") else _STRING
            return 2 * _SPACE + 8 + item + (item + _SPACE + 5) * _repeats(node, "Items", 1)
        if kind == "object":
            other: Any = node.get("additionalProperties")
            value = self.of(cast("dict[str, Any]", other)) if other else _STRING
            return 4 * _SPACE + 12 + 2 * (_STRING + 2 * _SPACE + 1 + value)
        return _TYPES.get(kind, _STRING)

    def _string(self, node: dict[str, Any]) -> int:
        if node.keys() & {"minLength", "maxLength"}:
            return 2 + _CHARACTER * _repeats(node, "Length", 0)
        if "pattern" in node:
            return 4 + len(node["pattern"])
        return _FORMATS if "format" in node else _STRING


def _repeats(node: dict[str, Any], what: str, apart: int) -> int:
    """Return how often something is written out for its counts; `apart` of them stand alone."""
    least, most = node.get(f"min{what}", 0), node.get(f"max{what}")
    return max(int(min(least + 1 if most is None else most, _ENDLESS)) - apart, 1)
