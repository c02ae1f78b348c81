"""What a `WWW-Authenticate` header says, whoever wrote it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from anyshape.client.auth.challenge import read_challenge

WORDS = st.text("abcdefghijklmnopqrstuvwxyz_-", min_size=1, max_size=8)
VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@given(st.lists(st.text(max_size=300), max_size=4))
@example(["," * 8192])
@example(["a " * 4000])
@example(['a="' * 2000])
@example(['Bearer a="' + "\\\\" * 4000])
def test_no_header_is_too_much(headers: list[str]) -> None:
    assert read_challenge(headers).scheme in ("bearer", "dpop")


@given(st.dictionaries(WORDS, VALUES, max_size=5), st.sampled_from(["Bearer", "bearer", "DPoP"]))
def test_what_is_quoted_is_read_back(parameters: dict[str, str], scheme: str) -> None:
    def quoted(value: str) -> str:
        return value.replace("\\", "\\\\").replace('"', '\\"')

    written = ", ".join(f'{name}="{quoted(value)}"' for name, value in parameters.items())
    found = read_challenge(['Basic realm="x"', f"Negotiate, {scheme} {written}"])
    assert (found.scheme, found.parameters) == (scheme.lower(), parameters)


@pytest.mark.parametrize(
    ("header", "scopes"),
    [
        ("Bearer", None),
        ('Bearer scope=""', None),
        ('Bearer scope="a b  a"', ("a", "b")),
        ("Bearer scope=a", ("a",)),
        ('Bearer realm="r", scope="a", scope="b"', ("a",)),
        ('Basic scope="a"', None),
        ('Basic realm="x", Bearer error="e",scope="a"', ("a",)),
    ],
)
def test_the_scopes_are_those_of_the_first_challenge_for_a_token(
    header: str, scopes: tuple[str, ...] | None
) -> None:
    assert read_challenge([header]).scopes == scopes
