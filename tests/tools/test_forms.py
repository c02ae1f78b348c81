"""What a tool returns is written as pydantic writes it, by the quick way as by the other."""

from __future__ import annotations

import datetime
import enum
import json
from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import (
    AfterValidator,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PrivateAttr,
    RootModel,
    SerializeAsAny,
    computed_field,
    create_model,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from anyshape.errors import LimitExceeded, NotJson
from anyshape.protocol.result import ABSENT
from anyshape.schema import Schema, compile
from anyshape.tools import Tool
from anyshape.tools.outputs import Output, UnusualError, describe_output
from anyshape.tools.serialization import ResultError, encoder

GAVE_UP = (UnusualError, KeyError, RecursionError)


def described(annotation: Any) -> tuple[Output, Schema]:
    output = describe_output(annotation, ABSENT, "tool")
    assert output.document is not ABSENT
    return output, compile(output.document, role="output")


def outcome(encode: Callable[[Any], bytes], value: Any) -> Any:
    try:
        return encode(value)
    except ResultError as error:
        return [(problem.path, problem.message) for problem in error.problems]
    except (NotJson, LimitExceeded) as error:
        return str(error)


def assert_same(annotation: Any, value: Any) -> Any:
    """Encode `value` by the quick way and by pydantic alone; return what both come to."""
    output, schema = described(annotation)
    assert output.shortcut is not None
    quickly = outcome(encoder(output, schema), value)
    assert quickly == outcome(encoder(replace(output, shortcut=None), schema), value)
    return quickly


def is_quick(annotation: Any, value: Any) -> bool:
    output, _ = described(annotation)
    if output.shortcut is None:
        return False
    try:
        output.shortcut()(value)
    except GAVE_UP:
        return False
    return True


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Share(float):
    pass


class Items(list[Any]):
    pass


class Colour(enum.Enum):
    RED = "red"
    ONE = 1
    LIST = ["a"]  # noqa: RUF012 - a member, whose value is a list


class Word(enum.StrEnum):
    A = "a"


class Rank(enum.IntEnum):
    ONE = 1


class Coded(str, enum.Enum):  # noqa: UP042 - a StrEnum has no other value
    """Its value is not the string that it is."""

    _value_: str

    def __new__(cls, text: str) -> Coded:
        made = str.__new__(cls, text)
        made._value_ = text.upper()
        return made

    A = "a"


class Loud(enum.Enum):
    """Says that its value is another."""

    A = "a"

    @property
    def value(self) -> str:
        return "another"


class Leaf(BaseModel):
    text: str = "x"
    number: int = 1


class Grown(Leaf):
    more: float = 0.5


ODD: list[Any] = [
    None,
    True,
    0,
    7,
    -1,
    2**70,
    2**1100,
    0.5,
    2.0,
    -0.0,
    float("nan"),
    float("inf"),
    "",
    "a",
    "\ud800",
    "x" * 50,
    Text("a"),
    Whole(1),
    Share(1.5),
    Items(["a"]),
    ("a",),
    {"a"},
    frozenset({1}),
    Colour.RED,
    Colour.ONE,
    Colour.LIST,
    Word.A,
    Rank.ONE,
    Coded.A,
    Loud.A,
    Decimal("1.5"),
    Decimal(1),
    b"a",
    bytearray(b"a"),
    datetime.date(2026, 7, 28),
    datetime.timedelta(1),
    UUID(int=1),
    1 + 2j,
    [],
    ["a", 1],
    ["a", Text("b")],
    [1, Decimal(1)],
    [[1.5], [1]],
    {},
    {"a": 1},
    {1: 1},
    {Text("a"): 1},
    {Word.A: 1},
    {Coded.A: 1},
    OrderedDict(a=1),
    Leaf(),
    Grown(),
    [Leaf(), Grown()],
    {"a": Leaf()},
    Leaf.model_construct(text=Coded.A),
    object,
    object(),
]

SCALARS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, st.text(max_size=3)),
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (bool, st.booleans()),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (Literal["a", 1, None], st.sampled_from(["a", 1, None])),
    (str | int | None, st.none() | st.integers() | st.text(max_size=3)),
    (Annotated[int, Field(ge=0)], st.integers(min_value=0)),
    (Annotated[str, AfterValidator(lambda text: text)], st.text(max_size=3)),
    (Annotated[str, BeforeValidator(lambda text: text)], st.text(max_size=3)),
]
Kind = tuple[Any, st.SearchStrategy[Any]]


def a_list(kind: Kind) -> Kind:
    return list[kind[0]], st.lists(kind[1], max_size=3)


def a_dict(kind: Kind) -> Kind:
    return dict[str, kind[0]], st.dictionaries(st.text(max_size=3), kind[1], max_size=3)


def optional(kind: Kind) -> Kind:
    return kind[0] | None, st.none() | kind[1]


def a_model(kinds: list[Kind], *, forbids: bool) -> Kind:
    definitions: dict[str, Any] = {f"f{number}": kind for number, (kind, _) in enumerate(kinds)}
    config = ConfigDict(extra="forbid") if forbids else ConfigDict()
    model: Any = create_model("Made", __config__=config, **definitions)
    values = st.fixed_dictionaries({f"f{number}": kind[1] for number, kind in enumerate(kinds)})

    def build(fields: dict[str, Any], odd: Any, where: int) -> Any:
        """Make an instance that may hold what its fields do not allow."""
        if where < len(fields):
            fields = {**fields, f"f{where}": odd}
        made = model.model_construct(**fields)
        if where == 20:
            made.__dict__["other"] = odd
        elif where == 21:
            made.__dict__.pop("f0", None)
            made.__dict__["other"] = odd
        elif where == 22:
            made.__dict__["f0"] = made.__dict__.pop("f0", odd)  # now the last one
        return made

    where = st.integers(0, 22) | st.just(99) | st.just(99)
    return model, st.builds(build, values, st.sampled_from(ODD), where)


KINDS: st.SearchStrategy[Kind] = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(
        inner.map(a_list),
        inner.map(a_dict),
        inner.map(optional),
        st.builds(a_model, st.lists(inner, max_size=4), forbids=st.booleans()),
    ),
    max_leaves=8,
)
MODELS = st.builds(a_model, st.lists(KINDS, max_size=4), forbids=st.booleans())


@settings(max_examples=300)
@given(MODELS, st.data())
def test_whatever_a_model_holds_is_written_as_pydantic_writes_it(
    kind: Kind, data: st.DataObject
) -> None:
    annotation, values = kind
    assert_same(annotation, data.draw(values))


class Inner(BaseModel):
    """Fields of all kinds, to put something odd into."""

    text: str
    number: int
    share: float
    flag: bool
    none: None
    choice: Literal["a", "b"]
    maybe: str | None
    either: str | int
    words: list[str]
    shares: list[float] | None
    grid: list[list[int]]
    table: dict[str, int]
    leaf: Leaf
    leaves: list[Leaf]
    named: dict[str, Leaf] | None


class Outer(BaseModel):
    inner: Inner
    others: list[Inner] = []
    twice: Inner | None = None


USUAL: dict[str, Any] = {
    "text": "é",
    "number": 7,
    "share": 0.5,
    "flag": True,
    "none": None,
    "choice": "a",
    "maybe": None,
    "either": 5,
    "words": ["x"],
    "shares": [1.5],
    "grid": [[1], []],
    "table": {"a": 1},
    "leaf": Leaf(),
    "leaves": [Leaf(), Leaf(text="z")],
    "named": {"k": Leaf()},
}


def test_what_is_as_declared_takes_the_quick_way() -> None:
    value = Outer(inner=Inner(**USUAL), others=[Inner(**USUAL)], twice=Inner(**USUAL))
    assert is_quick(Outer, value)
    assert isinstance(assert_same(Outer, value), bytes)


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_anything_may_be_held_by_any_field(odd: Any) -> None:
    for name in USUAL:
        held = Inner.model_construct(**{**USUAL, name: odd})
        assert_same(Outer, Outer.model_construct(inner=held, others=[Inner(**USUAL), held]))


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_anything_may_be_returned_in_place_of_a_model(odd: Any) -> None:
    for annotation in (Leaf, list[Leaf], dict[str, Leaf], Leaf | None):
        assert_same(annotation, odd)


class Long(BaseModel):
    words: list[str | None]
    shares: list[float]
    table: dict[str, int | None]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_one_odd_item_among_many_is_found(odd: Any) -> None:
    words, shares = ["a", None] * 50, [0.5] * 99
    table: dict[str, int | None] = {str(n): n for n in range(99)}
    usual = Long(words=words, shares=shares, table=table)
    assert is_quick(Long, usual)
    assert isinstance(assert_same(Long, usual), bytes)
    assert_same(Long, usual.model_copy(update={"words": [*words, odd, "a"]}))
    assert_same(Long, usual.model_copy(update={"shares": [*shares, odd, 0.5]}))
    assert_same(Long, usual.model_copy(update={"table": {**table, "odd": odd, "last": 1}}))
    if getattr(odd, "__hash__", None) is not None:
        assert_same(Long, usual.model_copy(update={"table": {**table, odd: 1, "last": 1}}))


class Tree(BaseModel):
    name: str
    parts: list[Tree] = []
    above: Forest | None = None


class Forest(BaseModel):
    tree: Tree
    trees: dict[str, Tree] = {}


def test_models_that_contain_each_other_are_written_all_the_way_down() -> None:
    tree = Tree(name="a", parts=[Tree(name="b", above=Forest(tree=Tree(name="c")))])
    assert is_quick(Forest, Forest(tree=tree, trees={"x": tree}))
    assert json.loads(assert_same(Forest, Forest(tree=tree, trees={"x": tree}))) == {
        "tree": tree.model_dump(),
        "trees": {"x": tree.model_dump()},
    }


def test_a_model_that_holds_itself_is_refused() -> None:
    tree = Tree(name="a")
    tree.parts.append(tree)
    assert "ircular" in assert_same(Tree, tree)


def test_a_model_deeper_than_python_recurses_is_left_to_pydantic() -> None:
    tree = Tree(name="a")
    for _ in range(3000):
        tree = Tree.model_construct(name="a", parts=[tree], above=None)
    assert_same(Tree, tree)


def test_lists_may_stand_in_each_other_deeper_than_blocks_of_python_may() -> None:
    annotation: Any = Leaf
    value: Any = Leaf()
    for _ in range(40):
        annotation, value = list[annotation], [value]
    assert is_quick(annotation, value)
    assert isinstance(assert_same(annotation, value), bytes)


def test_a_model_in_many_places_is_looked_at_in_one() -> None:
    model: Any = Leaf
    for number in range(30):
        fields: dict[str, Any] = {"left": (model, ...), "right": (model | None, None)}
        model = create_model(f"Level{number}", **fields)
    value: Any = Leaf()
    for level in reversed(range(30)):
        value = create_level(model, level).model_construct(left=value, right=None)
    assert is_quick(model, value)  # two to the thirtieth places


def create_level(model: Any, level: int) -> Any:
    for _ in range(level):
        model = model.model_fields["left"].annotation
    return model


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = None


class Checked(BaseModel):
    model_config = ConfigDict(frozen=True, validate_assignment=True, str_strip_whitespace=True)
    name: str = Field(min_length=1, description="a name", validation_alias="called")
    _secret: int = PrivateAttr(default=3)

    @field_validator("name")
    @classmethod
    def _upper(cls, value: str) -> str:
        return value.upper()

    @model_validator(mode="after")
    def _check(self) -> Checked:
        return self

    @model_validator(mode="before")
    @classmethod
    def _before(cls, data: Any) -> Any:
        return data


class Derived(Checked):
    count: int = 0
    identifier: str = Field(default_factory=lambda: "x")


class Lazy(BaseModel):
    name: str

    @cached_property
    def length(self) -> int:
        return len(self.name)


QUICK: list[tuple[Any, Any]] = [
    (Page[Leaf], Page[Leaf](items=[Leaf()])),
    (Page[int], Page[int](items=[1, 2])),
    (Checked, Checked(called="a")),  # pyright: ignore[reportCallIssue]  # by its alias
    (Derived, Derived(called="b", count=2)),  # pyright: ignore[reportCallIssue]  # by its alias
    (list[Derived | None], [None, Derived(called="c")]),  # pyright: ignore[reportCallIssue]  # by its alias
    (Lazy, Lazy(name="a")),
    (Leaf | None, None),
    (dict[str, list[Leaf]], {"a": [Leaf()]}),
]


@pytest.mark.parametrize(("annotation", "value"), QUICK, ids=lambda it: getattr(it, "__name__", ""))
def test_what_does_not_change_the_form_keeps_the_quick_way(annotation: Any, value: Any) -> None:
    assert is_quick(annotation, value)
    assert isinstance(assert_same(annotation, value), bytes)


def test_what_an_instance_holds_beside_its_fields_is_never_written() -> None:
    value = Lazy(name="abc")
    assert value.length == 3
    assert assert_same(Lazy, value) == b'{"name":"abc"}'
    assert not is_quick(Lazy, value)


def test_an_instance_of_a_subclass_is_written_as_what_was_promised() -> None:
    assert assert_same(list[Leaf], [Grown()]) == b'[{"text":"x","number":1}]'


def test_fields_are_written_in_the_order_in_which_they_are_held() -> None:
    value = Leaf()
    held: dict[str, Any] = vars(value)
    held["text"] = held.pop("text")
    assert is_quick(Leaf, value)
    assert assert_same(Leaf, value) == b'{"number":1,"text":"x"}'


class Aliased(BaseModel):
    name: str = Field(serialization_alias="Name")


class Generated(BaseModel):
    model_config = ConfigDict(alias_generator=AliasGenerator(serialization_alias=str.upper))
    name: str


class Hidden(BaseModel):
    name: str
    secret: str = Field(default="s", exclude=True)


class SometimesHidden(BaseModel):
    name: str
    secret: str = Field(default="s", exclude_if=lambda value: value == "s")


class Computed(BaseModel):
    name: str

    @computed_field
    @property
    def length(self) -> int:
        return len(self.name)


class OwnField(BaseModel):
    name: str

    @field_serializer("name")
    def _write(self, value: str) -> str:
        return value.upper()


class OwnModel(BaseModel):
    name: str

    @model_serializer
    def _write(self) -> dict[str, str]:
        return {"name": self.name.upper()}


class Wrapped(BaseModel):
    name: str

    @model_serializer(mode="wrap")
    def _write(self, handler: Any) -> Any:
        return handler(self)


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Floats(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")
    share: float


class UnusualDefault(BaseModel):
    share: float = 0


class When(BaseModel):
    when: datetime.date


class Coloured(BaseModel):
    word: Word


class ByValue(BaseModel):
    model_config = ConfigDict(use_enum_values=True)
    word: Word


class Loose(BaseModel):
    what: Any


class AnyLeaf(BaseModel):
    leaf: SerializeAsAny[Leaf]


class Mixed(BaseModel):
    it: int | bool


class Number(BaseModel):
    it: int | float


class EitherModel(BaseModel):
    it: Leaf | Hidden


class Tuple(BaseModel):
    it: tuple[int, str]


OTHERS: list[tuple[Any, Any, Any]] = [
    (Aliased, Aliased(name="a"), {"Name": "a"}),
    (Generated, Generated(name="a"), {"NAME": "a"}),
    (Hidden, Hidden(name="a"), {"name": "a"}),
    (SometimesHidden, SometimesHidden(name="a"), {"name": "a"}),
    (Computed, Computed(name="a"), {"name": "a", "length": 1}),
    (OwnField, OwnField(name="a"), {"name": "A"}),
    (OwnModel, OwnModel(name="a"), {"name": "A"}),
    (Wrapped, Wrapped(name="a"), {"name": "a"}),
    (Extra, Extra(name="a", more=1), {"name": "a", "more": 1}),  # pyright: ignore[reportCallIssue]  # extra
    (Floats, Floats(share=1.5), {"share": 1.5}),
    (UnusualDefault, UnusualDefault(), {"share": 0.0}),
    (When, When(when=datetime.date(2026, 7, 28)), {"when": "2026-07-28"}),
    (Coloured, Coloured(word=Word.A), {"word": "a"}),
    (ByValue, ByValue(word=Word.A), {"word": "a"}),
    (Loose, Loose(what=[Leaf()]), {"what": [{"text": "x", "number": 1}]}),
    (AnyLeaf, AnyLeaf(leaf=Grown()), {"leaf": {"text": "x", "number": 1, "more": 0.5}}),
    (Mixed, Mixed(it=True), {"it": True}),
    (Number, Number(it=1), {"it": 1}),
    (EitherModel, EitherModel(it=Hidden(name="a")), {"it": {"name": "a"}}),
    (Tuple, Tuple(it=(1, "a")), {"it": [1, "a"]}),
    (RootModel[list[Leaf]], RootModel[list[Leaf]]([Leaf()]), [{"text": "x", "number": 1}]),
    (list[Aliased], [Aliased(name="a")], [{"Name": "a"}]),
    (
        Annotated[Leaf, PlainSerializer(lambda leaf: leaf.text, return_type=str)],
        Leaf(),
        "x",
    ),
]


@pytest.mark.parametrize(
    ("annotation", "value", "expected"), OTHERS, ids=lambda it: getattr(it, "__name__", "")
)
async def test_what_changes_the_form_is_left_to_pydantic(
    annotation: Any, value: Any, expected: Any, call: Any
) -> None:
    output, _ = described(annotation)
    assert output.shortcut is None

    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    got = await call(Tool.from_function(tool))
    assert got.value == expected


async def test_another_schema_judges_the_same_form(call: Any) -> None:
    async def tool(number: int) -> Leaf:
        return Leaf(number=number)

    written = {"type": "object", "properties": {"number": {"maximum": 5}}}
    made = Tool.from_function(tool, output_schema=written)
    taken = await call(made, {"number": 5})
    assert taken.value == {"text": "x", "number": 5}
    refused = await call(made, {"number": 6})
    assert refused.is_error
