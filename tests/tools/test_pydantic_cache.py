"""Schemas that tools have in common are generated once, and none is ever given a wrong one."""

from __future__ import annotations

import dataclasses
import datetime
import gc
import weakref
from typing import Annotated, Any, Literal, NamedTuple, Union, cast

import pytest
import typing_extensions
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, WithJsonSchema, create_model
from pydantic_core import core_schema

from anyshape.errors import ToolDefinitionError
from anyshape.tools import Tool
from anyshape.tools.inlining import arrange
from anyshape.tools.signature import EMPTY, Parameter
from anyshape.tools.types import ParameterTypes, pydantic_schemas
from anyshape.tools.types.pydantic_schemas import CompactSchema
from anyshape.tools.types.pydantic_types import describe_parameters, describe_value


class Leaf(BaseModel):
    """A leaf."""

    text: str = Field(default="x", max_length=9)
    when: list[int] = []


class Tree(BaseModel):
    left: Tree | None = None
    leaves: list[Leaf]


class Place(typing_extensions.TypedDict):
    name: str
    leaf: typing_extensions.NotRequired[Leaf]


class Size(BaseModel):
    width: int


@dataclasses.dataclass
class Box:
    size: Size


class Sized(typing_extensions.TypedDict):
    size: Size


class Pair(NamedTuple):
    size: Size


class Chosen:
    """Describes itself, by what there is at the time."""

    names: tuple[str, ...] = ("a",)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return core_schema.literal_schema(list(cls.names))


@dataclasses.dataclass(frozen=True)
class Choice:
    """Does so for another type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.literal_schema(list(Chosen.names))


def parameters_of(**annotations: Any) -> ParameterTypes:
    """Return what pydantic says of parameters."""
    return describe_parameters(
        [Parameter(name, kind, EMPTY, required=True) for name, kind in annotations.items()]
    )


def taking(annotation: Any, returns: Any = None) -> Tool:
    """Return a tool that takes and returns what is annotated."""

    async def tool(it: Any) -> Any: ...

    tool.__annotations__.update({"it": annotation, "return": returns})
    return Tool.from_function(tool)


SIGNATURES: list[dict[str, Any]] = [
    {"leaf": Leaf},
    {"leaf": Leaf, "other": Leaf | None, "n": Annotated[int, Field(ge=1)]},
    {"tree": Tree, "leaf": Leaf, "word": Literal["a", "b"]},
    {"place": Place, "leaves": dict[str, list[Leaf]], "size": Annotated[Leaf, Field(title="Size")]},
    {"a": Annotated[int, Field(alias="A", description="an A")], "leaf": Leaf, "b": str},
    {"it": Annotated[Leaf, WithJsonSchema({"type": "object"})], "leaf": Leaf},
    {"many": list[Tree] | Leaf, "one": Tree},
]


@pytest.mark.parametrize("signature", SIGNATURES, ids=lambda it: "-".join(it))
def test_parameters_are_described_as_all_together_are(signature: dict[str, Any]) -> None:
    make: Any = typing_extensions.TypedDict
    document = TypeAdapter[Any](make("Arguments", signature)).json_schema(
        schema_generator=CompactSchema
    )
    definitions = document.pop("$defs", {})
    for _ in range(2):
        described = parameters_of(**signature)
        assert list(described.schemas) == list(document["properties"])
        assert list(described.names.values()) == list(signature)
        assert arrange({"properties": described.schemas}, described.definitions) == arrange(
            {"properties": document["properties"]}, definitions
        )


LEAVES: st.SearchStrategy[Any] = st.sampled_from(
    [Leaf, Tree, Place, Box, Size, str, int, float, bool, None, Literal["a", 1], Literal["a", True]]
)
ANNOTATIONS: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda it: list[it]),
        inner.map(lambda it: dict[str, it]),
        st.lists(inner, min_size=2, max_size=3).map(lambda members: Union[tuple(members)]),  # noqa: UP007 - made at run time
    ),
    max_leaves=4,
)


@settings(max_examples=100)
@given(ANNOTATIONS)
def test_what_is_known_is_what_pydantic_would_say_again(annotation: Any) -> None:
    for mode in ("validation", "serialization"):
        document = TypeAdapter[Any](annotation).json_schema(
            schema_generator=CompactSchema, mode=mode
        )
        expected = arrange(document, document.pop("$defs", {}))
        for _ in range(2):
            if mode == "serialization":
                found = describe_value(annotation).schema
            else:
                described = parameters_of(it=annotation)
                found = arrange(described.schemas["it"], described.definitions)
            assert found == expected
            assert str(found) == str(expected)  # 1 and True are equal, and so are other orders


def test_the_schema_of_a_model_is_generated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = create_model("Common", name=(str, ...))
    generated: list[Any] = []
    original = pydantic_schemas.generate

    def generate(schema: Any, mode: Any) -> Any:
        generated.append(schema)
        return original(schema, mode)

    monkeypatch.setattr(pydantic_schemas, "generate", generate)
    documents = [taking(model).listing.input_schema for _ in range(3)]
    parameters_of(another=model)
    assert documents[0] == documents[1] == documents[2]
    assert len(generated) == 1


def test_what_one_tool_says_of_a_parameter_is_not_said_of_anothers() -> None:
    async def first(leaf: Annotated[Leaf, "The first."], n: Literal[1, 2] = 1) -> Leaf: ...

    async def second(leaf: Leaf, n: Literal[1, 2]) -> Leaf: ...

    described = Tool.from_function(first).listing.input_schema
    assert described["properties"]["leaf"]["description"] == "The first."
    assert described["properties"]["n"]["default"] == 1
    other = Tool.from_function(second).listing.input_schema
    assert other["properties"]["leaf"]["description"] == "A leaf."
    assert "default" not in other["properties"]["n"]


class Note(BaseModel):
    """What is published is not what is enforced."""

    when: datetime.datetime
    kind: Literal["a", "b"]
    sizes: list[int] = Field(default=[1], examples=[[2]])


@pytest.mark.parametrize("model", [Leaf, Note, Tree])
def test_changing_a_listing_changes_no_other_tool(model: Any) -> None:
    listing = taking(model, list[model]).listing
    before = (str(listing.input_schema), str(listing.output_schema))
    spoil(listing.input_schema)
    spoil(listing.output_schema)
    again = taking(model, list[model])
    assert (str(again.listing.input_schema), str(again.listing.output_schema)) == before
    assert again.output is not None
    assert "spoilt" not in str(again.input.document) + str(again.output.document)


def spoil(part: Any) -> None:
    """Change every array and object in a document."""
    if isinstance(part, dict):
        members = cast("dict[str, Any]", part)
        for member in members.values():
            spoil(member)
        members["spoilt"] = True
    elif isinstance(part, list):
        items = cast("list[Any]", part)
        for item in items:
            spoil(item)
        items.append("spoilt")


def test_members_stay_in_the_order_in_which_each_tool_has_them() -> None:
    leaf, number = {"$ref": "#/$defs/Leaf"}, {"type": "integer"}
    assert Leaf | int == int | Leaf
    for annotation, members in ((Leaf | int, [leaf, number]), (int | Leaf, [number, leaf])):
        schemas = parameters_of(it=annotation, many=list[annotation]).schemas
        assert schemas["it"] == {"anyOf": members}
        assert schemas["many"]["items"] == {"anyOf": members}


def test_models_of_one_name_are_two() -> None:
    other = create_model("Leaf", size=(int, ...))

    async def tool(one: Leaf, two: Any, three: Leaf) -> None: ...

    tool.__annotations__["two"] = other
    for _ in range(2):
        document = Tool.from_function(tool).listing.input_schema
        assert keys_of("one", document) == keys_of("three", document) == {"text", "when"}
        assert keys_of("two", document) == {"size"}


def keys_of(parameter: str, document: dict[str, Any]) -> set[str]:
    """Return the keys of a parameter that is an object, wherever it is described."""
    schema = document["properties"][parameter]
    reference = schema.get("$ref", "").rpartition("/")[2]
    return set(document.get("$defs", {}).get(reference, schema)["properties"])


def test_a_model_that_was_rebuilt_is_described_anew() -> None:
    model = create_model("Model", size=(int, ...))
    before = taking(model, model).listing
    model.model_fields["size"].description = "how large"
    model.model_rebuild(force=True)
    after = taking(model, model).listing
    assert before.input_schema != after.input_schema
    assert before.output_schema != after.output_schema


def test_what_an_author_computes_is_computed_for_each_tool() -> None:
    names = ["a"]

    class Dynamic(BaseModel):
        model_config = ConfigDict(json_schema_extra=lambda schema: schema.update(examples=[*names]))
        it: str

    class Within(BaseModel):
        it: int = Field(json_schema_extra=lambda schema: schema.update(examples=[*names]))

    class Own(BaseModel):
        it: int

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
            return {**handler(core_schema), "examples": [*names]}

    for model in (Dynamic, list[Within], Own):
        first = taking(model, model).listing
        names.append("b")
        second = taking(model, model).listing
        assert str(first.input_schema) != str(second.input_schema)
        assert str(first.output_schema) != str(second.output_schema)


@pytest.mark.parametrize("annotation", [Box, Sized, Pair, list[Box], dict[str, Sized | None]])
def test_a_name_that_means_another_type_by_now_is_looked_up_again(
    annotation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = taking(annotation, annotation).listing
    monkeypatch.setitem(globals(), "Size", create_model("Size", name=(str, ...)))
    second = taking(annotation, annotation).listing
    for before, after in (
        (first.input_schema, second.input_schema),
        (first.output_schema, second.output_schema),
    ):
        assert ("'width'" in str(before), "'name'" in str(before)) == (True, False)
        assert ("'width'" in str(after), "'name'" in str(after)) == (False, True)


@pytest.mark.parametrize("annotation", [Chosen, list[Chosen], Annotated[str, Choice()]])
def test_a_type_that_describes_itself_is_asked_for_each_tool(
    annotation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = taking(annotation, annotation).listing
    monkeypatch.setattr(Chosen, "names", ("a", "b"))
    second = taking(annotation, annotation).listing
    assert str(first.input_schema) != str(second.input_schema)
    assert str(first.output_schema) != str(second.output_schema)


def test_a_type_that_cannot_be_described_yet_can_be_later() -> None:
    class Waiting(BaseModel):
        next: Later  # pyright: ignore[reportUndefinedVariable]  # noqa: F821 - that is the point

    with pytest.raises(ToolDefinitionError):
        taking(Waiting)
    Waiting.model_rebuild(_types_namespace={"Later": Leaf})
    assert taking(Waiting).listing.input_schema["properties"]["it"]["properties"]


def test_classes_that_are_gone_are_not_kept_for_ever() -> None:
    def define(number: int) -> weakref.ref[Any]:
        model = create_model(f"Model{number}", size=(int, number))
        taking(model, model)
        return weakref.ref(model)

    first = define(0)
    for number in range(1, 300):
        parameters_of(it=Literal[number])
        describe_value(Literal[number])
    gc.collect()
    assert first() is None
