"""A tool's arguments as they are typed: `key=value`, `key:=JSON`, one JSON object, or `-`.

`key=value` is text. It becomes a number, a boolean or another value only where the tool's schema
says that the argument is one: where a string is allowed, the text is the argument. Nothing is
tried out, so `id=007` stays `"007"` for a tool that takes a string. `key:=JSON` says it outright.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, cast

from anyshape.cli.failure import UsageError

_HINT = 'write key=value, key:=JSON, one object such as \'{"city": "Paris"}\', or - for stdin'


def parse_arguments(words: Sequence[str], input_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that some words stand for."""
    if list(words) == ["-"]:
        return _object(sys.stdin.read(), "stdin")
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _object(words[0], "the arguments")
    arguments: dict[str, Any] = {}
    for word in words:
        key, value = _pair(word, input_schema)
        if key in arguments:
            raise UsageError(
                f"{key} is given twice", hint=f"for several values write an array: {key}:='[…]'"
            )
        arguments[key] = value
    return arguments


def _object(text: str, what: str) -> dict[str, Any]:
    value = _json(text, what)
    if not isinstance(value, dict):
        raise UsageError(f"{what}: expected a JSON object", hint=_HINT)
    return cast("dict[str, Any]", value)


def _json(text: str, what: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what}: not JSON: {error}", hint=_HINT) from None


def _pair(word: str, input_schema: Mapping[str, Any]) -> tuple[str, Any]:
    key, equals, text = word.partition("=")
    if not equals or not key or key == ":":
        raise UsageError(f"{word!r} is no argument", hint=_HINT)
    if key.endswith(":"):
        return key[:-1], _json(text, key[:-1])
    return key, _typed(text, key, input_schema)


def _typed(text: str, key: str, input_schema: Mapping[str, Any]) -> object:
    from anyshape.documents.property_types import property_types
    from anyshape.documents.types import Types

    types = property_types(dict(input_schema), key)
    if types is None or Types.STRING in types:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # Not what the schema wants: its own words say so better than ours could.
        return text
