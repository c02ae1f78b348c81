"""Schemas as tools have them, with values that they admit and values that they refuse.

Each keyword and each rule of lowering has at least one; the last ones are whole tools.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Probe:
    """A schema, and what it says of some values."""

    name: str
    schema: dict[str, Any]
    accepts: list[Any] = field(default_factory=list[Any])
    rejects: list[Any] = field(default_factory=list[Any])

    def __str__(self) -> str:
        return self.name


def of(name: str, schema: Any, accepts: list[Any], rejects: list[Any], **beside: Any) -> Probe:
    """Return a probe of one required property."""
    document = {
        "type": "object",
        "properties": {"v": schema},
        "required": ["v"],
        "additionalProperties": False,
        **beside,
    }
    return Probe(name, document, [{"v": v} for v in accepts], [{"v": v} for v in rejects])


def closed(properties: dict[str, Any], *required: str, **beside: Any) -> dict[str, Any]:
    """Return the schema of a closed object."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **beside,
    }


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
NODE = closed({"n": WHOLE, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}, "n")
VALUE = {
    "anyOf": [
        {"type": ["string", "number", "boolean", "null"]},
        {"type": "array", "items": {"$ref": "#/$defs/Value"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/Value"}},
    ]
}
CIRCLE = closed({"kind": {"const": "circle"}, "r": {"type": "number"}}, "kind", "r")
SQUARE = closed({"kind": {"const": "square"}, "side": {"type": "number"}}, "kind", "side")

ODD = closed(dict.fromkeys(("", "a.b", "a b", "a_b", "$ref", "é😀", "a\nb", 'a"b', "a\\b"), TEXT))

KEYWORDS = [
    of(
        "odd names",
        ODD,
        [{"": "1", "a b": "2"}, dict.fromkeys(ODD["properties"], "x")],
        [{"c": "1"}],
    ),
    of("a list of types", {"type": ["string", "null"], "maxLength": 3}, ["a", None], [1, "abcd"]),
    of("any value", {}, [1, "1", None, [{}], {"a": 1}], []),
    of("true", True, [1, "x", {"a": [1]}], []),
    of("an untyped bound", {"minLength": 2}, ["ab", 1, None, [], {}], ["a"]),
    of("mixed enum", {"enum": ["a", 1, True, None]}, ["a", 1, True, None], ["b", 2]),
    of("enum of objects", {"enum": [{"a": 1}, [1, 2], "x"]}, [{"a": 1}, [1, 2], "x"], [{}, "y"]),
    of("an empty string in enum", {"enum": ["", "a"]}, ["", "a"], ["b"]),
    of("enum beside a bound", {"enum": ["a", "bbb"], "maxLength": 1}, ["a"], ["bbb"]),
    of("const", {"const": "go"}, ["go"], ["stop"]),
    of("whole numbers in enum", {"enum": [1, 1.0, 3.0, [2.0]]}, [1, 1.0, 3, [2]], [2]),
    of("many numbers in enum", {"enum": list(range(300))}, [0, 299], [300]),
    of(
        "enum of objects with odd names",
        {"enum": [{"a(b": 1}, {'x"y': 2}, {"": [{"c.d": "e+f"}]}]},
        [{"a(b": 1}, {'x"y': 2}, {"": [{"c.d": "e+f"}]}],
        [{"a": 1}],
    ),
    of("numbers in enum", {"enum": [1, 2.5]}, [1, 2.5], [2]),
    of(
        "string lengths",
        {"type": "string", "minLength": 1, "maxLength": 3},
        ["a", "é😀", '"\\\n'],
        [""],
    ),
    of("anchored pattern", {"type": "string", "pattern": "^[A-Z]{2}\\d+$"}, ["AB12"], ["ab"]),
    of("loose pattern", {"type": "string", "pattern": "b|c"}, ["abc", 'x"b'], ["xyz"]),
    of("endless, then counted", {"type": "string", "pattern": "^[ab]*a[ab]{16}$"}, ["a" * 17], []),
    of(
        "counts within counts",
        {"type": "string", "pattern": "^([a-z]{1,99}[.]){1,99}[a-z]{1,99}$"},
        ["a.b"],
        ["a"],
    ),
    of("lookahead", {"type": "string", "pattern": "^(?=.*\\d)\\w+$"}, ["a1"], ["a"]),
    of("date", {"type": "string", "format": "date"}, ["2026-01-02"], ["2026"]),
    of(
        "date and time",
        {"type": "string", "format": "date-time"},
        ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456+02:00", "1990-12-31t23:59:60z"],
        [""],
    ),
    of("time", {"type": "string", "format": "time"}, ["03:04:05Z", "03:04:05.5-08:00"], ["03:04"]),
    of(
        "uuid",
        {"type": "string", "format": "uuid"},
        ["2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8"],
    ),
    of(
        "email",
        {"type": "string", "format": "email"},
        ["a@b.c", '"a b"@c.d', "a@[IPv6:::1]"],
        ["a"],
    ),
    of("ipv6", {"type": "string", "format": "ipv6"}, ["::1", "::ffff:1.2.3.4"], ["1.2.3.4"]),
    of("a format few know", {"type": "string", "format": "json-pointer"}, ["/a"], ["a"]),
    of("a format of one's own", {"type": "string", "format": "color"}, ["#fff"], []),
    of("bounds of integers", {"type": "integer", "minimum": 1, "maximum": 9}, [1, 9], [0, 10]),
    of("exclusive bounds", {"type": "integer", "exclusiveMinimum": 0.5}, [1, 2], [0]),
    of("exclusive numbers", {"type": "number", "exclusiveMinimum": 0}, [0.5, 3], [0]),
    of("multiples", {"type": "integer", "multipleOf": 5}, [0, 10], [3]),
    of("a bound beyond 2**53", {"type": "integer", "maximum": 2**60}, [1, 2**53], [2**61]),
    Probe("all optional", closed({"a": TEXT, "b": WHOLE}), [{}, {"a": "x"}, {"b": 1}], [{"a": 1}]),
    Probe("optional and nullable", closed({"a": {"type": ["string", "null"]}}), [{}, {"a": "x"}]),
    Probe(
        "required and not declared",
        {"type": "object", "properties": {"a": TEXT}, "required": ["a", "b"]},
        [{"a": "x", "b": [1]}],
        [{"a": "x"}],
    ),
    of("map", {"type": "object", "additionalProperties": WHOLE}, [{}, {"k": 1}], [{"k": "x"}]),
    of(
        "map beside properties",
        {"type": "object", "properties": {"id": TEXT}, "additionalProperties": WHOLE},
        [{"id": "a", "n": 1}, {}],
        [{"n": "x"}],
    ),
    of("free object", {"type": "object"}, [{}, {"a": {"b": [1]}}], [1]),
    of("empty object", closed({}), [{}], [{"a": 1}]),
    of(
        "pattern properties",
        {"type": "object", "patternProperties": {"^x-": TEXT}, "additionalProperties": False},
        [{}, {"x-a": "1"}],
        [{"a": "1"}],
    ),
    of(
        "property names",
        {"type": "object", "propertyNames": {"enum": ["en", "fr"]}, "additionalProperties": TEXT},
        [{"en": "x"}],
        [{"de": "x"}],
    ),
    of(
        "counts of properties",
        closed({"a": WHOLE, "b": WHOLE}, minProperties=1, maxProperties=1),
        [{"a": 1}],
        [{}, {"a": 1, "b": 1}],
    ),
    of(
        "dependent properties",
        closed({"a": WHOLE, "b": WHOLE}, dependentRequired={"a": ["b"]}),
        [{}, {"b": 1}, {"a": 1, "b": 1}],
        [{"a": 1}],
    ),
    of(
        "a property that only a dependent schema knows",
        {
            "type": "object",
            "properties": {"a": WHOLE},
            "dependentSchemas": {"a": {"properties": {"b": TEXT}, "required": ["b"]}},
            "unevaluatedProperties": False,
        },
        [{}, {"a": 1, "b": "x"}],
        [{"a": 1}, {"c": 1}],
    ),
    of(
        "unevaluated properties",
        {"allOf": [{"properties": {"a": TEXT}}], "type": "object", "unevaluatedProperties": False},
        [{"a": "x"}, {}],
        [{"b": 1}],
    ),
    Probe(
        "names that few take",
        closed({"$filter": TEXT, "first name": TEXT, "été": WHOLE, 'a"b': WHOLE}, "$filter"),
        [{"$filter": "q"}, {"$filter": "q", "first name": "n", "été": 1, 'a"b': 2}],
        [{}],
    ),
    Probe(
        "names of keywords",
        closed({"$ref": TEXT, "type": TEXT, "properties": WHOLE, "nullable": WHOLE}, "type"),
        [{"type": "x"}, {"type": "x", "$ref": "#", "properties": 1, "nullable": 2}],
        [{}],
    ),
    of("bare array", {"type": "array"}, [[], [1, "a", {}]], [1]),
    of("array that must be empty", {"type": "array", "items": False}, [[]], [[1]]),
    of(
        "counts of items",
        {"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 3},
        [[1, 2]],
        [[1], [1, 2, 3, 4]],
    ),
    of("unique items", {"type": "array", "items": WHOLE, "uniqueItems": True}, [[1, 2]], [[1, 1]]),
    of("contains", {"type": "array", "contains": TEXT, "minContains": 2}, [["a", "b", 1]], [["a"]]),
    of(
        "closed tuple",
        {"type": "array", "prefixItems": [TEXT, WHOLE], "items": False, "minItems": 2},
        [["a", 1]],
        [["a"], [1, "a"]],
    ),
    of("open tuple", {"type": "array", "prefixItems": [TEXT]}, [[], ["a", 1, None]], [[1]]),
    of(
        "tuple with a tail",
        {"type": "array", "prefixItems": [{}], "items": WHOLE},
        [["x", 1, 2], [[1]]],
        [["x", "y"]],
    ),
    of("alternatives of types", {"anyOf": [TEXT, WHOLE]}, ["a", 1], [None]),
    of("alternatives of objects", {"anyOf": [CIRCLE, SQUARE]}, [{"kind": "circle", "r": 1}], [{}]),
    of(
        "alternatives with siblings",
        {"type": "string", "minLength": 2, "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
        ["ab", "bc"],
        ["a", "cd"],
    ),
    of(
        "alternatives of required properties",
        closed({"a": WHOLE, "b": WHOLE}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}],
        [{}],
    ),
    of("one of overlapping", {"oneOf": [{"minimum": 0}, {"maximum": 9}]}, [11, -1], [5]),
    of(
        "text or a free object",
        {"anyOf": [TEXT, {"type": "object"}]},
        ["a", "1", '{"a":1}', {}],
        [1],
    ),
    of("text or any value", {"anyOf": [TEXT, {}]}, ["1", 1, None, {"a": 1}], []),
    of(
        "all of",
        {"allOf": [{"properties": {"n": {"minimum": 3}}, "required": ["n"]}, closed({"n": WHOLE})]},
        [{"n": 4}],
        [{"n": 2}, {}],
    ),
    of("not a type", {"not": {"type": "string"}}, [1, None, [1]], ["a"]),
    of("not a value", {"type": "string", "not": {"const": "admin"}}, ["bob"], ["admin"]),
    of(
        "a condition",
        closed(
            {"mode": {"enum": ["fast", "slow"]}, "limit": WHOLE},
            "mode",
            **{"if": {"properties": {"mode": {"const": "fast"}}}, "then": {"required": ["limit"]}},
        ),
        [{"mode": "fast", "limit": 1}, {"mode": "slow"}],
        [{"mode": "fast"}],
    ),
    of(
        "a reference by anchor",
        {"$ref": "#pt"},
        [1],
        ["a"],
        **{"$defs": {"P": {**WHOLE, "$anchor": "pt"}}},
    ),
    of(
        "a reference by name",
        {"$ref": "https://example.com/p"},
        [1],
        ["a"],
        **{"$defs": {"P": {**WHOLE, "$id": "https://example.com/p"}}},
    ),
    of(
        "a reference with siblings",
        {"$ref": "#/$defs/P", "minimum": 3, "description": "at least three"},
        [3],
        [1],
        **{"$defs": {"P": WHOLE}},
    ),
    of(
        "recursion",
        {"$ref": "#/$defs/Node"},
        [{"n": 1}, {"n": 1, "kids": [{"n": 2, "kids": [{"n": 3, "kids": [{"n": 4}]}]}]}],
        [{"n": "x"}],
        **{"$defs": {"Node": NODE}},
    ),
    of(
        "any JSON value, by recursion",
        {"$ref": "#/$defs/Value"},
        [1, "a", None, [[1], {"a": [True]}], {"a": {"b": {"c": {"d": 1}}}}],
        [],
        **{"$defs": {"Value": VALUE}},
    ),
    Probe(
        "recursion of the root",
        closed({"n": WHOLE, "next": {"$ref": "#"}}, "n"),
        [{"n": 1}, {"n": 1, "next": {"n": 2, "next": {"n": 3, "next": {"n": 4}}}}],
        [{"next": {}}],
    ),
    Probe(
        "an older dialect",
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "object",
            "properties": {
                "at": {"type": "array", "items": [{"type": "number"}, {"type": "number"}]},
                "size": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
                "who": {"$ref": "#/definitions/name", "maxLength": 1},
            },
            "dependencies": {"at": ["size"]},
            "definitions": {"name": TEXT},
        },
        [{}, {"at": [1, 2.5, "x"], "size": 1}, {"who": "somebody"}],
        [{"size": 0}, {"at": [1, 2]}],
    ),
]
"""One idea each."""

ROOTS = [
    Probe(
        "alternatives at the root",
        {
            "type": "object",
            "properties": {"amount": {"type": "integer", "minimum": 1}},
            "required": ["amount"],
            "oneOf": [
                {"properties": {"card": TEXT}, "required": ["card"]},
                {"properties": {"iban": {"type": "string", "minLength": 5}}, "required": ["iban"]},
            ],
        },
        [{"amount": 1, "card": "c"}, {"amount": 1, "iban": "NO123"}],
        [{"amount": 1}, {"card": "c"}],
    ),
    Probe(
        "discriminated objects at the root",
        {"oneOf": [CIRCLE, SQUARE]},
        [{"kind": "circle", "r": 1}, {"kind": "square", "side": 2.5}],
        [{"kind": "circle"}],
    ),
    Probe(
        "reference at the root",
        {"$ref": "#/$defs/N", "$defs": {"N": closed({"a": TEXT}, "a")}},
        [{"a": "x"}],
        [{}],
    ),
    Probe(
        "no type at the root", {"properties": {"a": TEXT}, "required": ["a"]}, [{"a": "x"}], [{}]
    ),
    Probe(
        "null at the root", {"type": ["object", "null"], "properties": {"a": TEXT}}, [{"a": "x"}]
    ),
    Probe("nothing at all", {"type": "object"}, [{}]),
    Probe("listed objects", {"enum": [{"a": 1}, {"a": 1, "b": 2}]}, [{"a": 1}], [{"a": 2}]),
]
"""What may not stand at the root of a request."""

TOOLS = [
    Probe(
        "send_message",
        {
            "type": "object",
            "properties": {
                "channel": {"type": "string", "pattern": "^[CDG][A-Z0-9]{8,}$"},
                "content": {
                    "description": "Plain text, or blocks",
                    "anyOf": [
                        TEXT,
                        {
                            "type": "array",
                            "items": {
                                "oneOf": [
                                    closed(
                                        {"type": {"const": "text"}, "text": TEXT}, "type", "text"
                                    ),
                                    closed(
                                        {
                                            "type": {"const": "image"},
                                            "url": {"type": "string", "format": "uri"},
                                            "alt": TEXT,
                                        },
                                        "type",
                                        "url",
                                    ),
                                ]
                            },
                        },
                    ],
                },
                "thread": {"type": ["string", "null"], "default": None},
            },
            "required": ["channel", "content"],
        },
        [
            {"channel": "C12345678", "content": "hi"},
            {
                "channel": "C12345678",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "url": "https://example.com/x"},
                ],
                "thread": "t",
            },
        ],
        [{"channel": "x", "content": "hi"}],
    ),
    Probe(
        "query_records",
        {
            "type": "object",
            "properties": {
                "table": {"type": "string", "description": "Name of the table"},
                "where": {"$ref": "#/$defs/Condition"},
                "order": {"type": "array", "items": {"enum": ["asc", "desc"]}, "maxItems": 3},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            },
            "required": ["table"],
            "$defs": {
                "Condition": {
                    "oneOf": [
                        closed(
                            {"and": {"type": "array", "items": {"$ref": "#/$defs/Condition"}}},
                            "and",
                        ),
                        closed({"not": {"$ref": "#/$defs/Condition"}}, "not"),
                        closed(
                            {"field": TEXT, "is": {"type": ["string", "number", "boolean"]}},
                            "field",
                            "is",
                        ),
                    ]
                }
            },
        },
        [
            {"table": "t"},
            {
                "table": "t",
                "where": {"and": [{"not": {"field": "a", "is": 1}}, {"field": "b", "is": "x"}]},
                "limit": 5,
            },
        ],
        [{"table": "t", "where": {}}],
    ),
    Probe(
        "apply_manifest",
        {
            "type": "object",
            "properties": {
                "kind": TEXT,
                "metadata": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "maxLength": 63},
                        "labels": {"type": "object", "additionalProperties": TEXT},
                    },
                    "required": ["name"],
                },
                "spec": {"type": "object", "description": "Anything that the kind takes"},
            },
            "required": ["kind", "metadata"],
        },
        [{"kind": "Pod", "metadata": {"name": "a", "labels": {"app": "x"}}, "spec": {"n": [3]}}],
        [{"kind": "Pod", "metadata": {}}],
    ),
    Probe(
        "create_order",
        {
            "$defs": {
                "Item": {
                    "properties": {
                        "sku": {"pattern": "^[A-Z]{2}[0-9]{4}$", "title": "Sku", "type": "string"},
                        "quantity": {"exclusiveMinimum": 0, "title": "Quantity", "type": "integer"},
                    },
                    "required": ["sku", "quantity"],
                    "title": "Item",
                    "type": "object",
                }
            },
            "properties": {
                "items": {"items": {"$ref": "#/$defs/Item"}, "minItems": 1, "type": "array"},
                "gift": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}], "default": None},
                "due": {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}]},
            },
            "required": ["items"],
            "title": "Order",
            "type": "object",
        },
        [
            {"items": [{"sku": "AB1234", "quantity": 1}]},
            {
                "items": [{"sku": "AB1234", "quantity": 1}],
                "gift": {"sku": "CD0001", "quantity": 2},
                "due": "2026-01-02",
            },
        ],
        [{"items": []}],
    ),
]
"""Whole tools, as authors and libraries write them."""

PROBES = [*KEYWORDS, *ROOTS, *TOOLS]
