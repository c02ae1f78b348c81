"""The cost model against the engine: it never counts too little, and real schemas are linear."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anyshape.errors import AnyshapeError, LimitExceeded
from anyshape.schema import _cost
from anyshape.schema._cost import COUNTING_STEPS, Meter
from anyshape.schema._dialects import DIALECTS, Form, dialect_of
from anyshape.schema._graph import build
from anyshape.schema._json import is_array, is_object
from anyshape.schema._references import Library, load

COUNTER = "x-count"


def meter_of(document: dict[str, object]) -> Meter:
    library = Library({}, subschemas=5_000)
    root = load(document, library, dialect_of(document))
    return Meter(build(root, library, subschemas=5_000, depth=500))


def counted(schema: object) -> dict[str, object]:
    """Put a counter in front of every subschema, so that each evaluation of one is seen."""
    dialect = dialect_of(schema)
    if not is_object(schema):
        return {"allOf": [{COUNTER: 0}, schema]}
    inner: dict[str, object] = {}
    for keyword, value in schema.items():
        applicator = dialect.applicators.get(keyword)
        if applicator is None:
            inner[keyword] = value
        elif applicator.form is Form.MAP and is_object(value):
            inner[keyword] = {name: counted(one) for name, one in value.items()}
        elif is_array(value):
            inner[keyword] = [counted(one) for one in value]
        else:
            inner[keyword] = counted(value)
    definitions = inner.pop("$defs", {})
    return {"$defs": definitions, "allOf": [{COUNTER: 0}, inner]}


def evaluations(document: dict[str, object], instance: object) -> int:
    """Return how often the engine evaluates the counters of a counted document."""
    seen = 0

    class Counter:
        def __init__(
            self, parent_schema: dict[str, Any], value: Any, schema_path: list[str | int]
        ) -> None: ...

        def validate(self, instance: object) -> None:
            nonlocal seen
            seen += 1

    keywords: dict[str, Any] = {COUNTER: Counter}
    validator = jsonschema_rs.validator_for(document, keywords=keywords, offline=True)
    validator.is_valid(instance)
    return seen


NAMES = ("a", "b", "c")
REFERENCES = st.sampled_from(("p", "q", "r")).map(lambda name: {"$ref": f"#/$defs/{name}"})
LEAVES = st.one_of(
    st.sampled_from(
        (
            True,
            {"type": "string"},
            {"type": "integer"},
            {"type": "object"},
            {"const": 1},
            {"maxLength": 1},
        )
    ),
    REFERENCES,
)


def _schemas(inner: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": named,
            "properties": named,
            "patternProperties": st.fixed_dictionaries({}, optional={"a|b": inner, "^c": inner}),
            "additionalProperties": inner,
            "propertyNames": inner,
            "unevaluatedProperties": inner,
            "items": inner,
            "prefixItems": several,
            "contains": inner,
            "unevaluatedItems": inner,
            "type": st.sampled_from(("object", "array", ["object", "array"])),
        },
    )


SCHEMAS = st.recursive(LEAVES, _schemas, max_leaves=8)
DOCUMENTS: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {
        "allOf": st.lists(SCHEMAS, min_size=1, max_size=1),
        "$defs": st.fixed_dictionaries({"p": SCHEMAS, "q": SCHEMAS, "r": SCHEMAS}),
    }
)
INSTANCES = st.recursive(
    st.sampled_from((None, True, 1, 2.5, "x", "ab")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from((*NAMES, "d")), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=DOCUMENTS, instance=INSTANCES)
def test_the_engine_never_does_more_than_was_counted(
    document: dict[str, object], instance: object
) -> None:
    instrumented = counted(document)
    try:
        meter = meter_of(instrumented)
    except AnyshapeError:
        return  # an in-place cycle: never given to the engine
    steps = meter.count(instance, 200_000)
    if steps <= 200_000:
        # A counted subschema is three nodes: itself, its counter and the allOf around both.
        assert evaluations(instrumented, instance) * 3 <= steps
        factor = meter.cost.factor
        if factor is not None:
            assert steps <= (factor + COUNTING_STEPS) * _places(instance) * 2


def _places(value: object) -> int:
    if is_object(value):
        return 1 + sum(_places(inner) for inner in value.values())
    if is_array(value):
        return 1 + sum(_places(inner) for inner in value)
    return 1


def doubling(levels: int, keyword: str = "anyOf") -> dict[str, object]:
    definitions: dict[str, object] = {
        f"l{level}": {keyword: [{"$ref": f"#/$defs/l{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$ref": "#/$defs/l0", "$defs": {**definitions, f"l{levels}": {"type": "string"}}}


@pytest.mark.parametrize("keyword", ["anyOf", "allOf", "oneOf"])
def test_doubling_in_place_is_counted_as_doubling(keyword: str) -> None:
    factors = [meter_of(doubling(levels, keyword)).cost.factor for levels in (4, 5, 6)]
    assert factors == [2 ** (levels + 2) - 2 for levels in (4, 5, 6)]


def test_nested_unevaluated_grows_as_it_does_in_the_engine() -> None:
    document: dict[str, object] = {"properties": {"a": {"type": "integer"}}}
    counts: list[int] = []
    for _ in range(8):
        document = {"anyOf": [document], "unevaluatedProperties": {"type": "string"}}
        counts.append(meter_of(document).count({"a": 1, "z": "s"}))
    # φ² = 2.618…: each level evaluates the one below twice and marks it once.
    assert 2.5 < counts[-1] / counts[-2] < 2.7


def test_doubling_through_children_is_counted_on_the_value_at_hand() -> None:
    levels = 25
    definitions: dict[str, object] = {
        f"l{level}": {"properties": {"x": {"anyOf": [{"$ref": f"#/$defs/l{level + 1}"}] * 2}}}
        for level in range(levels)
    }
    meter = meter_of({"$ref": "#/$defs/l0", "$defs": {**definitions, f"l{levels}": {}}})
    value: object = 1
    counts: list[int] = []
    for _ in range(levels - 1):
        value = {"x": value}
        counts.append(meter.count(value))
    assert counts[3] < 500
    assert counts[-1] > 2**22
    with pytest.raises(LimitExceeded) as caught:
        meter.check(value, 1_000_000)
    assert (caught.value.limit, caught.value.allowed) == ("work", 1_000_000)


EXPRESSION: dict[str, object] = {
    "$ref": "#/$defs/expression",
    "$defs": {
        "expression": {
            "oneOf": [
                {"type": "number"},
                {
                    "type": "object",
                    "properties": {"neg": {"$ref": "#/$defs/expression"}},
                    "required": ["neg"],
                },
                {
                    "type": "object",
                    "properties": {
                        "left": {"$ref": "#/$defs/expression"},
                        "right": {"$ref": "#/$defs/expression"},
                        "op": {"enum": ["+", "-", "*", "/"]},
                    },
                    "required": ["left", "right", "op"],
                },
                {
                    "type": "object",
                    "properties": {
                        "neg": {"$ref": "#/$defs/expression"},
                        "note": {"type": "string"},
                    },
                    "required": ["neg", "note"],
                },
            ]
        }
    },
}


@pytest.mark.parametrize(
    "document",
    [
        *({"$schema": dialect.uri, "$ref": dialect.uri} for dialect in DIALECTS),
        EXPRESSION,
        {"type": "array", "items": {"$ref": "#"}},
        {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
    ],
    ids=[*(dialect.name for dialect in DIALECTS), "expression", "nested array", "tree"],
)
def test_metaschemas_and_ordinary_recursion_are_linear_and_unchecked(
    document: dict[str, object],
) -> None:
    cost = meter_of(document).cost
    assert cost.linear
    assert not cost.checked


def test_a_size_bound_spares_the_walk() -> None:
    meter = meter_of(doubling(10))
    assert meter.cost.checked
    meter.check(object(), budget=1_000_000, size=3)  # not JSON: it is never looked at


def test_what_no_keyword_looks_at_is_not_walked() -> None:
    meter = meter_of({"properties": {"a": {"type": "string"}}})
    assert meter.count({"a": "x", "b": [[[[1] * 100] * 100]]}) < 50


def test_the_cheapest_value_tells_whether_any_value_can_be_afforded() -> None:
    assert meter_of(doubling(30)).cost.least > 2**30
    gated: dict[str, object] = {"type": "object", **doubling(30)}
    assert meter_of(gated).cost.least < 10


def test_a_cost_reads_as_one_line() -> None:
    assert str(meter_of({"type": "string"}).cost) == (
        "linear: at most 1 steps for each place of the value"
    )


def test_a_schema_of_many_properties_is_linear() -> None:
    names = [f"property{number}" for number in range(2_000)]
    cost = meter_of({"type": "object", "properties": {name: {"items": {}} for name in names}}).cost
    assert cost.linear


def test_an_automaton_with_too_many_states_is_left_to_run_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_cost, "MOST_STATES", -30)
    both: dict[str, object] = {name: {"items": {"minimum": 1}} for name in "abcdefgh"}
    meter = meter_of({"properties": both, "patternProperties": both})
    assert not meter.cost.linear
    assert meter.cost.checked
    assert "counted" in str(meter.cost)
    meter.check({"a": [1, 2, 3]}, budget=1_000)


@pytest.mark.parametrize(
    "document",
    [
        {"properties": {"a": {"items": {"minimum": 1}}, "b": {"anyOf": [{"items": True}, True]}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"next": {"$ref": "#/$defs/a"}}}}},
        {"prefixItems": [{"type": "string"}], "items": {"type": ["null", "object"]}},
    ],
)
def test_simple_schemas_get_the_factor_that_the_automaton_would_find(
    document: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    simple = meter_of(document).cost

    def never(_graph: object) -> None:
        return None

    monkeypatch.setattr(_cost, "_simple_factor", never)
    assert meter_of(document).cost.factor == simple.factor
