from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from anyshape.protocol.content import Image, Text
from anyshape.protocol.result import ABSENT, EncodedResult, ToolResult


def test_absent_is_one_thing_and_not_null() -> None:
    assert ABSENT is not None
    assert not ABSENT
    assert repr(ABSENT) == "ABSENT"
    assert copy.deepcopy(ABSENT) is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT


def test_a_result_without_value_differs_from_one_with_null() -> None:
    nothing: ToolResult[None] = ToolResult()
    assert nothing.structured is ABSENT
    assert ToolResult(None).structured is None
    assert nothing != ToolResult(None)


def test_strings_in_content_are_text() -> None:
    image = Image(b"", "image/png")
    assert ToolResult(content=["a", image, Text("b")]).blocks == (Text("a"), image, Text("b"))
    assert ToolResult(content="abc").blocks == (Text("abc"),)
    assert ToolResult(content=image).blocks == (image,)


@pytest.mark.parametrize(
    ("parts", "flaw"),
    [
        ({"content": [{"type": "text", "text": "a"}]}, "content has to be Text.*got dict"),
        ({"content": [5]}, "content has to be Text.*got int"),
        ({"content": 5}, "content has to be a string.*got int"),
        ({"content": {"text": "a"}}, "content has to be a string.*got dict"),
        ({"meta": [1]}, "meta has to be an object, got list"),
    ],
    ids=str,
)
def test_what_could_not_be_sent_is_refused_where_it_is_built(
    parts: dict[str, Any], flaw: str
) -> None:
    with pytest.raises(TypeError, match=flaw):
        ToolResult(1, **parts)


def test_content_is_frozen_when_the_result_is_built() -> None:
    blocks: list[Text | str] = [Text("a")]
    result = ToolResult(1, content=blocks)
    blocks.append("b")
    assert result.blocks == (Text("a"),)


def test_results_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ToolResult(1).structured = 2  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        EncodedResult(b"1").structured = b"2"  # pyright: ignore[reportAttributeAccessIssue]
