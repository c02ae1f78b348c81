"""All that there is to be found in what a server lists: every text in it, and what each is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest
from typing import Any, Final, cast

from anyshape.documents.pointers import escape
from anyshape.screening.characters import screen_characters
from anyshape.screening.defaults import screen_defaults
from anyshape.screening.finding import Finding
from anyshape.screening.instructions import screen_instructions
from anyshape.screening.lookalikes import screen_name
from anyshape.screening.markup import screen_markup

_MOST: Final = 100
"""Findings about one entry; who has more has shown enough."""
_UNREAD: Final = frozenset({"_meta", "icons"})
"""Members that no model is given."""
_SHORT: Final = 8
"""Characters of a text in which there is no room for markup or words."""
_SCHEMAS: Final = ("inputSchema", "outputSchema")


def screen_entry(entry: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Return what is found in a tool, a prompt, a resource or a template as a server lists it.

    The worst comes first. At most 100 findings are returned.
    """
    return _worst(_screen_entry(entry))


def screen_schema(document: object) -> tuple[Finding, ...]:
    """Return what is found in a schema that stands by itself."""
    return _worst(_screen_document(document))


def _worst(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(nlargest(_MOST, findings, key=lambda finding: finding.severity))


def _screen_entry(entry: Mapping[str, Any]) -> Iterator[Finding]:
    name = entry.get("name")
    if isinstance(name, str):
        yield from screen_name(name, "/name")
    read = {key: value for key, value in entry.items() if key not in _UNREAD}
    yield from _screen_texts(read)
    for member in _SCHEMAS:
        schema = entry.get(member)
        if isinstance(schema, dict):
            yield from screen_defaults(cast("dict[str, Any]", schema), f"/{member}")


def _screen_document(document: object) -> Iterator[Finding]:
    yield from _screen_texts(document)
    if isinstance(document, dict):
        yield from screen_defaults(cast("dict[str, Any]", document), "")


def _screen_texts(value: object) -> Iterator[Finding]:
    for where, text in _texts(value):
        is_short = len(text) <= _SHORT
        if is_short and text.isascii() and text.isprintable():
            continue  # as nearly all names and values are
        yield from screen_characters(text, where)
        if not is_short:
            yield from screen_markup(text, where)
            yield from screen_instructions(text, where)


def _texts(value: object) -> Iterator[tuple[str, str]]:
    """Yield every text in a value with its place, the names of members among them."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        where, each = waiting.pop()
        if isinstance(each, str):
            yield where, each
        elif isinstance(each, list):
            items = enumerate(cast("list[object]", each))
            waiting.extend((f"{where}/{index}", item) for index, item in items)
        elif isinstance(each, dict):
            for key, member in cast("dict[str, object]", each).items():
                place = f"{where}/{escape(key)}"
                yield place, key
                waiting.append((place, member))
