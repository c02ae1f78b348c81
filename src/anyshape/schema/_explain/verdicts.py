"""Which subschemas hold at a place: asked of the engine, all of them through one validator.

Compiling every subschema by itself takes time and memory that grow with the square of the document
(`validator_map_for`: 16 s for a thousand definitions that refer to each other). Instead one schema
has a property for each subschema, a reference to it: whether `{"17": value}` satisfies that schema
is whether `value` satisfies subschema 17. References are compiled once each, so its size is that of
the document, times the depth at most.

Two kinds of subschemas have no such property, and the walk has to look into them instead: those
that lead to a `$dynamicRef` whose meaning depends on the way to it, and all those of a recursive
schema for whose parts no bound is known, because a part may take more work than the whole.
"""

from __future__ import annotations

import math
import secrets
from urllib.parse import quote

import jsonschema_rs

from anyshape.documents.json import is_object, parts
from anyshape.documents.library import ROOT_URI, Library, Spot, SpotKey, load
from anyshape.errors import AnyshapeError
from anyshape.schema._bounds import NotCheap, classify
from anyshape.schema._compile import (
    Document,
    Engine,
    Graph,
    GraphNode,
    build_graph,
    find_metaschema,
    is_metaschema,
    metaschema_documents,
)
from anyshape.schema._explain.leaves import names_dialect

_URI = f"anyshape-{secrets.token_hex(16)}:verdicts"
"""A name that no document can have met before."""
_DYNAMIC = frozenset(("$dynamicRef", "$recursiveRef"))
_ANCHORS = frozenset(("$dynamicAnchor", "$recursiveAnchor"))
_MOST_ROUTES = 2_000
_MOST_COPIES = 50_000
"""How many subschemas the engine may compile for all routes together, repetitions counted."""
_MOST_CHARACTERS = 500_000
"""How long the pointers of all routes may be together: each is quoted, and read by the engine."""


class Verdicts:
    """Tells which subschemas of one document hold."""

    __slots__ = ("_is_valid", "_routes", "rate")

    def __init__(self, graph: Graph, engine: Engine, rate: float) -> None:
        """Make the routes; `rate` bounds what the whole takes for each byte, 0 if nothing does."""
        self._routes: dict[int, str] = {}
        self._is_valid = None
        self.rate = rate
        spots = {} if _has_own_metaschema(engine) else _askable(graph, engine)
        if spots and rate and graph.recursive:
            # Without recursion a part takes no more than the whole. With recursion it depends on
            # where the engine begins what it remembers.
            self.rate = _bound(_router(spots, graph, engine), engine)
        if not spots or self.rate == math.inf:
            return
        try:
            self._is_valid = _compile(_router(spots, graph, engine), graph, engine).is_valid
        except (ValueError, jsonschema_rs.ReferencingError):
            # Identifiers can be so entangled that the engine finds a place from within the document
            # only. Looking closer works there too.
            return
        names = {(spot.document, spot.pointer): name for name, spot in spots.items()}
        for node in graph.nodes:
            name = names.get((node.spot.document, node.spot.pointer))
            if name is not None:
                self._routes[node.index] = name

    def route(self, node: GraphNode) -> str | None:
        """Return the name by which to ask about `node`, `None` if it cannot be asked about."""
        return self._routes.get(node.index)

    def holds(self, route: str, value: object) -> bool:
        """Tell whether `value` satisfies the subschema at `route`."""
        return self._is_valid is None or self._is_valid({route: value})


def _askable(graph: Graph, engine: Engine) -> dict[str, Spot]:
    """Return the subschemas to make routes to, by name: those that lead on, none twice.

    Metaschemas are left out, and so are resources that go by another name than their own: the
    engine resolves what stands in them against the name that was asked for.
    """
    dynamic = _leading_to_dynamic(graph) if _can_be_overridden(graph, engine) else set[int]()
    spots: dict[SpotKey, Spot] = {}
    for node in graph.nodes:
        spot = node.spot
        if node.edges and node.index not in dynamic and _is_at_home(spot, engine):
            spots[spot.document, spot.pointer] = spot
    copies = sum(spot.pointer.count("/") + 1 for spot in spots.values())
    characters = sum(len(spot.pointer) for spot in spots.values())
    if len(spots) > _MOST_ROUTES or copies > _MOST_COPIES or characters > _MOST_CHARACTERS:
        return {}
    return {str(index): spot for index, spot in enumerate(spots.values())}


def _is_at_home(spot: Spot, engine: Engine) -> bool:
    if spot.document == ROOT_URI:
        return True
    document = engine.documents.get(spot.document)
    if not is_object(document) or "patternProperties" in spot.pointer:
        return False
    own = document.get(spot.dialect.id_keyword)
    return own is None or own == spot.document


def _can_be_overridden(graph: Graph, engine: Engine) -> bool:
    """Tell whether what a dynamic reference means can depend on the way to it.

    It cannot where each name is given once in all documents. Metaschemas give theirs several times.
    """
    if any(node.spot.document not in engine.documents for node in graph.nodes):
        return True
    seen: set[object] = set()
    for value in parts(list(engine.documents.values())):
        if is_object(value):
            for keyword in _ANCHORS & value.keys():
                name = (keyword, value[keyword] if isinstance(value[keyword], str) else "")
                if name in seen:
                    return True
                seen.add(name)
    return False


def _leading_to_dynamic(graph: Graph) -> set[int]:
    above: dict[int, list[int]] = {}
    found: set[int] = set()
    for node in graph.nodes:
        for edge in node.edges:
            above.setdefault(edge.target.index, []).append(node.index)
            if edge.keyword in _DYNAMIC:
                found.add(node.index)
    waiting = list(found)
    while waiting:
        for index in above.get(waiting.pop(), ()):
            if index not in found:
                found.add(index)
                waiting.append(index)
    return found


def _has_own_metaschema(engine: Engine) -> bool:
    """Tell whether the operator supplied the metaschema: references to such documents differ."""
    return any(
        is_object(document) and "$schema" in document and not names_dialect(document["$schema"])
        for document in engine.documents.values()
    )


def _router(spots: dict[str, Spot], graph: Graph, engine: Engine) -> dict[str, object]:
    """Return the schema with a property for each of `spots`."""
    properties: dict[str, object] = {}
    for name, spot in spots.items():
        uri, pointer = spot.document, spot.pointer
        if uri == ROOT_URI:
            # The engine resolves references against the name that a document gives itself.
            uri = graph.root.spot.base
            pointer = engine.renamed.pointer(spot)
        properties[name] = {"$ref": f"{uri}#{quote(pointer)}"}
    return {"$schema": engine.dialect.uri, "properties": properties, "additionalProperties": False}


def _bound(schema: dict[str, object], engine: Engine) -> float:
    """Return what asking takes for each byte of a value, endless if no bound is known."""
    library = Library(
        {uri: document for uri, document in engine.documents.items() if uri != ROOT_URI},
        metaschemas=find_metaschema,
    )
    limits = engine.limits
    try:
        load(engine.documents[ROOT_URI], library, engine.dialect)
        root = library.add(schema, _URI, engine.dialect)
        graph = build_graph(root, library, subschemas=limits.subschemas, depth=limits.depth)
        cost = classify(
            graph,
            engine.patterns,
            formats=engine.formats,
            instance_depth=limits.instance_depth,
            official=False,
        )
    except (AnyshapeError, NotCheap):
        return math.inf
    return cost.rate or math.inf


def _compile(schema: dict[str, object], graph: Graph, engine: Engine) -> jsonschema_rs.Validator:
    resources: list[tuple[str, Document]] = []
    for uri, document in engine.documents.items():
        if uri == ROOT_URI and not isinstance(document, bool) and "$schema" not in document:
            document = {"$schema": engine.dialect.uri, **document}
        resources.append((uri, document))
    for dialect in {is_metaschema(uri) for uri in {node.spot.document for node in graph.nodes}}:
        if dialect is not None:
            resources += metaschema_documents(dialect).items()
    return engine.compile(schema, jsonschema_rs.Registry(resources), _URI)
