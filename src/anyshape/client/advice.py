"""Advice on tools that work and could work better: for models that read them, and for hosts.

Nothing here is a rule of the specification. Each piece says what it costs to leave things as they
are. What each provider accepts in full is in `anyshape.providers`; here is what is known to cost
tools, seen in APIs' answers and in hosts and agent frameworks at work.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from anyshape.client.tools import ListedTool
from anyshape.documents.outline import Outline
from anyshape.documents.pointers import Place, pointer
from anyshape.errors import InvalidSchema
from anyshape.protocol.headers import header_plan
from anyshape.protocol.names import name_flaw

_LONG_DESCRIPTION: Final = 1000
_WORTH_SHARING: Final = 120
_SHOWN: Final = 4
_SHORT_NAME: Final = 64
_COMPOSING: Final = ("oneOf", "anyOf", "allOf")


def advise_on_tool(tool: ListedTool) -> Iterator[str]:
    """Yield what would make a tool easier to choose, to call or to carry."""
    flaw = name_flaw(tool.name)
    if flaw is not None:
        yield f"name: {flaw}; hosts that make functions of tools may refuse it"
    description = tool.description or ""
    if not description.strip():
        yield "no description: it is what a model chooses tools by"
    elif len(description) > _LONG_DESCRIPTION:
        yield f"description: {len(description):,} characters, sent with every listing"
    try:
        header_plan(tool.input_schema)
    except InvalidSchema as error:
        yield f"inputSchema: {error}; from 2026-07-28 on, clients over HTTP refuse this tool"
    execution: object = tool.entry.get("execution")
    if isinstance(execution, dict) and cast("Any", execution).get("taskSupport") == "required":
        yield "execution: taskSupport is required; most clients cannot run tasks"
    else:
        yield from _advise_on_name(tool.name)
    yield from _advise_on_input(dict(tool.input_schema))
    yield from _prefixed("inputSchema", _advise_on_providers(dict(tool.input_schema)))
    yield from _prefixed("inputSchema", advise_on_schema(tool.input_schema))
    if tool.output_schema is None:
        yield "no outputSchema: clients get text, and have to guess what is in it"
    elif not _keywords(tool.output_schema):
        yield "outputSchema says nothing about the value"
    else:
        yield from _prefixed("outputSchema", advise_on_schema(tool.output_schema))


def advise_on_schema(document: object) -> Iterator[str]:
    """Yield what could be left out of a schema, or said once instead of many times."""
    if not isinstance(document, Mapping):
        return
    root = dict(cast("Mapping[str, Any]", document))
    places = Outline(root)
    titles, wasted, texts = 0, 0, Counter[str]()
    for place in places.schemas:
        node = places.schema_at(place)
        title = node.get("title")
        if isinstance(title, str) and _repeats(title, place):
            titles += 1
            wasted += len(title) + len('"title":"",')
        if place and "$ref" not in node:
            texts[json.dumps(node, sort_keys=True, default=str)] += 1
    if titles:
        verb = "title only repeats" if titles == 1 else "titles only repeat"
        yield f"{titles} {verb} the property name ({wasted} bytes)"
    repeated = [
        (len(text) * (times - 1), times)
        for text, times in texts.items()
        if times > 1 and len(text) >= _WORTH_SHARING
    ]
    if repeated:
        saved, times = max(repeated)
        yield f"the same subschema stands there {times} times; $defs would save about {saved} bytes"


def _advise_on_input(root: dict[str, Any]) -> Iterator[str]:
    composed = [keyword for keyword in _COMPOSING if keyword in root]
    if composed:
        yield (
            f"inputSchema: {' and '.join(composed)} at the root; OpenAI and Anthropic refuse such "
            "tools, so hosts drop them; inside a property they are taken"
        )
    properties = cast("dict[str, Any]", root.get("properties") or {})
    silent = [
        name
        for name, schema in properties.items()
        if isinstance(schema, dict) and not cast("dict[str, Any]", schema).get("description")
    ]
    if silent:
        yield f"inputSchema: no description for {_listed(silent)}"
    closed = "additionalProperties" in root or "unevaluatedProperties" in root
    optional = properties.keys() - set(cast("list[str]", root.get("required") or []))
    if optional and not closed and not composed:
        yield (
            "inputSchema: open, so a misspelt optional argument goes unnoticed; "
            '"additionalProperties": false closes it'
        )


def _advise_on_name(name: str) -> Iterator[str]:
    if "." in name:
        yield "name: has a dot; OpenAI, Anthropic and Bedrock take none, so hosts rename or drop it"
    if len(name) > _SHORT_NAME:
        yield (
            f"name: {len(name)} characters; OpenAI and Bedrock take {_SHORT_NAME}, and hosts put "
            "the server's name before it"
        )


def _advise_on_providers(root: dict[str, Any]) -> Iterator[str]:
    """Yield the forms that some providers and frameworks refuse, and where they stand."""
    outline = Outline(root)
    found: dict[str, list[str]] = {}
    for place in sorted(outline.schemas):
        for cost in _costs(outline.schema_at(place), place):
            found.setdefault(cost, []).append(pointer(place) or "/")
    recursive = [pointer(place) for place in _recursive(outline)]
    if recursive:
        found["recursion; Gemini's parameters and Anthropic's strict mode refuse it"] = recursive
    for cost, places in found.items():
        what, _, price = cost.partition("; ")
        yield f"{what} at {_listed(places)}; {price}"
    if "properties" not in root:
        yield 'no properties; smolagents loses all tools of the server; write "properties": {}'


def _costs(node: Mapping[str, Any], place: Place) -> Iterator[str]:
    if isinstance(node.get("type"), list):
        yield (
            "a list of types; semantic-kernel loses all tools of the server, and Gemini's "
            "parameters refuse it beside anything else"
        )
    if place[-2:-1] == ("properties",) and not _keywords(node):
        yield "any value; strict modes refuse it, and models send text"
    if "prefixItems" in node or isinstance(node.get("items"), list):
        yield "a tuple; strict modes of OpenAI and Anthropic and Gemini's parameters refuse it"
    values = node.get("enum")
    if isinstance(values, list) and None in cast("list[Any]", values):
        yield "null in an enum; Gemini's parameters list strings only"


def _recursive(outline: Outline) -> list[Place]:
    """Return the places of references that lead into recursion."""
    onward: dict[Place, set[Place]] = {place: set() for place in outline.schemas}
    for place in outline.schemas:
        around = next(
            (place[:end] for end in range(len(place) - 1, -1, -1) if place[:end] in onward), None
        )
        if around is not None:
            onward[around].add(place)
        onward[place] |= _targets(outline, place) & onward.keys()
    backward: dict[Place, list[Place]] = {place: [] for place in onward}
    for place, others in onward.items():
        for other in others:
            backward[other].append(place)
    ends = [place for place, others in onward.items() if not others]
    while ends:
        end = ends.pop()
        for place in backward[end]:
            onward[place].discard(end)
            if not onward[place]:
                ends.append(place)
    return [place for place, others in onward.items() if others & _targets(outline, place)]


def _targets(outline: Outline, place: Place) -> set[Place]:
    references = outline.schemas[place].references
    found = (outline.resolve(place, reference, keyword) for keyword, reference in references)
    return {target for target in found if target is not None}


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def _keywords(schema: Mapping[str, Any]) -> set[str]:
    return set(schema) - {"$schema", "$id", "title", "description", "$comment"}


def _prefixed(name: str, advice: Iterator[str]) -> Iterator[str]:
    return (f"{name}: {line}" for line in advice)


def _repeats(title: str, place: Place) -> bool:
    """Return whether a title is what the name of its property says already."""
    if place[-2:-1] != ("properties",):
        return False
    return title.replace(" ", "_").lower() == place[-1].lower()
