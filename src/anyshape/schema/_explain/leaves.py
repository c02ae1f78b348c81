"""The keywords that judge a value by itself, without subschemas: which of them fail, and the lines.

JSON Schema 2020-12 Validation, sections 6 to 8, and what older dialects have in their place. The
engine decides, through validators of one keyword each: what a number, a format or a pattern means
is written in one place. Only the words are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, TypeAlias, cast

import jsonschema_rs
import msgspec

from anyshape.documents.dialects import find_dialect
from anyshape.documents.json import is_array, is_object, plain
from anyshape.documents.library import ROOT_URI, Spot
from anyshape.schema import _wording as wording
from anyshape.schema._compile import Engine, Test, spell

encode = msgspec.json.Encoder(decimal_format="number", order="sorted").encode

Keywords: TypeAlias = "dict[str, object]"

DECISIVE = ("enum", "const", "type")
"""When one of these fails, what the others say is of no use."""
_KEYWORDS = (
    *DECISIVE,
    "multipleOf",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "contentEncoding",
    "contentMediaType",
    "minItems",
    "maxItems",
    "uniqueItems",
    "required",
    "dependentRequired",
    "dependencies",
    "minProperties",
    "maxProperties",
)
_COMPARING = frozenset(("enum", "const", "uniqueItems"))
_COMPANIONS = {
    "minimum": "exclusiveMinimum",
    "maximum": "exclusiveMaximum",
    "contentMediaType": "contentEncoding",
}
_NUMBERS = frozenset(("multipleOf", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"))


class Leaves:
    """The keywords of one subschema that have no subschemas, and the engine's tests for them."""

    def __init__(self, spot: Spot, schema: Keywords, engine: Engine) -> None:
        hidden = spot.dialect.hides_siblings_in(schema)
        self.schema: Keywords = {} if hidden else _without_subschemas(schema)
        if "const" in spot.dialect.lacks:
            self.schema.pop("const", None)
        for keyword in engine.ignored:
            self.schema.pop(keyword, None)
        self.described: Keywords = {
            **{name: schema[name] for name in ("title", "items") if name in schema and not hidden},
            **self.schema,
        }
        """The keywords that an expectation is put in words from."""
        self._keywords = tuple(keyword for keyword in _KEYWORDS if keyword in self.schema)
        self.compare = not _COMPARING.isdisjoint(self._keywords)
        """Whether one of them looks at all that a value holds."""
        self._spot = spot
        self._engine = engine
        self._tests: dict[str, Test] = {}
        self._whole: Test | None = None

    def __bool__(self) -> bool:
        return bool(self._keywords)

    def hold(self, value: object) -> bool:
        """Tell whether none of them fails."""
        if not self._keywords:
            return True
        if self._whole is None:
            self._whole = self._compile({name: self.schema[name] for name in self._keywords})
        return self._whole(value)

    def failing(self, value: object) -> Iterator[str]:
        """Yield the keywords that fail; a decisive one alone."""
        for keyword in self._keywords:
            if keyword.startswith("exclusive") and isinstance(self.schema[keyword], bool):
                continue  # draft-04: a part of `minimum` or `maximum`
            if not self._test(keyword)(value):
                yield keyword
                if keyword in DECISIVE:
                    return

    def _test(self, keyword: str) -> Test:
        test = self._tests.get(keyword)
        if test is None:
            part = {keyword: self.schema[keyword]}
            companion = _COMPANIONS.get(keyword)
            if companion is not None and companion in self.schema:
                beside = self.schema[companion]
                if isinstance(beside, (bool, str)):
                    part[companion] = beside
            test = self._tests[keyword] = self._compile(part)
        return test

    def _compile(self, part: Keywords) -> Test:
        engine = self._engine
        pattern = part.get("pattern")
        if isinstance(pattern, str):
            part["pattern"] = spell(pattern, backtracking=engine.patterns.backtracking)
        declared = _declared(engine.documents.get(self._spot.document))
        registry = None
        if not names_dialect(declared):
            # The operator's own metaschema may put keywords out of force.
            others = [item for item in engine.documents.items() if item[0] != ROOT_URI]
            registry = jsonschema_rs.Registry(cast("list[tuple[str, Any]]", others))
        uri = self._spot.dialect.uri if registry is None else declared
        return engine.compile({"$schema": uri, **part}, registry).is_valid

    def lines(self, keyword: str, value: object) -> Iterator[str]:
        """Yield what is to be said about `value`, for which `keyword`, not `required`, fails."""
        schema = self.described
        if keyword in _NUMBERS:
            yield f"expected {wording.number_phrase(schema)}, got {wording.show(value)}"
        elif keyword in ("dependentRequired", "dependencies"):
            yield from _missing_dependents(schema[keyword], value)
        elif keyword != "required":
            yield _line(keyword, schema, value)

    def missing(self, value: object) -> Iterator[str]:
        """Yield the names that `required` asks for in vain."""
        yield from _missing(self.schema.get("required"), value)


def names_dialect(metaschema: object) -> bool:
    """Tell whether a `$schema`, or the lack of one, means a dialect as it is published."""
    return metaschema is None or (
        isinstance(metaschema, str) and find_dialect(metaschema) is not None
    )


def _declared(document: object) -> object:
    return document.get("$schema") if is_object(document) else None


def _without_subschemas(schema: Keywords) -> Keywords:
    """Return the part that judges by itself; `dependencies` may be of both kinds."""
    part = {keyword: schema[keyword] for keyword in _KEYWORDS if keyword in schema}
    dependencies = part.get("dependencies")
    if is_object(dependencies):
        names = {name: inner for name, inner in dependencies.items() if is_array(inner)}
        part["dependencies"] = names
        if not names:
            del part["dependencies"]
    return part


def _line(keyword: str, schema: Keywords, value: object) -> str:
    got = wording.show(value)
    match keyword:
        case "type":
            kind = " (a string)" if isinstance(value, str) else ""
            return f"expected {wording.type_phrase(schema)}, got {got}{kind}"
        case "const":
            return f"expected {wording.preview(schema['const'])}, got {got}"
        case "enum":
            return _enumeration(schema["enum"], value)
        case "minLength" | "maxLength":
            length = len(value) if isinstance(value, str) else 0
            phrase = wording.length_phrase(schema, "Length", "character")
            return f"expected a string {phrase}, got {got} ({length})"
        case "pattern":
            return f"expected a string {wording.pattern_phrase(schema)}, got {got}"
        case "format":
            return f"expected a string {wording.format_phrase(schema)}, got {got}"
        case "contentEncoding" | "contentMediaType":
            return f"expected a string with {_content(schema)}, got {got}"
        case "minItems" | "maxItems":
            return f"expected an array {wording.length_phrase(schema, 'Items', 'item')}, got {got}"
        case "minProperties" | "maxProperties":
            phrase = wording.length_phrase(schema, "Properties", "property", "properties")
            return f"expected an object {phrase}, got {got}"
        case "uniqueItems":
            return _repetition(value)
        case _:
            return f"does not satisfy {wording.quote(keyword)}, got {got}"


def _enumeration(choices: object, value: object) -> str:
    values = choices if is_array(choices) else [choices]
    line = f"expected {wording.options(values)}, got {wording.show(value)}"
    if isinstance(value, str):
        texts = [choice for choice in values if isinstance(choice, str)]
        meant = wording.nearest(value, texts)
        if meant is not None and meant not in texts[: wording.MOST_LISTED]:
            return f"{line} (did you mean {wording.quote(meant)}?)"
    return line


def _content(schema: Keywords) -> str:
    parts = (
        f"{what} {wording.quote(text, 40)}"
        for keyword, what in (("contentEncoding", "encoding"), ("contentMediaType", "media type"))
        if isinstance(text := schema.get(keyword), str)
    )
    return " and ".join(parts)


def _missing(required: object, value: object) -> Iterator[str]:
    if is_array(required) and is_object(value):
        for name in required:
            if isinstance(name, str) and name not in value:
                yield name


def _missing_dependents(dependents: object, value: object) -> Iterator[str]:
    if is_object(dependents) and is_object(value):
        for name, needed in dependents.items():
            if name in value:
                for absent in _missing(needed, value):
                    reason = f"because {wording.quote(name)} is present"
                    yield wording.missing(wording.quote(absent), reason)


def _repetition(value: object) -> str:
    pair = find_repetition(value) if is_array(value) else None
    if pair is None or not is_array(value):
        return "expected items that differ from each other, got equal ones"
    shown = wording.preview(value[pair[0]])
    return (
        f"expected items that differ from each other, got items {pair[0]} and {pair[1]} equal: "
        f"{wording.clean(shown, wording.VALUE_WIDTH)}"
    )


def find_repetition(items: list[object]) -> tuple[int, int] | None:
    """Return the indices of an item that repeats an earlier one, the earlier one first.

    By their text at first, which is quick. Then every value gets a number, equal values the same
    one, from the inside out and without recursion.
    """
    for tell in (encode, partial(_number, numbers={})):
        seen: dict[object, int] = {}
        for index, item in enumerate(items):
            earlier = seen.setdefault(tell(item), index)
            if earlier < index:
                return earlier, index
    return None


def _number(item: object, numbers: dict[object, int]) -> int:
    done: list[int] = []
    stack: list[tuple[object, bool]] = [(item, False)]
    while stack:
        value, opened = stack.pop()
        value = plain(value)
        if is_array(value) or is_object(value):
            if not opened:
                stack.append((value, True))
                inner = list(value.values()) if is_object(value) else value
                stack.extend((part, False) for part in reversed(inner))
                continue
            size = len(value)
            parts = done[len(done) - size :]
            del done[len(done) - size :]
            if is_object(value):
                key: object = ("object", frozenset(zip(value, parts, strict=True)))
            else:
                key = ("array", tuple(parts))
        elif isinstance(value, bool):
            key = ("boolean", value)
        else:
            key = ("scalar", value)
        done.append(numbers.setdefault(key, len(numbers)))
    return done[0]


def matcher(pattern: str, engine: Engine) -> Test:
    """Return the engine's test whether a property name matches `pattern`."""
    spelt = spell(pattern, backtracking=engine.patterns.backtracking)
    return engine.compile({"pattern": spelt}, None).is_valid
