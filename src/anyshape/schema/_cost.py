"""How much work the engine would do, known before it does it.

The engine has no fuel meter, so its work is counted in advance, in *steps*: one evaluation of one
subschema at one place of the value. Which subschemas are evaluated at a place, and how often,
follows from the place above it alone, so the counts form an automaton:

- a *state* says how often each subschema arrives at a place from above: `((node, times), …)`;
- *expanding* a state follows the in-place edges and gives how often each subschema is evaluated
  there. `anyOf` of two references to the same definition doubles it, a chain of such doublings
  multiplies. A `remembered` edge adds at most one evaluation on an array or object; it adds one for
  each way to it on anything else. `unevaluated*` evaluates everything beside it a second time;
- each property name or index then leads to the state of the child.

Walking all names and indices that the schema tells apart, once, when it is compiled, visits every
reachable state. If these are few, the largest number of steps at one place bounds the work per
place: it is *linear* in the value, and the bound is the `factor`. Where that is small nothing is
checked when validating. Where it is large the same automaton is run over the actual value first:
time polynomial in schema and value, whatever the engine's would have been.

The counts are upper bounds: the engine stops early where it can.
"""

from __future__ import annotations

import functools
import heapq
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from anyshape.errors import LimitExceeded
from anyshape.schema._dialects import Step
from anyshape.schema._graph import Graph, Node
from anyshape.schema._json import is_array, is_object

State: TypeAlias = tuple[tuple[int, int], ...]

UNCHECKED_FACTOR = 100
"""Up to this many steps per place nothing is counted when validating."""
MOST_STATES = 1_000
"""More states than this beyond one for each subschema, and the question is left to run time."""
COUNTING_STEPS = 10
"""What counting costs for one place, in steps of the engine: it is charged like them."""
MOST_STEPS = 10**15
"""Counts stop here; every limit is far below."""

_KINDS = ("object", "array", "string", "number", "boolean", "null")
_REST = -1


@dataclass(frozen=True, slots=True)
class Cost:
    """What the analysis proved about the work of validating one value.

    `linear` says that the work is at most `factor` steps for each place of the value (each value,
    array item and property value). Otherwise `factor` is `None` and each value is counted before
    it is validated. `least` is what the cheapest value costs: when that is over budget, no value
    can be validated. `checked` says whether anything is counted at run time.
    """

    linear: bool
    factor: int | None
    least: int
    checked: bool

    def __str__(self) -> str:
        """Return one line."""
        if not self.linear:
            return "counted: the work depends on the value and is counted before it is done"
        bound = f"linear: at most {self.factor} steps for each place of the value"
        return bound + (", counted before large values" if self.checked else "")


class _Plan:
    """A node's edges, sorted by what they lead to."""

    __slots__ = (
        "additional",
        "every",
        "items",
        "marked",
        "marks",
        "names",
        "patterns",
        "place",
        "prefix",
        "properties",
        "rest",
        "types",
        "weight",
    )

    def __init__(self, node: Node) -> None:
        self.types = _gates(node.types)
        self.weight = _weight(node)
        self.place: list[tuple[int, bool]] = []
        self.properties: dict[str, int] = {}
        self.patterns: list[int] = []
        self.additional: list[int] = []
        self.every: list[int] = []
        self.names: list[int] = []
        self.items: dict[int, int] = {}
        self.rest: list[tuple[int, int]] = []
        self.marks: set[str] = set()
        """The kinds for which everything in place is evaluated again."""
        self.marked: list[tuple[int, Step]] = []
        """What that evaluates among the children."""
        for edge in node.edges:
            target = edge.target.index
            match edge.step:
                case Step.IN_PLACE:
                    self.place.append((target, edge.remembered))
                case Step.PROPERTY:
                    self.properties[str(edge.label)] = target
                case Step.PATTERN:
                    self.patterns.append(target)
                case Step.ADDITIONAL:
                    self.additional.append(target)
                case Step.EVERY_PROPERTY:
                    self.every.append(target)
                    self.marks.add("object")
                    self.marked.append((target, Step.EVERY_PROPERTY))
                case Step.NAME:
                    self.names.append(target)
                case Step.ITEM:
                    self.items[int(edge.label or 0)] = target
                case Step.REST:
                    self.rest.append((int(edge.label or 0), target))
                    if edge.keyword == "unevaluatedItems":
                        self.marks.add("array")
                    if edge.keyword in ("unevaluatedItems", "contains"):
                        self.marked.append((target, Step.REST))
                case Step.NOWHERE:
                    pass
        self.prefix = max(
            max(self.items, default=-1) + 1, max((start for start, _ in self.rest), default=0)
        )


class _Expansion:
    """All that happens at one place: the steps there, and what arrives at its children."""

    __slots__ = ("_children", "_meter", "evaluated", "marked", "names", "prefix", "steps")

    def __init__(self, meter: Meter, state: State, kind: str) -> None:
        self._meter = meter
        self._children: dict[str | int | None, State] = {}
        self.evaluated, self.marked = meter.expand(state, kind)
        plans = meter.plans
        steps = sum(times * plans[node].weight for node, times in self.evaluated)
        names: dict[int, int] = {}
        if kind == "object":
            for node, times in self.evaluated:
                for target in plans[node].names:
                    _add(names, target, times)
        self.names: State = tuple(sorted(names.items()))
        """What arrives at each property name."""
        self.steps = min(steps + sum(times for _, times in self.marked), MOST_STEPS)
        self.prefix = 0
        """The number of items that are told apart by their index."""
        if kind == "array":
            self.prefix = max((plans[node].prefix for node, _ in self.evaluated), default=0)

    def property(self, name: str | None) -> State:
        """Return what arrives at the property `name`; `None` for one that no keyword names."""
        found = self._children.get(name)
        if found is None:
            found = self._children[name] = self._property(name)
        return found

    def _property(self, name: str | None) -> State:
        counts: dict[int, int] = {}
        for node, times in self.evaluated:
            plan = self._meter.plans[node]
            named = None if name is None else plan.properties.get(name)
            if named is not None:
                _add(counts, named, times)
            # Patterns are taken to match: matching here would be work of its own.
            for target in plan.patterns:
                _add(counts, target, times)
            if named is None:
                for target in plan.additional:
                    _add(counts, target, times)
            for target in plan.every:
                _add(counts, target, times)
        self._count_marked(counts, Step.EVERY_PROPERTY)
        return tuple(sorted(counts.items()))

    def item(self, index: int) -> State:
        """Return what arrives at the item at `index`; `_REST` for one beyond all prefixes."""
        found = self._children.get(index)
        if found is None:
            found = self._children[index] = self._item(index)
        return found

    def _item(self, index: int) -> State:
        counts: dict[int, int] = {}
        for node, times in self.evaluated:
            plan = self._meter.plans[node]
            if index in plan.items:
                _add(counts, plan.items[index], times)
            for start, target in plan.rest:
                if index == _REST or index >= start:
                    _add(counts, target, times)
        self._count_marked(counts, Step.REST)
        return tuple(sorted(counts.items()))

    def _count_marked(self, counts: dict[int, int], step: Step) -> None:
        for node, times in self.marked:
            for target, at in self._meter.plans[node].marked:
                if at is step:
                    _add(counts, target, times)

    def declared(self) -> Iterator[str | None]:
        """Yield every property name that some subschema here names, and `None` for the others."""
        seen: set[str] = set()
        yield None
        for node, _ in self.evaluated:
            for name in self._meter.plans[node].properties:
                if name not in seen:
                    seen.add(name)
                    yield name


class Meter:
    """Counts the steps that validating a value against one schema would take."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._ranks = [node.rank for node in graph.nodes]
        self._expansions: dict[tuple[State, str], _Expansion] = {}
        self._start: State = ((0, 1),)
        factor = _simple_factor(graph)
        if factor is not None and factor <= UNCHECKED_FACTOR:
            self.cost = Cost(linear=True, factor=factor, least=1, checked=False)
        else:
            self.cost = self._analyse()

    @functools.cached_property
    def plans(self) -> list[_Plan]:
        """The edges of each node, sorted."""
        return [_Plan(node) for node in self._graph.nodes]

    @functools.cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(name for plan in self.plans for name in plan.properties)

    def check(self, value: object, budget: int, size: int | None = None) -> None:
        """Raise `LimitExceeded` when validating `value` may take more than `budget` steps.

        `size` is an upper bound on the number of places in the value, where the caller knows one,
        such as the length of its JSON text; it can make walking the value unnecessary.
        """
        factor = self.cost.factor
        if size is not None and factor is not None and size * factor <= budget:
            return
        steps = self.count(value, budget)
        if steps > budget:
            raise LimitExceeded(
                f"validating this value could take more than {budget} steps (limit: work); "
                "the schema multiplies alternatives",
                limit="work",
                allowed=budget,
                found=steps,
            )

    def count(self, value: object, budget: int = MOST_STEPS) -> int:
        """Return an upper bound on the steps for `value`, or some number above `budget`.

        The value must be JSON without cycles. Where nothing arrives nothing is visited.
        """
        stack: list[tuple[object, State]] = [(value, self._start)]
        steps = 0
        while stack:
            at, state = stack.pop()
            if is_object(at):
                expansion = self._expansion(state, "object")
                names = expansion.names
                for key, inner in at.items():
                    if names:
                        steps += self._expansion(names, "string").steps
                    following = expansion.property(key if key in self._names else None)
                    if following:
                        stack.append((inner, following))
            elif is_array(at):
                expansion = self._expansion(state, "array")
                prefix = expansion.prefix
                for index, inner in enumerate(at):
                    following = expansion.item(index if index < prefix else _REST)
                    if following:
                        stack.append((inner, following))
            else:
                expansion = self._expansion(state, _kind(at))
            steps += expansion.steps + COUNTING_STEPS
            if steps > budget:
                break
        return steps

    def expand(self, state: State, kind: str) -> tuple[State, State]:
        """Return how often each subschema is evaluated, and evaluated again, at one place."""
        container = kind in ("object", "array")
        counts = dict(state)
        marks: dict[int, int] = {}
        recalled: set[int] = set()
        ranks = self._ranks
        heap = [(ranks[node], node) for node in counts]
        heapq.heapify(heap)
        queued = set(counts)
        evaluated: list[tuple[int, int]] = []
        marked: list[tuple[int, int]] = []
        while heap:
            _, node = heapq.heappop(heap)
            plan = self.plans[node]
            times = counts.get(node, 0)
            again = marks.get(node, 0)
            if times:
                evaluated.append((node, times))
            open_ = plan.types is None or kind in plan.types
            if open_ and kind in plan.marks:
                again = min(again + times, MOST_STEPS)
            if again:
                marked.append((node, again))
            if not open_:
                times = 0
            for target, remembered in plan.place:
                if times:
                    if remembered and container:
                        if target not in recalled:
                            recalled.add(target)
                            _add(counts, target, 1)
                    else:
                        _add(counts, target, times)
                if again:
                    _add(counts, target, again)
                    _add(marks, target, again)
                if (times or again) and target not in queued:
                    queued.add(target)
                    heapq.heappush(heap, (ranks[target], target))
        return tuple(evaluated), tuple(marked)

    def _expansion(self, state: State, kind: str) -> _Expansion:
        key = (state, kind)
        found = self._expansions.get(key)
        if found is None:
            if len(self._expansions) > 8 * MOST_STATES:
                self._expansions.clear()
            found = self._expansions[key] = _Expansion(self, state, kind)
        return found

    def _analyse(self) -> Cost:
        seen: set[State] = {self._start}
        waiting = [self._start]
        factor = 0
        least = MOST_STEPS
        most = MOST_STATES + len(self.plans)
        for state in waiting:  # grows while it is walked
            if len(seen) > most:
                return Cost(linear=False, factor=None, least=least, checked=True)
            for following in self._children(state):
                if following and following not in seen:
                    seen.add(following)
                    waiting.append(following)
            worst, cheapest = self._steps(state)
            factor = max(factor, worst)
            if state == self._start:
                least = cheapest
        return Cost(linear=True, factor=factor, least=least, checked=factor > UNCHECKED_FACTOR)

    def _steps(self, state: State) -> tuple[int, int]:
        if len(state) == 1 and not self._ways(state[0][0]):
            steps = state[0][1] * self.plans[state[0][0]].weight
            return steps, steps
        worst, cheapest = 0, MOST_STEPS
        for kind in _KINDS:
            expansion = self._expansion(state, kind)
            steps = expansion.steps
            if expansion.names:
                steps += self._expansion(expansion.names, "string").steps
            worst = max(worst, steps)
            cheapest = min(cheapest, steps)
        return worst, cheapest

    def _children(self, state: State) -> Iterator[State]:
        if len(state) == 1 and not self._ways(state[0][0]):
            return
        expansion = self._expansion(state, "object")
        for name in expansion.declared():
            yield expansion.property(name)
        if expansion.names:
            yield expansion.names
        expansion = self._expansion(state, "array")
        for index in range(expansion.prefix):
            yield expansion.item(index)
        yield expansion.item(_REST)

    def _ways(self, node: int) -> bool:
        """Tell whether anything leads on from this subschema."""
        plan = self.plans[node]
        return bool(
            plan.place
            or plan.properties
            or plan.patterns
            or plan.additional
            or plan.every
            or plan.names
            or plan.items
            or plan.rest
        )


def _simple_factor(graph: Graph) -> int | None:
    """Return the factor of a schema in which no two subschemas ever look at the same child.

    Then a place is reached by one subschema, and the steps there are those of all that it applies
    in place. Most schemas are like that, and need no automaton to tell. `None` for all others.
    """
    steps = [0] * len(graph.nodes)
    parents = [0] * len(graph.nodes)
    for node in sorted(graph.nodes, key=_rank, reverse=True):
        here, looking, rest, looks_itself = _weight(node), 0, 0, False
        for edge in node.edges:
            step = edge.step
            if step is Step.IN_PLACE:
                here += steps[edge.target.index]
                looking += parents[edge.target.index]
            elif step in _OVERLAPPING or edge.keyword in _BESIDE_OTHERS:
                return None
            else:
                looks_itself = True
                rest += step is Step.REST
        looking += looks_itself
        if rest > 1 or looking > 1:
            return None
        steps[node.index], parents[node.index] = min(here, MOST_STEPS), looking
    return max(steps)


_OVERLAPPING = (Step.PATTERN, Step.EVERY_PROPERTY, Step.NAME)
_BESIDE_OTHERS = ("contains", "unevaluatedItems")
_LISTS = frozenset(("dependentRequired", "dependencies", "enum"))

_rank = operator.attrgetter("rank")


def _add(counts: dict[int, int], node: int, times: int) -> None:
    counts[node] = min(counts.get(node, 0) + times, MOST_STEPS)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number"


def _gates(types: frozenset[str] | None) -> frozenset[str] | None:
    if types is not None and "integer" in types:
        return types | {"number"}
    return types


def _weight(node: Node) -> int:
    """Return the steps of one evaluation: lists that are searched each time count for more.

    `properties` and `required` are not among them: the engine goes by the properties that the value
    has, which count as places of their own.
    """
    schema = node.spot.schema
    if isinstance(schema, bool) or _LISTS.isdisjoint(schema):
        return 1
    entries = 0
    for keyword in ("dependentRequired", "dependencies"):
        value = schema.get(keyword)
        if is_object(value):
            entries += len(value)
    options = schema.get("enum")
    if is_array(options):
        entries += len(options) // 16
    return 1 + entries // 4
