from __future__ import annotations

import pytest

from anyshape.protocol.names import LONGEST_NAME, name_flaw


@pytest.mark.parametrize(
    "name", ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a", "-", "x" * 128]
)
def test_names_of_the_specification_are_good(name: str) -> None:
    assert name_flaw(name) is None


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "empty"),
        ("x" * 129, str(LONGEST_NAME)),
        ("get user", "' ' at position 3"),
        ("a,b", "','"),
        ("naïve", "position 2"),
        ("a/b", "'/'"),
        ("a\n", "position 1"),
        ("\u0661", "position 0"),
    ],
)
def test_other_names_are_told_what_is_wrong(name: str, says: str) -> None:
    flaw = name_flaw(name)
    assert flaw is not None
    assert says in flaw
