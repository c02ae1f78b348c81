"""References: what is found, what is refused, and how URIs are joined."""

from __future__ import annotations

import json
from typing import Any

import pytest

from anyshape.documents.dialects import DIALECTS, Dialect
from anyshape.documents.library import Library, dialect_of, load
from anyshape.documents.uris import join
from anyshape.errors import (
    InvalidSchema,
    LimitExceeded,
    SchemaError,
    UnresolvableReference,
    UnsupportedDialect,
)
from anyshape.schema import compile
from anyshape.schema._compile.graph import Graph, build_graph
from anyshape.schema._compile.metaschemas import (
    find_metaschema,
    is_metaschema,
    metaschema_documents,
)


def graph_of(document: dict[str, object], resources: dict[str, object] | None = None) -> Graph:
    library = Library(resources or {}, subschemas=1_000, metaschemas=find_metaschema)
    root = load(document, library, dialect_of(document))
    return build_graph(root, library, subschemas=1_000, depth=64)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
    ],
)
def test_references_are_joined_as_rfc_3986_says(reference: str, expected: str) -> None:
    assert join("http://a/b/c/d;p?q", reference) == expected


def test_references_are_joined_in_schemes_that_nobody_registered() -> None:
    assert join("urn:example:root", "#/definitions/a") == "urn:example:root#/definitions/a"
    assert join("json-schema:///", "item.json") == "json-schema:///item.json"
    assert join("tag:example.com,2026:a", "other:b") == "other:b"


@pytest.mark.parametrize(
    "uri",
    [
        "http://example.com/schema",
        "https://example.com/schema#/definitions/a",
        "file:///etc/passwd",
        "ftp://example.com/a",
        "urn:example:missing",
        "other.json",
        "//example.com/a",
        "data:application/json,{}",
        "javascript:alert(1)",
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        '{"$ref": HERE}',
        '{"$dynamicRef": HERE}',
        '{"not": {"$ref": HERE}}',
        '{"$defs": {"never-used": {"$ref": HERE}}}',
        '{"if": false, "then": {"items": {"$ref": HERE}}}',
        '{"then": {"$ref": HERE}}',
        '{"properties": {"$ref": {"$ref": HERE}}}',
        '{"contentSchema": {"$ref": HERE}}',
    ],
)
def test_a_reference_that_leaves_the_document_is_refused_wherever_it_stands(
    uri: str, place: str
) -> None:
    with pytest.raises(UnresolvableReference) as caught:
        graph_of(json.loads(place.replace("HERE", json.dumps(uri))))
    assert caught.value.uri == join("json-schema:///", uri).partition("#")[0]


def test_text_that_only_looks_like_a_reference_is_left_alone() -> None:
    outside = {"$ref": "http://example.com/a"}
    graph_of(
        {
            "const": outside,
            "enum": [outside],
            "default": outside,
            "examples": [outside],
            "properties": {"$ref": {"type": "string"}},
            "x-unknown": outside,
        }
    )


def test_anchors_pointers_embedded_resources_and_resources_are_found() -> None:
    graph = graph_of(
        {
            "$id": "http://example.com/root",
            "allOf": [
                {"$ref": "#here"},
                {"$ref": "#/$defs/a~1b"},
                {"$ref": "#/$defs/per%25cent"},
                {"$ref": "embedded"},
                {"$ref": "embedded#inside"},
                {"$ref": "http://example.com/root#/x-unknown/0"},
                {"$ref": "http://example.com/supplied#/definitions/c"},
                {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            ],
            "$defs": {
                "a/b": {"type": "string"},
                "per%cent": {"type": "string"},
                "anchored": {"$anchor": "here"},
                "other": {"$id": "embedded", "$defs": {"i": {"$anchor": "inside"}}},
            },
            "x-unknown": [{"type": "null"}],
        },
        {"http://example.com/supplied": {"definitions": {"c": {"minimum": 1}}}},
    )
    places = [edge.target.edges[0].target.spot.place for edge in graph.root.edges]
    assert places == [
        "/$defs/anchored",
        "/$defs/a~1b",
        "/$defs/per%cent",
        "/$defs/other",
        "/$defs/other/$defs/i",
        "/x-unknown/0",
        "http://example.com/supplied#/definitions/c",
        "https://json-schema.org/draft/2020-12/schema#",
    ]


def test_a_dynamic_reference_goes_to_the_outermost_resource_that_has_its_anchor() -> None:
    graph = graph_of(
        {
            "$id": "http://example.com/strict-tree",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {
                "tree": {
                    "$id": "tree",
                    "$dynamicAnchor": "node",
                    "properties": {"children": {"items": {"$dynamicRef": "#node"}}},
                }
            },
        }
    )
    items = next(
        node for node in graph.nodes if node.spot.pointer.endswith("/properties/children/items")
    )
    assert items.edges[0].target.spot.pointer == ""


@pytest.mark.parametrize(
    "document",
    [
        {"$ref": "#"},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}},
        },
        {"$dynamicAnchor": "x", "if": {"$dynamicRef": "#x"}},
        {"dependentSchemas": {"a": {"$ref": "#"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "allOf": [{"$ref": "#"}]},
        {
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "allOf": [{"$recursiveRef": "#"}],
        },
    ],
)
def test_a_schema_that_applies_itself_in_place_is_invalid(document: dict[str, object]) -> None:
    with pytest.raises(InvalidSchema, match="without end"):
        graph_of(document)


def test_recursion_through_children_is_fine_and_known_as_recursion() -> None:
    graph = graph_of({"properties": {"next": {"$ref": "#"}}, "items": {"$ref": "#"}})
    assert graph.recursive
    assert not graph_of(
        {"properties": {"next": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}
    ).recursive


def test_siblings_of_a_reference_are_ignored_where_the_dialect_says_so() -> None:
    old = graph_of(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/a",
            "properties": {"x": {}},
            "definitions": {"a": {"type": "object"}},
        }
    )
    assert [edge.keyword for edge in old.root.edges] == ["$ref"]
    new = graph_of({"$ref": "#/$defs/a", "properties": {"x": {}}, "$defs": {"a": {}}})
    assert [edge.keyword for edge in new.root.edges] == ["$ref", "properties"]


def test_an_embedded_resource_may_speak_another_dialect() -> None:
    graph = graph_of(
        {
            "$ref": "old",
            "$defs": {
                "old": {
                    "$id": "old",
                    "$schema": "http://json-schema.org/draft-07/schema#",
                    "$ref": "#/definitions/a",
                    "minimum": 1,
                    "definitions": {"a": {}},
                }
            },
        }
    )
    (old,) = [node for node in graph.nodes if node.spot.pointer == "/$defs/old"]
    assert old.spot.dialect.name == "draft-07"
    assert [edge.keyword for edge in old.edges] == ["$ref"]
    with pytest.raises(UnsupportedDialect) as caught:
        graph_of({"$defs": {"x": {"$id": "x", "$schema": "http://example.com/dialect"}}})
    assert caught.value.path == "/$defs/x/$schema"


def test_too_many_subschemas_are_refused() -> None:
    with pytest.raises(LimitExceeded) as caught:
        graph_of({"$defs": {f"d{number}": {} for number in range(2_000)}})
    assert (caught.value.limit, caught.value.allowed) == ("subschemas", 1_000)


def test_a_long_chain_of_references_in_place_is_refused() -> None:
    chain = {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(100)}
    with pytest.raises(LimitExceeded) as caught:
        graph_of({"$ref": "#/$defs/d0", "$defs": {**chain, "d100": {}}})
    assert caught.value.limit == "depth"


@pytest.mark.parametrize("known", DIALECTS, ids=repr)
def test_official_metaschemas_are_known_without_any_network(known: Dialect) -> None:
    assert known.metaschema_uri in metaschema_documents(known)
    assert is_metaschema(known.metaschema_uri) is known
    graph = graph_of({"$schema": known.uri, "$ref": known.uri})
    assert graph.recursive


@pytest.mark.parametrize(
    "document",
    [
        {"properties": {"a\nb\x1b[31m": {"type": "no type"}}},
        {"properties": {"a\nb": {"$ref": "#/nowhere"}}},
        {"properties": {"a\u202eb": {"$schema": "urn:no\ndialect"}}},
        {"$defs": {"a\r": {"$ref": "#/$defs/a%0D"}}, "$ref": "#/$defs/a%0D"},
    ],
)
def test_names_of_strangers_cannot_forge_a_line_of_an_error(document: Any) -> None:
    with pytest.raises(SchemaError) as raised:
        compile(document)
    assert str(raised.value).isprintable()
    assert raised.value.message == str(raised.value)


@pytest.mark.parametrize(
    "document",
    [
        {"properties": {"a": {"const": {"x": {}}}, "b": {"$ref": "#/properties/a/const/x"}}},
        {"items": {"enum": [{"pattern": "^.$"}]}, "allOf": [{"$ref": "#/items/enum/0"}]},
        {"allOf": [{"$ref": "#/$defs"}], "$defs": {"const": {"pattern": "^.$"}}},
    ],
)
def test_what_is_a_constant_is_no_schema(document: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchema, match="is a constant"):
        compile(document)


def test_a_definition_may_be_called_as_a_keyword_is() -> None:
    schema = compile({"$defs": {"const": {"pattern": "^.$"}}, "items": {"$ref": "#/$defs/const"}})
    assert schema.accepts(["a"])
    assert not schema.accepts(["\r"])
