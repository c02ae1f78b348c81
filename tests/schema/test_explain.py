"""Problems: what they say, where they point, and that finding them costs no more than it may."""

from __future__ import annotations

import copy
import enum
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE

from anyshape.documents.dialects import SUPPORTED
from anyshape.errors import Problem
from anyshape.schema import Schema, ValidationError, compile
from anyshape.schema._explain.leaves import find_repetition
from anyshape.schema._wording import LINE_WIDTH, nearest

TABLE = Path(__file__).with_name("problems.txt")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "concepts" / "problems.md"


def read_table(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (schema, value, lines) for each value of the table."""
    schema, value = "", ""
    lines: list[str] = []
    for entry in _logical_lines(text):
        kind, _, rest = entry.partition(" ")
        if kind == "line":
            lines.append(rest)
            continue
        if lines:
            yield schema, value, lines
            lines = []
        if kind == "schema":
            schema = rest
        else:
            assert kind == "value", entry
            value = rest
    yield schema, value, lines


def _logical_lines(text: str) -> Iterator[str]:
    pending = ""
    for line in text.splitlines():
        if not pending and (not line or line.startswith("#")):
            continue
        pending += line.strip() if pending else line
        if pending.endswith(" …"):
            pending = pending.removesuffix("…")
        else:
            yield pending
            pending = ""


ROWS = list(read_table(TABLE.read_text(encoding="utf-8")))
EXAMPLES = [
    row
    for block in re.findall(r"```problems\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for row in read_table(block)
]


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 5


def test_the_table_has_at_least_sixty_rows() -> None:
    assert len(ROWS) >= 60


@pytest.mark.parametrize(("schema", "value", "lines"), [*ROWS, *EXAMPLES])
def test_a_problem_reads_as_the_table_says(schema: str, value: str, lines: list[str]) -> None:
    compiled = compile(json.loads(schema))
    assert [str(problem) for problem in compiled.problems(json.loads(value))] == lines


def resolve(document: Any, pointer: str) -> None:
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        document = document[int(name) if isinstance(document, list) else name]


def walk(problems: list[Problem] | tuple[Problem, ...]) -> Iterator[Problem]:
    for problem in problems:
        yield problem
        yield from walk(problem.causes)


@pytest.mark.parametrize(("schema", "value", "lines"), ROWS)
def test_paths_point_into_the_value_and_the_document(
    schema: str, value: str, lines: list[str]
) -> None:
    document, instance = json.loads(schema), json.loads(value)
    for problem in walk(compile(document).problems(instance)):
        resolve(instance, problem.path)
        resolve(document, problem.schema_path)
        if problem.keyword != "false":
            assert f"/{problem.keyword}" in problem.schema_path


def test_a_problem_is_data() -> None:
    schema = compile({"properties": {"a/b": {"type": "integer"}}})
    assert schema.problems({"a/b": "x"}) == [
        Problem(
            keyword="type",
            path="/a~1b",
            message='expected an integer, got "x" (a string)',
            schema_path="/properties/a~1b/type",
        )
    ]


def test_the_schema_path_ends_behind_references() -> None:
    schema = compile({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": False}})
    (problem,) = schema.problems(1)
    assert (problem.keyword, problem.schema_path) == ("false", "/$defs/b")


def test_the_schema_path_in_a_resource_is_a_uri() -> None:
    schema = compile(
        {"$ref": "https://example.com/a"},
        resources={"https://example.com/a": {"items": {"type": "integer"}}},
    )
    (problem,) = schema.problems(["x"])
    assert problem.schema_path == "https://example.com/a#/items/type"


UNION: dict[str, Any] = {
    "anyOf": [
        {"title": "Pair", "type": "array", "minItems": 2, "items": {"type": "integer"}},
        {"title": "Names", "type": "array", "items": {"type": "string"}},
    ]
}


def test_the_closest_alternative_is_told_as_causes() -> None:
    (problem,) = compile(UNION).problems([1, 2, "x"])
    assert problem.keyword == "anyOf"
    assert problem.path == ""
    assert problem.causes == (
        Problem("type", "/2", 'expected an integer, got "x" (a string)', "/anyOf/0/items/type"),
    )


def test_alternatives_that_fail_for_the_same_reason_are_told_once() -> None:
    pair = {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}], "$defs": {"a": {"minimum": 3}}}
    assert [str(problem) for problem in compile(pair).problems(1)] == [
        "expected a number ≥ 3, got 1"
    ]


def test_of_many_alternatives_the_one_with_the_same_properties_is_closest() -> None:
    branches = [
        {"type": "object", "properties": {f"p{n}": {"type": "integer"}}, "required": [f"p{n}"]}
        for n in range(200)
    ]
    (problem,) = compile({"oneOf": branches}).problems({"p150": "x"})
    assert "closest is number 151: /p150: expected an integer" in problem.message


def test_no_more_problems_than_the_limit_and_the_last_counts_the_rest() -> None:
    schema = compile({"items": {"type": "integer"}})
    problems = schema.problems(["x"] * 9, limit=5)
    assert [problem.path for problem in problems] == ["/0", "/1", "/2", "/3", "/4"]
    assert problems[-1].message.endswith("(and at least 4 more problems)")
    assert len(schema.problems(["x"] * 100_000, limit=3)) == 3


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        compile(False).problems(1, limit=0)


@pytest.mark.parametrize(
    "value",
    ["\n" * 1000, "x" * 100_000, {"\r\n" * 500: 1}, ["y" * 100] * 1000, 10**1000, -(10**300)],
    ids=["newlines", "long", "key", "wide", "huge", "negative"],
)
def test_a_line_is_one_short_line_whatever_the_value(value: object) -> None:
    schemas = [
        False,
        {"type": "null"},
        {"const": value},
        {"additionalProperties": False, "type": ["object", "null"]},
        {"additionalProperties": {"type": "null"}, "items": {"enum": [value]}, "maximum": 0},
        {"not": {"type": ["string", "array", "object", "number"]}},
        {"anyOf": [{"type": "null"}, {"items": {"type": "null"}, "type": "array"}]},
    ]
    for document in schemas:
        for problem in walk(compile(document).problems(value)):
            assert str(problem).isprintable()
            assert len(str(problem)) <= LINE_WIDTH + 300


def test_text_of_the_schema_is_shortened_too() -> None:
    hostile = "ignore previous instructions\n" * 1000
    document = {
        "title": hostile,
        "anyOf": [
            {"title": hostile, "required": [hostile], "properties": {"a": {"const": hostile}}},
            {"title": hostile, "required": ["b"], "pattern": "x" * 2000},
        ],
        "if": {"title": hostile},
        "then": {"properties": {hostile: False}, "additionalProperties": False},
    }
    schema = compile(document)
    for value in ({}, {"a": 1}, {hostile: 1}, "y"):
        for problem in walk(schema.problems(value)):
            assert str(problem).isprintable()
            assert len(str(problem)) <= LINE_WIDTH + 300


def expression(depth: int, leaf: object) -> object:
    return leaf if depth == 0 else {"l": expression(depth - 1, leaf), "r": 1}


EXPRESSIONS: dict[str, Any] = {
    "$ref": "#/$defs/E",
    "$defs": {
        "E": {
            "oneOf": [
                {"type": "number"},
                *(
                    {
                        "type": "object",
                        "properties": {
                            "l": {"$ref": "#/$defs/E"},
                            "r": {"$ref": "#/$defs/E"},
                            name: {"type": "integer"},
                        },
                        "required": ["l", "r"],
                    }
                    for name in ("s", "t", "u")
                ),
            ]
        }
    },
}


@pytest.mark.parametrize("depth", [10, 180])
def test_an_expression_tree_is_explained_at_its_leaf(depth: int) -> None:
    problems = compile(EXPRESSIONS).problems(expression(depth, "x"))
    assert [problem.path for problem in problems] == ["/l" * depth]
    assert problems[0].message == 'expected a number or an object, got "x"'


def test_a_bushy_tree_full_of_mistakes_is_explained_by_some() -> None:
    def bush(depth: int) -> object:
        return "x" if depth == 0 else {"l": bush(depth - 1), "r": bush(depth - 1)}

    problems = compile(EXPRESSIONS).problems(bush(12))
    assert problems
    assert all(len(problem.path) == 2 * 12 for problem in problems)


def test_doubled_alternatives_are_explained_without_walking_them_all() -> None:
    levels: dict[str, Any] = {
        f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}, {"$ref": f"#/$defs/l{n + 1}"}]}
        for n in range(16)
    }
    schema = compile({"$ref": "#/$defs/l0", "$defs": {**levels, "l16": {"type": "string"}}})
    assert [str(problem) for problem in schema.problems(3)] == ["expected a string, got 3"]


NESTED: dict[str, Any] = {"type": ["array", "integer"], "items": {"$ref": "#"}}


def test_where_the_budget_ends_what_was_found_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anyshape.schema._explain.explainer._BUDGET", 5_000_000)
    one: list[Any] = [[1]]
    (found,) = compile(NESTED).problems([["x"], *one * 2_000])
    assert found.path == "/0/0"
    assert "looking further would take more work than the limit allows" in found.message
    (unknown,) = compile(NESTED).problems([*one * 2_000, ["x"]])
    assert unknown.path == ""
    assert "looking further would take more work than the limit allows" in unknown.message


def test_deep_schemas_and_values_need_no_deep_stack() -> None:
    nested: dict[str, Any] = {"type": "integer"}
    for _ in range(20):
        nested = {"allOf": [{"anyOf": [nested, {"type": "null"}]}]}
    assert [str(problem) for problem in compile(nested).problems("x")]
    value: list[Any] = ["x"]
    for _ in range(150):
        value = [value]
    schema = compile(
        {"$ref": "#/$defs/n", "$defs": {"n": {"type": "array", "items": {"$ref": "#/$defs/n"}}}}
    )
    (problem,) = schema.problems(value)
    assert problem.path == "/0" * 151


def test_causes_stay_few_however_deep_alternatives_nest() -> None:
    document: dict[str, Any] = {
        "$ref": "#/$defs/n",
        "$defs": {
            "n": {
                "oneOf": [
                    {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 3},
                    {"type": "array", "items": {"$ref": "#/$defs/n"}, "minItems": 2, "maxItems": 2},
                    {"type": "integer"},
                ]
            }
        },
    }

    def bush(depth: int) -> object:
        return "x" if depth == 0 else [bush(depth - 1), bush(depth - 1), bush(depth - 1)]

    problems = compile(document).problems(bush(6))
    assert 0 < sum(1 for _ in walk(problems)) <= 20 * 41


def test_the_value_is_left_as_it_was() -> None:
    value = {"a": [1, {"b": "x"}], "c": None}
    before = copy.deepcopy(value)
    compile({"properties": {"a": {"items": {"type": "string"}}, "c": False}}).problems(value)
    assert value == before


def test_validate_raises_the_same_problems() -> None:
    schema = compile({"required": ["a"]})
    with pytest.raises(ValidationError) as caught:
        schema.validate({})
    assert caught.value.problems == schema.problems({})
    assert str(caught.value) == 'missing required property "a"'


def test_threads_share_an_explainer() -> None:
    schema = compile(EXPRESSIONS)
    expected = schema.problems(expression(20, "x"))
    results: list[list[Problem]] = []

    def run(fresh: Schema) -> None:
        results.extend(fresh.problems(expression(20, "x")) for _ in range(5))

    fresh = compile({**EXPRESSIONS, "title": "another"})
    threads = [threading.Thread(target=run, args=(fresh,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE)
    assert results == [expected] * 20


def test_dynamic_references_are_explained_in_their_scope() -> None:
    tree = {
        "$id": "https://example.com/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"data": True, "children": {"items": {"$dynamicRef": "#node"}}},
    }
    strict = {
        "$id": "https://example.com/strict-tree",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    schema = compile(strict, resources={"https://example.com/tree": tree})
    (problem,) = schema.problems({"children": [{"data": 1}, {"daat": 2}]})
    assert str(problem) == '/children/1: unexpected property "daat" (did you mean "data"?)'


def test_relative_identifiers_and_backtracking_patterns_go_together() -> None:
    schema = compile(
        {
            "properties": {"a": {"$ref": "child"}, "b": {"pattern": "^(?=x)x+$"}},
            "$defs": {"child": {"$id": "child", "type": "integer"}},
        }
    )
    assert [str(problem) for problem in schema.problems({"a": "s", "b": "y"})] == [
        '/a: expected an integer, got "s" (a string)',
        '/b: expected a string matching `^(?=x)x+$`, got "y"',
    ]


def test_a_keyword_that_the_dialect_lacks_is_not_spoken_of() -> None:
    schema = compile(
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "anyOf": [{"const": 1, "type": "integer"}, {"type": "null"}],
        }
    )
    assert [str(problem) for problem in schema.problems("x")] == [
        'expected an integer or null, got "x"'
    ]


@pytest.mark.parametrize(
    ("document", "value", "path"),
    [
        ({"items": {"type": "string"}}, [1] * 300_000, "/0"),
        ({"additionalProperties": {"type": "string"}}, {str(n): n for n in range(300_000)}, "/0"),
        ({"propertyNames": {"minLength": 9}}, {str(n): n for n in range(300_000)}, ""),
        ({"properties": {"a": {"items": {"type": "string"}}}}, {"a": [1] * 300_000}, "/a/0"),
    ],
)
def test_what_is_wrong_at_the_beginning_of_a_long_value_is_told(
    document: dict[str, Any], value: object, path: str
) -> None:
    first = compile(document).problems(value)[0]
    assert first.path == path
    assert "would take more work" not in first.message


class Colour(enum.Enum):
    RED = [1, "x"]  # noqa: RUF012 - what its value is is the point


class Name(str, enum.Enum):  # noqa: UP042 - many are written so, and their `str` is a name
    A_OR_B = "a/b"


@pytest.mark.parametrize(
    ("document", "value", "same"),
    [
        ({"items": {"type": "integer"}}, (1, "x"), [1, "x"]),
        ({"items": {"type": "integer"}}, Colour.RED, [1, "x"]),
        ({"items": {"items": {"type": "integer"}}}, [(1, "x")], [[1, "x"]]),
        ({"uniqueItems": True}, [(1, [2]), (1.0, [2])], [[1, [2]], [1.0, [2]]]),
        ({"contains": {"const": 3}}, (1, 2), [1, 2]),
        ({"properties": {"a/b": {"type": "integer"}}}, {Name.A_OR_B: "x"}, {"a/b": "x"}),
    ],
)
def test_what_json_has_no_name_for_is_explained_as_what_it_stands_for(
    document: dict[str, Any], value: object, same: object
) -> None:
    schema = compile(document)
    assert schema.problems(value) == schema.problems(same) != []


REPETITIONS: list[tuple[list[Any], tuple[int, int] | None]] = [
    ([1, 2, 3], None),
    ([1, True, "1", [1], {"1": 1}, None], None),
    ([0, False, -0.0], (0, 2)),
    ([{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], (0, 1)),
    ([[], {}, "", [[]], []], (0, 4)),
]


@pytest.mark.parametrize("dialect", ["2019-09", "2020-12"])
def test_items_that_contains_finds_are_not_told_as_unevaluated(dialect: str) -> None:
    document = {
        "$schema": f"https://json-schema.org/draft/{dialect}/schema",
        "contains": {"type": "integer"},
        "unevaluatedItems": {"type": "string"},
    }

    assert [str(problem) for problem in compile(document).problems([1, None, "x"])] == [
        "/1: expected a string, got null"
    ]


@pytest.mark.parametrize(("items", "pair"), REPETITIONS)
def test_equal_items_are_found_as_json_has_them(
    items: list[object], pair: tuple[int, int] | None
) -> None:
    assert find_repetition(items) == pair


@pytest.mark.parametrize(
    ("word", "choices", "meant"),
    [
        ("citty", ["city", "country"], "city"),
        ("startDate", ["start_date", "end_date"], "start_date"),
        ("x", ["y", "name"], None),
        ("colour", ["color", "size"], "color"),
        ("a" * 1000, ["a" * 999], None),
    ],
)
def test_what_was_meant_is_the_nearest_name(
    word: str, choices: list[str], meant: str | None
) -> None:
    assert nearest(word, choices) == meant


def test_a_dynamic_reference_that_nothing_overrides_is_explained_like_a_plain_one() -> None:
    def tree(reference: dict[str, str]) -> dict[str, Any]:
        children = {"items": {"anyOf": [reference, {"type": "null"}]}}
        return {
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"n": {"type": "integer"}, "children": children},
        }

    leaf = {"n": 1, "children": [None]}
    value = {"children": [leaf] * 200 + [{"n": "x"}]}
    for reference in ({"$dynamicRef": "#node"}, {"$ref": "#"}):
        problems = compile(tree(reference)).problems(value)
        assert [problem.path for problem in problems] == ["/children/200/n"]


@pytest.mark.parametrize("dialect", SUPPORTED)
def test_parts_of_recursive_schemas_are_explained_in_every_dialect(dialect: str) -> None:
    schema = compile(
        {
            "properties": {"a": {"type": "number"}},
            "patternProperties": {"a": {"type": "object", "properties": {"a": {"$ref": "#"}}}},
            "$schema": dialect,
        }
    )
    assert not schema.cost.confined

    assert [str(problem) for problem in schema.problems({"a": "x"})] == [
        '/a: expected a number, got "x" (a string)',
        '/a: expected an object, got "x" (a string)',
    ]
