"""Small mistakes that models and providers are known to make, put right where nothing else fits.

A value is touched only where the original refuses it, and kept only if the original then accepts
the whole: null for a property that may be absent, JSON text for an object or array, and a listed
value in other capitals.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast

from anyshape.documents.pointers import MISSING, Place, reach, tokens_in
from anyshape.errors import AnyshapeError, Problem
from anyshape.schema import Schema

_ROUNDS: Final = 4


def repaired(value: Any, original: Schema) -> Any:
    """Return `value` with its mistakes put right, or `None` where that does not help."""
    try:
        for _ in range(_ROUNDS):
            problems = original.problems(value)
            if not problems:
                return value
            fixed = value
            for problem in _each(problems):
                fixed = _repair(fixed, problem, original)
            if fixed is value:
                return None
            value = fixed
        return value if original.accepts(value) else None
    except AnyshapeError:
        return None


def _each(problems: list[Problem] | tuple[Problem, ...]) -> Iterator[Problem]:
    for problem in problems:
        yield problem
        yield from _each(problem.causes)


def _repair(value: Any, problem: Problem, original: Schema) -> Any:
    tokens = tokens_in(problem.path)
    item = reach(value, tokens)
    if item is None and tokens and isinstance(reach(value, tokens[:-1]), dict):
        return _changed(value, tokens, MISSING)
    if isinstance(item, str):
        if problem.keyword in ("enum", "const"):
            listed = _listed(problem, original)
            alike = [entry for entry in listed if entry.casefold() == item.casefold()]
            if len(alike) == 1:
                return _changed(value, tokens, alike[0])
        elif problem.keyword == "type" and item[:1] in "{[":
            try:
                parsed = json.loads(item)
            except (ValueError, RecursionError):
                return value
            if isinstance(parsed, (dict, list)):
                return _changed(value, tokens, parsed)
    return value


def _listed(problem: Problem, original: Schema) -> list[str]:
    """Return the strings that an enumeration lists."""
    found = reach(original.document, tokens_in(problem.schema_path))
    values = cast("list[Any]", found) if isinstance(found, list) else [found]
    return [entry for entry in values if isinstance(entry, str)]


def _changed(value: Any, tokens: Place, item: Any) -> Any:
    """Return a copy of `value` with something else, or nothing, at one place."""
    if not tokens:
        return item
    first, rest = tokens[0], tokens[1:]
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if not rest and item is MISSING:
            return {name: inner for name, inner in members.items() if name != first}
        return {**members, first: _changed(members.get(first), rest, item)}
    items = list(cast("list[Any]", value))
    items[int(first)] = _changed(items[int(first)], rest, item)
    return items
