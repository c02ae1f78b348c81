"""How deeply messages nest and how many parts they have, told without reading them."""

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.protocol.nesting import has_too_many_parts, is_too_deep, nesting

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


def _parts(value: Any) -> int:
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return 1 + len(members) + sum(map(_parts, members.values()))
    return 1 + sum(map(_parts, cast("list[Any]", value))) if isinstance(value, list) else 0


@given(VALUES, st.booleans(), st.integers(min_value=8, max_value=40))
def test_parts_are_counted_whatever_strings_hold(value: Any, ascii: bool, most: int) -> None:
    frame = json.dumps(value, ensure_ascii=ascii).encode()
    assert has_too_many_parts(frame, most) is (_parts(value) > most)


def test_numbers_and_short_texts_are_no_parts() -> None:
    assert not has_too_many_parts(json.dumps([1.5] * 1_000).encode(), 10)
    assert not has_too_many_parts(json.dumps(["a:b"] * 30).encode(), 10)


@pytest.mark.parametrize("text", ["[]", "a", "", "\\", '"', '\\"'])
def test_more_than_four_times_as_many_texts_are_too_many(text: str) -> None:
    assert not has_too_many_parts(json.dumps([text] * 40).encode(), 10)
    assert has_too_many_parts(json.dumps([text] * 41).encode(), 10)


def test_quotes_in_a_text_are_no_texts() -> None:
    assert not has_too_many_parts(json.dumps(['"' * 1_000, '\\"' * 1_000]).encode(), 10)


@given(st.binary() | st.text(alphabet='[]{}:"\\x').map(str.encode))
def test_bytes_that_are_no_json_have_too_many_parts_or_not(frame: bytes) -> None:
    assert has_too_many_parts(frame, 2) in (True, False)
