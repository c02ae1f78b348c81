"""Laws of problems: they agree with the verdict, point at what is there, and blame what fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anyshape.errors import LimitExceeded, Problem, SchemaError
from anyshape.schema import Limits, Schema, compile
from anyshape.schema._compile.core import build
from anyshape.schema._compile.sources import Sources
from anyshape.schema._explain import verdicts
from anyshape.schema._explain.explainer import Explainer

NAMES = st.sampled_from(["a", "b", "ab", "c/d", "ä\n"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.sampled_from([0.5, 1.0, -1.5, 2.0]),
    st.sampled_from(["", "a", "b", "ab", "abc", "2026-07-28"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)
TYPES = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
COUNTS = st.integers(0, 3)
REQUIRED = st.lists(NAMES, min_size=1, max_size=2, unique=True)
PATTERNS = st.sampled_from(["^a", "b$", "^[ab]*$", "."])

URIS = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-04": "http://json-schema.org/draft-04/schema#",
}
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3, unique_by=repr).filter(
        lambda values: all(one != other for i, one in enumerate(values) for other in values[:i])
    ),
    "minimum": st.integers(-1, 3),
    "maximum": st.integers(-1, 3),
    "multipleOf": st.sampled_from([2, 0.5, 3]),
    "minLength": COUNTS,
    "maxLength": COUNTS,
    "pattern": PATTERNS,
    "format": st.sampled_from(["date", "ipv4", "unknown"]),
    "minItems": COUNTS,
    "maxItems": COUNTS,
    "uniqueItems": st.booleans(),
    "minProperties": COUNTS,
    "maxProperties": COUNTS,
    "required": REQUIRED,
}
NEWER_LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "const": VALUES,
    "exclusiveMinimum": st.integers(-1, 3),
    "exclusiveMaximum": st.integers(-1, 3),
}


def keywords(dialect: str, inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    lists = st.lists(inner, min_size=1, max_size=3)
    maps = st.dictionaries(NAMES, inner, max_size=3)
    found: dict[str, st.SearchStrategy[Any]] = {
        **LEAVES,
        "allOf": lists,
        "anyOf": lists,
        "oneOf": lists,
        "not": inner,
        "properties": maps,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "additionalProperties": inner | st.booleans(),
        "dependencies": st.dictionaries(NAMES, inner | REQUIRED, max_size=2),
        "$ref": st.sampled_from(["#/definitions/x", "#/definitions/y", "#"]),
    }
    if dialect != "2020-12":
        found |= {"items": inner | lists, "additionalItems": inner | st.booleans()}
    if dialect != "draft-04":
        found |= {**NEWER_LEAVES, "contains": inner, "propertyNames": inner}
    if dialect not in ("draft-04", "draft-06"):
        found |= {"if": inner, "then": inner, "else": inner}
    if dialect.startswith("20"):
        found |= {
            "dependentRequired": st.dictionaries(NAMES, REQUIRED, max_size=2),
            "dependentSchemas": maps,
            "unevaluatedProperties": inner | st.booleans(),
            "unevaluatedItems": inner | st.booleans(),
            "minContains": COUNTS,
            "maxContains": COUNTS,
        }
    if dialect == "2020-12":
        found |= {"prefixItems": lists, "items": inner | st.booleans()}
    return found


def schemas(dialect: str) -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        known = keywords(dialect, inner)
        return st.lists(st.sampled_from(sorted(known)), max_size=4, unique=True).flatmap(
            lambda names: st.fixed_dictionaries({name: known[name] for name in names})
        )

    leaves = LEAVES if dialect == "draft-04" else {**LEAVES, **NEWER_LEAVES}
    leaf = st.lists(st.sampled_from(sorted(leaves)), max_size=2, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: leaves[name] for name in names})
    )
    return st.recursive(leaf, extend, max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    dialect = draw(st.sampled_from(sorted(URIS)))
    schema = schemas(dialect)
    document = {
        "$schema": URIS[dialect],
        "definitions": {"x": draw(schema), "y": draw(schema)},
    }
    return document | draw(schema)


def compiled(document: dict[str, Any]) -> Schema:
    try:
        return compile(document)
    except (SchemaError, LimitExceeded):
        assume(False)
        raise


def resolve(document: Any, pointer: str) -> Any:
    found: Any = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        found = found[int(name) if isinstance(found, list) else name]
    return found


def walk(problems: list[Problem] | tuple[Problem, ...]) -> Iterator[Problem]:
    for problem in problems:
        yield problem
        yield from walk(problem.causes)


def verdict(schema: Schema, value: object) -> bool:
    try:
        return schema.accepts(value)
    except LimitExceeded:
        assume(False)
        raise


examples = settings(max_examples=200)


@examples
@given(documents(), st.lists(VALUES, min_size=1, max_size=6))
def test_there_are_problems_exactly_when_a_value_is_not_accepted(
    document: dict[str, Any], values: list[Any]
) -> None:
    schema = compiled(document)
    for value in values:
        problems = schema.problems(value)
        assert (problems == []) is verdict(schema, value)
        for problem in walk(problems):
            assert problem.keyword != "", "a failure that nothing explains"
            resolve(value, problem.path)
            resolve(document, problem.schema_path)
            assert str(problem).isprintable()


@examples
@given(documents(), st.lists(VALUES, min_size=1, max_size=6))
def test_the_walk_by_itself_agrees_with_the_engine(
    document: dict[str, Any], values: list[Any]
) -> None:
    schema = compiled(document)
    core = build(Sources.of(document, {}), Limits(), formats=True)
    with mock.patch.object(verdicts, "_MOST_ROUTES", 0):
        unaided = Explainer(core.graph, core.engine, core.rate)
    for value in values:
        accepted = verdict(schema, value)
        for explainer in (core.explainer(), unaided):
            assert (explainer.explain(value) == []) is accepted


@examples
@given(documents(), VALUES)
def test_what_is_blamed_is_to_blame(document: dict[str, Any], value: Any) -> None:
    schema = compiled(document)
    for problem in walk(schema.problems(value)):
        if (
            problem.keyword not in {**LEAVES, **NEWER_LEAVES}
            or "propertyNames" in problem.schema_path
        ):
            continue
        if problem.keyword == "required" and "dependen" in problem.schema_path:
            continue
        part = problem.schema_path.rpartition("/")[0]
        if "/patternProperties/" in part:
            continue  # No reference from another resource leads through one: see divergences.md.
        uri = "https://example.com/document"
        blamed = compile({"$ref": f"{uri}#{quote(part)}"}, resources={uri: document})
        assert not blamed.accepts(resolve(value, problem.path))


@examples
@given(documents(), VALUES, st.integers(1, 4))
def test_no_more_problems_than_asked_for(document: dict[str, Any], value: Any, limit: int) -> None:
    schema = compiled(document)
    assert len(schema.problems(value, limit=limit)) <= limit


@pytest.mark.parametrize("dialect", sorted(URIS))
def test_the_strategy_reaches_every_dialect(dialect: str) -> None:
    assert compile({"$schema": URIS[dialect], "type": "string"}).accepts("x")
