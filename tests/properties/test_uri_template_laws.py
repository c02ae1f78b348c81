"""Laws of URI templates: what one was expanded with is what it is matched to.

Expansion is that of the `uri_template` package, which implements RFC 6570.
"""

from __future__ import annotations

import re

import pytest
import uri_template
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from anyshape.protocol.uri_templates import UriTemplate

NAMES = ("a", "b", "c", "d")
literals = st.text("ab0-._~:/?#[]@!$&'()*+,;=", max_size=4) | st.sampled_from(
    ("/", ".json", "%20", "/x/", "?q=", "#")
)


@st.composite
def templates(draw: st.DrawFn) -> str:
    """Draw a template that may or may not be one that can be matched."""
    names = list(draw(st.permutations(NAMES)))
    text = "s:"
    for _ in range(draw(st.integers(1, 3))):
        text += draw(literals)
        if names:
            taken = [names.pop() for _ in range(min(len(names), draw(st.integers(1, 2))))]
            text += (
                "{" + draw(st.sampled_from(("", "", "+", "#", ".", "/"))) + ",".join(taken) + "}"
            )
    text += draw(literals)
    if names and draw(st.booleans()):
        text += "{" + draw(st.sampled_from("?&;")) + ",".join(names) + "}"
    return text


values = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


def expand(template: str, given: dict[str, str]) -> str:
    """Return the expansion by somebody else."""
    expanded: str | None = uri_template.expand(template, **given)  # pyright: ignore[reportUnknownMemberType]
    assert expanded is not None
    return expanded


@given(st.data(), templates())
@settings(max_examples=600)
@example(None, "s:{+a}/{b}.json")
def test_a_template_that_is_taken_gives_back_what_it_was_expanded_with(
    data: st.DataObject | None, text: str
) -> None:
    try:
        template = UriTemplate(text)
    except ValueError:
        return
    unescaped = re.findall(r"\{[+#]([^}]*)\}", text)
    given_values: dict[str, str] = {}
    for name in template.names:
        if data is None:
            given_values[name] = "a/b c"
        elif name not in template.optional:
            value = data.draw(values)
            # An escape in a value that is not escaped is left as it is: it means its character.
            assume(not any(name in names.split(",") for names in unescaped) or "%" not in value)
            given_values[name] = value
        elif data.draw(st.booleans()):
            given_values[name] = data.draw(values | st.just(""))
    assert template.match(expand(text, given_values)) == given_values


@pytest.mark.parametrize(
    ("text", "one", "other"),
    [
        ("s:{a}-{b}", {"a": "x-y", "b": "z"}, {"a": "x", "b": "y-z"}),
        ("s:{+a}{?b}", {"a": "x?b=y"}, {"a": "x", "b": "y"}),
        ("s:{a}{.b}", {"a": "x.y", "b": "z"}, {"a": "x", "b": "y.z"}),
        ("s:{+a},{+b}", {"a": "x,y", "b": "z"}, {"a": "x", "b": "y,z"}),
        ("s:{a}{b}", {"a": "xy", "b": "z"}, {"a": "x", "b": "yz"}),
    ],
)
def test_a_template_whose_expansions_can_be_read_in_two_ways_is_refused(
    text: str, one: dict[str, str], other: dict[str, str]
) -> None:
    assert expand(text, one) == expand(text, other)
    with pytest.raises(ValueError, match="cannot be told"):
        UriTemplate(text)


@given(templates(), st.text(max_size=40) | st.text("s:ab/.%2e?=&#", max_size=40))
@settings(max_examples=300)
def test_matching_any_text_ends_with_all_variables_or_none(text: str, uri: str) -> None:
    try:
        template = UriTemplate(text)
    except ValueError:
        return
    for candidate in (uri, "s:" + uri):
        found = template.match(candidate)
        if found is not None:
            assert set(template.names) - template.optional <= found.keys() <= set(template.names)
