"""The graph of subschemas that a document compiles to, as the engine builds and walks it.

A node is a subschema; an edge leads to a subschema that is applied *in place* (to the same value)
or *to a child* of it. Recursion in documents becomes cycles here. The graph mirrors how the engine
compiles, because the cost analysis counts what the engine does:

- Each target of a reference is compiled once, by itself, the first time a reference to it is met,
  keywords in the order of their names. A reference met while its target is still being compiled
  closes a cycle; validation passes through a memory there, one verdict for each (target, array or
  object), so the edge is `remembered`. Every cycle has such an edge.
- `$dynamicRef` and `$recursiveRef` depend on the way by which they are reached. A node is therefore
  a subschema *in a scope*: which resource comes first, from outside, for each dynamic anchor.
- `$recursiveRef` means the outermost resource with `$recursiveAnchor` (Core 2019-09, section
  8.2.4.2.2). The engine goes outwards only as long as every resource has one, so a document in
  which that is another one is refused.

A cycle of in-place edges alone would never end; such documents are invalid.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from anyshape.documents.dialects import Form, Step
from anyshape.documents.json import is_array
from anyshape.documents.library import Library, Spot, SpotKey
from anyshape.documents.positions import declared_types
from anyshape.errors import InvalidSchema, LimitExceeded

_Scope: TypeAlias = tuple[tuple[str, SpotKey], ...]
_Unit: TypeAlias = tuple[SpotKey | None, _Scope]
_Way: TypeAlias = tuple[str, Step, str | int | None, Spot, bool]

_UNBROKEN = " "
"""No name of an anchor: in a scope, the outermost resource that the engine goes to."""

COPIES = 8
"""How many nodes a subschema may become, on average, before the graph is refused."""


class Edge(msgspec.Struct, eq=False):
    """From a subschema to one that its `keyword` applies; `label` is a property name or index."""

    keyword: str
    step: Step
    label: str | int | None
    target: GraphNode
    remembered: bool = False


class GraphNode(msgspec.Struct, eq=False):
    """One subschema in one scope; `rank` orders nodes so that in-place edges lead upwards."""

    index: int
    spot: Spot
    edges: list[Edge] = msgspec.field(default_factory=list["Edge"])
    rank: int = 0
    types: frozenset[str] | None = None


class _Unfinished(msgspec.Struct, eq=False):
    node: GraphNode
    unit: _Unit
    scope: _Scope
    todo: Iterator[_Way]
    closes: _Unit | None


class Graph(msgspec.Struct, frozen=True, eq=False):
    """All nodes, the root first; `longest_chain` is the longest run of in-place edges."""

    nodes: tuple[GraphNode, ...]
    longest_chain: int
    recursive: bool

    @property
    def root(self) -> GraphNode:
        """The node where validation starts."""
        return self.nodes[0]

    @property
    def copied(self) -> int:
        """Bytes of text that the engine holds again, subschemas apart.

        A subschema is compiled again for every reference to something around it, with constants,
        names and annotations. Of what `not` holds the engine keeps a copy each time.
        """
        times = Counter(node.spot for node in self.nodes)
        return sum(
            (count > 1 and (count - 1) * _own_text(spot)) + count * _negated_text(spot)
            for spot, count in times.items()
        )

    @property
    def located(self) -> int:
        """Characters of the places that the engine remembers, one for each keyword."""
        spots = {node.spot for node in self.nodes}
        return sum(_keywords(spot) * (2 * len(spot.pointer) + len(spot.base)) for spot in spots)


def _keywords(spot: Spot) -> int:
    return 1 if isinstance(spot.schema, bool) else 1 + len(spot.schema)


def _own_text(spot: Spot) -> int:
    if isinstance(spot.schema, bool):
        return 0
    held = spot.dialect.applicators.keys() - {"dependencies"}
    return _length({k: v for k, v in spot.schema.items() if k not in held})


def _negated_text(spot: Spot) -> int:
    if isinstance(spot.schema, bool) or "not" not in spot.schema:
        return 0
    return _length(spot.schema["not"])


def _length(value: object) -> int:
    return len(msgspec.json.encode(value))


def build_graph(root: Spot, library: Library, *, subschemas: int, depth: int) -> Graph:
    """Resolve every reference reachable in `root`'s document and return its graph.

    Raises `UnresolvableReference` for a reference that names nothing, wherever it stands,
    `InvalidSchema` for a cycle in place, and `LimitExceeded` for a graph that is too large.
    """
    library.resolve_all()  # Also what validation might never reach.
    nodes = _compile(root, library, subschemas * COPIES)
    longest = _rank(nodes)
    if longest > depth:
        raise LimitExceeded(
            f"{longest} references and alternatives follow each other in place, "
            f"more than {depth} (limit: depth)",
            limit="depth",
            allowed=depth,
            found=longest,
        )
    recursive = any(edge.remembered for node in nodes for edge in node.edges)
    return Graph(tuple(nodes), longest, recursive)


def _compile(root: Spot, library: Library, most: int) -> list[GraphNode]:
    """Return a node for each subschema of each unit; a unit is what a reference leads to."""
    nodes: list[GraphNode] = []
    units: dict[_Unit, GraphNode] = {}
    active: set[_Unit] = set()
    stack: list[_Unfinished] = []

    def enter(spot: Spot, unit: _Unit, scope: _Scope, closes: _Unit | None) -> GraphNode:
        node = GraphNode(len(nodes), spot, [], 0, _types(spot))
        nodes.append(node)
        if len(nodes) > most:
            raise LimitExceeded(
                f"references make more than {most} subschemas of this document (limit: subschemas)",
                limit="subschemas",
                allowed=most // COPIES,
                found=len(nodes),
            )
        if spot.children or spot.references:
            scope = _enter_resource(library, spot, scope)
            ways = _find_ways(spot, library, scope)
            stack.append(_Unfinished(node, unit, scope, iter(ways), closes))
            if closes is not None:
                active.add(closes)
        return node

    enter(root, (None, ()), (), None)
    while stack:
        unfinished = stack[-1]
        following = next(unfinished.todo, None)
        if following is None:
            stack.pop()
            if unfinished.closes is not None:
                active.discard(unfinished.closes)
            continue
        keyword, step, label, target, by_reference = following
        if not by_reference:
            inner = enter(target, unfinished.unit, unfinished.scope, None)
            unfinished.node.edges.append(Edge(keyword, step, label, inner))
            continue
        scope = _enter_resource(library, target, unfinished.scope)
        unit: _Unit = ((target.document, target.pointer), scope)
        remembered = unit in active
        if unit not in units:
            units[unit] = enter(target, unit, scope, unit)
        unfinished.node.edges.append(Edge(keyword, step, label, units[unit], remembered))
    return nodes


def _enter_resource(library: Library, spot: Spot, scope: _Scope) -> _Scope:
    names = library.dynamic_anchors(spot.base)
    if not names and not scope:
        return scope
    bound = dict(scope)
    for name in names:
        anchor = library.anchor(spot.base, name)
        if anchor is not None:
            key = (anchor.spot.document, anchor.spot.pointer)
            bound.setdefault(name, key)
            if name == "":
                bound.setdefault(_UNBROKEN, key)
    if "" not in names:
        bound.pop(_UNBROKEN, None)
    return tuple(sorted(bound.items()))


def _find_ways(spot: Spot, library: Library, scope: _Scope) -> list[_Way]:
    """Return (keyword, step, label, target, by reference) for all that `spot` applies."""
    ways: list[_Way] = []
    for keyword, reference in spot.references:
        target, dynamic = library.resolve_anchor(spot, keyword, reference)
        if dynamic is not None and keyword != "$ref":
            bound = dict(scope)
            target = library.spots[bound.get(dynamic, (target.document, target.pointer))]
            if dynamic == "" and bound[""] != bound[_UNBROKEN]:
                raise _interrupted(spot, target)
        ways.append((keyword, Step.IN_PLACE, None, target, True))
        if spot.dialect.reference_hides_siblings:
            return ways
    schema = spot.schema
    if isinstance(schema, bool):
        return ways
    applicators = spot.dialect.applicators
    for keyword, name, target in spot.children:
        applicator = applicators[keyword]
        step, label = applicator.step, name
        if step is Step.REST:
            if applicator.form is Form.ONE_OR_LIST and isinstance(name, int):
                step = Step.ITEM
            elif keyword == "additionalItems" or (keyword == "items" and "prefixItems" in schema):
                label = _prefix_length(schema)
            else:
                label = 0
        elif step is Step.NOWHERE:
            continue
        if not _is_idle(keyword, schema):
            ways.append((keyword, step, label, target, False))
    return ways


def _interrupted(spot: Spot, outermost: Spot) -> InvalidSchema:
    return InvalidSchema(
        f"$recursiveRef at {spot.place or '/'} leads to #{outermost.place} by way of a resource "
        "without $recursiveAnchor, which the engine does not look beyond; give it one, or say "
        "$ref and where",
        path=f"{spot.pointer}/$recursiveRef",
    )


def _is_idle(keyword: str, schema: dict[str, object]) -> bool:
    """Tell whether the keyword beside it that would put `keyword` to use is missing."""
    if keyword in ("then", "else"):
        return "if" not in schema
    return keyword == "additionalItems" and not is_array(schema.get("items"))


def _prefix_length(schema: dict[str, object]) -> int:
    prefix = schema.get("prefixItems", schema.get("items"))
    return len(prefix) if is_array(prefix) else 0


def _types(spot: Spot) -> frozenset[str] | None:
    """Return the types outside of which the engine stops at once, `None` for all."""
    schema = spot.schema
    if isinstance(schema, bool):
        return None if schema else frozenset()
    if spot.dialect.hides_siblings_in(schema):
        return None
    declared = declared_types(schema)
    return None if declared is None else frozenset(declared)


def _rank(nodes: list[GraphNode]) -> int:
    """Order the nodes along in-place edges; return the longest chain; refuse a cycle."""
    waiting = [0] * len(nodes)
    for node in nodes:
        for edge in node.edges:
            if edge.step is Step.IN_PLACE:
                waiting[edge.target.index] += 1
    ready = [node for node in nodes if waiting[node.index] == 0]
    depth = [1] * len(nodes)
    for rank, node in enumerate(ready):  # grows while it is walked
        node.rank = rank
        for edge in node.edges:
            if edge.step is Step.IN_PLACE:
                target = edge.target
                depth[target.index] = max(depth[target.index], depth[node.index] + 1)
                waiting[target.index] -= 1
                if waiting[target.index] == 0:
                    ready.append(target)
    if len(ready) < len(nodes):
        raise _cycle([node for node in nodes if waiting[node.index] > 0])
    return max(depth)


def _cycle(nodes: list[GraphNode]) -> InvalidSchema:
    """Say which references go round in a circle, given nodes each of which one leads to."""
    before: dict[int, GraphNode] = {
        edge.target.index: node
        for node in nodes
        for edge in node.edges
        if edge.step is Step.IN_PLACE
    }
    node = nodes[0]
    way: dict[int, GraphNode] = {}
    while node.index not in way:
        way[node.index] = node
        node = before[node.index]
    walked = list(way.values())
    circle = [node, *reversed(walked[walked.index(node) :])]
    shown = [f"#{member.spot.place}" for member in circle]
    if len(shown) > 8:
        shown = [*shown[:4], "…", *shown[-3:]]
    return InvalidSchema(
        "the schema applies itself to the same value without end: " + " → ".join(shown),
        path=node.spot.pointer,
    )
