"""Which schemas are cheap in the engine as it is, for every value: a whitelist, with its figures.

A schema is judged in the process only if everything in it is on the list: keywords, the sizes of
their values, the number of subschemas. Whatever is not (dynamic references, lookaround, several
dialects, large documents …) is *confined*: compiled, asked and explained in a process that the
operating system stops (`confinement`). So nothing here has to be exact; only on the safe side.

For what is on the list a bound is computed: nanoseconds for each byte of the value's text. The
engine visits a place of the value once for every subschema that applies there, and a place takes
two bytes of text at least (`1,`). So the bound of a subschema is

    what its own keywords take, or the most that its children take at one place below,
    and on top of either everything that it applies in place: references, alternatives, conditions.

Sums follow paths: a definition that is referred to twice counts twice. Recursion ends because the
engine remembers, for arrays and objects, what a recursive reference came to (`_compile.graph`): so
its target counts once for all places, and each time for a scalar. docs/concepts/cost.md has the
argument and the measurements behind the figures; each is about twice what was measured.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final, cast

import msgspec

from anyshape.documents.dialects import Dialect, Step
from anyshape.documents.json import is_array, is_object
from anyshape.documents.library import ROOT_URI
from anyshape.schema._compile import (
    DOCUMENT_BYTES,
    Document,
    Edge,
    Graph,
    GraphNode,
    Patterns,
    is_metaschema,
    metaschema_documents,
    patterns_of,
)

SUBSCHEMAS: Final = 4_000
"""How many a document may hold to be compiled in the process: 0.2 s and 50 MB at most."""

_BUDGET: Final = 50_000_000
"""Nanoseconds that judging one value in the process may take by these bounds."""
_LEAST: Final = 256
"""Bytes of text that a schema must be able to judge in the process for it to be worth while."""
_FRAMES: Final = 16_000
"""Nested evaluations that the engine was seen to survive on an 8 MB stack, with room to spare."""
_SMALL: Final = 2**53
# Nanoseconds for each byte of text at the place where a keyword is evaluated.
_BASE: Final = 30
_REMEMBERING: Final = 150
_BOUND: Final = 240
"""To compare with an integer: next to nothing, but 1.3 µs if the value is such as 1e308."""
_FRACTION: Final = 4_000
_DIVISION: Final = 400
_FINE_DIVISION: Final = 9_000
_MEMBER: Final = 400
_NUMBER_MEMBER: Final = 5_000
_DEPENDENT: Final = 15
_REQUIRED: Final = 20
_UNIQUE: Final = 16_000
"""To compare items: up to fifteen are compared pairwise, 15 µs for two such as 1e-323."""
_FORMAT: Final = 100
_CONTENT: Final = 60
_IGNORED: Final = 150
"""For a keyword that the engine has to be told to ignore, and asks about each value."""
_EMPTY: Final = 50
"""For `""` alone, with which the engine compares ten times as slowly as with any other text."""
_METASCHEMA: Final = 500 + _UNIQUE
_SMALL_PATTERN: Final = 1_024
"""Bytes of a compiled pattern up to which matching takes `_MATCHING`, and else more by its size."""
_MATCHING: Final = 70
_PATTERN_BYTES: Final = 4

_PATTERNS: Final = 64
PATTERN_BYTES: Final = 300_000
_PATTERN_TEXT: Final = 16_000
_PATTERN_CLASSES: Final = 500
_PATTERN_PROPERTIES: Final = 32
_CLASS: Final = re.compile(r"\\[dDsSwW]|\[\^?\]")
"""What the engine has to be told as a class such as `\\s`: its time grows with their square."""
_PROPERTY: Final = re.compile(r"\\[pP]")
_FOLDING: Final = re.compile(r"\(\?[a-z]*i")
_WIDE: Final = re.compile(r"\\[pPuxDSW]|[^\x00-\x7f]")
"""What takes a millisecond each to compile where upper and lower case are the same."""
_PAIRS: Final = 100_000
_COPIED: Final = 500_000
"""Bytes of text that the engine may hold again: it takes 35 bytes for each one of numbers."""
_LOCATED: Final = 20_000_000
"""Characters of places, as many bytes, that the engine may hold for the keywords of a document."""
_EVALUATED: Final = 24
"""Subschemas in place that `unevaluated*` may have to look through."""

_DYNAMIC: Final = frozenset(
    ("$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary")
)
_COSTLY_FORMATS: Final = frozenset(("idn-hostname", "idn-email", "regex"))
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_UNEVALUATED: Final = frozenset(("unevaluatedProperties", "unevaluatedItems"))
# fmt: off
_FREE: Final = frozenset((
    "$ref", "$id", "$anchor", "$defs", "$schema", "$comment", "definitions", "title",
    "description", "default", "examples", "type", "required", "properties",
    "additionalProperties", "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "if",
    "then", "else", "contains", "propertyNames", "minLength", "maxLength", "minItems",
    "maxItems", "minProperties", "maxProperties",
))
# fmt: on
"""Keywords that take next to nothing by themselves, what their subschemas take apart."""
_UNCONDITIONAL: Final = frozenset(("allOf", "$ref"))
_SCHEMA_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items", "examples"))
_NAMING: Final = frozenset(("dependentRequired", "dependencies"))
"""Keywords beneath which an array has names in it, whatever it is called."""
_LONG: Final = 100


class Cost(msgspec.Struct, frozen=True):
    """What was proved about the work of judging one value.

    confined:   every value is judged in a process of its own, within `Limits.seconds` and `memory`
    free_bytes: values whose JSON text is longer than this are, too; 0 if all are
    rate:       nanoseconds at most for each byte of the text, where a bound is known
    reason:     what keeps the schema from being judged in the process
    reads:      whether texts are read, by patterns, formats and the like, or merely compared
    """

    confined: bool
    free_bytes: int
    rate: int | None = None
    reason: str = ""
    reads: bool = True

    def __str__(self) -> str:
        """Return one line."""
        if self.confined:
            return f"confined: {self.reason}; stopped when it takes too long"
        return f"cheap: at most {self.rate} ns a byte, in the process up to {self.free_bytes} bytes"


class NotCheap(Exception):
    """The schema is not on the list; says why."""


def screen(document: Document, size: int, dialect: Dialect) -> None:
    """Raise `NotCheap` for a document that is not even worth analysing; one pass, any document."""
    if size > DOCUMENT_BYTES:
        raise NotCheap(f"a document of more than {DOCUMENT_BYTES} bytes")
    if is_official(document, dialect):
        return
    patterns: set[str] = set()
    waiting: list[tuple[str, object]] = [("", document)]
    for keyword, value in waiting:  # grows while it is walked
        if is_object(value):
            if not _DYNAMIC.isdisjoint(value):
                raise NotCheap(f"it uses {min(_DYNAMIC & value.keys())}")
            patterns.update(text for text, _ in patterns_of(value))
            named = keyword in _NAMING
            waiting.extend((keyword if named else key, inner) for key, inner in value.items())
        elif is_array(value):
            if len(value) > _LONG and not all(_is_quick_to_compare(i, keyword) for i in value):
                raise NotCheap("a long array with numbers, arrays or objects in it")
            waiting.extend(("", inner) for inner in value)
    if not _are_light(patterns):
        raise NotCheap("many or large patterns")


def is_official(document: Document, dialect: Dialect) -> bool:
    """Tell whether `document` is a metaschema as it was published."""
    if isinstance(document, bool) or not isinstance(document.get(dialect.id_keyword), str):
        return False
    uri = document[dialect.id_keyword].removesuffix("#")
    return is_metaschema(uri) is dialect and metaschema_documents(dialect)[uri] == document


def _is_quick_to_compare(value: object, keyword: str) -> bool:
    """Tell whether the metaschema can find out quickly that no two of such items are equal."""
    if is_object(value):
        return keyword in _SCHEMA_LISTS
    if isinstance(value, float) or is_array(value):
        return False
    return not isinstance(value, int) or -_SMALL < value < _SMALL


def _are_light(patterns: set[str]) -> bool:
    """Tell whether patterns are so few and plain that compiling them, to weigh them, is nothing."""
    text = "\n".join(patterns)
    return (
        len(patterns) <= _PATTERNS
        and len(text) <= _PATTERN_TEXT
        and len(_CLASS.findall(text)) <= _PATTERN_CLASSES
        and len(_PROPERTY.findall(text)) <= _PATTERN_PROPERTIES
        and not (_FOLDING.search(text) and _WIDE.search(text))
    )


def classify(
    graph: Graph, patterns: Patterns, *, formats: bool, instance_depth: int, official: bool
) -> Cost:
    """Return the bound for a schema on the list; raise `NotCheap` for any other."""
    if official:
        return _cost(_METASCHEMA)
    if len({node.spot.dialect for node in graph.nodes if not _is_foreign(node)}) > 1:
        raise NotCheap("it mixes dialects")
    if graph.recursive and graph.longest_chain * instance_depth > _FRAMES:
        raise NotCheap("long chains of references in a recursive schema")
    if patterns.backtracking:
        raise NotCheap("a pattern with lookaround, a backreference or \\B")
    if graph.copied > _COPIED:
        raise NotCheap("much that is compiled again for every reference or `not` around it")
    if graph.located > _LOCATED:
        raise NotCheap("long names above many keywords")
    sizes = [pattern.size for pattern in patterns.all.values()]
    if len(sizes) > _PATTERNS or sum(sizes) > PATTERN_BYTES:
        raise NotCheap("many or large patterns")
    weights = _Weights(patterns, formats=formats)
    own = [weights.weigh(node) for node in graph.nodes]
    scalar = _in_place(graph, own)
    bounds = _bound(graph, own, scalar)
    targets = {e.target.index for node in graph.nodes for e in node.edges if e.remembered}
    rate = bounds[graph.root.index] + sum(bounds[target] for target in targets)
    return _cost(rate, reads=weights.reads)


def _cost(rate: float, *, reads: bool = True) -> Cost:
    if not rate < _BUDGET / _LEAST:
        raise NotCheap("one place of a value may be judged too many times")
    return Cost(False, int(_BUDGET / rate), math.ceil(rate), reads=reads)


def _is_foreign(node: GraphNode) -> bool:
    return node.spot.document != ROOT_URI and is_metaschema(node.spot.document) is not None


def _in_place(graph: Graph, own: list[float]) -> list[float]:
    """Return what each subschema takes on a scalar, with all that it applies in place."""
    total = list(own)
    for node in sorted(graph.nodes, key=lambda node: -node.rank):
        for edge in node.edges:
            if edge.step is Step.IN_PLACE:
                total[node.index] += total[edge.target.index]
    return total


def _bound(graph: Graph, own: list[float], scalar: list[float]) -> list[float]:
    """Return the bound of each subschema, what it remembers counted as for a scalar."""
    bounds: list[float] = [-1.0] * len(graph.nodes)
    stack = [(graph.root, iter(graph.root.edges))]
    while stack:
        node, edges = stack[-1]
        for edge in edges:
            target = edge.target
            if not edge.remembered and bounds[target.index] < 0:
                if target.edges:
                    stack.append((target, iter(target.edges)))
                    break
                bounds[target.index] = own[target.index]
        else:
            stack.pop()
            bounds[node.index] = _combine(node, own[node.index], bounds, scalar)
    return bounds


def _combine(node: GraphNode, own: float, bounds: list[float], scalar: list[float]) -> float:
    if _is_foreign(node):
        return own
    place = 0.0
    one_of: dict[str, float] = {"properties": 0.0, "items": 0.0}
    all_of: dict[str, float] = {"properties": 0.0, "items": 0.0}
    for edge in node.edges:
        index = edge.target.index
        cost = scalar[index] + _REMEMBERING if edge.remembered else bounds[index]
        match edge.step:
            case Step.IN_PLACE:
                place += cost
            case Step.PROPERTY | Step.ADDITIONAL:
                one_of["properties"] = max(one_of["properties"], cost)
            case Step.PATTERN | Step.EVERY_PROPERTY | Step.NAME:
                all_of["properties"] += cost
            case Step.ITEM | Step.REST if edge.keyword in ("items", "prefixItems"):
                one_of["items"] = max(one_of["items"], cost)
            case Step.ITEM | Step.REST:
                all_of["items"] += cost
            case Step.NOWHERE:
                pass
    times = _evaluations(node)
    here = max(one_of[kind] + times * all_of[kind] for kind in one_of)
    return times * place + max(own, here)


def _evaluations(node: GraphNode) -> int:
    """Return how many times all that `node` applies in place, and `contains`, may be evaluated.

    Once, but for `unevaluated*`: to find out what alternatives evaluate, these are evaluated once
    more at each level at which they stand within each other, with all that is below.
    """
    if not _has_unevaluated(node):
        return 1
    times = 1
    chosen = "contains" in cast("dict[str, Any]", node.spot.schema)
    level = [node]
    while edges := [edge for at in level for edge in at.edges if edge.step is Step.IN_PLACE]:
        times += 1
        chosen = chosen or any(edge.keyword not in _UNCONDITIONAL for edge in edges)
        level = [edge.target for edge in edges]
    return max(2, times) if chosen else 1


def _has_unevaluated(node: GraphNode) -> bool:
    return is_object(node.spot.schema) and not _UNEVALUATED.isdisjoint(node.spot.schema)


class _Weights:
    """Weighs the keywords of each subschema."""

    def __init__(self, patterns: Patterns, *, formats: bool) -> None:
        self._patterns = patterns
        self._formats = formats
        self.reads = False

    def weigh(self, node: GraphNode) -> float:
        """Return nanoseconds for each byte of text, of the keywords that `node` has itself."""
        schema = node.spot.schema
        if isinstance(schema, bool):
            return _BASE
        if _is_foreign(node):
            self.reads = True
            return _METASCHEMA
        if _FREE.issuperset(schema):
            return _BASE + (_REQUIRED if "required" in schema else 0)
        if unknown := next((k for k in schema if k[:1] == "$" and k not in _FREE), None):
            raise NotCheap(f"it uses {unknown}")
        read = self._texts(schema, node.spot.dialect)
        self.reads = self.reads or read > 0
        rate = _BASE + read
        for name in _BOUNDS:
            if name in schema:
                rate += _bound_rate(schema[name])
        if "multipleOf" in schema:
            rate += _divisor_rate(schema["multipleOf"])
        if "enum" in schema:
            rate += _constants_rate(schema["enum"], schema.get("type"))
        if "const" in schema and "const" not in node.spot.dialect.lacks:
            rate += _constants_rate([schema["const"]], schema.get("type"))
        for name in ("dependentRequired", "dependentSchemas", "dependencies"):
            rate += _DEPENDENT * len(_names(schema, name))
        if "required" in schema:
            rate += _REQUIRED
        if schema.get("uniqueItems") is True:
            # Whatever `items` says: the engine compares the items before it looks at each.
            rate += _UNIQUE
        if _has_unevaluated(node):
            rate += _BASE * _evaluated(node)
        if len(_names(schema, "properties")) * len(_names(schema, "patternProperties")) > _PAIRS:
            raise NotCheap("many properties beside many patterns")
        return rate

    def _texts(self, schema: dict[str, Any], dialect: Dialect) -> float:
        """Return nanoseconds for each byte of text that patterns, formats and content take."""
        read = 0.0
        for text, _ in patterns_of(schema):
            if text in self._patterns.all:
                size = self._patterns.all[text].size
                read += _MATCHING if size <= _SMALL_PATTERN else size / _PATTERN_BYTES
        if self._formats and "format" in schema:
            if schema["format"] in _COSTLY_FORMATS:
                raise NotCheap(f"format {schema['format']}")
            read += _FORMAT
        content = len(schema.keys() & {"contentEncoding", "contentMediaType"})
        if dialect.asserts_content:
            read += _CONTENT if content else 0
        elif "contentEncoding" in dialect.lacks:  # The engine has it all the same.
            read += _IGNORED * content
        return read


def _bound_rate(bound: object) -> float:
    if isinstance(bound, bool):  # draft-04: a part of `minimum` or `maximum`
        return 0.0
    if isinstance(bound, int) and -_SMALL < bound < _SMALL:
        return _BOUND
    if isinstance(bound, float) and (not bound or 1e-9 < abs(bound) < _SMALL):
        return _FRACTION
    raise NotCheap("a bound of 2^53 or more, or next to zero")


def _divisor_rate(divisor: object) -> float:
    if isinstance(divisor, int) and 0 < divisor < _SMALL:
        return _DIVISION
    if isinstance(divisor, float) and 1e-9 < divisor < _SMALL:
        return _FINE_DIVISION
    raise NotCheap("a divisor of 2^53 or more, or next to zero")


def _constants_rate(values: Any, types: object) -> float:
    """Return what comparing with each of some constants takes; texts alone are looked up.

    Integers are looked up too, unless the value is a float or beyond 64 bits. What takes longest
    are fractions next to zero, as constants and as values; the latter `type` keeps away, except
    within arrays and objects: the engine looks at it first.
    """
    whole = types is not None and "number" not in cast("str | list[str]", types)
    if all(isinstance(value, str) for value in values):
        return _EMPTY if values == [""] else 0.0
    rate = 0.0
    waiting = list(values)
    for index, value in enumerate(waiting):  # grows while it is walked
        if is_object(value) or is_array(value):
            waiting.extend(value.values() if is_object(value) else value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            if not -_SMALL < value < _SMALL:
                raise NotCheap("a constant of 2^53 or more")
            looked_up = whole and isinstance(value, int) and index < len(values)
            rate += _MEMBER if looked_up else _NUMBER_MEMBER
        else:
            rate += _MEMBER
    return rate


def _names(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    value = schema.get(keyword)
    return value if is_object(value) else {}


def _evaluated(node: GraphNode) -> int:
    """Return how many subschemas in place `unevaluated*` looks through; few, and plain ones."""
    waiting: list[Edge] = [edge for edge in node.edges if edge.step is Step.IN_PLACE]
    for edge in waiting:  # grows while it is walked
        schema = edge.target.spot.schema
        if edge.remembered or _is_foreign(edge.target):
            raise NotCheap("unevaluated properties or items over a recursive reference")
        if is_object(schema) and not (_UNEVALUATED | {"contains"}).isdisjoint(schema):
            raise NotCheap("unevaluated properties or items within each other, or over contains")
        waiting.extend(e for e in edge.target.edges if e.step is Step.IN_PLACE)
        if len(waiting) > _EVALUATED:
            raise NotCheap("unevaluated properties or items over many subschemas")
    if "contains" in cast("dict[str, Any]", node.spot.schema) and waiting:
        raise NotCheap("unevaluated items over contains")
    return 2 + 2 * len(waiting)
