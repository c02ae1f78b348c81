"""The id of a request is found at either end of it, and never further inside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyshape.protocol.salvage import WINDOW, salvage_id

IDS = st.one_of(st.integers(), st.text(max_size=20))
VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["id", "method", "a", 'b"}', ',"id":']), inner, max_size=3),
    ),
    max_leaves=8,
)


def _salvaged(line: bytes) -> Any:
    found = salvage_id(line[:WINDOW], line[-WINDOW:])
    return None if found is None else json.loads(found)


@given(id=IDS, params=VALUES, order=st.permutations(["jsonrpc", "id", "method", "params"]))
def test_an_id_is_found_wherever_it_stands_in_a_short_message(
    id: Any, params: Any, order: list[str]
) -> None:
    members = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"id": params}}
    assert _salvaged(json.dumps({name: members[name] for name in order}).encode()) == id


@pytest.mark.parametrize("filling", ["x" * 100_000, [{"id": 9}] * 10_000, {"id": "y" * 100_000}])
@pytest.mark.parametrize(
    "order",
    [
        ["jsonrpc", "id", "method", "params"],
        ["method", "params", "jsonrpc", "id"],
        ["jsonrpc", "method", "params", "id"],
        ["params", "id", "method", "jsonrpc"],
    ],
)
def test_an_id_is_found_at_either_end_of_a_long_message(order: list[str], filling: Any) -> None:
    members = {"jsonrpc": "2.0", "id": "seven", "method": "m", "params": {"id": 1, "a": filling}}
    assert _salvaged(json.dumps({name: members[name] for name in order}).encode()) == "seven"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[" * 100_000,
        b'{"id":1' * 10_000,
        b'{"jsonrpc":"2.0","id":1,"result":{"a":"' + b"x" * 100_000 + b'"}}',
        b'{"jsonrpc":"2.0","method":"m","params":{"id":1,"a":"' + b"x" * 100_000 + b'","id":2}}',
        b'{"jsonrpc":"2.0","method":"m","params":"' + b"x" * 100_000 + b',\\"id\\":2}',
        b'{"jsonrpc":"2.0","method":"m","id":null,"params":"' + b"x" * 100_000 + b'"}',
        b'{"jsonrpc":"2.0","method":"m","\xb6":"' + b"x" * 100_000 + b',"id":2,"\xb6":1}',
        b'{"jsonrpc":"2.0","method":"m","id":"\xb6","params":"' + b"x" * 100_000 + b'"}',
    ],
)
def test_what_is_no_id_of_a_request_is_not_taken_for_one(line: bytes) -> None:
    assert _salvaged(line) is None
