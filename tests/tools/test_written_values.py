"""Values that a library writes: judged by their text, never with another outcome than by patience.

A value that pydantic or msgspec brought to JSON types is not proved to be JSON part by part where
its text shows that it is. Here everything is proved, and the outcomes are compared.
"""

from __future__ import annotations

import asyncio
import enum
import math
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter

from anyshape import Limits
from anyshape.errors import AnyshapeError
from anyshape.schema import compile
from anyshape.tools import Tool


class Colour(enum.Enum):
    RED = "red"


class User(BaseModel):
    id: int
    name: str = ""
    share: float = 0.5
    tags: list[str] = []


class Grown(User):
    more: Any = 1


class Team(BaseModel):
    model_config = ConfigDict(extra="allow")
    users: list[User]
    by_name: dict[str, User] = {}
    parent: Team | None = None


class Point(msgspec.Struct):
    x: Any
    y: float = 0.5


TYPES: list[Any] = [
    list[User],
    User,
    Team,
    dict[str, User],
    User | None,
    list[Point],
    Point,
]
DOCUMENTS: list[Any] = [None, True, {"type": ["object", "array", "null"]}, {"maxItems": 1}]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(10**30), 10**4299])
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(
        ["null", "\ud800", "a\udfff", "[[[", Colour.RED, Decimal("1.5"), b"x", b"\xff"]
    )
)
keys = st.text(max_size=2) | st.sampled_from(["\ud800", "null"]) | st.integers(0, 2) | st.none()
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=2).map(tuple)
        | st.dictionaries(keys, inner, max_size=2)
        | st.builds(User.model_construct, id=inner, name=inner, tags=inner)
        | st.builds(Grown.model_construct, id=st.just(1), name=st.just("a"), more=inner)
        | st.builds(Team.model_construct, users=inner, by_name=inner, other=inner)
        | st.builds(Point, inner, inner)
    ),
    max_leaves=6,
)
users = st.builds(User, id=st.integers(), name=st.text(max_size=4), share=st.floats())
values = (
    anything
    | users
    | st.lists(users, max_size=3)
    | st.lists(st.builds(User.model_construct, id=scalars, name=scalars), max_size=3)
    | st.builds(Team, users=st.lists(users, max_size=2), note=st.floats() | st.text())
    | st.lists(st.builds(Point, scalars, st.floats()), max_size=3)
)


def returning(annotation: Any, value: Any, document: Any, limits: Limits) -> Tool:
    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    if document is None:
        return Tool.from_function(tool, limits=limits)
    return Tool.from_function(tool, output_schema=document, limits=limits)


def is_of_structs(annotation: Any) -> bool:
    return annotation in (list[Point], Point)


def read_patiently(annotation: Any, value: Any, document: Any, limits: Limits) -> Any:
    """Return what a value is as JSON, each part of it proved; or raise what is wrong with it."""
    if is_of_structs(annotation):
        written = msgspec.to_builtins(value, str_keys=True)
    else:
        serializer = TypeAdapter(annotation).serializer
        written = serializer.to_python(value, mode="json", by_alias=True, warnings=False)
    text = msgspec.json.encode(value if is_of_structs(annotation) else written)
    compile(document, limits=limits).validate(written)
    return msgspec.json.decode(text)


REFUSED = (AnyshapeError, TypeError, ValueError, RecursionError, OverflowError)


@given(
    st.sampled_from(TYPES),
    values,
    st.sampled_from(DOCUMENTS),
    st.sampled_from([Limits(), Limits(instance_depth=2)]),
)
def test_what_is_sent_is_what_patience_would_have_sent(
    annotation: Any, value: Any, document: Any, limits: Limits
) -> None:
    tool = returning(annotation, value, document, limits)
    judged = document if document is not None else tool.output and tool.output.document
    result = asyncio.run(tool.call())
    try:
        expected = read_patiently(annotation, value, judged, limits)
    except REFUSED:
        assert result.is_error
    else:
        assert not result.is_error
        assert result.structured is not None
        assert msgspec.json.decode(result.structured) == expected


@pytest.mark.parametrize("document", [None, True])
@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (User, User.model_construct(id=1, share=math.nan)),
        (dict[str, User], {"a": User.model_construct(id=1, share=-math.inf)}),
        (list[Point], [Point(math.nan)]),
        (Point, Point({"a": (math.nan,)})),
    ],
)
async def test_a_number_that_is_not_finite_is_not_sent_as_null(
    annotation: Any, value: Any, document: Any
) -> None:
    assert (await returning(annotation, value, document, Limits()).call()).is_error
