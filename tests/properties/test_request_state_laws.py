"""Laws of the state that a client keeps from round to round: what was sealed opens, nothing else.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

import base64

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anyshape.errors import ProtocolError
from anyshape.server.asking.state import GivenAnswer, RequestStates, RoundState

KEY = b"k" * 32
STATES = RequestStates((KEY,), 60.0, 1_000_000, lambda: 1_000.0)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


def given_answer(digest: str, value: object) -> GivenAnswer:
    return GivenAnswer(digest, msgspec.Raw(msgspec.json.encode(value)))


answers = st.builds(given_answer, st.text(max_size=32), json_values)
states = st.builds(
    RoundState,
    st.floats(960, 1_040),
    st.dictionaries(st.text(max_size=10), answers, max_size=4),
    st.dictionaries(st.text(max_size=10), st.text(max_size=32), max_size=4),
)
bindings = st.binary(min_size=1, max_size=64)


def opens(sealed: str, binding: bytes, states: RequestStates = STATES) -> bool:
    try:
        states.open(sealed, binding)
    except ProtocolError as error:
        refusal = error
    else:
        return True
    assert refusal.code == -32602
    assert "\n" not in refusal.message
    return False


@given(states, bindings)
def test_what_was_sealed_opens_as_it_was(state: RoundState, binding: bytes) -> None:
    sealed = STATES.seal(state, binding)
    assert sealed.isascii()
    assert msgspec.json.encode(STATES.open(sealed, binding)) == msgspec.json.encode(state)


@given(states, bindings, st.data())
def test_any_bit_that_is_changed_is_noticed(
    state: RoundState, binding: bytes, data: st.DataObject
) -> None:
    sealed = STATES.seal(state, binding)
    raw = bytearray(base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4)))
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    assert not opens(base64.urlsafe_b64encode(raw).rstrip(b"=").decode(), binding)


@given(states, bindings, st.data())
def test_any_character_that_is_changed_cut_or_added_is_noticed(
    state: RoundState, binding: bytes, data: st.DataObject
) -> None:
    sealed = STATES.seal(state, binding)
    start = data.draw(st.integers(0, len(sealed)))
    end = data.draw(st.integers(start, len(sealed)))
    changed = sealed[:start] + data.draw(st.text(max_size=3)) + sealed[end:]
    assume(changed != sealed)
    assert not opens(changed, binding)


@given(states, bindings, bindings)
def test_a_state_opens_only_with_what_it_was_bound_to(
    state: RoundState, binding: bytes, other: bytes
) -> None:
    assume(other != binding)
    assert not opens(STATES.seal(state, binding), other)


@given(states, bindings, st.binary(min_size=16, max_size=40))
def test_a_state_opens_only_with_the_key_that_sealed_it(
    state: RoundState, binding: bytes, other: bytes
) -> None:
    assume(other != KEY)
    sealed = STATES.seal(state, binding)
    stranger = RequestStates((other,), 60.0, 1_000_000, lambda: 1_000.0)
    assert not opens(sealed, binding, stranger)
    rotated = RequestStates((other, KEY), 60.0, 1_000_000, lambda: 1_000.0)
    assert opens(sealed, binding, rotated)


@given(states, bindings)
def test_no_two_sealed_states_are_alike(state: RoundState, binding: bytes) -> None:
    assert STATES.seal(state, binding) != STATES.seal(state, binding)


@given(st.text(max_size=200), bindings)
def test_nothing_that_was_not_sealed_opens(text: str, binding: bytes) -> None:
    assert not opens(text, binding)


@pytest.mark.parametrize("age", [-61.0, 61.0])
def test_a_state_of_another_time_does_not_open(age: float) -> None:
    assert not opens(STATES.seal(RoundState(1_000.0 - age), b"b"), b"b")
