"""The words that problems are told in: values, names and expectations, each in one short line.

What stands in these lines was written by strangers, in a schema or in a value. It is quoted,
escaped where it is not printable, and shortened; nothing is ever shown whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from typing import TypeGuard

from anyshape.documents.json import is_array, is_object, plain
from anyshape.documents.positions import declared_types

VALUE_WIDTH = 60
LINE_WIDTH = 500
MOST_LISTED = 8
"""Names and options listed before the rest is only counted."""
_LONGEST_COMPARED = 64
_MOST_COMPARED = 200
_MOST_MEASURED = 8
"""How many words, of those that have the most letters in common, are compared letter by letter."""
_MOST_CLAUSES = 100
_MOST_BITS = 512
_MOST_DIGITS = 60

_NOUNS = {
    "array": "an array",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a string",
}
_PLURALS = {
    "array": "arrays",
    "boolean": "booleans",
    "integer": "integers",
    "null": "nulls",
    "number": "numbers",
    "object": "objects",
    "string": "strings",
}
_FORMATS = {
    "date": "2026-07-28",
    "date-time": "2026-07-28T09:30:00Z",
    "duration": "PT1H30M",
    "email": "ada@example.com",
    "hostname": "example.com",
    "idn-email": "ada@example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "iri": "https://example.com/a",
    "iri-reference": "/a?b=c",
    "json-pointer": "/a/0",
    "regex": "^[a-z]+$",
    "relative-json-pointer": "1/a",
    "time": "09:30:00Z",
    "uri": "https://example.com/a",
    "uri-reference": "/a?b=c",
    "uri-template": "/a/{b}",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}


def clean(text: str, width: int) -> str:
    """Return `text` on one line, unprintable characters escaped, at most about `width` long."""
    cut = text[:width]
    if not cut.isprintable():
        cut = "".join(
            character if character.isprintable() else _escaped(character) for character in cut
        )
    return f"{cut[:width]}…" if len(text) > width or len(cut) > width else cut


def _escaped(character: str) -> str:
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if named is not None:
        return named
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\u{{{point:x}}}"


def quote(text: str, width: int = VALUE_WIDTH) -> str:
    """Return `text` in double quotes."""
    return f'"{clean(text, width)}"'


def shorten(line: str) -> str:
    """Return a message that was put together from others, at a bounded length."""
    return line if len(line) <= LINE_WIDTH else f"{line[: LINE_WIDTH - 1]}…"


def show(value: object) -> str:
    """Return what was got: scalars as JSON has them, arrays and objects in a few words."""
    if is_object(value):
        if not value:
            return "an empty object"
        return f"an object with {count(len(value), 'property', 'properties')} {_some(value)}"
    if is_array(value):
        return f"an array of {count(len(value), 'item')}" if value else "an empty array"
    return _scalar(value)


def preview(value: object, depth: int = 2) -> str:
    """Return what was expected: a value from a schema, as JSON as far as it is small."""
    value = plain(value)
    if is_object(value):
        if depth == 0 or len(value) > MOST_LISTED:
            return "{…}" if value else "{}"
        inner = (f"{quote(key, 30)}: {preview(item, depth - 1)}" for key, item in value.items())
        return f"{{{', '.join(inner)}}}"
    if is_array(value):
        if depth == 0 or len(value) > MOST_LISTED:
            return "[…]" if value else "[]"
        return f"[{', '.join(preview(item, depth - 1) for item in value)}]"
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int):
        bits = value.bit_length()
        return str(value) if bits <= _MOST_BITS else f"an integer of {bits} bits"
    if isinstance(value, (float, Decimal)):
        return clean(str(value), _MOST_DIGITS)
    return "a value"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 item`, `2 items`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def listed(pieces: Sequence[str], conjunction: str, most: int = MOST_LISTED) -> str:
    """Return `a, b and c`, or as many as may be listed and how many more there are."""
    if len(pieces) > most:
        return f"{', '.join(pieces[:most])}, … ({len(pieces) - most} more)"
    if len(pieces) < 2:
        return "".join(pieces)
    return f"{', '.join(pieces[:-1])} {conjunction} {pieces[-1]}"


def names(texts: Iterable[str], conjunction: str = "and") -> str:
    """Return property names, quoted and listed."""
    every = list(texts)
    shown = [quote(text) for text in every[:MOST_LISTED]]
    return listed(shown + every[MOST_LISTED:], conjunction)


def _some(value: dict[str, object]) -> str:
    shown = [quote(name, 30) for name in list(value)[:3]]
    return ", ".join(shown) + (", …" if len(value) > 3 else "")


def options(values: Sequence[object]) -> str:
    """Return the values of an `enum`."""
    if len(values) == 1:
        return preview(values[0])
    shown = [preview(value) for value in values[:MOST_LISTED]]
    rest = len(values) - len(shown)
    return f"one of {', '.join(shown)}" + (f", … ({rest} more)" if rest else "")


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return the one of `choices` that someone who wrote `word` probably meant."""
    if len(word) > _LONGEST_COMPARED:
        return None
    best, score = None, 0.7
    plain = _plain(word)
    from difflib import SequenceMatcher  # Only for who makes mistakes.

    matcher = SequenceMatcher(b=plain, autojunk=False)
    likely: list[tuple[float, str, str]] = []
    for choice in islice(choices, _MOST_COMPARED):
        if len(choice) > _LONGEST_COMPARED or choice == word:
            continue
        other = _plain(choice)
        if other == plain and plain:
            return choice
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() > score and (quick := matcher.quick_ratio()) > score:
            likely.append((quick, choice, other))
    for quick, choice, other in nlargest(_MOST_MEASURED, likely, key=itemgetter(0)):
        matcher.set_seq1(other)
        if quick > score and (ratio := matcher.ratio()) > score:
            best, score = choice, ratio
    return best


def _plain(word: str) -> str:
    return word.casefold().replace("_", "").replace("-", "").replace(" ", "")


def unexpected(name: str, declared: Collection[str], present: Collection[str]) -> str:
    """Return the line for a property that nothing admits."""
    free = [choice for choice in declared if choice not in present]
    meant = nearest(name, free)
    if meant is not None:
        return f"unexpected property {quote(name)} (did you mean {quote(meant)}?)"
    if declared:
        return f"unexpected property {quote(name)} (allowed: {names(list(declared))})"
    return f"unexpected property {quote(name)}"


def missing(shown: str, detail: str = "") -> str:
    """Return the line for a required property that is not there; `shown` is its name, quoted."""
    return f"missing required property {shown}" + (f" ({detail})" if detail else "")


def expectation(schema: dict[str, object] | bool) -> str:
    """Return what `schema` itself asks for as a noun phrase, empty where there is no short one."""
    if isinstance(schema, bool):
        return "" if schema else "nothing"
    if "const" in schema:
        return preview(schema["const"])
    choices = schema.get("enum")
    if is_array(choices) and choices:
        return options(choices)
    return type_phrase(schema)


def type_phrase(schema: dict[str, object]) -> str:
    """Return the types that `schema` admits, each with what else it asks of it."""
    types = declared_types(schema) or ()
    covered = "integer" if "number" in types else ""
    return listed([_phrase(name, schema) for name in types if name != covered], "or")


def _phrase(name: str, schema: dict[str, object]) -> str:
    if name in ("integer", "number"):
        return number_phrase(schema, name)
    if name == "string":
        return string_phrase(schema)
    if name == "array":
        inner = schema.get("items")
        kinds = (declared_types(inner) if is_object(inner) else None) or ()
        of = f" of {_PLURALS[kinds[0]]}" if len(kinds) == 1 and kinds[0] in _PLURALS else ""
        return f"an array{of}"
    title = schema.get("title")
    if name == "object" and isinstance(title, str):
        return f"an object ({clean(title, 40)})"
    return _NOUNS.get(name, quote(name))


def number_phrase(schema: dict[str, object], name: str | None = None) -> str:
    """Return `an integer ≥ 1 and ≤ 10 that is a multiple of 5`, as far as `schema` says so."""
    if name is None:
        name = "integer" if declared_types(schema) == ("integer",) else "number"
    bounds: list[str] = []
    for keyword, exclusive, sign in (
        ("minimum", "exclusiveMinimum", ("≥", ">")),
        ("maximum", "exclusiveMaximum", ("≤", "<")),
    ):
        bound, limit = schema.get(keyword), schema.get(exclusive)
        if _is_number(bound):
            bounds.append(f"{sign[limit is True]} {_scalar(bound)}")
        if _is_number(limit):
            bounds.append(f"{sign[1]} {_scalar(limit)}")
    divisor = schema.get("multipleOf")
    multiple = f" that is a multiple of {_scalar(divisor)}" if _is_number(divisor) else ""
    return f"{_NOUNS[name]}{' ' if bounds else ''}{' and '.join(bounds)}{multiple}"


def _is_number(value: object) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def string_phrase(schema: dict[str, object]) -> str:
    """Return `a string of 1 to 10 characters matching …`, as far as `schema` says so."""
    return "a string" + "".join(
        f" {piece}"
        for piece in (
            length_phrase(schema, "Length", "character"),
            pattern_phrase(schema),
            format_phrase(schema),
        )
        if piece
    )


def length_phrase(
    schema: dict[str, object], suffix: str, unit: str, plural: str | None = None
) -> str:
    """Return `of at least 2 items` for `minItems` and the like."""
    least, most = whole(schema.get(f"min{suffix}")), whole(schema.get(f"max{suffix}"))
    if least is not None and least == most:
        return f"of exactly {count(least, unit, plural)}"
    if least and most is not None and least < most:
        return f"of {least} to {count(most, unit, plural)}"
    if least is not None and most is not None and least > most:
        return f"of at least {least} and at most {count(most, unit, plural)}"
    if most is not None:
        return f"of at most {count(most, unit, plural)}"
    return f"of at least {count(least, unit, plural)}" if least else ""


def whole(value: object) -> int | None:
    """Return a count from a schema, which may be written as `2.0`."""
    return int(value) if _is_number(value) and abs(value) < 1e18 else None


def pattern_phrase(schema: dict[str, object]) -> str:
    """Return what `pattern` asks for."""
    pattern = schema.get("pattern")
    return f"matching `{clean(pattern, 80)}`" if isinstance(pattern, str) else ""


def format_phrase(schema: dict[str, object]) -> str:
    """Return what `format` asks for, with an example where there is one."""
    name = schema.get("format")
    if not isinstance(name, str):
        return ""
    example = _FORMATS.get(name)
    return f"in format {clean(name, 40)}" + (f' (such as "{example}")' if example else "")


def condition(schema: dict[str, object] | bool, *, holds: bool) -> str | None:
    """Return why a condition such as an `if` holds, or does not; `None` if that is long."""
    if isinstance(schema, bool):
        return None
    understood = {"properties", "required", "type", "title", "description", "$comment"}
    properties = schema.get("properties", {})
    required = schema.get("required")
    if not schema.keys() <= understood or not is_object(properties):
        return None
    if len(properties) + (len(required) if is_array(required) else 0) > _MOST_CLAUSES:
        return None
    clauses = [_clause(name, inner, holds=holds) for name, inner in properties.items()]
    if is_array(required):
        verb = "is present" if holds else "is absent"
        clauses += [f"{quote(str(name))} {verb}" for name in required if name not in properties]
    told = [clause for clause in clauses if clause is not None]
    if not told or len(told) < len(clauses) or (not holds and len(told) > 1):
        return None
    return listed(told, "and", 3)


def _clause(name: str, schema: object, *, holds: bool) -> str | None:
    if not is_object(schema) or not schema.keys() <= {"const", "enum", "type", "title"}:
        return None
    expected = expectation(schema)
    return f"{quote(name)} is {'' if holds else 'not '}{expected}" if expected else None
