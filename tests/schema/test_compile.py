"""What `compile` takes for a schema, in which dialect and role, and what it says of the rest."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import jsonschema_rs
import pytest
from patience import PATIENCE

import anyshape.schema
from anyshape.documents.dialects import DIALECTS, Dialect
from anyshape.errors import AnyshapeError
from anyshape.schema import (
    InvalidSchema,
    LimitExceeded,
    Limits,
    Schema,
    UnresolvableReference,
    UnsupportedDialect,
    compile,
    compile_here,
)
from anyshape.schema._compile import intake
from anyshape.schema._compile.intake import admit_document

SUPPORTED = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
)


DRAFT_07, DRAFT_04 = SUPPORTED[2], SUPPORTED[4]


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"not": value}
    return value


class TestDialects:
    def test_a_document_without_dialect_is_2020_12(self) -> None:
        schema = compile({"prefixItems": [{"type": "string"}]})

        assert schema.dialect == SUPPORTED[0]
        assert not schema.accepts([1])

    @pytest.mark.parametrize("uri", SUPPORTED)
    def test_each_supported_dialect_is_spoken(self, uri: str) -> None:
        assert compile({"$schema": uri, "type": "integer"}).dialect == uri

    @pytest.mark.parametrize("uri", SUPPORTED)
    def test_an_empty_fragment_makes_no_difference(self, uri: str) -> None:
        other = uri.removesuffix("#") if uri.endswith("#") else uri + "#"

        assert compile({"$schema": other, "type": "integer"}).dialect == uri

    def test_each_dialect_has_its_own_meaning(self) -> None:
        tuples = {"items": [{"type": "string"}]}
        exclusive = {"maximum": 3, "exclusiveMaximum": True}

        assert not compile({"$schema": SUPPORTED[2], **tuples}).accepts([1])
        assert not compile({"$schema": SUPPORTED[4], **exclusive}).accepts(3)
        with pytest.raises(InvalidSchema):
            compile(tuples)
        with pytest.raises(InvalidSchema):
            compile(exclusive)

    @pytest.mark.parametrize(
        "declared",
        [
            "http://json-schema.org/draft-03/schema#",
            "https://json-schema.org/draft/next/schema",
            "https://json-schema.org/draft/2020-12/schema/",
            "https://json-schema.org/draft/2020-12/meta/core",
            "https://example.com/mine",
            "",
            7,
            None,
            ["https://json-schema.org/draft/2020-12/schema"],
        ],
    )
    def test_any_other_dialect_is_unsupported_and_the_supported_ones_are_named(
        self, declared: object
    ) -> None:
        with pytest.raises(UnsupportedDialect) as raised:
            compile({"$schema": declared, "type": "object"})

        assert raised.value.dialect == declared
        assert raised.value.supported == SUPPORTED
        assert raised.value.path == "/$schema"
        assert all(uri in str(raised.value) for uri in SUPPORTED)
        assert "\n" not in str(raised.value)

    def test_a_metaschema_of_the_operators_own_chooses_the_vocabularies(self) -> None:
        resources = {
            "https://example.com/no-validation": {
                "$schema": SUPPORTED[0],
                "$id": "https://example.com/no-validation",
                "$vocabulary": {
                    "https://json-schema.org/draft/2020-12/vocab/core": True,
                    "https://json-schema.org/draft/2020-12/vocab/applicator": True,
                },
                "$dynamicAnchor": "meta",
                "allOf": [
                    {"$ref": "https://json-schema.org/draft/2020-12/meta/core"},
                    {"$ref": "https://json-schema.org/draft/2020-12/meta/applicator"},
                ],
            }
        }
        document = {
            "$schema": "https://example.com/no-validation",
            "properties": {"open": {"minimum": 10}, "closed": False},
        }

        schema = compile(document, resources=resources)

        assert schema.accepts({"open": 1})
        assert not schema.accepts({"closed": 1})
        with pytest.raises(InvalidSchema):
            compile({**document, "properties": 5}, resources=resources)

    def test_metaschemas_that_are_based_on_each_other_end_in_an_error(self) -> None:
        resources = {
            "https://example.com/a": {"$schema": "https://example.com/b"},
            "https://example.com/b": {"$schema": "https://example.com/a"},
        }

        with pytest.raises(UnsupportedDialect):
            compile({"$schema": "https://example.com/a"}, resources=resources)


MISPLACED: list[tuple[Any, str, str]] = [
    (
        {"properties": {"a/b": None}},
        "/properties/a~1b",
        "an object or a boolean), got null",
    ),
    ({"allOf": [{}, 1]}, "/allOf/1", "an object or a boolean), got 1"),
    ({"not": "x"}, "/not", 'an object or a boolean), got "x"'),
    ({"$defs": {"a": {"if": []}}}, "/$defs/a/if", "boolean), got an empty array"),
    ({"$schema": DRAFT_07, "items": 4}, "/items", "boolean) or an array of schemas, got 4"),
    (
        {"$schema": DRAFT_07, "dependencies": {"a": 4}},
        "/dependencies/a",
        "boolean) or an array of names, got 4",
    ),
    ({"$schema": DRAFT_04, "not": None}, "/not", "expected a schema (an object), got null"),
]


class TestMetaschema:
    @pytest.mark.parametrize(
        ("document", "path"),
        [
            ({"type": "strin"}, "/type"),
            ({"type": 5}, "/type"),
            ({"properties": {"a": {"minimum": "3"}}}, "/properties/a/minimum"),
            ({"properties": {"a/b": {"required": "x"}}}, "/properties/a~1b/required"),
            ({"items": [{"type": "string"}]}, "/items"),
            ({"$defs": {"unused": {"minLength": -1}}}, "/$defs/unused/minLength"),
            ({"anyOf": []}, "/anyOf"),
            ({"oneOf": [{}, {"multipleOf": 0}]}, "/oneOf/1/multipleOf"),
            ({"properties": {"a": None}}, "/properties/a"),
            ({"required": ["a", "a"]}, "/required"),
        ],
    )
    def test_a_document_that_breaks_its_metaschema_is_invalid_and_the_place_is_named(
        self, document: object, path: str
    ) -> None:
        with pytest.raises(InvalidSchema) as raised:
            compile(document)

        assert raised.value.path == path
        assert path in str(raised.value)
        assert "\n" not in str(raised.value)
        assert len(str(raised.value)) < 400

    @pytest.mark.parametrize(
        ("document", "path", "expected"),
        MISPLACED,
        ids=str,
    )
    def test_what_stands_where_a_schema_should_is_named(
        self, document: Any, path: str, expected: str
    ) -> None:
        with pytest.raises(InvalidSchema) as raised:
            compile(document)

        assert raised.value.path == path
        assert "expected a schema (an object" in str(raised.value)
        assert expected in str(raised.value)

    @pytest.mark.parametrize("identifier", ["a b", "http://[::", "http://h:port/", "%zz", "\\x"])
    @pytest.mark.parametrize("uri", [dialect.uri for dialect in DIALECTS])
    def test_an_identifier_that_is_no_uri_is_named(self, uri: str, identifier: str) -> None:
        keyword = "id" if uri == DRAFT_04 else "$id"
        document = {"$schema": uri, "definitions": {"a": {keyword: identifier}}}
        with pytest.raises(InvalidSchema) as raised:
            compile(document)

        assert f"expected a URI as {keyword} at /definitions/a, got " in str(raised.value)
        assert raised.value.path == f"/definitions/a/{keyword}"

    def test_a_resource_that_breaks_its_metaschema_is_invalid_when_it_is_reached(self) -> None:
        resources = {"https://example.com/a": {"type": 5}, "https://example.com/b": {"type": 6}}

        with pytest.raises(InvalidSchema, match=r"https://example\.com/a"):
            compile({"$ref": "https://example.com/a"}, resources=resources)

    def test_what_looks_like_a_schema_but_is_data_is_not_checked(self) -> None:
        data = {"type": 5, "$ref": "https://example.com/nowhere", "pattern": "("}

        schema = compile({"const": data, "default": data, "examples": [data]})

        assert schema.accepts(data)
        assert not schema.accepts({})


class TestRoles:
    """Both halves of the acceptance table for SEP-2106."""

    @pytest.mark.parametrize(
        "document",
        [
            {"type": "object", "properties": {"name": {"type": "string"}}},
            {"type": "array", "items": {"type": "string"}},
            {"type": "string"},
            {"type": "integer"},
            {"type": "number"},
            {"type": "boolean"},
            {"type": "null"},
            {"type": ["object", "null"], "properties": {"name": {"type": "string"}}},
            {},
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
            {"const": None},
            True,
            False,
        ],
    )
    def test_an_output_schema_is_any_schema(self, document: Any) -> None:
        assert compile(document, role="output").document == document

    @pytest.mark.parametrize(
        "document",
        [None, 0, 1, 42, -1.5, "", "object", "true", [], [{"type": "object"}], (), b"{}", object()],
    )
    @pytest.mark.parametrize("role", ["input", "output", None])
    def test_what_is_neither_object_nor_boolean_is_no_schema(
        self, document: object, role: Any
    ) -> None:
        with pytest.raises(InvalidSchema):
            compile(document, role=role)

    @pytest.mark.parametrize(
        "document",
        [
            {"type": "object"},
            {"type": "object", "additionalProperties": False},
            {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}},
            {"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"required": ["a"]}}},
            {"type": "object", "x-anything": [1, 2]},
            {"$schema": SUPPORTED[2], "type": "object"},
        ],
    )
    def test_an_input_schema_is_an_object_schema_with_anything_beside_the_type(
        self, document: Any
    ) -> None:
        assert compile(document, role="input").document == document

    @pytest.mark.parametrize(
        "document",
        [
            {},
            {"type": "array"},
            {"type": "string"},
            {"type": ["object"]},
            {"type": ["object", "null"]},
            {"type": None},
            {"properties": {}},
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
            {"allOf": [{"type": "object"}]},
            True,
            False,
        ],
    )
    def test_an_input_schema_says_object_at_its_root(self, document: object) -> None:
        with pytest.raises(InvalidSchema, match='"type": "object"'):
            compile(document, role="input")

    def test_an_unknown_role_is_a_mistake(self) -> None:
        with pytest.raises(ValueError, match="role"):
            compile({}, role="inputs")  # pyright: ignore[reportArgumentType] - the mistake


class TestDocuments:
    @pytest.mark.parametrize(
        "document",
        [
            {1: {}},
            {"properties": {None: {}}},
            {"const": float("nan")},
            {"minimum": float("-inf")},
            {"const": "\ud800"},
            {"\udfff": 1},
            {"const": b"bytes"},
            {"default": object()},
            {"const": 10**5000},
        ],
    )
    def test_a_document_that_is_not_json_is_an_invalid_schema(self, document: object) -> None:
        with pytest.raises(InvalidSchema, match="not JSON"):
            compile(document)

    def test_a_document_with_integers_that_python_is_told_not_to_write_is_invalid(self) -> None:
        before = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(640)
        try:
            with pytest.raises(InvalidSchema, match="cannot be written as JSON"):
                compile({"const": 10**1000})
        finally:
            sys.set_int_max_str_digits(before)

    def test_the_place_that_is_not_json_is_named(self) -> None:
        with pytest.raises(InvalidSchema) as raised:
            compile({"properties": {"a": {"enum": [1, {2, object()}]}}})

        assert raised.value.path.startswith("/properties/a/enum/1/")

    def test_a_document_that_contains_itself_is_an_invalid_schema(self) -> None:
        document: dict[str, Any] = {"properties": {}}
        document["properties"]["child"] = document

        with pytest.raises(InvalidSchema, match="contains itself"):
            compile(document)

    @pytest.mark.parametrize("levels", [1_000, 10_000, 200_000])
    def test_a_bottomless_document_exceeds_the_depth(self, levels: int) -> None:
        with pytest.raises(LimitExceeded) as raised:
            compile(nested(levels))

        assert raised.value.limit == "depth"
        assert raised.value.allowed == Limits().depth

    def test_a_document_that_shares_its_parts_a_billion_times_exceeds_the_size(self) -> None:
        document: Any = {"type": "string"}
        for _ in range(60):
            document = {"anyOf": [document, document]}

        with pytest.raises(LimitExceeded) as raised:
            compile(document)

        assert raised.value.limit == "document_bytes"

    def test_a_deep_document_is_copied_as_quickly_as_a_flat_one(self) -> None:
        # Recursion was a hundred times as slow at depths where each call grew the stack.
        def work(levels: int) -> float:
            inner: Any = [[n] for n in range(20_000)]
            for _ in range(levels):
                inner = [inner]
            begun = time.thread_time()
            admit_document({"default": inner}, Limits())
            return time.thread_time() - begun

        flat = min(work(0) for _ in range(3))
        assert all(min(work(levels) for _ in range(3)) < 10 * flat for levels in range(20, 125, 3))

    def test_a_document_of_many_arrays_is_read_where_it_is_compiled(self) -> None:
        # To make them again took three times as long as all the rest.
        inner: Any = [[[[[[[n]]]]]] for n in range(25_000)]
        document = {"type": "integer", "$id": "urn:x", "default": inner, "minimum": 7}
        work = [time.thread_time()]

        admitted = admit_document(document, Limits())
        work.append(time.thread_time())
        json.dumps(json.loads(json.dumps(document)))
        work.append(time.thread_time())
        schema = compile(document, role="output")
        document["minimum"] = 70

        assert work[1] - work[0] < 10 * (work[2] - work[1])
        assert admitted.document == {"type": "integer"}
        assert admitted.whole() == {**document, "minimum": 7} == schema.document
        assert [schema.accepts(value) for value in (7, 6, "x")] == [True, False, False]
        assert [problem.keyword for problem in schema.problems(6)] == ["minimum"]
        assert compile({**document, "minimum": 7}).accepts(8)
        assert not compile({**document, "minimum": 9}).accepts(8)

    @pytest.mark.parametrize(
        ("change", "kind", "says"),
        [
            ({"$schema": "urn:unknown"}, UnsupportedDialect, "urn:unknown"),
            ({"$schema": ["x"]}, UnsupportedDialect, r"\['x'\]"),
            ({"type": "array"}, InvalidSchema, 'got "array"'),
            ({"type": ["object", "null"]}, InvalidSchema, 'got \\["object","null"\\]'),
            ({"minimum": "x"}, InvalidSchema, "minimum"),
            ({"$ref": "#/$defs/none"}, UnresolvableReference, "none"),
            ({"$ref": "urn:elsewhere"}, UnresolvableReference, "urn:elsewhere"),
        ],
    )
    def test_what_is_wrong_with_a_long_document_is_said(
        self, change: Any, kind: type[Exception], says: str
    ) -> None:
        long = {"type": "object", "examples": ["x" * 300_000]}

        with pytest.raises(kind, match=says):
            compile({**long, **change}, role="input")

    def test_a_long_document_finds_its_dialect_and_what_is_supplied(self) -> None:
        long = {"examples": ["x" * 300_000]}
        draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", **long}
        supplied: dict[str, object] = {
            "urn:integer": {"type": "integer", **long},
            "urn:meta": {"$schema": "https://json-schema.org/draft/2020-12/schema", **long},
        }

        assert compile({**draft7, "prefixItems": [False]}).accepts([1])
        assert not compile({**long, "prefixItems": [False]}).accepts([1])
        schema = compile({**long, "$ref": "urn:integer"}, resources=supplied)
        assert [schema.accepts(value) for value in (1, "x")] == [True, False]
        own = compile({**long, "$schema": "urn:meta", "type": "null"}, resources=supplied)
        assert own.document == {**long, "$schema": "urn:meta", "type": "null"}
        assert [own.accepts(value) for value in (None, "x")] == [True, False]

    @pytest.mark.parametrize("root", [[[[n]] for n in range(90_000)], "x" * 300_000, 10**1_000])
    def test_what_is_long_and_no_schema_is_refused(self, root: Any) -> None:
        with pytest.raises(InvalidSchema, match="an object, true or false") as raised:
            compile(root)

        assert len(str(raised.value)) < 200

    def test_a_huge_string_shared_often_exceeds_the_size(self) -> None:
        text = "x" * 100_000

        with pytest.raises(LimitExceeded) as raised:
            compile({"enum": [text] * 1_000_000})

        assert raised.value.limit == "document_bytes"

    @pytest.mark.parametrize(
        "inner",
        [
            [1] * 1_000_001,
            [[] for _ in range(1_000_001)],
            [[[1] * 20] for _ in range(60_000)],
            ["x" * 400] * 20_000,
        ],
        ids=["numbers", "arrays", "nested", "texts"],
    )
    def test_a_document_that_is_too_large_is_not_read_a_second_time(
        self, inner: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Finding out what else might be wrong with it took 1.5 s and 220 MB.
        monkeypatch.setattr(intake, "read_json", None)

        with pytest.raises(LimitExceeded, match="has more than 1000000 bytes as JSON") as raised:
            compile({"default": inner})

        assert raised.value.limit == "document_bytes"

    def test_python_values_that_stand_for_json_make_up_a_document(self) -> None:
        schema = compile({"enum": ("a", "b"), "type": "string"})

        assert schema.accepts("a")
        assert schema.document == {"enum": ["a", "b"], "type": "string"}

    def test_the_document_is_kept_exactly_as_given(self) -> None:
        text = (
            '{"type":"object","default":null,"x":[1,1.0,true,"",{}],"properties":{"b":{},"a":{}}}'
        )

        schema = compile(json.loads(text))

        assert json.dumps(schema.document, separators=(",", ":")) == text

    def test_changing_the_document_afterwards_changes_nothing(self) -> None:
        document: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
        schema = compile(document)
        document["properties"]["a"]["type"] = "integer"
        published: Any = schema.document
        published["properties"]["a"]["type"] = "integer"

        assert schema.document == {"type": "object", "properties": {"a": {"type": "string"}}}
        assert schema.accepts({"a": "x"})
        assert compile({"type": "object", "properties": {"a": {"type": "integer"}}}).accepts(
            {"a": 1}
        )

    def test_schemas_say_what_they_are(self) -> None:
        schema = compile({"type": "string"})

        assert repr(schema) == "<Schema {'type': 'string'}>"
        assert schema.limits == Limits()

    def test_the_recursion_limit_of_the_interpreter_does_not_matter(self) -> None:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(400)
        try:
            assert not compile(nested(99)).accepts(1)
        finally:
            sys.setrecursionlimit(limit)


MANY = {f"p{n}": {"type": "object", "properties": {"a": {"type": "string"}}} for n in range(1_000)}
DRAFT7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"properties": {**MANY, "z": {"type": "text"}}}, "/properties/z/type"),
        ({"properties": {**MANY, "z": 5}}, "/properties/z"),
        ({"properties": MANY, "maximum": "x"}, "/maximum"),
        ({"$defs": MANY, "allOf": [{}, {"not": {"enum": 5}}]}, "/allOf/1/not/enum"),
        ({"properties": {**MANY, "type": 5}}, "/properties/type"),
        ({"anyOf": [*MANY.values(), {"type": 1}]}, "/anyOf/1000/type"),
        (
            {"$schema": DRAFT7, "definitions": MANY, "items": {"items": [{}, {"minLength": -1}]}},
            "/items/items/1/minLength",
        ),
        (
            {"$schema": DRAFT7, "properties": MANY, "dependencies": {"a/b": {"type": "text"}}},
            "/dependencies/a~1b/type",
        ),
    ],
)
def test_what_is_invalid_is_named_however_large_the_document(document: Any, path: str) -> None:
    with pytest.raises(InvalidSchema) as raised:
        compile(document)

    assert raised.value.path == path
    assert path in str(raised.value)
    assert "does not satisfy" not in str(raised.value)


class TestCache:
    def test_equal_documents_compile_once(self) -> None:
        one = compile({"type": "string", "title": "cached"})
        other = compile({"title": "cached", "type": "string"})

        assert one._judge is other._judge
        assert json.dumps(one.document) != json.dumps(other.document)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"const": 1}, {"const": True}),
            ({"const": 0}, {"const": False}),
            ({"const": "1"}, {"const": 1}),
        ],
    )
    def test_python_equality_is_not_equality_of_documents(self, one: Any, other: Any) -> None:
        first, second = compile(one), compile(other)

        assert first.accepts(one["const"])
        assert not first.accepts(other["const"])
        assert second.accepts(other["const"])
        assert not second.accepts(one["const"])

    def test_schemas_with_the_same_id_are_told_apart(self) -> None:
        uri = "https://example.com/same"

        assert compile({"$id": uri, "type": "string"}).accepts("x")
        assert compile({"$id": uri, "type": "integer"}).accepts(1)
        assert not compile({"$id": uri, "type": "integer"}).accepts("x")

    def test_a_resource_may_have_a_name_that_is_no_text(self) -> None:
        assert compile({"type": "string"}, resources={"\ud800": {}}).accepts("x")

    def test_limits_formats_and_resources_are_part_of_what_is_equal(self) -> None:
        document = {"$ref": "https://example.com/r", "format": "email"}
        resources = {"https://example.com/r": {"type": "string"}}
        others = {"https://example.com/r": {"type": "integer"}}
        schema = compile(document, resources=resources)

        assert compile(document, resources=dict(resources))._judge is schema._judge
        assert compile(document, resources=others).accepts(1)
        assert compile(document, resources=resources, formats=False).accepts("x")
        assert not schema.accepts("x")
        assert (
            compile(document, resources=resources, limits=Limits(seconds=9))._judge
            is not schema._judge
        )

    def test_roles_are_checked_even_for_documents_compiled_before(self) -> None:
        compile({"type": "array"}, role="output")

        with pytest.raises(InvalidSchema):
            compile({"type": "array"}, role="input")

    def test_documents_that_differ_in_descriptions_alone_compile_once(self) -> None:
        texts = ("Where", 'The "city"', "Path: C:\\", "")
        documents = [
            {"properties": {"a": {"type": "string", "description": text}}, "description": text}
            for text in texts
        ]
        schemas = [compile(document) for document in documents]

        assert all(schema._judge is schemas[0]._judge for schema in schemas)
        assert [json.dumps(schema.document) for schema in schemas] == [
            json.dumps(document) for document in documents
        ]

    @pytest.mark.parametrize(
        "document",
        [
            '{"const": {"description": "TEXT"}}',
            '{"enum": [1, {"description": "TEXT"}]}',
            '{"items": {"const": [{"a": [{"description": "TEXT"}]}]}}',
            '{"properties": {"description": {"const": "TEXT"}}}',
            '{"properties": {"description": {"enum": ["TEXT"]}}}',
        ],
    )
    def test_descriptions_that_are_values_are_told_apart(self, document: str) -> None:
        for text in ("one", "other"):
            written = json.loads(document.replace("TEXT", text))
            schema = compile(written)
            for value in ({"description": "other"}, [[{"a": [{"description": "other"}]}]]):
                assert schema.accepts(value) is jsonschema_rs.is_valid(written, value)

    def test_a_metaschema_of_ones_own_judges_every_description(self) -> None:
        uri = "https://example.com/described"
        rules = {"minLength": 3, "maxLength": 9}
        metaschema = {
            "$schema": SUPPORTED[0],
            "$id": uri,
            "allOf": [{"$ref": SUPPORTED[0]}],
            "properties": {"description": rules},
        }
        for text in ("good", "no", "also good", "far too long", "", "good"):
            document = {"$schema": uri, "description": text}
            if "good" in text:
                assert compile(document, resources={uri: metaschema}).document == document
                continue
            with pytest.raises(InvalidSchema, match="/description"):
                compile(document, resources={uri: metaschema})

    def test_a_document_with_descriptions_is_refused_as_one_without(self) -> None:
        for described in ({}, {"description": "first"}, {"description": "second"}):
            with pytest.raises(InvalidSchema, match="/properties/a"):
                compile({"properties": {"a": [described]}, **described})
        with pytest.raises(InvalidSchema, match="/description"):
            compile({"description": 1})

    def test_failures_are_not_remembered(self) -> None:
        for _ in range(2):
            with pytest.raises(InvalidSchema):
                compile({"type": 5})

    def test_threads_that_ask_at_once_share_one_compilation(self) -> None:
        document = {
            "type": "object",
            "properties": {f"p{n}": {"type": "string"} for n in range(200)},
        }
        start = threading.Barrier(8, timeout=PATIENCE)
        found: list[Schema] = []

        def work() -> None:
            start.wait()
            found.append(compile(document))

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=PATIENCE)

        assert len(found) == 8
        assert len({id(schema._judge) for schema in found}) == 1

    def test_threads_that_ask_at_once_each_hear_of_their_own_document(self) -> None:
        start = threading.Barrier(8, timeout=PATIENCE)
        found: dict[str, str] = {}

        def work(text: str) -> None:
            start.wait()
            with pytest.raises(InvalidSchema) as raised:
                compile({"properties": {"description": text}})
            found[text] = str(raised.value)

        threads = [threading.Thread(target=work, args=(f"text {n}",)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=PATIENCE)

        assert len(found) == 8
        assert all(f'"{text}"' in message for text, message in found.items())


class TestFormats:
    def test_formats_are_enforced(self) -> None:
        schema = compile({"type": "string", "format": "uuid"})

        assert schema.accepts("2eb8aa08-aa98-11ea-b4aa-73b441d16380")
        assert not schema.accepts("not a uuid")

    def test_formats_can_be_annotations(self) -> None:
        assert compile({"type": "string", "format": "uuid"}, formats=False).accepts("not a uuid")

    @pytest.mark.parametrize("name", ["email", "idn-email"])
    def test_an_address_stands_alone(self, name: str) -> None:
        schema = compile({"format": name})

        assert schema.accepts("joe@example.com")
        assert schema.accepts('"joe x"@example.com')
        for named in ("Joe <joe@example.com>", '"Joe" <joe@example.com>', "<joe@example.com>"):
            assert not schema.accepts(named)
            assert [problem.keyword for problem in schema.problems(named)] == ["format"]

    def test_unknown_formats_are_annotations(self) -> None:
        assert compile({"type": "string", "format": "binary"}).accepts("anything")


def test_everything_that_compile_raises_is_an_anyshape_error() -> None:
    documents: list[Any] = [
        None,
        {"type": 5},
        {"$schema": 1},
        {"$ref": "x"},
        {"pattern": "("},
        nested(999),
    ]

    for document in documents:
        with pytest.raises(AnyshapeError):
            compile(document)


def test_the_public_surface_is_what_all_says() -> None:
    for name in anyshape.schema.__all__:
        assert getattr(anyshape.schema, name) is not None


def test_an_empty_reference_names_the_document() -> None:
    schema = compile({"type": "array", "items": {"$ref": ""}})
    nested: list[object] = [[]]
    assert schema.accepts(nested)
    assert not schema.accepts(["x"])
    assert [problem.path for problem in schema.problems([[], ["x"]])] == ["/1/0"]


def test_a_supplied_document_may_refer_back_to_the_one_being_compiled() -> None:
    schema = compile(
        {
            "$id": "http://example.com/root",
            "$ref": "http://example.com/other",
            "$defs": {"name": {"type": "string"}},
        },
        resources={
            "http://example.com/other": {
                "properties": {"name": {"$ref": "http://example.com/root#/$defs/name"}}
            }
        },
    )
    assert [schema.accepts(value) for value in ({"name": "x"}, {"name": 1})] == [True, False]


@pytest.mark.parametrize("own", DIALECTS, ids=repr)
@pytest.mark.parametrize("other", DIALECTS, ids=repr)
def test_the_metaschema_of_any_dialect_resolves_in_any_other(own: Dialect, other: Dialect) -> None:
    schema = compile({"$schema": own.uri, "allOf": [{"$ref": other.uri}]})
    assert schema.accepts({"type": "string"})
    assert not schema.accepts({"type": 12})
    assert schema.problems({"type": 12})


def test_a_light_schema_holds_its_text_alone_and_judges_alike() -> None:
    document = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}
    kept = compile(document)
    light = compile_here(document, light=True)

    assert light.weight == 0 < kept.weight
    assert light.document == document
    values: list[Any] = [{"a": 3}, {"a": 2}, {"a": "x"}, []]
    for value in values:
        assert light.accepts(value) == light.accepts_parsed(value) == kept.accepts(value)
        assert light.problems(value) == kept.problems(value)
