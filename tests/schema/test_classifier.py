"""Which schemas are judged in the process, up to which size of a value, and which never are."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import functools
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

import jsonschema_rs
import pytest
from pydantic import BaseModel, Field, TypeAdapter
from typing_extensions import TypedDict

from anyshape.documents.dialects import DEFAULT_DIALECT, DIALECTS, Dialect
from anyshape.schema import Limits, Schema, compile
from anyshape.schema._bounds import confinement
from anyshape.schema._compile.metaschemas import metaschema_documents
from anyshape.schema._instance import is_light, text_size

T = TypeVar("T")
ORDINARY = 3_000
"""Bytes of text that nobody's arguments are longer than, most of the time."""

STRING = {"type": "string"}
DRAFT6 = "http://json-schema.org/draft-06/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"
METASCHEMA = "https://json-schema.org/draft/2020-12/schema"
DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"


def doubling(levels: int, keyword: str = "anyOf") -> dict[str, Any]:
    """Return a document that asks about one place 2^levels times."""
    steps = {f"l{n}": {keyword: [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/l0", "$defs": {**steps, f"l{levels}": STRING}}


def chain(length: int, last: dict[str, Any]) -> dict[str, Any]:
    steps = {f"l{n}": {"$ref": f"#/$defs/l{n + 1}"} for n in range(length)}
    return {"$ref": "#/$defs/l0", "$defs": {**steps, f"l{length}": last}}


def at_each_level(inner: dict[str, Any]) -> dict[str, Any]:
    """Return a document that refers to each of 111 levels around `inner`."""
    references = [{"$ref": "#/$defs/a" + "/not" * level} for level in range(111)]
    for _ in range(110):
        inner = {"not": inner}
    return {"prefixItems": references, "$defs": {"a": inner}}


def levels(count: int, around: Callable[[Any], Any]) -> Any:
    schema: Any = STRING
    for _ in range(count):
        schema = around(schema)
    return schema


CHEAP: dict[str, Any] = {
    "nothing": {},
    "true": True,
    "false": False,
    "type": STRING,
    "types": {"type": ["string", "null"]},
    "properties": {
        "type": "object",
        "properties": {"a": STRING, "b": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    "annotations": {"title": "t", "description": "d", "default": [1.5], "examples": [{"a": []}]},
    "4,000 subschemas": {"properties": {f"p{n}": {} for n in range(3_999)}},
    "256,000 bytes": {"enum": ["x" * 255_900]},
    "items": {"items": {"type": "integer"}},
    "prefixItems": {"prefixItems": [{}], "items": False},
    "items, an array": {"$schema": DRAFT7, "items": [{}], "additionalItems": False},
    "lengths": {"minLength": 1, "maxLength": 5},
    "counts": {"minItems": 1, "maxItems": 4, "minProperties": 1, "maxProperties": 5},
    "bounds": {"minimum": 0, "exclusiveMaximum": 10},
    "bounds of draft-04": {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "minimum": 0,
        "exclusiveMinimum": True,
    },
    "a fractional bound": {"minimum": 0.5},
    "multipleOf": {"multipleOf": 5},
    "multipleOf a fraction": {"multipleOf": 0.01},
    "enum of texts": {"enum": [f"option {n}" for n in range(5_000)]},
    "enum of a few numbers": {"enum": [1, 2.5, None]},
    "enum of integers": {"type": "integer", "enum": list(range(100))},
    "enum of integers or null": {"type": ["null", "integer"], "enum": [None, *range(100)]},
    "const": {"const": {"a": ["b", None]}},
    "uniqueItems": {"uniqueItems": True},
    "uniqueItems of texts": {"type": "array", "items": STRING, "uniqueItems": True},
    "pattern": {"pattern": "^[a-z]+(-[a-z]+)*$"},
    "patternProperties": {"patternProperties": {f"^p{n}": STRING for n in range(64)}},
    "format": {"format": "date-time"},
    "contentMediaType": {"$schema": DRAFT7, "contentMediaType": "application/json"},
    "dependentRequired": {"dependentRequired": {"a": ["b"]}},
    "dependentSchemas": {"dependentSchemas": {"a": {"required": ["b"]}}},
    "dependencies": {"$schema": DRAFT7, "dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
    "propertyNames": {"propertyNames": {"pattern": "^a"}},
    "contains": {"contains": STRING, "minContains": 2, "maxContains": 3},
    "anyOf": {"anyOf": [STRING, {"type": "null"}]},
    "allOf": {"allOf": [{"type": "object"}, {"required": ["a"]}]},
    "oneOf": {"oneOf": [STRING, {"type": "null"}]},
    "not": {"not": STRING},
    "if": {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
    "$ref": {"$ref": "#/$defs/a", "$defs": {"a": STRING}},
    "$anchor": {"$ref": "#a", "$defs": {"a": {"$anchor": "a"}}},
    "$id": {"$id": "https://example.com/a", "$ref": "b", "$defs": {"b": {"$id": "b"}}},
    "its metaschema": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    "recursion": {"properties": {"children": {"items": {"$ref": "#"}}}},
    "a chain of references": chain(100, STRING),
    "a little doubling": doubling(6),
    "unevaluatedProperties": {"properties": {"a": {}}, "unevaluatedProperties": False},
    "unevaluatedProperties over allOf": {
        "allOf": [{"properties": {"a": {}}}, {"$ref": "#/$defs/b"}],
        "unevaluatedProperties": False,
        "$defs": {"b": {"properties": {"b": STRING}}},
    },
    "unevaluatedProperties over allOf, level by level": levels(
        20, lambda s: {"allOf": [{"properties": {"a": s}}], "unevaluatedProperties": False}
    ),
    "100 alternatives that are objects": {"anyOf": [{"required": [f"{n}"]} for n in range(150)]},
    "unevaluatedItems": {"prefixItems": [{}], "unevaluatedItems": STRING},
}

# The reason is a part of the one that is given.
CONFINED: dict[str, tuple[Any, str]] = {
    "4,001 subschemas": ({"properties": {f"p{n}": {} for n in range(4_001)}}, "4000 subschemas"),
    "more than 256,000 bytes": ({"enum": ["x" * 256_001]}, "256000 bytes"),
    "a bound beyond 2^53": ({"maximum": 2**53}, "2^53"),
    "a bound below -2^53": ({"exclusiveMinimum": -(2**53)}, "2^53"),
    "a large bound that is a float": ({"maximum": 1e300}, "2^53"),
    "a bound next to zero": ({"minimum": 1e-10}, "zero"),
    "a divisor beyond 2^53": ({"multipleOf": 2**60}, "2^53"),
    "a divisor next to zero": ({"multipleOf": 1e-320}, "zero"),
    "enum with a large integer": ({"enum": ["a", 2**53]}, "2^53"),
    "const with a large integer inside": ({"const": {"a": [-(2**60)]}}, "2^53"),
    "enum of many floats": ({"enum": [n + 0.5 for n in range(101)]}, "a long array"),
    "enum of many arrays": ({"enum": [[f"{n}"] for n in range(101)]}, "a long array"),
    "enum of many numbers": ({"enum": list(range(100))}, "too many times"),
    "enum of integers among numbers": (
        {"type": ["integer", "number"], "enum": list(range(100))},
        "too many times",
    ),
    "enum of many objects": ({"enum": [{"n": f"{n}"} for n in range(1_000)]}, "a long array"),
    "many names at many levels": (
        at_each_level({"required": [f"p{n}" for n in range(2_000)]}),
        "compiled again",
    ),
    "many constants at many levels": (
        at_each_level({"enum": [f"option {n}" for n in range(2_000)]}),
        "compiled again",
    ),
    "many dependent names at many levels": (
        at_each_level({"dependentRequired": {"a": [f"p{n}" for n in range(2_000)]}}),
        "compiled again",
    ),
    "a long default at many levels": (at_each_level({"default": [1] * 20_000}), "compiled again"),
    "a long name above many keywords": (
        {"properties": {"k" * 4_000: {"properties": {f"{n}": STRING for n in range(1_500)}}}},
        "long names",
    ),
    "a long default beneath many negations": (
        functools.reduce(lambda inner, _: {"not": inner}, range(118), {"default": ["a"] * 2_000}),
        "compiled again",
    ),
    "many objects that are no schemas": ({"default": [{}] * 101}, "a long array"),
    "many texts in patterns": (
        {"allOf": [{"pattern": f"^[{'a' * 4_000}]{n}"} for n in range(5)]},
        "patterns",
    ),
    "many classes in a pattern": ({"pattern": r"\S" * 600}, "patterns"),
    "many empty classes in a pattern": ({"pattern": "a|" + "[]" * 600}, "patterns"),
    "many properties of Unicode in a pattern": ({"pattern": r"[\p{L}\p{N}]" * 20}, "patterns"),
    "a property of Unicode in either case": ({"pattern": r"^(?i:\p{L})$"}, "patterns"),
    "a lookahead": ({"pattern": "^(?!a)"}, "lookaround"),
    "a lookbehind": ({"patternProperties": {"(?<=a)b": {}}}, "lookaround"),
    "a backreference": ({"pattern": r"(a|b)\1"}, "backreference"),
    "65 patterns": ({"patternProperties": {f"^p{n}": {} for n in range(65)}}, "patterns"),
    "large patterns": ({"pattern": r"^\p{L}{1,64}$"}, "large patterns"),
    "many properties beside many patterns": (
        {
            "properties": {f"p{n}": {} for n in range(2_000)},
            "patternProperties": {f"^q{n}": {} for n in range(60)},
        },
        "many properties beside many patterns",
    ),
    "format idn-hostname": ({"format": "idn-hostname"}, "idn-hostname"),
    "format idn-email": ({"format": "idn-email"}, "idn-email"),
    "format regex": ({"items": {"format": "regex"}}, "regex"),
    "$dynamicRef": (
        {"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a"}}},
        "$dynamic",
    ),
    "$dynamicAnchor alone": ({"$defs": {"a": {"$dynamicAnchor": "a"}}}, "$dynamicAnchor"),
    "$recursiveRef": ({"$schema": DRAFT2019, "items": {"$recursiveRef": "#"}}, "$recursiveRef"),
    "$vocabulary": ({"$vocabulary": {"https://example.com/v": True}}, "$vocabulary"),
    "a keyword with $ that nobody knows": ({"$data": 1}, "$data"),
    "another dialect inside": ({"allOf": [{"$id": "urn:x", "$schema": DRAFT7}]}, "dialects"),
    "the metaschema of another dialect": ({"$ref": DRAFT7}, "other dialects"),
    "doubling by anyOf": (doubling(12), "too many times"),
    "doubling by allOf": (doubling(40, "allOf"), "too many times"),
    "doubling through children": (
        {
            "$ref": "#/$defs/l0",
            "$defs": {
                **{
                    f"l{n}": {"properties": {"x": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2}}}
                    for n in range(40)
                },
                "l40": STRING,
            },
        },
        "too many times",
    ),
    "types that all refer to each other": (
        {
            "$ref": "#/$defs/a0",
            "$defs": {
                f"a{n}": {
                    "properties": {"x": {"oneOf": [{"$ref": f"#/$defs/a{m}"} for m in range(12)]}}
                }
                for n in range(12)
            },
        },
        "too many times",
    ),
    "a long chain in a recursive schema": (
        chain(100, {"items": {"$ref": "#/$defs/l0"}}),
        "long chains of references",
    ),
    "unevaluatedProperties within each other": (
        {"allOf": [{"unevaluatedProperties": False}], "unevaluatedProperties": False},
        "within each other",
    ),
    "unevaluatedItems over contains": (
        {"allOf": [{"contains": {}}], "unevaluatedItems": False},
        "over contains",
    ),
    "unevaluatedProperties over alternatives, level by level": (
        levels(12, lambda s: {"anyOf": [{"properties": {"a": s}}], "unevaluatedProperties": False}),
        "too many times",
    ),
    "unevaluatedProperties over alternatives in alternatives, level by level": (
        levels(
            5,
            lambda s: {
                "anyOf": [{"oneOf": [{"anyOf": [{"properties": {"a": s}}]}]}],
                "unevaluatedProperties": False,
            },
        ),
        "too many times",
    ),
    "unevaluatedItems beside contains, level by level": (
        levels(14, lambda s: {"contains": s, "unevaluatedItems": False}),
        "too many times",
    ),
    "unevaluatedProperties over many": (
        {"anyOf": [{"required": [f"p{n}"]} for n in range(30)], "unevaluatedProperties": False},
        "over many subschemas",
    ),
    "unevaluatedProperties over recursion": (
        {
            "$ref": "#/$defs/n",
            "unevaluatedProperties": False,
            "$defs": {"n": {"properties": {"c": {"$ref": "#"}}}},
        },
        "",
    ),
}


@pytest.mark.parametrize("document", CHEAP.values(), ids=CHEAP.keys())
def test_a_schema_on_the_list_is_judged_in_the_process(document: Any) -> None:
    cost = compile(document).cost

    assert not cost.confined, cost.reason
    assert cost.free_bytes >= 1_000
    assert cost.rate is not None
    assert cost.rate * cost.free_bytes <= 50_000_000 + cost.rate
    assert str(cost).startswith("cheap: ")


@pytest.mark.parametrize(("document", "reason"), CONFINED.values(), ids=CONFINED.keys())
def test_a_schema_that_is_not_on_the_list_is_confined_and_says_why(
    document: Any, reason: str
) -> None:
    schema = compile(document)

    assert schema.cost.confined
    assert schema.cost.free_bytes == 0
    assert reason in schema.cost.reason
    assert schema.cost.reason in str(schema.cost)
    assert "\n" not in str(schema.cost)
    assert schema.waits(1)


def test_supplied_documents_are_confined() -> None:
    schema = compile({"$ref": "urn:other"}, resources={"urn:other": STRING})

    assert "other documents" in schema.cost.reason
    assert not schema.accepts(1)


def test_formats_cost_nothing_where_they_are_annotations() -> None:
    document = {"format": "idn-hostname"}

    assert compile(document).cost.confined
    assert not compile(document, formats=False).cost.confined


def test_how_deep_values_may_be_decides_how_long_a_recursive_chain_may_be() -> None:
    document = chain(100, {"items": {"$ref": "#/$defs/l0"}})

    assert compile(document).cost.confined
    assert not compile(document, limits=Limits(instance_depth=20)).cost.confined


@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_official_metaschemas_are_judged_in_the_process(dialect: Dialect) -> None:
    for uri, document in metaschema_documents(dialect).items():
        cost = compile(document).cost
        assert not cost.confined, f"{uri}: {cost.reason}"
        assert cost.free_bytes >= ORDINARY


@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_a_metaschema_that_was_changed_is_like_any_other_document(dialect: Dialect) -> None:
    (document,) = (d for uri, d in metaschema_documents(dialect).items() if uri in dialect.uri)
    assert isinstance(document, dict)
    changed = compile({**document, "minProperties": 1})

    assert changed.accepts({"type": "string"})
    assert not changed.accepts({})
    assert changed.cost.confined


# Each is dearer than the one before it, so shorter texts are judged in the process.
DEARER: list[list[Any]] = [
    [{}, {"minimum": 0}, {"multipleOf": 3}, {"minimum": 0.5}, {"multipleOf": 0.01}],
    [{"enum": ["a"]}, {"enum": ["a", None]}, {"enum": ["a", 1]}, {"enum": [1, 2, 3]}],
    [doubling(n) for n in (1, 3, 5, 7)],
    [{"pattern": "^a$"}, {"pattern": "^[ab]{100}$"}, {"pattern": "^[ab]{300}$"}],
    [{"patternProperties": {f"^p{n}": True for n in range(count)}} for count in (1, 10, 60)],
    [{"items": STRING}, {"uniqueItems": True, "items": STRING}],
    [{"format": "email"}, {"allOf": [{"format": "email"}] * 20}],
    [{"dependentRequired": {f"p{n}": [] for n in range(count)}} for count in (1, 100, 1_000)],
    [
        {"allOf": [{"properties": {f"p{n}": {}}} for n in range(count)], "unevaluatedItems": False}
        for count in (1, 10, 20)
    ],
    [{"properties": {"a": {}}}, {"properties": {"a": {"$ref": "#"}}}],
]


@pytest.mark.parametrize("documents", DEARER)
def test_the_dearer_a_schema_the_shorter_the_values_that_are_judged_here(
    documents: list[Any],
) -> None:
    free = [compile(document).cost.free_bytes for document in documents]

    assert all(bytes_ > 0 for bytes_ in free)
    assert free == sorted(free, reverse=True)
    assert len(set(free)) == len(free)


@pytest.mark.parametrize(
    ("document", "rate"),
    [
        ({"minLength": 1}, 30),
        ({"required": ["a", "b"]}, 30 + 20),
        ({"minimum": 1, "exclusiveMaximum": 9}, 30 + 2 * 240),
        ({"maximum": 0.5}, 30 + 4_000),
        ({"multipleOf": 3}, 30 + 400),
        ({"multipleOf": 0.01}, 30 + 9_000),
        ({"enum": ["a", "b"]}, 30),
        ({"const": ""}, 30 + 50),
        ({"enum": [None, "a"]}, 30 + 2 * 400),
        ({"enum": [1, 2]}, 30 + 2 * 5_000),
        ({"type": "integer", "enum": [1, 2]}, 30 + 2 * 400),
        ({"uniqueItems": True}, 30 + 16_000),
        ({"pattern": "^a+$"}, 30 + 70),
        ({"patternProperties": {"^a+$": True, "^b+$": True}}, 30 + 2 * 70),
        ({"format": "date"}, 30 + 100),
        ({"$schema": DRAFT7, "contentMediaType": "application/json"}, 30 + 60),
        ({"$schema": DRAFT6, "contentMediaType": "application/json"}, 30 + 150),
        ({"dependentRequired": {"a": ["b"], "c": ["d"]}}, 30 + 2 * 15),
    ],
)
def test_a_keyword_is_allowed_what_the_page_about_costs_says(document: Any, rate: int) -> None:
    assert compile(document).cost.rate == rate


@pytest.mark.parametrize(
    "items",
    [{}, {"type": "integer"}, {"type": ["string", "number"]}, {"type": "array"}, STRING, True],
)
def test_items_that_the_engine_compares_pairwise_are_few_in_the_process(items: Any) -> None:
    schema = compile({"type": "array", "uniqueItems": True, "items": items})

    assert schema.cost.free_bytes <= 4_000
    assert schema.waits(4_001)
    large = [2**63 + n for n in range(1_000)]
    assert schema.accepts(large) is (items not in ({"type": "array"}, STRING))
    assert not schema.accepts([*large, 2**63])


def test_what_a_definition_costs_counts_wherever_it_is_referred_to() -> None:
    def rate(count: int) -> int:
        references = [{"$ref": "#/$defs/a"}] * count
        cost = compile({"allOf": references, "$defs": {"a": {"multipleOf": 7}}}).cost
        assert cost.rate is not None
        return cost.rate

    assert rate(20) - rate(10) == rate(30) - rate(20) > 10 * 400


def test_the_size_that_is_free_is_the_size_of_the_text() -> None:
    schema = compile({"items": {"multipleOf": 0.5}})
    free = schema.cost.free_bytes
    below, above = [1] * (free // 2 - 1), [1] * (free // 2 + 1)

    assert len(json.dumps(below, separators=(",", ":"))) <= free
    assert not schema.waits(len(json.dumps(below, separators=(",", ":"))))
    assert schema.waits(len(json.dumps(above, separators=(",", ":"))))
    for value in (below, above):
        assert schema.accepts(value)
        assert not schema.accepts([*value, 0.25])


BASE64 = {"type": "string", "contentEncoding": "base64"}
READING: dict[str, Any] = {
    "pattern": {"items": {"pattern": "^a"}},
    "patternProperties": {"patternProperties": {"^a": {}}},
    "format": {"properties": {"a": {"format": "date"}}},
    "contentEncoding": {"$schema": DRAFT7, **BASE64},
    "contentMediaType": {
        "$schema": DRAFT6,
        "contentMediaType": "application/json",
    },
    "a metaschema": {"items": {"$ref": METASCHEMA}},
    "the metaschema": dict(
        next(d for d in metaschema_documents(DEFAULT_DIALECT).values() if d["$id"] == METASCHEMA)
    ),
}
COMPARING: dict[str, Any] = {
    "types": {"type": ["string", "object"], "items": {"type": "string"}},
    "lengths": {"properties": {"a": {"minLength": 1, "maxLength": 9}}},
    "names": {"propertyNames": {"maxLength": 10}, "required": ["a"]},
    "constants": {"enum": ["a", "b", {"c": "d"}], "not": {"const": "e"}},
    "unique items": {"uniqueItems": True},
    "alternatives": {"anyOf": [{"type": "string"}, {"minimum": 1}], "unevaluatedItems": False},
    "what 2020-12 does not assert": BASE64,
}


@pytest.mark.parametrize("document", READING.values(), ids=READING.keys())
def test_a_schema_that_reads_texts_is_known(document: Any) -> None:
    assert compile(document).cost.reads


@pytest.mark.parametrize("document", COMPARING.values(), ids=COMPARING.keys())
def test_a_schema_that_merely_compares_texts_judges_long_ones_in_the_process(
    document: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = compile(document)
    engine = jsonschema_rs.validator_for(document)
    some = min(schema.cost.free_bytes, 200_000)
    long = ("x" * 12 * some, "é" * 3 * some, "😀" * 2 * some)
    values = [*long, *([text] for text in long), *({"a": text} for text in long)]
    values += [{text: "a"} for text in long] + [[long[2], long[2]], {"a": [long[2], None, 1]}]
    assert not schema.cost.reads
    assert all(schema.waits(text_size(value)) for value in values)

    judged = 0
    monkeypatch.setattr(confinement, "_lines", None)  # whoever asks a worker fails
    for value in values:
        if is_light(value, schema.cost.free_bytes):
            assert schema.accepts(value) is engine.is_valid(value)
            assert schema.accepts(value, 10_000_000) is engine.is_valid(value)
            assert schema.accepts_parsed(value) is engine.is_valid(value)
            judged += 1
    assert judged >= 12


# ── what pydantic derives ────────────────────────────────────────────────────────────────────────


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Address(BaseModel):
    street: str = Field(min_length=1, max_length=200, description="Street and number")
    city: str
    zip: str = Field(pattern=r"^\d{5}$")
    country: Literal["DE", "FR", "US"] = "DE"


class Person(BaseModel):
    name: str
    age: int = Field(ge=0, le=150)
    emails: list[str] = []
    address: Address | None = None
    work: Address | None = None
    tags: set[str] = set()
    born: datetime.date | None = None
    attributes: dict[str, int | str | None] = {}


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: int = Field(ge=0)
    next: str | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: str


class Owner(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]


class Tree(BaseModel):
    value: float
    children: list[Tree] = []


class Expression(BaseModel):
    operator: Literal["+", "-", "*", "/"]
    left: Expression | float
    right: Expression | float


class Movie(TypedDict, total=False):
    title: str
    year: int


@dataclasses.dataclass
class Point:
    x: float
    y: float
    label: str | None = None


class Pair(NamedTuple):
    first: int
    second: str


class Everything(BaseModel):
    when: datetime.datetime
    day: datetime.date
    time: datetime.time
    span: datetime.timedelta
    id: uuid.UUID
    colour: Colour
    level: Level
    path: Path
    share: float = Field(gt=0, lt=1)
    step: int = Field(multiple_of=5)
    raw: bytes
    pair: tuple[int, str]
    fixed: tuple[float, ...] = Field(min_length=3, max_length=3)
    movie: Movie
    point: Point
    anything: Any = None


ANNOTATIONS: list[Any] = [
    *(str, int, float, bool, None, list[str], dict[str, int], set[str], tuple[int, ...]),
    *(Address, Person, Page[Person], Page[Page[int]], Owner, Tree, Expression, Movie, Point, Pair),
    *(Everything, list[Everything], Colour, list[Colour], Level, Cat | Dog, list[Person] | None),
    *(datetime.datetime, datetime.date, datetime.timedelta, uuid.UUID),
]


def ordinary(schema: Schema) -> bool:
    return not schema.cost.confined and schema.cost.free_bytes >= 1_000


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
@pytest.mark.parametrize("mode", ["validation", "serialization"])
def test_what_pydantic_derives_from_ordinary_models_is_judged_in_the_process(
    annotation: Any, mode: Literal["validation", "serialization"]
) -> None:
    document = TypeAdapter(annotation).json_schema(mode=mode)

    assert ordinary(compile(document)), compile(document).cost


@pytest.mark.parametrize(
    ("dear", "cheap"),
    [
        ({"const": ""}, {"const": "a"}),
        ({"enum": [""]}, {"enum": ["", "a"]}),
        ({"type": "array", "const": [0.5]}, {"const": 0.5}),
        ({"type": "integer", "enum": [1e-320, 1]}, {"type": "integer", "enum": [2, 1]}),
        ({"uniqueItems": True}, {"multipleOf": 0.01}),
        ({"$ref": METASCHEMA}, {"uniqueItems": True}),
        ({"$schema": DRAFT6, "contentMediaType": "application/json"}, {"$schema": DRAFT6}),
        (
            {"$schema": DRAFT6, "contentMediaType": "text/plain", "contentEncoding": "base64"},
            {"$schema": DRAFT6, "contentMediaType": "text/plain"},
        ),
    ],
)
def test_what_the_engine_takes_long_for_is_allowed_for(dear: Any, cheap: Any) -> None:
    taken, allowed = compile(dear).cost.rate, compile(cheap).cost.rate
    assert taken is not None
    assert allowed is not None
    assert taken > allowed
