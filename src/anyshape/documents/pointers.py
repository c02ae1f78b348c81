"""JSON Pointers (RFC 6901): tokens escaped and read, and what they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeAlias
from urllib.parse import unquote

from anyshape.documents.json import is_array, is_object

Place: TypeAlias = tuple[str, ...]
"""The reference tokens that lead to a value in a document, unescaped."""

MISSING: Final = object()
"""What a token leads to that leads to nothing."""

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")


def escape(token: str) -> str:
    """Return `token` as one reference token of a pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def unescape(token: str) -> str:
    """Return what one reference token of a pointer names."""
    return token.replace("~1", "/").replace("~0", "~")


def pointer(tokens: Iterable[str | int]) -> str:
    """Return the pointer with these tokens."""
    return "".join(f"/{escape(str(token))}" for token in tokens)


def tokens_of(fragment: str) -> Place | None:
    """Return the tokens of a URI fragment that is a pointer, or `None` for a plain name."""
    text = unquote(fragment)
    if text == "":
        return ()
    if not text.startswith("/"):
        return None
    return tokens_in(text)


def tokens_in(pointer: str) -> Place:
    """Return the tokens of a pointer."""
    tokens = pointer.split("/")[1:]
    return tuple(map(unescape, tokens)) if "~" in pointer else tuple(tokens)


def step(value: object, token: str) -> object:
    """Return what an unescaped token leads to from `value`, `MISSING` if to nothing."""
    if is_object(value):
        return value.get(token, MISSING)
    if is_array(value) and _INDEX.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return MISSING


def reach(value: object, place: Place) -> object:
    """Return what is at a place of `value`, `MISSING` if nothing is."""
    for token in place:
        value = step(value, token)
    return value
