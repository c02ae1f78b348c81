"""How deeply messages nest, told without reading them."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.protocol.nesting import is_too_deep, nesting

BRACKETED = st.text(alphabet='[]{}"\\,:aé\n', max_size=12)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | BRACKETED,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(BRACKETED, inner, max_size=4),
    max_leaves=30,
)


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(cast("dict[str, Any]", value).values())
    if not isinstance(value, list):
        return 0
    return 1 + max(map(_depth, cast("list[Any]", value)), default=0)


@given(VALUES, st.booleans())
def test_the_depth_of_json_is_found_whatever_its_strings_hold(value: Any, ascii: bool) -> None:
    assert nesting(json.dumps(value, ensure_ascii=ascii).encode()) == _depth(value)


@given(VALUES, st.integers(min_value=0, max_value=6))
def test_too_deep_is_what_the_depth_says(value: Any, limit: int) -> None:
    assert is_too_deep(json.dumps(value).encode(), limit) is (_depth(value) > limit)


@given(st.binary() | st.text(alphabet='[]{}"\\x').map(str.encode))
def test_bytes_that_are_no_json_have_some_depth(frame: bytes) -> None:
    assert 0 <= nesting(frame) <= len(frame)


@pytest.mark.parametrize(
    ("frame", "deep"),
    [
        (b"[" * 10 + b"]" * 10, False),
        (b"[" * 11 + b"]" * 11, True),
        (b'{"a":' * 11 + b"0" + b"}" * 11, True),
        (b"[]," * 1000, False),
        (b'["' + b"[" * 1000 + b'"]', False),
        (b'["]]]]",' * 5 + b"[" * 20 + b"]" * 25, True),
        (b'"\\"' + b"[" * 100, False),
        (b'"\\\\"' + b"[" * 100, True),
    ],
)
def test_only_brackets_outside_strings_count(frame: bytes, deep: bool) -> None:
    assert is_too_deep(frame, 10) is deep
