"""Names of tools: accepted, none twice, the same in any order, and kept where they can be."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyshape.agents.naming import offered_names
from anyshape.providers import PROFILES

PATTERNS = sorted({profile.tool_names for profile in PROFILES.values()} | {"[a-z_0-9]{1,12}"})
ALIKE = st.text("ab._-:/ é1", max_size=6)
LONG = st.tuples(ALIKE, ALIKE).map(("x" * 130).join)
NAMES = st.lists(ALIKE | LONG | st.text(max_size=150), max_size=30, unique=True)


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=150)
@given(names=NAMES, data=st.data())
def test_every_law_holds(pattern: str, names: list[str], data: st.DataObject) -> None:
    offered = offered_names({name: name for name in names}, pattern)
    assert list(offered) == names
    assert all(re.fullmatch(pattern, name) for name in offered.values())
    back = {name: original for original, name in offered.items()}
    assert {back[offered[name]] for name in names} == set(names), "every name leads back"
    assert len(back) == len(names)
    for name in names:
        if re.fullmatch(pattern, name):
            assert offered[name] == name
    shuffled = data.draw(st.permutations(names))
    assert offered_names({name: name for name in shuffled}, pattern) == offered


@settings(max_examples=100)
@given(names=NAMES)
def test_names_that_are_wanted_twice_are_told_apart(names: list[str]) -> None:
    wanted = {f"{label}\0{name}": name for label in "ab" for name in names}
    offered = offered_names(wanted, "[A-Za-z0-9_-]{1,64}")
    assert len(set(offered.values())) == len(wanted)


def test_a_name_that_looks_like_the_hash_of_another_keeps_it() -> None:
    pattern = "[A-Za-z0-9_-]{1,64}"
    hashed = offered_names({"a.b": "a.b", "a_b": "a_b"}, pattern)["a.b"]
    again = offered_names({"a.b": "a.b", "a_b": "a_b", hashed: hashed}, pattern)
    assert again[hashed] == hashed
    assert again["a.b"].startswith(hashed)
    assert again["a.b"] != hashed


@pytest.mark.parametrize("pattern", ["[0-9]+", "[a-z]{1,5}", "[a-z]{1,64}"])
def test_a_pattern_that_leaves_no_room_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="tool_names"):
        offered_names({"a": "a"}, pattern)
