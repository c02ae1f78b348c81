"""Schemas in a compact notation for people: `{hour: string, temp: integer}[] | null`.

The notation shows what a schema mostly says, on one line. Where it leaves something out it says
so with an ellipsis; it is for reading, not for parsing, and the schema stays the truth.

    string uuid · integer 1..10 · number >0 ≤30 · "a" | "b" · T[] · [A, B] · {name: T, other?: U}
    {[any]: T} (a map) · {id} (`id` has to be there) · any · never · A & B · not A
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias, cast
from urllib.parse import unquote

from anyshape.documents.pointers import MISSING, reach, tokens_of

_DEEPEST: Final = 12
_MOST_NODES: Final = 400
_MOST_CHOICES: Final = 8
_MOST_LITERALS: Final = 64
"""How many values of an `enum` are written, to leave out those that read alike."""
_LONGEST_TEXT: Final = 40
_LONGEST_NAME: Final = 128
_ELLIPSIS: Final = "…"
_PLAIN_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")

_UNSAID: Final = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "maxProperties",
        "minProperties",
        "patternProperties",
        "propertyNames",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_OF_OBJECTS: Final = frozenset({"properties", "required", "additionalProperties"})
_OF_ARRAYS: Final = frozenset({"items", "prefixItems", "minItems", "maxItems"})


class _Binds(enum.IntEnum):
    """How tightly a piece of notation holds together."""

    LOOSELY = 0
    AS_UNION = 1
    AS_INTERSECTION = 2
    TIGHTLY = 3


_Piece: TypeAlias = tuple[str, _Binds]


def notation(document: Mapping[str, Any] | bool, place: str = "#") -> str:
    """Return a schema in compact notation: the whole document, or what a pointer leads to."""
    return _Writer(document).write(place)


def signature(
    input_schema: Mapping[str, Any],
    output_schema: Mapping[str, Any] | bool | None = None,
    *,
    output_place: str = "#",
) -> str:
    """Return a tool's type: `(city: string, days?: integer 1..10) → string[]`.

    A tool without output schema answers in content blocks: `→ content`.
    """
    returned = "content" if output_schema is None else notation(output_schema, output_place)
    return f"{_Writer(input_schema).write_parameters()} → {returned}"


class _Writer:
    """Writes one document, within a budget of nodes and depth."""

    def __init__(self, document: Mapping[str, Any] | bool) -> None:
        self._document = document
        self._expanding: list[str] = []
        self._recursive: set[str] = set()
        self._left = _MOST_NODES

    def write(self, place: str = "#") -> str:
        return self._referred(place)[0]

    def write_parameters(self) -> str:
        if isinstance(self._document, bool):
            return self.write()
        rest = {key: value for key, value in self._document.items() if key not in _OF_OBJECTS}
        rest.pop("type", None)
        self._expanding.append("#")
        members = self._members(self._document)
        parts = [f"({text})" for text, _ in self._constraints(rest)]
        if members or not parts:
            parts.insert(0, "(" + ", ".join(members) + ")")
        if _UNSAID & rest.keys():
            parts.append(_ELLIPSIS)
        return " & ".join(parts)

    def _schema(self, schema: object) -> _Piece:
        self._left -= 1
        if schema is True or schema == {}:
            return "any", _Binds.TIGHTLY
        if schema is False or schema == {"not": {}}:
            return "never", _Binds.TIGHTLY
        if not isinstance(schema, Mapping) or self._left < 0:
            return _ELLIPSIS, _Binds.TIGHTLY
        node = cast("Mapping[str, Any]", schema)
        parts = self._constraints(node)
        own = self._own(node)
        if own is not None:
            parts.insert(0, own)
        if not parts:
            parts = [("any", _Binds.TIGHTLY)]
        if _UNSAID & node.keys():
            parts.append((_ELLIPSIS, _Binds.TIGHTLY))
        if len(parts) == 1:
            return parts[0]
        text = " & ".join(_at_least(part, _Binds.AS_INTERSECTION) for part in parts)
        return text, _Binds.AS_INTERSECTION

    def _own(self, node: Mapping[str, Any]) -> _Piece | None:
        """Return what a schema says by itself, without the schemas it is composed of."""
        if "const" in node:
            return _literal(node["const"]), _Binds.TIGHTLY
        if isinstance(node.get("enum"), list):
            return _enumeration(node["enum"])
        declared = node.get("type")
        if declared is None:
            if _OF_OBJECTS & node.keys():
                declared = "object"
            elif _OF_ARRAYS & node.keys():
                declared = "array"
            else:
                return None
        names = cast("list[object]", declared) if isinstance(declared, list) else [declared]
        return _union([self._typed(str(name), node) for name in names])

    def _typed(self, name: str, node: Mapping[str, Any]) -> _Piece:
        match name:
            case "object":
                return self._object(node), _Binds.TIGHTLY
            case "array":
                return self._array(node), _Binds.TIGHTLY
            case "string":
                return _words(_string(node))
            case "integer" | "number":
                return _words(_number(name, node))
            case _:
                return name, _Binds.TIGHTLY

    def _object(self, node: Mapping[str, Any]) -> str:
        members = self._members(node)
        if not members:
            return "{}" if node.get("additionalProperties") is False else "object"
        return "{" + ", ".join(members) + "}"

    def _members(self, node: Mapping[str, Any]) -> list[str]:
        properties = _mapping(node.get("properties"))
        required = dict.fromkeys(str(name) for name in _sequence(node.get("required")))
        members: list[str] = []
        for name in (*properties, *(name for name in required if name not in properties)):
            if self._left < 0:
                members.append(_ELLIPSIS)
                break
            if name in properties:
                mark = "" if name in required else "?"
                members.append(f"{_key(name)}{mark}: {self._inner(properties[name])}")
            else:
                self._left -= 1
                members.append(_key(name))
        others = node.get("additionalProperties")
        if others is not None and not isinstance(others, bool):
            members.append(f"[any]: {self._inner(others)}")
        return members

    def _array(self, node: Mapping[str, Any]) -> str:
        first = node.get("prefixItems")
        rest = node.get("items", True)
        if first is None and isinstance(rest, list):  # as written before 2020-12
            first, rest = cast("list[Any]", rest), node.get("additionalItems", True)
        positions = [text for text, _ in self._pieces(first)]
        bounds = _range(node.get("minItems"), node.get("maxItems"))
        if positions:
            if rest is not False:
                positions.append(_ELLIPSIS)
            return "[" + ", ".join(positions) + "]"
        item = "any" if rest is True else self._inner(rest, _Binds.TIGHTLY)
        return f"{item}[{bounds}]"

    def _constraints(self, node: Mapping[str, Any]) -> list[_Piece]:
        """Return what the schemas say that a schema is composed of."""
        parts: list[_Piece] = []
        reference = node.get("$ref")
        if isinstance(reference, str):
            parts.append(self._referred(reference))
        parts += self._pieces(node.get("allOf"))
        for keyword in ("anyOf", "oneOf"):
            if branches := self._pieces(node.get(keyword)):
                parts.append(_union(branches))
        if "if" in node:
            parts.append((self._conditional(node), _Binds.LOOSELY))
        if "not" in node:
            parts.append((f"not {self._inner(node['not'], _Binds.TIGHTLY)}", _Binds.TIGHTLY))
        return parts

    def _pieces(self, schemas: object) -> list[_Piece]:
        """Return several schemas, an ellipsis for those that the budget has no room for."""
        pieces: list[_Piece] = []
        for schema in _sequence(schemas):
            pieces.append(self._guarded(schema))
            if self._left < 0:
                break
        return pieces

    def _conditional(self, node: Mapping[str, Any]) -> str:
        text = f"if {self._inner(node['if'])}"
        for keyword in ("then", "else"):
            if keyword in node:
                text += f" {keyword} {self._inner(node[keyword])}"
        return text

    def _referred(self, reference: str) -> _Piece:
        name = _name(reference, self._document)
        if reference in self._expanding:
            self._recursive.add(reference)
            return name, _Binds.TIGHTLY
        target = _resolve(reference, self._document)
        if target is None:
            return name, _Binds.TIGHTLY
        self._expanding.append(reference)
        piece = self._guarded(target)
        self._expanding.pop()
        if reference not in self._recursive:
            return piece
        return f"{name} {_at_least(piece, _Binds.TIGHTLY)}", _Binds.TIGHTLY

    def _inner(self, schema: object, least: _Binds = _Binds.LOOSELY) -> str:
        return _at_least(self._guarded(schema), least)

    def _guarded(self, schema: object) -> _Piece:
        """Return a schema one level further down, or an ellipsis when that is too deep."""
        self._expanding.append("")
        try:
            if self._expanding.count("") > _DEEPEST:
                return _ELLIPSIS, _Binds.TIGHTLY
            return self._schema(schema)
        finally:
            self._expanding.pop()


def _words(words: list[str]) -> _Piece:
    return " ".join(words), _Binds.TIGHTLY if len(words) == 1 else _Binds.AS_INTERSECTION


def _at_least(piece: _Piece, least: _Binds) -> str:
    text, binds = piece
    return text if binds >= least else f"({text})"


def _enumeration(values: list[object]) -> _Piece:
    pieces = [(_literal(value), _Binds.TIGHTLY) for value in values[:_MOST_LITERALS]]
    return _union(pieces, more=len(values) - len(pieces))


def _union(pieces: list[_Piece], more: int = 0) -> _Piece:
    """Return alternatives, of which `more` are not among the pieces."""
    unique = list(dict.fromkeys(pieces)) or [("never", _Binds.TIGHTLY)]
    if len(unique) == 1 and not more:
        return unique[0]
    shown = [_at_least(piece, _Binds.AS_INTERSECTION) for piece in unique[:_MOST_CHOICES]]
    more += len(unique) - len(shown)
    if more:
        shown.append(f"{_ELLIPSIS} {more} more")
    return " | ".join(shown), _Binds.AS_UNION


def _string(node: Mapping[str, Any]) -> list[str]:
    words = ["string"]
    if isinstance(node.get("format"), str):
        words.append(_shortened(node["format"]))
    if isinstance(node.get("pattern"), str):
        words.append(f"/{_shortened(node['pattern'])}/")
    if length := _range(node.get("minLength"), node.get("maxLength")):
        words.append(f"{length} chars")
    return words


def _number(name: str, node: Mapping[str, Any]) -> list[str]:
    words = [name]
    low, high = node.get("minimum"), node.get("maximum")
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if above is True:  # as written in draft-04
        above, low = low, None
    if below is True:
        below, high = high, None
    if _is_number(low) and _is_number(high) and not _is_number(above) and not _is_number(below):
        words.append(f"{_literal(low)}..{_literal(high)}")
    else:
        bounds = ((">", above), ("≥", low), ("<", below), ("≤", high))
        words += [f"{sign}{_literal(bound)}" for sign, bound in bounds if _is_number(bound)]
    if _is_number(step := node.get("multipleOf")):
        words.append(f"in steps of {_literal(step)}")
    return words


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _range(low: object, high: object) -> str:
    """Return the bounds of a length, which 0 does not bound from below."""
    if low == high and _is_number(low):
        return _literal(low)
    if _is_number(high):
        return f"{_literal(low)}..{_literal(high)}" if low else f"≤{_literal(high)}"
    return f"≥{_literal(low)}" if low and _is_number(low) else ""


def _literal(value: object) -> str:
    if isinstance(value, dict | list) and value:
        return "{…}" if isinstance(value, dict) else "[…]"
    if isinstance(value, str):
        value = value[:_LONGEST_TEXT]  # With its quotes that is too long as well.
    return _shortened(json.dumps(value, ensure_ascii=False))


def _shortened(text: str, longest: int = _LONGEST_TEXT) -> str:
    return text if len(text) <= longest else text[: longest - 1] + _ELLIPSIS


def _key(name: str) -> str:
    return _shortened(name, _LONGEST_NAME) if _PLAIN_NAME.fullmatch(name) else _literal(name)


def _name(reference: str, document: Mapping[str, Any] | bool) -> str:
    last = unquote(reference).rpartition("/")[2].rpartition("#")[2]
    if not last:
        title = None if isinstance(document, bool) else document.get("title")
        last = title if isinstance(title, str) and _PLAIN_NAME.fullmatch(title) else "root"
    return _shortened(last)


def _resolve(reference: str, document: Mapping[str, Any] | bool) -> object:
    """Return what a pointer into the same document leads to; `None` for any other reference."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    found = reach(document, tokens_of(reference[1:]) or ())
    return None if found is MISSING else found


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _sequence(value: object) -> Iterable[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else ()
