"""What the explainer knows about a subschema before it has seen a value.

A `Plan` sorts a subschema's keywords by how they are explained; a `Face` is what one alternative of
an `anyOf` or `oneOf` shows to whoever has to choose: its types, what it requires, and the
properties whose values tell it from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from anyshape.documents.dialects import Step
from anyshape.documents.json import is_array, is_object
from anyshape.documents.pointers import unescape
from anyshape.schema import _wording as wording
from anyshape.schema._compile import Edge, Engine, Graph, GraphNode
from anyshape.schema._explain.leaves import Leaves, matcher
from anyshape.schema._explain.verdicts import Verdicts

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_FOR_OBJECTS = frozenset(
    (
        "additionalProperties",
        "patternProperties",
        "properties",
        "propertyNames",
        "unevaluatedProperties",
    )
)
_FOR_ARRAYS = frozenset(("additionalItems", "contains", "items", "prefixItems", "unevaluatedItems"))
_MOST_FACETS = 32
"""How many subschemas that apply together are looked at for a face."""
_MOST_SHOWN = 200
"""How many properties are looked at for a face."""


@dataclass(slots=True, eq=False)
class Face:
    """What an alternative shows: what is certain about every value that satisfies it."""

    types: frozenset[str] | None = None
    choices: list[object] | None = None
    required: set[str] = field(default_factory=set[str])
    declared: set[str] = field(default_factory=set[str])
    tags: dict[str, list[object]] = field(default_factory=dict[str, "list[object]"])
    """The values that a property may have, for those of which a schema lists them."""
    size: int = 1
    """How much there is to look at."""


class Plan:
    """A subschema as the explainer goes through it.

    `groups` are its steps to other subschemas by keyword; `leaves` its other keywords; `where` its
    place in the document; `route` the name by which the engine can be asked about it.
    """

    def __init__(self, node: GraphNode, plans: Plans) -> None:
        self.node = node
        self.index = node.index
        self.schema = node.spot.schema
        self.where = node.spot.place
        self.leaves = Leaves(node.spot, self.keywords, plans.engine)
        self.groups: dict[str, list[Edge]] = {}
        for edge in node.edges:
            self.groups.setdefault(edge.keyword, []).append(edge)
        self.for_objects = not _FOR_OBJECTS.isdisjoint(self.groups)
        self.for_arrays = not _FOR_ARRAYS.isdisjoint(self.groups)
        self.in_place = any(edge.step is Step.IN_PLACE for edge in node.edges)
        self.is_false = _is_false(self.schema)
        self.route = plans.verdicts.route(node) if node.edges else None
        self._plans = plans
        self._targets: dict[str, list[Plan]] = {}
        self._properties: dict[str, Plan] | None = None
        self._face: Face | None = None
        self._expectations: dict[int, str] = {}

    @property
    def keywords(self) -> dict[str, object]:
        """The subschema as an object; empty for a boolean."""
        return self.schema if is_object(self.schema) else {}

    def targets(self, keyword: str) -> list[Plan]:
        """Return the subschemas that `keyword` applies."""
        found = self._targets.get(keyword)
        if found is None:
            edges = self.groups.get(keyword, ())
            found = self._targets[keyword] = [self._plans[edge.target] for edge in edges]
        return found

    def target(self, keyword: str) -> Plan | None:
        """Return the one subschema that `keyword` applies, if it is there."""
        return self.targets(keyword)[0] if keyword in self.groups else None

    def steps(self, keyword: str) -> Iterable[tuple[Edge, Plan]]:
        """Return the subschemas that `keyword` applies, with the steps to them."""
        return zip(self.groups.get(keyword, ()), self.targets(keyword), strict=True)

    def properties(self) -> dict[str, Plan]:
        """Return the subschemas of `properties`, by name, in the order of the document."""
        if self._properties is None:
            found = {str(edge.label): target for edge, target in self.steps("properties")}
            declared = self.keywords.get("properties")
            order = declared if is_object(declared) else {}
            self._properties = {name: found[name] for name in order if name in found}
        return self._properties

    def dependents(self, keyword: str, value: object) -> list[tuple[str, Plan]]:
        """Return the subschemas that `keyword` applies because `value` has a property."""
        if keyword not in self.groups or not is_object(value):
            return []
        steps = self.steps(keyword)
        return [(str(edge.label), target) for edge, target in steps if edge.label in value]

    @property
    def reference(self) -> str:
        """What a message calls this: a reference into the document."""
        where = self.where if "#" in self.where else f"#{self.where}"
        return wording.clean(where, 120)

    def face(self) -> Face:
        """Return what is certain about every value that satisfies this."""
        if self._face is None:
            self._face = _face(self)
        return self._face

    def facets(self) -> Iterator[Plan]:
        """Yield this and what it applies together with it: references and `allOf`."""
        waiting: list[Plan] = [self]
        for seen, plan in enumerate(waiting):  # grows while it is walked
            if seen >= _MOST_FACETS:
                return
            yield plan
            for keyword in (*REFERENCES, "allOf"):
                waiting.extend(plan.targets(keyword))

    def expectation(self, depth: int = 2) -> str:
        """Return what this asks for as a noun phrase, empty where there is no short one."""
        known = self._expectations.get(depth)
        if known is None:
            known = self._expectations[depth] = self._expect(depth)
        return known

    def _expect(self, depth: int) -> str:
        for plan in self.facets():
            if isinstance(plan.schema, bool):
                if not plan.schema:
                    return "nothing"
                continue
            phrase = wording.expectation(plan.leaves.described)
            if phrase:
                return phrase
            for keyword in ("anyOf", "oneOf"):
                branches = plan.targets(keyword)
                if depth and 0 < len(branches) <= wording.MOST_LISTED:
                    phrases = [branch.expectation(depth - 1) for branch in branches]
                    if all(phrases):
                        return wording.listed(list(dict.fromkeys(phrases)), "or")
        return ""

    def name(self) -> str | None:
        """Return what people call this: its title, or the last word of the reference to it."""
        for plan in self.facets():
            title = plan.keywords.get("title")
            if isinstance(title, str) and title:
                return wording.clean(title, 40)
            if plan is not self:
                last = plan.node.spot.pointer.rsplit("/", 2)
                if len(last) == 3 and last[1] in ("$defs", "definitions"):
                    return wording.clean(unescape(last[2]), 40)
        return None


class Plans:
    """The plans of one schema, each made when it is first asked for."""

    def __init__(self, graph: Graph, engine: Engine, rate: float) -> None:
        self.engine = engine
        self.rate = rate
        self.verdicts = Verdicts(graph, engine, rate)
        self._plans: list[Plan | None] = [None] * len(graph.nodes)
        self._matchers: dict[str, Callable[[object], bool]] = {}

    def __getitem__(self, node: GraphNode) -> Plan:
        plan = self._plans[node.index]
        if plan is None:
            plan = self._plans[node.index] = Plan(node, self)
        return plan

    def matches(self, pattern: str, name: str) -> bool:
        """Tell whether a property name matches a key of `patternProperties`."""
        test = self._matchers.get(pattern)
        if test is None:
            test = self._matchers[pattern] = matcher(pattern, self.engine)
        return test(name)


def _is_false(schema: dict[str, object] | bool) -> bool:
    """Tell whether nothing satisfies `schema`: it is `false`, or `{"not": {}}`."""
    if isinstance(schema, bool):
        return not schema
    return schema.keys() == {"not"} and schema["not"] in ({}, True)


def _face(plan: Plan) -> Face:
    face = Face()
    for facet in plan.facets():
        if isinstance(facet.schema, bool):
            if not facet.schema:
                face.types = frozenset()
            continue
        types = facet.node.types
        if types is not None:
            face.types = types if face.types is None else _both(face.types, types)
        choices = _choices(facet)
        if choices is not None and face.choices is None:
            face.choices = choices
            face.size += len(choices)
        required = facet.leaves.schema.get("required")
        if is_array(required):
            face.required.update(name for name in required if isinstance(name, str))
        for name, inner in islice(facet.properties().items(), _MOST_SHOWN - len(face.declared)):
            face.declared.add(name)
            for part in inner.facets():
                face.size += 1
                values = _choices(part)
                if values is not None:
                    face.tags.setdefault(name, values)
                    face.size += len(values)
        face.size += 1
    face.size += len(face.required)
    return face


def _choices(plan: Plan) -> list[object] | None:
    schema = plan.leaves.schema
    if "const" in schema:
        return [schema["const"]]
    values = schema.get("enum")
    return values if is_array(values) else None


def _both(one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
    return _widened(one) & _widened(other)


def _widened(types: frozenset[str]) -> frozenset[str]:
    return types | {"integer"} if "number" in types else types
