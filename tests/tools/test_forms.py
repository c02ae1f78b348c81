"""A type as a form that a user fills in, and what was filled in as a value of it."""

from __future__ import annotations

import dataclasses
import enum
from datetime import date
from typing import Annotated, Any, Literal, Optional, Union

import msgspec
import pydantic
import pytest

from anyshape import AskError, Message, Text, ToolDefinitionError
from anyshape.protocol.content import Image
from anyshape.protocol.revision import Revision
from anyshape.protocol.sampling import Sampled, SampleRequest, write_sample
from anyshape.tools.forms import form_of
from anyshape.tools.types import ArgumentsError


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


@dataclasses.dataclass
class Shirt:
    front: Size
    back: Size
    label: Optional[str]  # noqa: UP045 - written as many people do
    count: Union[int, None] = None  # noqa: UP007
    sizes: list[Size] = dataclasses.field(default_factory=list[Size])


def fields(kind: Any) -> Any:
    return form_of(kind, "it").document["properties"]


async def test_choices_that_are_defined_once_stand_where_they_are_used() -> None:
    form = form_of(Shirt, "it")
    choice = {"type": "string", "enum": ["s", "l"]}
    assert form.document == {
        "type": "object",
        "properties": {
            "front": choice,
            "back": choice,
            "label": {"type": "string"},
            "count": {"type": "integer"},
            "sizes": {"type": "array", "items": choice},
        },
        "required": ["front", "back"],
    }
    filled = await form.read({"front": "s", "back": "l", "sizes": ["l"]})
    assert filled == Shirt(Size.SMALL, Size.LARGE, None, None, [Size.LARGE])


async def test_a_field_that_may_be_null_may_be_left_out_or_null() -> None:
    form = form_of(Shirt, "it")
    given = {"front": "s", "back": "s"}
    expected = Shirt(Size.SMALL, Size.SMALL, None)
    assert await form.read(given) == expected
    assert await form.read({**given, "label": None, "count": None}) == expected


async def test_what_the_form_cannot_say_is_checked_with_the_names_of_its_fields() -> None:
    class Code(pydantic.BaseModel):
        code: Annotated[str, pydantic.Field(pattern="^[A-Z]{2}$")]
        day: date
        half: Annotated[float, pydantic.Field(gt=0, multiple_of=0.5)] = 0.5

    assert fields(Code) == {
        "code": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "half": {"type": "number", "default": 0.5},
    }
    form = form_of(Code, "it")
    good = await form.read({"code": "AB", "day": "2026-07-28"})
    assert good == Code(code="AB", day=date(2026, 7, 28))
    with pytest.raises(ArgumentsError) as caught:
        await form.read({"code": "abc", "day": "2026-07-28"})
    assert [problem.path for problem in caught.value.problems] == ["/code"]


async def test_a_pattern_that_needs_confinement_is_judged_elsewhere() -> None:
    class Odd(pydantic.BaseModel):
        text: Annotated[str, pydantic.Field(json_schema_extra={"pattern": r"^(?=a)(a+)+$"})]

    form = form_of(Odd, "it")
    assert (await form.read({"text": "aaa"})).text == "aaa"
    with pytest.raises(ArgumentsError):
        await form.read({"text": "b"})


async def test_notes_that_cannot_be_kept_in_a_cache_do_no_harm() -> None:
    note = pydantic.Field(json_schema_extra={"examples": ["a"]})
    assert fields(Annotated[str, note, ["a list"]]) == {"value": {"type": "string"}}


async def test_bounds_of_whole_numbers_are_inclusive() -> None:
    kind = Annotated[int, pydantic.Field(gt=0, lt=10)]
    assert fields(kind) == {"value": {"type": "integer", "minimum": 1, "maximum": 9}}
    kind = Annotated[int, msgspec.Meta(ge=2, le=3, description="Two or three")]
    assert fields(kind) == {
        "value": {"type": "integer", "description": "Two or three", "minimum": 2, "maximum": 3}
    }


WRITTEN: dict[str, Any] = {
    "type": "object",
    "$defs": {"colour": {"oneOf": [{"const": "r", "title": "Red"}, {"const": "b"}]}},
    "properties": {
        "colour": {"$ref": "#/$defs/colour", "description": "Which?"},
        "colours": {"type": "array", "items": {"$ref": "#/$defs/colour"}, "minItems": 1},
        "number": {"type": ["number", "null"], "maximum": 3},
        "one": {"const": "only"},
    },
    "required": ["colour", "number"],
}


async def test_a_written_schema_is_sent_as_a_form_and_enforced_as_it_is() -> None:
    titled = [{"const": "r", "title": "Red"}, {"const": "b", "title": "b"}]
    form = form_of(WRITTEN, "it")
    assert form.document == {
        "type": "object",
        "properties": {
            "colour": {"type": "string", "description": "Which?", "oneOf": titled},
            "colours": {"type": "array", "minItems": 1, "items": {"anyOf": titled}},
            "number": {"type": "number", "maximum": 3},
            "one": {"type": "string", "enum": ["only"]},
        },
        "required": ["colour"],
    }
    assert await form.read({"colour": "r"}) == {"colour": "r", "number": None}
    with pytest.raises(ArgumentsError):
        await form.read({"colour": "g"})


@pytest.mark.parametrize(
    "written",
    [
        {"type": "string"},
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": True}},
        {"type": "object", "properties": {"a": {}}},
        {"type": "objekt"},
    ],
)
def test_a_written_schema_that_is_no_form_is_refused(written: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"^it: "):
        form_of(written, "it")


@pytest.mark.parametrize("choices", [["a", "b"], [["a", "b"]], ("a",)], ids=str)
def test_choices_that_are_no_type_are_told_to_be_one(choices: Any) -> None:
    with pytest.raises(ToolDefinitionError, match=r"^it: choices .* Literal\['a', 'b'\]"):
        form_of(choices, "it")


def test_a_choice_of_null_only_is_no_form() -> None:
    with pytest.raises(ToolDefinitionError):
        form_of(Literal["a", 1], "it")


LATEST = Revision.V2026_07_28


def test_what_is_sampled_is_written_with_all_that_was_given() -> None:
    said = Sampled([Text("a"), {"type": "text", "text": "b"}], model="m")
    assert (said.text, len(said.blocks)) == ("a\nb", 2)
    assert Sampled(Image(b"", "image/png"), model="m").blocks == (Image(b"", "image/png"),)
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    params = write_sample(
        LATEST,
        SampleRequest(messages=["q", said], max_tokens=1, tools=[tool], meta={"a": 1}),
    )
    assert params["tools"] == [tool]
    assert params["metadata"] == {"a": 1}
    assert [message["role"] for message in params["messages"]] == ["user", "assistant"]


def test_a_tool_that_was_run_is_answered_by_a_block() -> None:
    broken = {"type": "tool_use", "id": 7, "name": "t"}
    used = {"type": "tool_use", "id": "1", "name": "t", "input": [1]}
    said = Sampled([used, broken, {"type": "other"}, Text("x")], model="m")
    [use] = said.tool_uses
    assert (use.id, use.name, use.input) == ("1", "t", {})
    text = {"type": "text", "text": "no"}
    answer = {"type": "tool_result", "toolUseId": "1", "content": [text], "isError": True}
    assert use.result(Text("no"), is_error=True).wire() == answer
    assert use.result([Text("no")]).wire()["content"] == [text]


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, None])
def test_a_sample_has_to_have_some_tokens(wrong: Any) -> None:
    with pytest.raises(ValueError, match="max_tokens"):
        write_sample(LATEST, SampleRequest(messages="q", max_tokens=wrong))


def test_a_sample_has_to_go_on_from_something() -> None:
    with pytest.raises(ValueError, match="at least one message"):
        write_sample(LATEST, SampleRequest(messages=[], max_tokens=1))
    with pytest.raises(ValueError, match="at least one message"):
        write_sample(LATEST, SampleRequest(messages=Message([]), max_tokens=1))


def test_before_2025_11_25_no_tools_are_used() -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    with pytest.raises(AskError, match="can use no tools"):
        write_sample(Revision.V2025_06_18, SampleRequest(messages="q", max_tokens=1, tools=[tool]))


class Paint(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Choices:
    size: Literal["s", "l"] | None = None
    color: Paint | None = None


def test_a_choice_that_may_be_left_out_has_no_null_for_a_default() -> None:
    fields = form_of(Choices, "choices").document["properties"]
    assert "default" not in fields["size"]
    assert "default" not in fields["color"]
