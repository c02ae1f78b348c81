"""Laws of shaping, over generated schemas and values, judged by two engines that are not ours.

The generator aims at what shaping could break: pointers of every form, anchors, dynamic and
recursive references, embedded resources, `$defs` under awkward names, references beside siblings,
and data that looks like references.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, cast

import jsonschema_rs
import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, validators

from anyshape.protocol.description import ToolDescription
from anyshape.protocol.result import ABSENT, Absent, EncodedResult
from anyshape.protocol.revision import Revision
from anyshape.protocol.shapes import Carriage, ShapeOptions, carriage_of, shape
from anyshape.protocol.shapes.result_reader import result_reader

Json = Any
Schema = dict[str, Any]

DIALECTS = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-04": "http://json-schema.org/draft-04/schema#",
}
ENVELOPING = (Revision.V2025_06_18, Revision.V2025_11_25)
NATURAL = [revision for revision in Revision if revision.is_natural]

KEYS = st.sampled_from(["a", "b", "result", "$ref", "default", "properties"])
NAMES = st.sampled_from(["A", "B", "a/b", "t~x", "100%", "ü", "$ref", "result", "properties"])

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "x", "yy", "#/$defs/A"])
)
values: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=8,
)

# What only looks like references, wherever data may stand.
decoys = st.one_of(
    values,
    st.sampled_from(
        [
            {"$ref": "#"},
            {"$ref": "#/properties/a", "$id": "https://example.com/decoy"},
            {"$defs": {"A": {"$ref": "#/items"}}},
            [{"$dynamicRef": "#node"}, {"$recursiveRef": "#"}],
        ]
    ),
)


def escaped(name: str, *, percent: bool) -> str:
    """Return a name as a token of a pointer in a URI fragment."""
    token = name.replace("~", "~0").replace("/", "~1")
    if percent:
        return "".join(f"%{byte:02X}" for byte in token.encode())
    return token.replace("%", "%25").replace("ü", "%C3%BC")


class Author:
    """Writes one schema document in one dialect, with references that all resolve.

    References that apply to the same instance only lead to definitions written earlier, and all
    others sit below an instance step, so that no document refers to itself in place.
    """

    def __init__(self, draw: st.DrawFn, dialect: str) -> None:
        self.draw = draw
        self.dialect = dialect
        self.modern = dialect in ("2020-12", "2019-09")
        self.definitions = (
            draw(st.sampled_from(["$defs", "definitions"])) if self.modern else ("definitions")
        )
        self.in_place: list[str] = []
        self.anywhere: list[str] = ["#"]

    def document(self) -> Schema:
        defined: Schema = {}
        names = self.draw(st.lists(NAMES, unique=True, max_size=4))
        for name in names:
            percent = self.draw(st.booleans())
            self.anywhere.append(f"#/{self.definitions}/{escaped(name, percent=percent)}")
        self.anywhere += ["#/components/x%20y", "#/properties/mark"]
        if self.modern:
            self.anywhere.append("#plain")
        else:
            self.anywhere.append("#legacy")
        for name, pointer in zip(names, list(self.anywhere[1:]), strict=False):
            defined[name] = self.schema(2)
            self.in_place.append(pointer)
        root = self.schema(3)
        properties = dict(root.get("properties") or {})
        properties["mark"] = self.landmark()
        root["properties"] = properties
        root["components"] = {"x y": self.landmark(), "unused": {"$ref": "#/nowhere"}}
        if defined or self.draw(st.booleans()):
            root[self.definitions] = defined
        if self.draw(st.booleans()):
            self.embed(root)
        if self.dialect != "2020-12" or self.draw(st.booleans()):
            root = {"$schema": DIALECTS[self.dialect], **root}
        return root

    def landmark(self) -> Schema:
        """Return a schema that pointers may lead to, never itself a reference in place."""
        schema = self.concrete(1)
        if self.modern and "#plain" in self.anywhere and self.draw(st.booleans()):
            schema["$defs"] = {"inner": {"type": "string"}}
            schema.setdefault("properties", {})["b"] = {"$ref": "#/properties/mark"}
        return schema

    def embed(self, root: Schema) -> None:
        """Put a resource with its own base among the definitions, and refer to it."""
        id_keyword = "id" if self.dialect == "draft-04" else "$id"
        resource: Schema = {
            id_keyword: "https://example.com/resource",
            "type": ["object", "integer"],
            "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/definitions/leaf"}},
            "definitions": {"leaf": {"type": ["integer", "string"]}},
        }
        root.setdefault(self.definitions, {})["resource"] = resource
        root["properties"]["result"] = {"$ref": "https://example.com/resource"}
        root["properties"]["b"] = {"$ref": "https://example.com/resource#/definitions/leaf"}

    def schema(self, depth: int) -> Schema:
        """Return a schema that may be a reference to an earlier definition."""
        if self.in_place and self.draw(st.integers(0, 3)) == 0:
            schema: Schema = {"$ref": self.draw(st.sampled_from(self.in_place))}
            if self.draw(st.booleans()):
                schema.update(self.concrete(0))
            return schema
        return self.concrete(depth)

    def child(self, depth: int) -> Schema:
        """Return a schema for a part of the instance: anything may be referred to."""
        choice = self.draw(st.integers(0, 5))
        if choice < 2:
            schema: Schema = {"$ref": self.draw(st.sampled_from(self.anywhere))}
            if self.draw(st.booleans()):
                schema["description"] = "beside"
            return schema
        if choice == 2 and self.dialect == "2020-12":
            pointer = self.draw(st.sampled_from(["#node", "#"]))
            return {"$dynamicRef": pointer}
        if choice == 2 and self.dialect == "2019-09":
            return {"$recursiveRef": "#"}
        return self.concrete(depth)

    def concrete(self, depth: int) -> Schema:
        """Return a schema without a reference at its root."""
        draw = self.draw
        schema: Schema = {}
        kind = draw(
            st.sampled_from(
                ["object", "array", "null", ["object", "null"], ["object", "array"], None, None]
            )
        )
        if kind is not None:
            schema["type"] = kind
        for keyword in draw(st.lists(st.sampled_from(["default", "const", "enum"]), max_size=1)):
            data = draw(decoys)
            schema[keyword] = [data, draw(values)] if keyword == "enum" else data
        if schema.get("enum") and schema["enum"][0] == schema["enum"][1]:
            del schema["enum"]
        if draw(st.integers(0, 3)) == 0:
            schema["examples"] = [draw(decoys)]
        if depth <= 0:
            return schema
        if draw(st.booleans()):
            schema["properties"] = {
                draw(KEYS): self.child(depth - 1) for _ in range(draw(st.integers(1, 2)))
            }
        if draw(st.integers(0, 2)) == 0:
            schema["items"] = self.child(depth - 1)
        if draw(st.integers(0, 3)) == 0:
            schema["additionalProperties"] = self.child(depth - 1)
        if draw(st.integers(0, 2)) == 0:
            keyword = draw(st.sampled_from(["anyOf", "allOf", "oneOf"]))
            schema[keyword] = [self.schema(depth - 1) for _ in range(draw(st.integers(1, 2)))]
        if self.dialect not in ("draft-04", "draft-06") and draw(st.integers(0, 4)) == 0:
            schema["if"] = self.schema(depth - 1)
            schema["then"] = self.schema(depth - 1)
            if draw(st.booleans()):
                schema["else"] = self.schema(depth - 1)
        if draw(st.integers(0, 5)) == 0:
            schema["not"] = draw(st.sampled_from([{"type": "null"}, {"type": ["array", "null"]}]))
        return schema


def name_places(document: Schema, dialect: str) -> Schema:
    """Give the document the anchors that its references may use, on places of their own."""
    document.setdefault("properties", {})["anchored"] = (
        {"$anchor": "plain", "type": ["object", "integer"]}
        if dialect in ("2020-12", "2019-09")
        else {"id" if dialect == "draft-04" else "$id": "#legacy", "type": ["object", "integer"]}
    )
    if dialect == "2020-12":
        document["properties"]["dynamic"] = {"$dynamicAnchor": "node", "type": ["object", "null"]}
    return document


@st.composite
def documents(draw: st.DrawFn) -> Schema:
    dialect = draw(st.sampled_from([*DIALECTS, "2020-12"]))
    document = name_places(Author(draw, dialect).document(), dialect)
    if draw(st.integers(0, 4)) == 0 and "$ref" not in document:
        keyword = "id" if dialect == "draft-04" else "$id"
        document[keyword] = "https://example.com/root"
    if dialect == "2019-09" and draw(st.booleans()):
        document["$recursiveAnchor"] = True
    if dialect == "2020-12" and draw(st.integers(0, 3)) == 0:
        document["$dynamicAnchor"] = "node"
        del document["properties"]["dynamic"]
    return document


schemas: st.SearchStrategy[Schema | bool] = st.one_of(documents(), st.booleans())
options = st.builds(
    ShapeOptions,
    mirror_objects=st.booleans(),
    nullable_objects=st.sampled_from(["wrap", "object"]),
)
enveloping = st.sampled_from(ENVELOPING)

law = settings(max_examples=80)


# Every small value there is, near enough: what a drawn value misses, one of these hits.
_LEAVES: list[Json] = [None, True, 1, "x", {}, []]
_STEPS = ["a", "b", "result", "$ref", "default", "properties", "mark", "anchored", "dynamic"]
_SHALLOW: list[Json] = [
    *({step: leaf} for step in _STEPS for leaf in _LEAVES),
    *([x] for x in _LEAVES),
]
PROBES: list[Json] = [
    *_LEAVES,
    *_SHALLOW,
    *({step: inner} for step in _STEPS for inner in _SHALLOW),
    *([inner] for inner in _SHALLOW),
]


def accepts(schema: Schema | bool, value: Json) -> bool:
    return jsonschema_rs.validator_for(schema).is_valid(value)


def sent(
    revision: Revision, schema: Schema | bool | Absent, chosen: ShapeOptions, value: Json
) -> Json:
    """Return the result that a tool with this schema sends for a value."""
    encode = shape(revision).result_encoder(schema, chosen, b'{"name":"laws","version":"1"}')
    return json.loads(encode(EncodedResult(msgspec.json.encode(value))))


def carried(carriage: Carriage, value: Json) -> Json | Absent:
    """Return what stands for a value where only objects may stand."""
    if carriage is Carriage.ENVELOPE:
        return {"result": value}
    if isinstance(value, dict):
        return cast("Json", value)
    return {"result": value} if carriage is Carriage.BY_VALUE else ABSENT


@settings(law, max_examples=300)
@given(schema=schemas, value=values, chosen=options, revision=enveloping)
def test_a_shaped_schema_accepts_the_shaped_value_exactly_when_the_natural_accept_each_other(
    schema: Schema | bool, value: Json, chosen: ShapeOptions, revision: Revision
) -> None:
    listed = shape(revision).output_schema(schema, chosen)
    assert isinstance(listed, dict)
    assert listed["type"] == "object"
    natural = jsonschema_rs.validator_for(schema)
    shaped = jsonschema_rs.validator_for(listed)
    carriage = carriage_of(schema, chosen)
    for probe in (value, *PROBES):
        structured = carried(carriage, probe)
        if isinstance(structured, Absent):
            # Left out: what the schema excludes, or null where null is said by saying nothing.
            by_silence = carriage is Carriage.OBJECT_OR_NOTHING and probe is None
            assert by_silence or not natural.is_valid(probe), probe
        else:
            assert shaped.is_valid(structured) == natural.is_valid(probe), probe


@law
@given(schema=st.one_of(schemas, st.just(ABSENT)), value=values, chosen=options)
def test_the_encoder_carries_a_value_as_decided(
    schema: Schema | bool | Absent, value: Json, chosen: ShapeOptions
) -> None:
    carriage = carriage_of(schema, chosen)
    for revision in ENVELOPING:
        structured = sent(revision, schema, chosen, value).get("structuredContent", ABSENT)
        assert structured == carried(carriage, value)


@settings(law, max_examples=50)
@given(schema=schemas, value=values, chosen=options, revision=enveloping)
def test_a_second_engine_agrees(
    schema: Schema | bool, value: Json, chosen: ShapeOptions, revision: Revision
) -> None:
    listed = shape(revision).output_schema(schema, chosen)
    assert isinstance(listed, dict)
    natural = validators.validator_for(schema, default=Draft202012Validator)(schema)
    shaped = validators.validator_for(listed, default=Draft202012Validator)(listed)
    carriage = carriage_of(schema, chosen)
    for probe in (value, *_LEAVES, *_SHALLOW):
        structured = carried(carriage, probe)
        if not isinstance(structured, Absent):
            assert shaped.is_valid(structured) == natural.is_valid(probe), probe


@law
@given(
    schema=st.one_of(schemas, st.just(ABSENT)),
    value=values,
    chosen=options,
    revision=st.sampled_from([*ENVELOPING, *NATURAL]),
)
def test_reading_returns_the_natural_value(
    schema: Schema | bool | Absent, value: Json, chosen: ShapeOptions, revision: Revision
) -> None:
    assume(isinstance(schema, Absent) or accepts(schema, value))
    listed = shape(revision).output_schema(schema, chosen)
    read = result_reader(revision, listed)(sent(revision, schema, chosen, value))
    assert not isinstance(read.value, Absent)
    assert msgspec.json.encode(read.value) == msgspec.json.encode(value)


def data_of(node: Any, *, named: bool = False) -> Iterator[str]:
    """Yield every piece of data in a document, as text; `named` when the keys are names."""
    if type(node) is dict:
        for keyword, value in cast("Schema", node).items():
            if not named and keyword in ("const", "enum", "default", "examples"):
                yield json.dumps([keyword, value], sort_keys=True)
            else:
                maps = ("properties", "$defs", "definitions", "components")
                yield from data_of(value, named=not named and keyword in maps)
    elif type(node) is list:
        for value in cast("list[Any]", node):
            yield from data_of(value)


@law
@given(schema=documents(), chosen=options, revision=st.sampled_from(Revision))
def test_shaping_touches_no_data_and_not_the_original(
    schema: Schema, chosen: ShapeOptions, revision: Revision
) -> None:
    original = copy.deepcopy(schema)
    listed = shape(revision).output_schema(schema, chosen)
    assert schema == original
    if isinstance(listed, dict):
        assert sorted(data_of(listed)) == sorted(data_of(original))


@law
@given(schema=schemas, revision=st.sampled_from(NATURAL), value=values, chosen=options)
def test_natural_revisions_see_what_the_author_wrote(
    schema: Schema | bool, revision: Revision, value: Json, chosen: ShapeOptions
) -> None:
    tool = ToolDescription(name="t", input_schema={"type": "object"}, output_schema=schema)
    entry = shape(revision).entry(tool, chosen)
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    assert entry["outputSchema"] == schema
    assert sent(revision, schema, chosen, value)["structuredContent"] == value


@law
@given(schema=st.one_of(schemas, st.just(ABSENT)), value=values, chosen=options)
@pytest.mark.parametrize("revision", [Revision.V2024_11_05, Revision.V2025_03_26])
def test_the_oldest_revisions_get_text_alone(
    schema: Schema | bool | Absent, value: Json, chosen: ShapeOptions, revision: Revision
) -> None:
    assert isinstance(shape(revision).output_schema(schema, chosen), Absent)
    result = sent(revision, schema, chosen, value)
    assert result.keys() == {"content"}
    [mirror] = result["content"]
    assert mirror["type"] == "text"
    assert (mirror["text"] if isinstance(value, str) else json.loads(mirror["text"])) == value


@law
@given(value=values, chosen=options, revision=st.sampled_from(Revision))
def test_the_text_mirror_is_the_natural_value(
    value: Json, chosen: ShapeOptions, revision: Revision
) -> None:
    result = sent(revision, ABSENT, chosen, value)
    if revision in NATURAL and isinstance(value, dict) and not chosen.mirror_objects:
        assert result["content"] == []
    else:
        [mirror] = result["content"]
        is_raw = isinstance(value, str) and (revision not in NATURAL or chosen.raw_strings)
        assert (mirror["text"] if is_raw else json.loads(mirror["text"])) == value
