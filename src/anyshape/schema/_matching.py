"""What matching the costly patterns of a schema against a value would cost, before it is done.

Two kinds of patterns are not free (see `_patterns`): large ones, for which the linear matcher takes
time proportional to their size for each character, and those that backtrack, which may go over the
text once for each step back. Both are charged against `limits.work` by the characters they are
matched against: all there are in the value, or, where that is too coarse, those that the subschema
with the pattern really meets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from anyshape.errors import LimitExceeded
from anyshape.schema._cost import COUNTING_STEPS
from anyshape.schema._dialects import Step
from anyshape.schema._graph import Edge, Graph, Node
from anyshape.schema._json import is_array, is_object
from anyshape.schema._limits import Limits
from anyshape.schema._patterns import Patterns

__all__ = ["Matching", "text_size"]

_BYTES_PER_STEP: Final = 1_000
"""Compiled bytes that the linear matcher passes, for one character, in the time of one step."""
_BACKTRACKS_PER_STEP: Final = 10
"""The same for the backtracking matcher: ways back, each over one character; a "no" asks twice."""

_FEWEST_BACKTRACKS: Final = 100
"""Steps back that are allowed however much text there is: enough for sensible lookaround."""
_SHORTEST: Final = 1_000
"""Characters that a text may have, at the least, before it is looked at."""
_FIXED: Final = frozenset((Step.IN_PLACE, Step.PROPERTY, Step.ITEM))
"""Steps that lead to one place at most."""

_encoder = msgspec.json.Encoder(decimal_format="number")


def text_size(value: object) -> int | None:
    """Return the bytes of `value` as JSON text, `None` if it has none: quick, and no less than what
    the value holds in characters and places."""
    try:
        return len(_encoder.encode(value))
    except Exception:
        # Whatever makes a value impossible to write is found, and told, by `read_json`.
        return None


class Matching(msgspec.Struct, frozen=True, eq=False):
    """The costly patterns of one schema, and the subschemas that lead to them."""

    graph: Graph
    patterns: Patterns
    limits: Limits
    leading: frozenset[int]

    @classmethod
    def of(cls, graph: Graph, patterns: Patterns, limits: Limits) -> Matching | None:
        """Return what has to be charged for, `None` when nothing has."""
        if not patterns.heavy:
            return None
        return cls(graph, patterns, limits, frozenset(_leading(graph, patterns)))

    @property
    def free_size(self) -> int:
        """How large the text of a value may be before its strings have to be looked at."""
        rate = sum(self._rate(text, self.limits.backtracks) for text in self.patterns.heavy)
        return int(self.limits.work / rate)

    def longest_texts(self) -> dict[tuple[str, str], int] | None:
        """Return how long a text each costly pattern may meet so that all together stay affordable.

        By the place of the subschema that has the pattern; `None` where it may meet any number of
        texts: in arrays and maps, or as names of properties.
        """
        if self.graph.recursive:
            return None
        costly = [node for node in self.graph.nodes if _costly(node, self.patterns)]
        loose = _beyond(self.graph)
        if any(
            node.index in loose or not _has_costly_pattern(node, self.patterns) for node in costly
        ):
            return None
        ways = _count_ways(self.graph)
        longest = self.free_size // max(1, sum(ways[node.index] for node in costly))
        if longest < _SHORTEST:
            return None
        return {(node.spot.document, node.spot.pointer): longest for node in costly}

    def backtracks(self, value: object) -> int:
        """Return how many steps back one match of `value`'s strings may take.

        Raises `LimitExceeded` when matching could cost more than `limits.work` all the same.
        """
        exposed = self._expose(value)
        steps = 0.0
        allowed = self.limits.backtracks
        while True:
            steps = sum(size * self._rate(text, allowed) for text, size in exposed.items())
            if steps <= self.limits.work:
                return allowed
            if allowed <= _FEWEST_BACKTRACKS or not self.patterns.backtracking:
                break
            allowed = max(allowed // 10, _FEWEST_BACKTRACKS)
        worst = max(exposed, key=lambda text: exposed[text] * self._rate(text, allowed))
        shown = worst if len(worst) <= 60 else worst[:59] + "…"
        raise LimitExceeded(
            f"matching {exposed[worst]} characters against the pattern {shown!r} could take more "
            f"than {self.limits.work} steps (limit: work)",
            limit="work",
            allowed=self.limits.work,
            found=int(steps),
        )

    def _rate(self, text: str, backtracks: int) -> float:
        pattern = self.patterns.heavy[text]
        rate = pattern.size / _BYTES_PER_STEP
        return rate + backtracks / _BACKTRACKS_PER_STEP if pattern.backtracks else rate

    def _expose(self, value: object) -> dict[str, int]:
        """Return for each costly pattern how many characters it is matched against, at most."""
        exposed = dict.fromkeys(self.patterns.heavy, 0)
        places: dict[tuple[int, object], int] = {}
        seen: set[tuple[int, int]] = set()
        stack: list[tuple[Node, object, int]] = [(self.graph.root, value, 0)]
        budget = self.limits.work
        while stack:
            node, at, place = stack.pop()
            if (node.index, place) in seen:
                continue
            seen.add((node.index, place))
            costly = [text for text in _patterns_of(node, at) if text in exposed]
            characters = _characters(at) if costly else 0
            for text in costly:
                exposed[text] += characters
            ways = [edge for edge in node.edges if edge.target.index in self.leading]
            # Looking is work, too, and is charged before it is done.
            budget -= COUNTING_STEPS + len(costly) + sum(_count_children(edge, at) for edge in ways)
            if budget < 0:
                raise LimitExceeded(
                    f"finding the strings to match takes more than {self.limits.work} steps "
                    "(limit: work)",
                    limit="work",
                    allowed=self.limits.work,
                )
            for edge in ways:
                for key, inner in _children(node, edge, at):
                    if key is None:
                        stack.append((edge.target, inner, place))
                    else:
                        child = places.setdefault((place, key), len(places) + 1)
                        stack.append((edge.target, inner, child))
        return exposed


def _patterns_of(node: Node, value: object) -> Iterator[str]:
    """Yield the patterns that `node` matches against `value`, or against its property names."""
    schema = node.spot.schema
    if isinstance(schema, bool):
        return
    if isinstance(value, str):
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            yield pattern
    elif isinstance(value, dict):
        properties = schema.get("patternProperties")
        if is_object(properties):
            yield from properties


def _characters(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(len, value)) if is_object(value) else 0


def _count_children(edge: Edge, value: object) -> int:
    """Return the steps that finding what `edge` leads to takes, at most."""
    if edge.step in _FIXED:
        return COUNTING_STEPS
    return COUNTING_STEPS * len(value) if is_object(value) or is_array(value) else 1


def _children(node: Node, edge: Edge, value: object) -> Iterator[tuple[object, object]]:
    """Yield (key, value) for whatever `edge` leads to; the key is `None` for the value itself."""
    step, label = edge.step, edge.label
    if step is Step.IN_PLACE:
        yield None, value
    elif is_object(value):
        if step is Step.PROPERTY:
            if isinstance(label, str) and label in value:
                yield label, value[label]
        elif step is Step.NAME:
            for name in value:
                yield ("name", name), name
        elif step in (Step.PATTERN, Step.ADDITIONAL, Step.EVERY_PROPERTY):
            declared = _declared(node) if step is Step.ADDITIONAL else frozenset[str]()
            for name, inner in value.items():
                if name not in declared:
                    yield name, inner
    elif is_array(value):
        if step is Step.ITEM:
            if isinstance(label, int) and label < len(value):
                yield label, value[label]
        elif step is Step.REST:
            start = label if isinstance(label, int) else 0
            yield from enumerate(value[start:], start)


def _declared(node: Node) -> frozenset[str]:
    schema = node.spot.schema
    properties = None if isinstance(schema, bool) else schema.get("properties")
    return frozenset(properties) if is_object(properties) else frozenset()


def _costly(node: Node, patterns: Patterns) -> bool:
    """Tell whether `node` matches anything against a costly pattern."""
    schema = node.spot.schema
    if isinstance(schema, bool):
        return False
    named = schema.get("patternProperties")
    return _has_costly_pattern(node, patterns) or (
        is_object(named) and not patterns.heavy.keys().isdisjoint(named)
    )


def _has_costly_pattern(node: Node, patterns: Patterns) -> bool:
    schema = node.spot.schema
    pattern = None if isinstance(schema, bool) else schema.get("pattern")
    return isinstance(pattern, str) and pattern in patterns.heavy


def _leading(graph: Graph, patterns: Patterns) -> set[int]:
    """Return the nodes from which a subschema with a costly pattern can be reached."""
    above: dict[int, list[int]] = {}
    for node in graph.nodes:
        for edge in node.edges:
            above.setdefault(edge.target.index, []).append(node.index)
    found = {node.index for node in graph.nodes if _costly(node, patterns)}
    waiting = list(found)
    while waiting:
        for index in above.get(waiting.pop(), ()):
            if index not in found:
                found.add(index)
                waiting.append(index)
    return found


def _beyond(graph: Graph) -> set[int]:
    """Return the nodes that may be applied to any number of places."""
    found = {
        edge.target.index for node in graph.nodes for edge in node.edges if edge.step not in _FIXED
    }
    waiting = list(found)
    while waiting:
        for edge in graph.nodes[waiting.pop()].edges:
            if edge.target.index not in found:
                found.add(edge.target.index)
                waiting.append(edge.target.index)
    return found


def _count_ways(graph: Graph) -> list[int]:
    """Return for each node of a graph without cycles in how many ways it is reached."""
    missing = [0] * len(graph.nodes)
    for node in graph.nodes:
        for edge in node.edges:
            missing[edge.target.index] += 1
    ways = [0] * len(graph.nodes)
    ways[graph.root.index] = 1
    ready = [node for node in graph.nodes if missing[node.index] == 0]
    while ready:
        node = ready.pop()
        for edge in node.edges:
            ways[edge.target.index] += ways[node.index]
            missing[edge.target.index] -= 1
            if missing[edge.target.index] == 0:
                ready.append(edge.target)
    return ways
