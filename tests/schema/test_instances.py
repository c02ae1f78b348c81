"""Python values as they come: what is JSON gets a verdict, what is not gets a clear error."""

from __future__ import annotations

import collections
import collections.abc
import datetime
import enum
import itertools
import sys
import threading
import types
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pytest
from patience import PATIENCE

from anyshape.errors import AnyshapeError
from anyshape.schema import LimitExceeded, Limits, NotJson, Schema, ValidationError, compile
from anyshape.schema._instance import is_light


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: int


class Unreadable(collections.abc.Mapping[str, int]):
    """A mapping that fails when somebody looks into it, as one in a database may."""

    def __getitem__(self, key: str) -> int:
        raise ConnectionError

    def __iter__(self) -> Iterator[str]:
        return iter(("a",))

    def __len__(self) -> int:
        return 1


class Unvalued(enum.Enum):
    NAME = "name"

    @property
    def value(self) -> str:
        raise NotImplementedError


class Odd(dict[str, int]):
    """Tells others than the engine of something else than it holds."""

    def items(self) -> Any:
        return [("b", "x")]


class Endless(list[int]):
    def __iter__(self) -> Iterator[int]:
        return itertools.count()


def cyclic() -> Any:
    value: list[Any] = []
    value.append({"again": value})
    return value


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


RECURSIVE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "anyOf": [
                {"type": "array", "items": {"$ref": "#/$defs/node"}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/node"}},
                {"type": ["string", "number", "boolean", "null"]},
            ]
        }
    },
}

# Schemas that would let a bad spot pass unseen, by what keeps the engine from looking at it.
BLIND_SPOTS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "nothing said": ({}, lambda bad: bad),
    "true": (True, lambda bad: bad),
    "inside an undescribed value": ({}, lambda bad: {"a": [bad]}),
    "an undeclared property": (
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        lambda bad: {"a": 1, "b": bad},
    ),
    "deep in an undeclared property": (
        {"type": "object", "properties": {"a": {"type": "integer"}}},
        lambda bad: {"a": 1, "b": [[[[[[{"c": bad}]]]]]]},
    ),
    "a property with a description alone": (
        {"type": "object", "properties": {"a": {"description": "anything"}}},
        lambda bad: {"a": bad},
    ),
    "an object that is only said to be one": ({"type": "object"}, lambda bad: {"a": bad}),
    "an array that is only said to be one": ({"type": "array"}, lambda bad: [1, bad]),
    "beyond a prefix": ({"prefixItems": [{"type": "integer"}]}, lambda bad: [1, bad]),
    "additional properties": (
        {"type": "object", "additionalProperties": True},
        lambda bad: {"a": bad},
    ),
    "by reference": (
        {"$ref": "#/$defs/open", "$defs": {"open": {"type": "object", "minProperties": 1}}},
        lambda bad: {"a": bad},
    ),
    "an alternative": (
        {"anyOf": [{"type": "string"}, {"type": "object", "required": ["a"]}]},
        lambda bad: {"a": bad},
    ),
    "exclusive alternatives": (
        {"oneOf": [{"type": "string"}, {"type": "object", "required": ["a"]}]},
        lambda bad: {"a": bad},
    ),
    "tagged alternatives": (
        {
            "oneOf": [
                {"type": "object", "properties": {"k": {"const": k}}, "required": ["k"]}
                for k in ("a", "b")
            ]
        },
        lambda bad: {"k": "a", "v": bad},
    ),
    "alternatives that overlap": (
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        lambda bad: {"a": bad},
    ),
    "all of": ({"allOf": [{"required": ["a"]}, {"minProperties": 1}]}, lambda bad: {"a": bad}),
    "not": ({"not": {"required": ["b"]}}, lambda bad: {"a": bad}),
    "not, with the same definition": (
        {
            "$ref": "#/$defs/open",
            "not": {"$ref": "#/$defs/open", "required": ["b"]},
            "$defs": {"open": {"type": "object"}},
        },
        lambda bad: {"a": bad},
    ),
    "if": ({"if": {"required": ["b"]}, "then": False}, lambda bad: {"a": bad}),
    "contains": ({"contains": {"type": "integer"}}, lambda bad: [1, bad]),
    "unevaluated": (
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        lambda bad: {"a": bad},
    ),
    "property names": ({"propertyNames": {"maxLength": 5}}, lambda bad: {"a": bad}),
    "pattern properties": ({"patternProperties": {"^a": True}}, lambda bad: {"a": bad, "b": bad}),
    "recursion": (RECURSIVE, lambda bad: {"a": [[bad]]}),
    "unique items": ({"uniqueItems": True}, lambda bad: ["one", bad]),
    "a declared string": (
        {"properties": {"a": {"type": "string"}, "b": {"type": "array"}}},
        lambda bad: {"a": "", "b": [bad]},
    ),
    "a string where an object is usual": (
        {"items": {"type": ["object", "string", "array"], "properties": {"a": {}}}},
        lambda bad: [{"a": 1}, "x", [bad]],
    ),
    "an item where an object is usual": (
        {"items": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}},
        lambda bad: [{"a": 1}, [bad]],
    ),
    "beside all that is required": (
        {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        lambda bad: {"a": 1, "b": bad},
    ),
    "a string with conditions": (
        {
            "items": {
                "anyOf": [{"type": ["string", "null"], "not": {"const": ""}}, {"minLength": 1}]
            }
        },
        lambda bad: ["x", bad],
    ),
    "dependent schemas": (
        {"dependentSchemas": {"a": {"minProperties": 1}}},
        lambda bad: {"a": bad},
    ),
    "an older dialect": (
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]},
        lambda bad: [1, bad],
    ),
    "the oldest dialect": (
        {"$schema": "http://json-schema.org/draft-04/schema#", "additionalProperties": True},
        lambda bad: {"a": bad},
    ),
    "a pattern that backtracks": (
        {"properties": {"a": {"pattern": "^(?!b)"}}},
        lambda bad: {"a": "a", "b": bad},
    ),
    "many references to one place": (
        {"allOf": [{"$ref": "#/$defs/a"}] * 200, "$defs": {"a": {"minProperties": 1}}},
        lambda bad: {"a": bad},
    ),
}

NOT_JSON: dict[str, Callable[[], Any]] = {
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "minus infinity in a list": lambda: [1.5, float("-inf")],
    "a decimal NaN": lambda: Decimal("NaN"),
    "a decimal infinity": lambda: Decimal("-Infinity"),
    "a lone surrogate": lambda: "a\ud800b",
    "a key with a lone surrogate": lambda: {"a": 1, "\udfff": 2},
    "an integer as key": lambda: {"a": 1, 2: 3},
    "null as key": lambda: {None: 3},
    "a tuple as key": lambda: {("a",): 3},
    "bytes": lambda: b"bytes",
    "a datetime": lambda: datetime.datetime(2026, 7, 28, tzinfo=datetime.UTC),
    "a UUID": lambda: uuid.UUID(int=0),
    "an object": lambda: object(),
    "a function": lambda: print,
    "a complex number": lambda: 1j,
    "a generator": lambda: (n for n in range(3)),
    "a cycle": cyclic,
    "a mapping that fails": Unreadable,
    "a member whose value fails": lambda: [Unvalued.NAME],
    "a key whose value fails": lambda: {Unvalued.NAME: 1},
}


def verdicts(schema: Schema, value: Any) -> set[type[BaseException]]:
    """Return what the three verbs raise, when all of them have to."""
    raised: set[type[BaseException]] = set()
    for verb in (schema.accepts, schema.problems, schema.validate):
        with pytest.raises(AnyshapeError) as caught:
            verb(value)
        raised.add(type(caught.value))
    return raised


@pytest.mark.parametrize("bad", NOT_JSON.values(), ids=NOT_JSON.keys())
@pytest.mark.parametrize("spot", BLIND_SPOTS.values(), ids=BLIND_SPOTS.keys())
def test_what_is_not_json_is_found_wherever_it_hides(
    spot: tuple[Any, Callable[[Any], Any]], bad: Callable[[], Any]
) -> None:
    document, place = spot

    assert verdicts(compile(document), place(bad())) == {NotJson}


@pytest.mark.parametrize("levels", [250, 10_000, 100_000])
@pytest.mark.parametrize("spot", BLIND_SPOTS.values(), ids=BLIND_SPOTS.keys())
def test_what_is_too_deep_is_found_wherever_it_hides(
    spot: tuple[Any, Callable[[Any], Any]], levels: int
) -> None:
    document, place = spot

    assert verdicts(compile(document), place(deep(levels))) == {LimitExceeded}


@pytest.mark.parametrize("spot", BLIND_SPOTS.values(), ids=BLIND_SPOTS.keys())
@pytest.mark.parametrize("good", [1, "é", None, [1, {"x": []}], deep(20), {"k": deep(30)}])
def test_what_is_json_passes_wherever_it_stands(
    spot: tuple[Any, Callable[[Any], Any]], good: Any
) -> None:
    document, place = spot
    schema = compile(document)
    value = place(good)

    assert schema.accepts(value)
    assert schema.problems(value) == []
    schema.validate(value)


class TestReports:
    @pytest.mark.parametrize(
        ("value", "path"),
        [
            ({"a": [1, float("nan")]}, "/a/1"),
            ({"a/b": {"c~d": object()}}, "/a~1b/c~0d"),
            ({"a": {1: 2}}, "/a"),
            ({"a": {"\ud800": 2}}, "/a"),
            (["\ud800"], "/0"),
            (float("nan"), ""),
            ({Colour.RED: [float("nan")]}, "/red/0"),
            ([{"a": Unreadable()}], "/0/a"),
            ([1, Unvalued.NAME], "/1"),
            ({"a": {Unvalued.NAME: 1}}, "/a"),
        ],
    )
    def test_the_place_that_is_not_json_is_named(self, value: Any, path: str) -> None:
        with pytest.raises(NotJson) as raised:
            compile(True).accepts(value)

        assert raised.value.path == path
        (problem,) = raised.value.problems
        assert problem.path == path
        assert "\n" not in str(raised.value)
        str(raised.value).encode()

    def test_not_being_json_is_a_validation_error(self) -> None:
        with pytest.raises(ValidationError):
            compile({"type": "number"}).validate(float("nan"))

    def test_depth_says_limit_value_and_place(self) -> None:
        with pytest.raises(LimitExceeded) as raised:
            compile(True).accepts({"a": deep(300)})

        assert raised.value.limit == "instance_depth"
        assert raised.value.allowed == 200
        assert raised.value.found == 201
        assert raised.value.path.startswith("/a/0/0")

    def test_the_depth_allowed_can_be_changed(self) -> None:
        limits = Limits(instance_depth=3)

        assert compile({}, limits=limits).accepts([[[1]]])
        with pytest.raises(LimitExceeded):
            compile({}, limits=limits).accepts([[[[1]]]])
        with pytest.raises(LimitExceeded):
            compile(
                {"type": "array", "items": {"type": "array", "items": {"items": {"items": {}}}}},
                limits=limits,
            ).accepts([[[[1]]]])

    def test_a_value_that_shares_its_parts_too_often_exceeds_the_memory(self) -> None:
        value: Any = {1, 2}  # makes the value one that has to be read with care
        for _ in range(40):
            value = (value, value)

        with pytest.raises(LimitExceeded) as raised:
            compile({"type": "string"}, limits=Limits(memory=16_000_000)).accepts([value, b""])

        assert raised.value.limit == "memory"

    def test_a_wrong_value_that_is_no_json_either_is_no_json(self) -> None:
        schema = compile({"type": "object", "properties": {"a": {"type": "string"}}})

        assert verdicts(schema, {"a": 1, "b": float("nan")}) == {NotJson}


class TestStandIns:
    """What pydantic would emit is taken for what it would be emitted as."""

    @pytest.mark.parametrize("value", [Odd(a=1), Endless([1])])
    def test_subclasses_are_what_they_hold_wherever_they_are_read(self, value: Any) -> None:
        schema = compile(
            {"properties": {"a": {"type": "integer"}}, "maxItems": 1, "additionalProperties": False}
        )
        confined = compile({"allOf": [schema.document], "pattern": "(?=.)"})

        assert schema.accepts(value)
        assert confined.accepts(value)
        assert schema.accepts([value]) is confined.accepts([value]) is True
        assert schema.accepts({"a": value}) is confined.accepts({"a": value}) is False

    @pytest.mark.parametrize(
        "value",
        [
            [1, 2],
            (1, 2),
            {1, 2},
            frozenset((1, 2)),
            collections.deque([1, 2]),
            range(1, 3),
            Point(1, 2),
            collections.UserList([1, 2]),
            {1: 0, 2: 0}.keys(),
        ],
    )
    def test_sequences_and_sets_are_arrays(self, value: Any) -> None:
        pairs = compile(
            {"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True}
        )

        assert pairs.accepts(value)
        assert pairs.problems(value) == []
        assert not compile({"type": "array", "maxItems": 1}).accepts(value)
        assert not compile({"type": "object"}).accepts(value)

    @pytest.mark.parametrize(
        "value",
        [
            {"a": 1},
            collections.OrderedDict([("a", 1)]),
            collections.defaultdict(int, a=1),
            types.MappingProxyType({"a": 1}),
            collections.UserDict(a=1),
            collections.ChainMap({"a": 1}),
            {Text("a"): 1},
        ],
    )
    def test_mappings_are_objects(self, value: Any) -> None:
        schema = compile({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]})

        assert schema.accepts(value)
        assert schema.problems(value) == []
        assert not compile({"type": "array"}).accepts(value)
        assert not compile({"properties": {"a": {"type": "string"}}}).accepts(value)

    @pytest.mark.parametrize(
        ("value", "same"),
        [
            (Text("red"), "red"),
            (Colour.RED, "red"),
            (Whole(1), 1),
            (Level.LOW, 1),
            (Real(1.5), 1.5),
            (Decimal("1.5"), 1.5),
            (True, True),
        ],
    )
    def test_subclasses_and_enumerations_are_what_they_stand_for(
        self, value: Any, same: Any
    ) -> None:
        assert compile({"const": same}).accepts(value)
        assert compile({"items": {"enum": [same]}}).accepts([value])
        assert not compile({"not": {"const": same}}).accepts(value)

    def test_strings_are_no_sequences_and_booleans_no_numbers(self) -> None:
        assert not compile({"type": "array"}).accepts("ab")
        assert not compile({"type": ["integer", "number"]}).accepts(True)
        assert not compile({"const": 1}).accepts(True)
        assert not compile({"enum": [0, False]}).accepts([])


NUMBERS: list[tuple[Any, Any, bool]] = [
    ({"type": "integer"}, 1.0, True),
    ({"type": "integer"}, 1.5, False),
    ({"type": "integer"}, -0.0, True),
    ({"type": "integer"}, 1e300, True),
    ({"type": "integer"}, Decimal("1.0"), True),
    ({"type": "integer"}, Decimal("1E+400"), True),
    ({"type": "integer"}, Decimal("1E-400"), False),
    ({"type": "integer"}, 2**64, True),
    ({"type": "integer"}, 10**400, True),
    ({"maximum": 2**63 - 1}, 2**63, False),
    ({"maximum": 2**64 - 1}, 2**64, False),
    ({"maximum": 1e308}, Decimal("1E+309"), False),
    ({"exclusiveMinimum": 0}, Decimal("1E-400"), True),
    ({"const": 2**53}, 2**53 + 1, False),
    ({"const": 10**30}, 1e30, True),
    ({"const": 10**30 + 1}, 10**30, False),
    ({"const": 10**400}, Decimal("1E+400"), True),
    ({"enum": [1, 2]}, 2.0, True),
    ({"multipleOf": 0.1}, 0.3, True),
    ({"multipleOf": 0.01}, 19.99, True),
    ({"multipleOf": 0.1}, Decimal("0.3"), True),
    ({"multipleOf": 0.1}, 0.35, False),
    ({"multipleOf": 3}, Decimal("9E+400"), True),
    ({"multipleOf": 3}, Decimal("1E+400"), False),
    ({"multipleOf": 10**24}, 10**25, True),
    ({"multipleOf": 10**24}, 10**25 + 1, False),
    ({"multipleOf": 1e-300}, 1e300, True),
    ({"type": "number"}, Decimal("1E+1000000000"), True),
    ({"maximum": 5}, Decimal("1E+1000000000"), False),
    ({"oneOf": [{"type": "integer", "maximum": 5}, {"type": "null"}]}, Decimal("1E+400"), False),
    ({"oneOf": [{"type": "integer"}, {"type": "null"}]}, Decimal("1E-1000000000"), False),
    ({"uniqueItems": True}, [1, 1.0], False),
    ({"uniqueItems": True}, [10**30, 10**30 + 1], True),
    ({"uniqueItems": True}, [1, True], True),
    ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1.0}], False),
]


@pytest.mark.parametrize(("document", "value", "valid"), NUMBERS)
def test_numbers_are_compared_by_value_whatever_their_size(
    document: Any, value: Any, valid: bool
) -> None:
    schema = compile(document)

    assert schema.accepts(value) is valid
    assert (schema.problems(value) == []) is valid


@pytest.mark.parametrize("value", [10**4300, [10**5000]], ids=["integer", "in an array"])
def test_integers_are_judged_for_what_they_are_where_python_allows_longer_ones(
    value: object,
) -> None:
    schema = compile({"type": ["integer", "array"], "maximum": 10, "items": {"maximum": 10}})
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        assert not schema.accepts(value)
        assert schema.problems(value)
    finally:
        sys.set_int_max_str_digits(before)


def test_integers_that_python_does_not_write_are_refused_where_they_are_read() -> None:
    with pytest.raises(NotJson, match="4300 digits"):
        compile({"type": "string"}).validate({"a": (10**5000, {1, 2})})


def test_a_schema_is_safe_to_use_from_many_threads() -> None:
    schema = compile({"type": "object", "properties": {"a": {"type": "integer"}}})
    wrong: list[Any] = []

    def work(number: int) -> None:
        verdicts = [schema.accepts({"a": value}) for _ in range(200) for value in (1, "1")]
        if verdicts != [True, False] * 200:
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=PATIENCE)

    assert wrong == []


def test_threads_with_a_small_stack_survive_the_deepest_value_allowed() -> None:
    schema = compile(RECURSIVE)
    verdict: list[bool] = []
    before = threading.stack_size(1024 * 1024)
    try:
        thread = threading.Thread(target=lambda: verdict.append(schema.accepts(deep(199))))
        thread.start()
        thread.join(timeout=PATIENCE)
    finally:
        threading.stack_size(before)

    assert verdict == [True]


# ── values that are long because of their texts ──────────────────────────────────────────────────


LIGHT: list[tuple[Any, bool]] = [
    ("x" * 900_000, True),
    ({"title": "x", "pages": ["é" * 100_000, "x" * 500_000]}, True),
    ({"x" * 500_000: None, "y": [1, 1.5, 2**64 - 1, True, {}, []]}, True),
    ("x" * 17_000_000, False),
    ("é" * 4_100_000, False),
    ({"x" * 17_000_000: 1}, False),
    ([1] * 70_000, False),
    ([["x"] for _ in range(40_000)], False),
    ({f"{n}": 1 for n in range(70_000)}, False),
    ([10**40], False),
    ([Decimal("1" * 1_000)], False),
    (cyclic(), False),
]


@pytest.mark.parametrize(("value", "light"), LIGHT, ids=lambda value: str(value)[:30])
def test_a_value_is_light_if_nearly_all_of_it_is_long_texts(value: Any, light: bool) -> None:
    assert is_light(value, 1_000_000) is light


def test_a_value_that_shares_its_parts_a_billion_times_is_not_light() -> None:
    value: Any = "x"
    for _ in range(60):
        value = [value, value]

    assert not is_light(value, 1_000_000)
