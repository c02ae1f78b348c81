"""Fences: additions to the engine's copy of a schema, so that what it accepts is JSON throughout.

The engine looks at a Python value only where the schema makes it look. A property that no keyword
mentions may hold NaN, a cycle or a datetime, and the value is accepted all the same. A fence makes
the engine look there: `additionalProperties`, `items` or `type`, where the document has none, that
admit any JSON value. It changes no verdict about JSON nested at most `FENCE_DEPTH` levels beneath
it, and it costs next to nothing, where walking the value beforehand would cost as much as
validating it.

`plan_fences` decides where fences must stand for *accepted* to imply *JSON*, and gives up where no
fence is safe: beneath `not`, `if` and the like, where rejecting more means accepting more; beside
`unevaluated*`, which would take a fenced property for an evaluated one; and in recursive schemas,
whose depth nothing bounds. Values are then proved to be JSON first. docs/internals/instances.md
has the argument in full.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import jsonschema_rs
import msgspec

from anyshape.schema._dialects import Dialect, Step
from anyshape.schema._graph import Edge, Graph, Node
from anyshape.schema._instance import FENCE_URI, READ_TEXT, SCALARS, TYPES
from anyshape.schema._json import is_array, is_object, unescape

__all__ = ["Fences", "plan_fences"]

Place: TypeAlias = tuple[str, str]

_FENCE: Final[Mapping[str, object]] = {"$ref": FENCE_URI}
_INVERTING: Final = frozenset(
    ("not", "if", "contains", "unevaluatedItems", "unevaluatedProperties")
)
_DOUBTFUL: Final = _INVERTING | {"oneOf"}
"""Keywords by which a fence may be unsafe."""
_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
_ABOUT: Final[Mapping[str, str]] = {
    "properties": "object",
    "patternProperties": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
}
_MOST_ALTERNATIVES: Final = 64


class Fences(msgspec.Struct, frozen=True):
    """What to add to which subschema: keywords, or `None` to replace it by a fence.

    `exact` is what to add instead for a test that is quicker, to build and to run, because it
    expects what is usual: a value of the type that the keywords are about, with the properties that
    they name and no other; where all of these are required, *that many, no other* is cheaper to
    check than *each of them* (`required` goes). Being stricter, this test can only accept.
    """

    additions: Mapping[Place, Mapping[str, object] | None]
    exact: Mapping[Place, Mapping[str, object]]

    def documents(self) -> set[str]:
        """Return the documents that get any."""
        return {document for document, _ in (*self.additions, *self.exact)}

    def put_up(self, uri: str, document: object, *, exact: bool) -> object:
        """Return the fenced `document`; the one given is built upon and has to be a copy."""
        holder: dict[str, object] = {"": document}
        changes = {**self.additions, **self.exact} if exact else self.additions
        for (where, pointer), added in changes.items():
            if where == uri:
                _change(holder, pointer, added)
        return holder[""]


def _change(holder: dict[str, object], pointer: str, added: Mapping[str, object] | None) -> None:
    within: object = holder
    tokens = [unescape(token) for token in pointer.split("/")]
    for token in tokens[:-1]:
        within = within[int(token)] if is_array(within) else _member(within, token)
    if is_array(within):
        index = int(tokens[-1])
        within[index] = _changed(within[index], added)
    elif is_object(within):
        within[tokens[-1]] = _changed(within[tokens[-1]], added)


def _member(within: object, token: str) -> object:
    return within[token] if is_object(within) else None


def _changed(schema: object, added: Mapping[str, object] | None) -> object:
    if added is None or not is_object(schema):
        return dict(_FENCE)
    changed = {**schema, **added}
    if changed.get("additionalProperties") is False and "minProperties" in added:
        changed.pop("required", None)
    return changed


def plan_fences(
    graph: Graph, depth: int, *, formats: bool, longest: Mapping[Place, int]
) -> Fences | None:
    """Return the fences that make *accepted* imply *JSON*, `None` if no fences can.

    `depth` is how deep a value may be; `formats` says whether formats are enforced; `longest` is
    how long a text may be at some places before its pattern is matched.
    """
    # A path without cycles is no longer than there are nodes.
    if graph.recursive or (len(graph.nodes) > depth and _height(graph) > depth):
        return None
    planner = _Planner(formats, _joined(graph))
    planner.cover(graph.root)
    if longest:
        for node in graph.nodes:
            planner.cap(node, longest)
    unsafe: set[Place] = set()
    if not _DOUBTFUL.isdisjoint([edge.keyword for node in graph.nodes for edge in node.edges]):
        unsafe = {
            (node.spot.document, node.spot.pointer)
            for node in _reach(graph, _inverted(graph)) | _consumed(graph)
        }
        if unsafe & planner.additions.keys():
            return None
    exact = {place: added for place, added in planner.exact.items() if place not in unsafe}
    return Fences(planner.additions, exact)


class _Planner(msgspec.Struct):
    """Decides, from the root down, which subschema is to see the whole of each value."""

    formats: bool
    joined: set[int]
    additions: dict[Place, Mapping[str, object] | None] = msgspec.field(
        default_factory=dict[Place, "Mapping[str, object] | None"]
    )
    exact: dict[Place, Mapping[str, object]] = msgspec.field(
        default_factory=dict[Place, "Mapping[str, object]"]
    )

    def cover(self, root: Node) -> None:
        seen: set[int] = set()
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.index not in seen:
                seen.add(node.index)
                waiting.extend(self._cover(node))

    def cap(self, node: Node, longest: Mapping[Place, int]) -> None:
        """Keep `node` from matching a text that is too long: the engine looks at lengths first."""
        place = (node.spot.document, node.spot.pointer)
        schema = node.spot.schema
        if place not in longest or isinstance(schema, bool):
            return
        given = schema.get("maxLength")
        most = min(longest[place], given) if isinstance(given, int) else longest[place]
        for changes in (self.additions, self.exact):
            added = changes.get(place)
            if added is not None or changes is self.additions:
                changes[place] = {**(added or {}), "maxLength": most}

    def _cover(self, node: Node) -> Iterator[Node]:
        """Fence `node` if need be; yield the nodes that must cover the rest."""
        schema = node.spot.schema
        if isinstance(schema, bool):
            if schema:
                self._add(node, None)
            return
        if node.spot.dialect.reference_hides_siblings and "$ref" in schema:
            yield from _targets(node, _REFERENCES)
            return
        if _values(node) is not None:
            return
        if node.types is not None and node.types <= SCALARS:
            if "string" in node.types and not self._reads_text(node, schema):
                self._add(node, _reading(schema))
            return
        delegates = None if schema.keys() & _ABOUT.keys() else _delegates(node)
        if delegates is not None:
            yield from delegates
            return
        types = frozenset(TYPES) if node.types is None else node.types
        added = self._keywords(node, schema, types)
        if added:
            self._add(node, added)
        usual = _usual_type(schema) if node.types is None else None
        if usual is None:
            exact = dict(added)
        else:
            exact = {**self._keywords(node, schema, frozenset((usual,))), "type": usual}
        if "object" in types and schema.get("properties") and node.index not in self.joined:
            if _is_exact(schema):
                exact["minProperties"] = len(_targets(node, ("properties",)))
                exact["additionalProperties"] = False
            elif "additionalProperties" in exact:
                exact["additionalProperties"] = False
        if exact != added:
            self.exact[node.spot.document, node.spot.pointer] = exact
        if "object" in types:
            yield from _targets(node, ("properties", "patternProperties", "additionalProperties"))
        if "array" in types:
            yield from _targets(node, ("prefixItems", "items", "additionalItems"))

    def _keywords(
        self, node: Node, schema: dict[str, object], types: frozenset[str]
    ) -> dict[str, object]:
        """Return the keywords by which `node` sees the whole of a value of one of `types`."""
        added: dict[str, object] = {} if "type" in schema else {"type": list(TYPES)}
        if "string" in types and not self._reads_text(node, schema):
            added |= _reading(schema)
        if "object" in types and "additionalProperties" not in schema:
            added["additionalProperties"] = dict(_FENCE)
        if "array" in types:
            rest = _keyword_for_rest(node, schema)
            if rest not in schema:
                added[rest] = dict(_FENCE)
        return added

    def _reads_text(self, node: Node, schema: dict[str, object]) -> bool:
        name = schema.get("format")
        return "pattern" in schema or (
            self.formats and isinstance(name, str) and _format_reads(name, node.spot.dialect)
        )

    def _add(self, node: Node, added: Mapping[str, object] | None) -> None:
        self.additions[node.spot.document, node.spot.pointer] = added


def _values(node: Node) -> list[object] | None:
    """Return the values that `node` admits, if it lists them."""
    schema = node.spot.schema
    if isinstance(schema, bool):
        return None
    if "const" in schema and "contains" in node.spot.dialect.applicators:
        # Draft-06 brought both.
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if is_array(listed) else None


def _usual_type(schema: dict[str, object]) -> str | None:
    """Return the one type that the keywords of `schema` are about, if there is one."""
    about = {_ABOUT[keyword] for keyword in schema.keys() & _ABOUT.keys()}
    return about.pop() if len(about) == 1 else None


def _is_exact(schema: dict[str, object]) -> bool:
    properties, required = schema.get("properties"), schema.get("required")
    return (
        is_object(properties)
        and is_array(required)
        and len(properties) == len(required)
        and all(name in properties for name in required)
        and not schema.keys() & {"patternProperties", "minProperties"}
    )


def _reading(schema: dict[str, object]) -> dict[str, object]:
    """Return what makes the engine read a string, beside what `schema` says already."""
    if "not" not in schema:
        return {"not": dict(READ_TEXT)}
    conjuncts = schema.get("allOf")
    others = conjuncts if is_array(conjuncts) else []
    return {"allOf": [*others, {"not": dict(READ_TEXT)}]}


@functools.lru_cache(maxsize=256)
def _format_reads(name: str, dialect: Dialect) -> bool:
    """Tell whether the engine reads a string in order to check this format: ask it."""
    schema = {"$schema": dialect.uri, "items": {"format": name}}
    try:
        jsonschema_rs.is_valid(schema, ["\ud800"], validate_formats=True, offline=True)
    except UnicodeEncodeError:
        return True
    return False


def _keyword_for_rest(node: Node, schema: dict[str, object]) -> str:
    old = "prefixItems" not in node.spot.dialect.applicators
    return "additionalItems" if old and is_array(schema.get("items")) else "items"


def _targets(node: Node, keywords: frozenset[str] | tuple[str, ...]) -> list[Node]:
    return [edge.target for edge in node.edges if edge.keyword in keywords]


def _delegates(node: Node) -> list[Node] | None:
    """Return nodes of which one or more see, in place, all that `node` accepts; `None` if none."""
    references = _targets(node, _REFERENCES)
    if references:
        return references[:1]
    alternatives = _targets(node, ("anyOf",))
    if alternatives:
        return alternatives
    alternatives = _targets(node, ("oneOf",))
    if alternatives and _exclude_each_other(alternatives):
        return alternatives
    conjuncts = _targets(node, ("allOf",))
    for conjunct in conjuncts:
        schema = conjunct.spot.schema
        if not isinstance(schema, bool) and schema.keys() & (_ABOUT.keys() | _REFERENCES):
            return [conjunct]
    return conjuncts[:1] or None


def _exclude_each_other(alternatives: list[Node]) -> bool:
    """Tell whether no JSON value, however deep, can satisfy two of the alternatives.

    Fencing them is then safe in `oneOf`: it can only make the one that holds fail.
    """
    if len(alternatives) > _MOST_ALTERNATIVES:
        return False
    facts = [_facts(node) for node in alternatives]
    return all(
        _differ(one, other) for index, one in enumerate(facts) for other in facts[index + 1 :]
    )


_Facts: TypeAlias = "tuple[frozenset[str] | None, dict[str, frozenset[tuple[type, object]]]]"


def _facts(node: Node) -> _Facts:
    """Return the types that `node` admits, and what its required properties can be."""
    types: frozenset[str] | None = None
    tags: dict[str, frozenset[tuple[type, object]]] = {}
    for _ in range(8):
        schema = node.spot.schema
        if isinstance(schema, bool):
            break
        hidden = node.spot.dialect.reference_hides_siblings and "$ref" in schema
        if not hidden:
            if node.types is not None:
                types = node.types
            tags.update(_tags(node, schema))
        references = _targets(node, ("$ref",))
        if not references:
            break
        node = references[0]
    return types, tags


def _tags(
    node: Node, schema: dict[str, object]
) -> Iterator[tuple[str, frozenset[tuple[type, object]]]]:
    required = schema.get("required")
    if not is_array(required) or node.types != frozenset(("object",)):
        return
    for edge in node.edges:
        if edge.keyword == "properties" and edge.label in required and isinstance(edge.label, str):
            values = _values(edge.target)
            if values is not None and all(isinstance(value, (str, bool)) for value in values):
                yield edge.label, frozenset((type(value), value) for value in values)


def _differ(one: _Facts, other: _Facts) -> bool:
    if one[0] is not None and other[0] is not None and not _widen(one[0]) & _widen(other[0]):
        return True
    return any(name in other[1] and not values & other[1][name] for name, values in one[1].items())


def _widen(types: frozenset[str]) -> frozenset[str]:
    return types | {"number"} if "integer" in types else types


def _joined(graph: Graph) -> set[int]:
    """Return the nodes that are not alone in what they say about a value.

    They may name some of its properties while others name the rest.
    """
    found: set[int] = set()
    branching = [
        (node, ways)
        for node in graph.nodes
        if (ways := [edge for edge in node.edges if edge.step is Step.IN_PLACE])
    ]
    for node, ways in sorted(branching, key=lambda branch: branch[0].rank):
        schema = node.spot.schema
        itself = not isinstance(schema, bool) and not _ABOUT.keys().isdisjoint(schema)
        if itself or len({_group(edge) for edge in ways}) > 1 or node.index in found:
            found.add(node.index)
            found.update(edge.target.index for edge in ways)
    return found


def _group(edge: Edge) -> object:
    """Return what is the same for alternatives to each other."""
    return edge.keyword if edge.keyword in ("anyOf", "oneOf") else id(edge)


def _inverted(graph: Graph) -> set[int]:
    """Return the nodes on which a value is tested, rather than required to pass."""
    found: set[int] = set()
    for node in graph.nodes:
        doubtful: bool | None = None
        for edge in node.edges:
            if edge.keyword == "oneOf" and doubtful is None:
                doubtful = not _exclude_each_other(_targets(node, ("oneOf",)))
            if edge.keyword in _INVERTING or (doubtful and edge.keyword == "oneOf"):
                found.add(edge.target.index)
    return found


def _reach(graph: Graph, start: set[int], *, in_place: bool = False) -> set[Node]:
    seen = set(start)
    waiting = list(start)
    while waiting:
        for edge in graph.nodes[waiting.pop()].edges:
            if edge.target.index not in seen and not (in_place and edge.step is not Step.IN_PLACE):
                seen.add(edge.target.index)
                waiting.append(edge.target.index)
    return {graph.nodes[index] for index in seen}


def _consumed(graph: Graph) -> set[Node]:
    """Return the nodes whose annotations an `unevaluated*` reads."""
    readers: set[int] = {
        node.index
        for node in graph.nodes
        if not isinstance(node.spot.schema, bool)
        and node.spot.schema.keys() & {"unevaluatedProperties", "unevaluatedItems"}
    }
    return _reach(graph, readers, in_place=True)


def _height(graph: Graph) -> int:
    """Return how deep a value can be before a schema without recursion looks no further."""
    heights = [-1] * len(graph.nodes)
    stack = [(graph.root, iter(graph.root.edges))]
    heights[graph.root.index] = 0
    while stack:
        node, edges = stack[-1]
        edge = next(edges, None)
        if edge is None:
            stack.pop()
            if stack:
                above = stack[-1][0]
                _raise_height(heights, above, node)
        elif heights[edge.target.index] >= 0:
            _raise_height(heights, node, edge.target)
        else:
            heights[edge.target.index] = 0
            stack.append((edge.target, iter(edge.target.edges)))
    return heights[graph.root.index]


def _raise_height(heights: list[int], above: Node, below: Node) -> None:
    heights[above.index] = max(heights[above.index], heights[below.index] + 1)
