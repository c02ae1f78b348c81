"""What an attack found, so that it stays found: right verdicts, and work with an end.

*Verdicts* are asked for in this process, with all three verbs; they must agree, and nothing but our
own errors may come out. *Work* is done in a process of its own (`probe.py`), and ends in the right
verdict or in `LimitExceeded`, without holding the event loop and without filling the memory. The
bounds are generous: machines are busy, and what they are to catch takes ten times as much.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from anyshape.errors import AnyshapeError, ValidationError
from anyshape.schema import (
    InvalidSchema,
    LimitExceeded,
    Limits,
    NotJson,
    Schema,
    UnresolvableReference,
    compile,
)

PROBE = Path(__file__).with_name("probe.py")
HELD = 5.0
"""Seconds that the event loop may be seen to stand still; the promise is 0.25 on a quiet machine."""
WORKED = 2.0
"""Seconds of processor time that a verb may take in this process, however busy the machine."""
GROWN = 256_000_000
ENDS = 60

DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT6 = "http://json-schema.org/draft-06/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"
DIALECTS = {
    "draft-04": DRAFT4,
    "draft-06": DRAFT6,
    "draft-07": DRAFT7,
    "2019-09": DRAFT2019,
    "2020-12": DRAFT2020,
}

Outcome = bool | type[AnyshapeError]


def outcomes(schema: Schema, value: object) -> list[Outcome]:
    """Return what each of the three verbs says of `value`; foreign errors pass through."""
    verbs: list[Callable[[], bool]] = [
        lambda: schema.accepts(value),
        lambda: schema.problems(value) == [],
        lambda: schema.validate(value) is None,
    ]
    said: list[Outcome] = []
    for verb in verbs:
        try:
            said.append(verb())
        except AnyshapeError as error:
            said.append(False if type(error) is ValidationError else type(error))
    return said


def chain(count: int, last: object, **beside: object) -> dict[str, object]:
    """Return definitions of which each is a reference to the next."""
    steps: dict[str, object] = {f"l{n}": {"$ref": f"#/$defs/l{n + 1}"} for n in range(count)}
    # Not beside what is given: up to draft-07 a reference hides its neighbours, `$id` included.
    first = {"allOf": [{"$ref": "#/$defs/l0"}]}
    return {**first, "$defs": {**steps, f"l{count}": last}, **beside}


def nested(levels: int, wrap: Callable[[Any], Any], inner: Any) -> Any:
    for _ in range(levels):
        inner = wrap(inner)
    return inner


# The tables below read best with one case on one line.
# fmt: off
NAN = math.nan
STRING = {"type": "string"}
NEEDS_A: dict[str, Any] = {"properties": {"a": {}}, "required": ["a"]}
OWN_NAME = {"$id": "anyshape:json"}
LOOKAROUND = {"pattern": "^(?!x)"}
EMBEDDED: dict[str, Any] = {"$id": "https://example.com/root", "$defs": {"e": {"$id": "embedded", "type": "string"}}, "properties": {"a": {"$ref": "embedded"}, "b": LOOKAROUND}}
INNER_2020 = {"$id": "urn:inner", "$schema": DRAFT2020}

VERDICTS: list[tuple[str, dict[str, Any], object, Outcome]] = [
    # ── required beside additionalProperties ─────────────────────────────────────────────────────
    ("a missing property beside open ones", {**NEEDS_A, "additionalProperties": {}}, {"z": 2}, False),
    ("a present property beside open ones", {**NEEDS_A, "additionalProperties": {}}, {"a": 1, "z": 2}, True),
    ("an additional property of a wrong type", {**NEEDS_A, "additionalProperties": STRING}, {"a": 1, "z": 5}, False),
    ("an additional property of a right type", {**NEEDS_A, "additionalProperties": STRING}, {"a": 1, "z": "s"}, True),
    ("a missing property beside typed ones", {**NEEDS_A, "additionalProperties": STRING}, {"z": "s"}, False),
    ("a missing property beside open arrays", {**NEEDS_A, "additionalProperties": {"items": {}}}, {"z": [2]}, False),
    ("a present property beside open arrays", {**NEEDS_A, "additionalProperties": {"items": {}}}, {"a": 1, "z": [2]}, True),
    ("required, open properties, one level down", {"properties": {"o": {**NEEDS_A, "additionalProperties": {}}}}, {"o": {"z": 2}}, False),
    ("required, open properties, as items", {"items": {**NEEDS_A, "additionalProperties": {}}}, [{"z": 2}], False),
    # ── names of our own in a stranger's document ────────────────────────────────────────────────
    ("our name on a string, valid", {"properties": {"a": {**OWN_NAME, **STRING}, "b": {}}}, {"a": "x", "b": [2]}, True),
    ("our name on a string, invalid", {"properties": {"a": {**OWN_NAME, **STRING}, "b": {}}}, {"a": 1, "b": 2}, False),
    ("our name on what nothing satisfies", {"properties": {"a": {**OWN_NAME, "not": {}}, "b": {}}}, {"b": [1]}, True),
    ("our name on the root", {**OWN_NAME, "type": "array"}, [1, {"a": None}], True),
    ("our name on a definition, NaN in a list", {"$defs": {"a": OWN_NAME}, "type": "array"}, [[NAN]], NotJson),
    ("our name on a definition, NaN in an object", {"$defs": {"a": OWN_NAME}, "properties": {"b": {}}}, {"b": {"c": NAN}}, NotJson),
    ("our name on a definition, NaN unseen", {"$defs": {"a": OWN_NAME}}, [{"c": NAN}], NotJson),
    ("the engine's name on a definition, valid", {"$ref": "#/$defs/x", "$defs": {"x": STRING, "y": {"$id": "json-schema:///", "$defs": {"x": {"type": "integer"}}}}}, "s", True),
    ("the engine's name on a definition, invalid", {"$ref": "#/$defs/x", "$defs": {"x": STRING, "y": {"$id": "json-schema:///", "$defs": {"x": {"type": "integer"}}}}}, 1, False),
    # ── a dialect of its own, with an $id ────────────────────────────────────────────────────────
    ("an embedded resource of another dialect, invalid", {"$schema": DRAFT7, "allOf": [{**INNER_2020, "unevaluatedItems": False}]}, [0], False),
    ("an embedded resource of another dialect, valid", {"$schema": DRAFT7, "allOf": [{**INNER_2020, "unevaluatedItems": False}]}, [], True),
    ("an embedded resource of an older dialect", {"allOf": [{"$id": "urn:inner", "$schema": DRAFT7, "prefixItems": [STRING]}]}, [0], True),
    ("the same dialect named again, without $id", {"$schema": DRAFT2020, "allOf": [{"$schema": DRAFT2020, "prefixItems": [STRING]}]}, [0], False),
    ("$schema as a property's name", {"$schema": DRAFT7, "properties": {"$schema": STRING}}, {"$schema": 1}, False),
    ("$schema inside a constant", {"$schema": DRAFT7, "const": {"$schema": DRAFT2020}}, {"$schema": DRAFT2020}, True),
    # ── keywords that the dialect does not have ──────────────────────────────────────────────────
    ("$recursiveRef in 2020-12", {"properties": {"a": {"$recursiveRef": "#"}}, "type": "object"}, {"a": 1}, True),
    ("$recursiveRef to nothing in 2020-12", {"$recursiveRef": "#/nowhere", "type": "integer"}, 1, True),
    ("$recursiveRef in 2019-09", {"$schema": DRAFT2019, "properties": {"a": {"$recursiveRef": "#"}}, "type": "object"}, {"a": 1}, False),
    ("contentEncoding in draft-06", {"$schema": DRAFT6, "contentEncoding": "base64"}, "!!!", True),
    # ── numbers that Python does not write ───────────────────────────────────────────────────────
    ("a number of 4,300 digits above its maximum", {"maximum": 10}, 10**4_299, False),
    ("a number of 4,301 digits above its maximum", {"maximum": 10}, 10**4_300, NotJson),
    ("a number of 4,301 digits in a list", {"items": {"minimum": 10}}, [1, -(10**4_300)], NotJson),
    # ── errors that are not ours ─────────────────────────────────────────────────────────────────
    ("an embedded resource beside lookaround, valid", EMBEDDED, {"a": "s", "b": "y"}, True),
    ("an embedded resource beside lookaround, invalid", EMBEDDED, {"a": 1, "b": "y"}, False),
    ("an embedded resource beside lookaround, no match", EMBEDDED, {"a": "s", "b": "x"}, False),
]
CONTENT: list[tuple[str, dict[str, Any], object, Outcome]] = [
    (f"contentMediaType in {name}, {what}", {"$schema": uri, "contentMediaType": "application/json", **beside}, "{no JSON", name != "draft-07")
    for name, uri in DIALECTS.items()
    for what, beside in {"alone": {}, "encoded": {"contentEncoding": "base64"}, "of a string": STRING}.items()
    if (name, what) != ("draft-07", "encoded")
]
NO_MATCH: dict[str, Any] = {"s": {}, "p": "xab"}
METASCHEMAS: list[tuple[str, dict[str, Any], object, Outcome]] = [
    (f"the metaschema of {name} beside lookaround, {what}", {"$schema": uri, "properties": {"s": {"$ref": uri}, "p": {"pattern": "^(?!x)(a|b)*$"}}}, value, right)
    for name, uri in DIALECTS.items()
    for what, value, right in [
        ("valid", {"s": {"type": "string"}, "p": "ab"}, True),
        ("invalid", {"s": {"type": "text"}, "p": "ab"}, False),
        ("no match", NO_MATCH, False),
    ]
]

PATTERNS: list[tuple[str, str, bool]] = [
    (r"\d+", "٣", False), (r"\d+", "3", True), (r"\D", "٣", True), (r"[\d]", "٣", False), (r"[^\d]", "٣", True),
    (r"\w+", "é", False), (r"\w+", "e_9", True), (r"\W", "é", True), (r"[\w]", "ß", False), (r"[^\w]", "é", True),
    (r"a\bé", "aé", True), (r"a\Bé", "aé", False), (r"é\b", "é", False), (r"é\B", "é", True), (r"\bcat\b", "cat", True),
    (r"\s", "\ufeff", True), (r"\s", "\u00a0", True), (r"\S", "\ufeff", False), (r".", "\u2028", False), (r".", "\u0085", True),
]

REFUSED: list[tuple[str, Callable[[], dict[str, Any]], tuple[type[AnyshapeError], ...]]] = [
    ("$recursiveRef in 2020-12 beside what evaluates no property", lambda: {"properties": {"a": {"$recursiveRef": "#", "unevaluatedProperties": False}}}, (InvalidSchema,)),
    ("$recursiveRef in 2020-12 beside what evaluates no property of the root", lambda: {"properties": {"a": {}}, "$ref": "#/$defs/x", "$defs": {"x": {"$recursiveRef": "#", "unevaluatedProperties": False}}}, (InvalidSchema,)),
    ("$recursiveRef in 2020-12 beside what evaluates no item", lambda: {"prefixItems": [{"$recursiveRef": "#", "unevaluatedItems": False}]}, (InvalidSchema,)),
    ("$dynamicRef in 2019-09, beside what evaluates", lambda: {"$schema": DRAFT2019, "properties": {"a": {"$dynamicRef": "#", "unevaluatedProperties": False}}}, (InvalidSchema,)),
    ("$schema in the middle, newer", lambda: {"$schema": DRAFT7, "allOf": [{"$schema": DRAFT2020, "unevaluatedItems": False}]}, (InvalidSchema,)),
    ("$schema in the middle, older", lambda: {"$schema": DRAFT2020, "allOf": [{"$schema": DRAFT7, "prefixItems": [{"type": "string"}]}]}, (InvalidSchema,)),
    ("$schema in the middle, none at the root", lambda: {"properties": {"a": {"$schema": DRAFT7}}}, (InvalidSchema,)),
    ("$schema in a definition that nobody uses", lambda: {"$defs": {"a": {"$schema": DRAFT2019}}}, (InvalidSchema,)),
    ("$schema below an $id, not beside it", lambda: {"$schema": DRAFT7, "allOf": [{"$id": "urn:x", "not": {"$schema": DRAFT2020}}]}, (InvalidSchema,)),
    ("$schema in the middle, before 2^40", lambda: {"$schema": DRAFT7, "allOf": [{"$schema": DRAFT2020, **doubling(40)}]}, (InvalidSchema,)),
    ("$schema in the middle, before a long chain", lambda: {"$schema": DRAFT7, "allOf": [{"$schema": DRAFT2020, **chain(9_000, {}, unevaluatedItems=False)}]}, (InvalidSchema, UnresolvableReference, LimitExceeded)),
    ("an index of 5,000 zeros", lambda: {"allOf": [True], "$ref": "#/allOf/" + "0" * 5_000}, (UnresolvableReference,)),
    ("an index of 5,000 nines", lambda: {"allOf": [True], "$ref": "#/allOf/" + "9" * 5_000}, (UnresolvableReference,)),
    ("an index in Arabic digits", lambda: {"allOf": [True, True], "$ref": "#/allOf/١"}, (UnresolvableReference,)),
    ("an index with a sign", lambda: {"allOf": [True, True], "$ref": "#/allOf/-1"}, (UnresolvableReference,)),
]
# fmt: on


def doubling(levels: int) -> dict[str, Any]:
    """Return a document whose every definition applies the next one twice."""
    steps = {f"l{n}": {"anyOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/l0", "$defs": {**steps, f"l{levels}": {"type": "string"}}}


@pytest.mark.parametrize(
    ("document", "value", "outcome"),
    [pytest.param(*rest, id=name) for name, *rest in (*VERDICTS, *CONTENT, *METASCHEMAS)],
)
def test_a_verdict_that_was_wrong_is_right_with_every_verb(
    document: dict[str, Any], value: object, outcome: Outcome
) -> None:
    assert outcomes(compile(document), value) == [outcome] * 3


@pytest.mark.parametrize(("expression", "text", "matches"), PATTERNS)
@pytest.mark.parametrize("place", ["alone", "in lookaround", "beside lookaround", "as a name"])
def test_classes_are_those_of_ecma_262_whatever_else_is_matched(
    place: str, expression: str, text: str, matches: bool
) -> None:
    documents: dict[str, dict[str, Any]] = {
        "alone": {"properties": {"a": {"pattern": f"^{expression}$"}}},
        "in lookaround": {"properties": {"a": {"pattern": f"^(?!x){expression}$"}}},
        "beside lookaround": {
            "properties": {"a": {"pattern": f"^{expression}$"}, "b": {"pattern": "^(?=b)"}}
        },
        "as a name": {
            "properties": {"a": {"patternProperties": {f"^(?!x){expression}$": False}}},
        },
    }
    value = {"a": {text: 1} if place == "as a name" else text}
    right = matches is (place != "as a name")
    assert outcomes(compile(documents[place]), value) == [right] * 3


@pytest.mark.parametrize(
    ("document", "errors"), [pytest.param(*rest, id=name) for name, *rest in REFUSED]
)
def test_a_document_that_was_taken_wrongly_is_refused(
    document: Callable[[], dict[str, Any]], errors: tuple[type[AnyshapeError], ...]
) -> None:
    with pytest.raises(errors):
        compile(document())


DEPTHS: dict[str, dict[str, Any] | bool] = {
    "anything": {},
    "true": True,
    "array or object": {"type": ["array", "object"]},
    "recursive": {"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}},
    "one level": {"items": {}, "additionalProperties": {}},
    "two levels": {"items": {"items": True}, "properties": {"x": {"properties": {"x": {}}}}},
}
WRAPS: dict[str, Callable[[Any], Any]] = {"arrays": lambda v: [v], "objects": lambda v: {"x": v}}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("schema", DEPTHS)
@pytest.mark.parametrize("depth", [2, 5, 200])
@pytest.mark.parametrize("inner", [1, [], {}], ids=["scalar", "array", "object"])
def test_every_verb_draws_the_line_of_depth_at_the_same_place(
    wrap: str, schema: str, depth: int, inner: Any
) -> None:
    compiled = compile(DEPTHS[schema], limits=Limits(instance_depth=depth))
    own = 0 if inner == 1 else 1
    within = nested(depth - own, WRAPS[wrap], inner)
    beyond = nested(depth - own + 1, WRAPS[wrap], inner)
    assert outcomes(compiled, within) == [True] * 3
    assert outcomes(compiled, beyond) == [LimitExceeded] * 3


@dataclass(frozen=True)
class Work:
    """A case whose work must have an end: `right` is the verdict, `None` where either will do."""

    name: str
    document: Callable[[], object]
    values: Callable[[], list[object]]
    right: list[bool | None]


def spread(count: int) -> dict[str, Any]:
    return {f"name{n:05d}": {} for n in range(count)}


def states(count: int, names: int = 0, more: int = 0) -> dict[str, Any]:
    """Return a schema with 2^count sets of definitions at one place, told apart by a and b.

    The first definition, which is in all of these sets, tells `names` more names apart; `more`
    names are told apart at the root.
    """

    def to(*numbers: int) -> dict[str, Any]:
        return {"allOf": [{"$ref": f"#/$defs/s{number}"} for number in numbers]}

    first = {"properties": {"a": to(0, 1), "b": to(0), **spread(names)}}
    others = {f"s{n}": {"properties": {"a": to(n + 1), "b": to(n + 1)}} for n in range(1, count)}
    definitions = {"s0": first, **others, f"s{count}": {"type": "object"}}
    return {"$ref": "#/$defs/s0", "$defs": definitions, "properties": spread(more)}


# fmt: off
UNIQUE = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
INTEGERS = {"2^53": 2**53, "2^62": 2**62, "2^63": 2**63, "2^70": 2**70}
MANY = 100_000
REFERENCE = {"$ref": "#/$defs/c"}
WRAP_A: Callable[[Any], Any] = lambda v: {"a": v}  # noqa: E731


def referred(count: int, definition: object) -> dict[str, Any]:
    return {"allOf": [REFERENCE] * count, "$defs": {"c": definition}}


WORK = [
    *(Work(f"uniqueItems over integers from {name}", lambda: UNIQUE, lambda low=low: [[low + n for n in range(50_000)], [low + n % 49_999 for n in range(50_000)]], [True, False]) for name, low in INTEGERS.items()),
    Work("uniqueItems over texts, given integers", lambda: {"items": {"type": "string"}, "uniqueItems": True}, lambda: [[2**70 + n for n in range(4_000)]], [False]),
    Work("unevaluatedProperties over alternatives, level by level", lambda: nested(26, lambda s: {"anyOf": [{"properties": {"a": s}}], "unevaluatedProperties": False}, {}), lambda: [nested(26, WRAP_A, 1)], [True]),
    Work("unevaluatedItems beside contains, level by level", lambda: nested(28, lambda s: {"contains": s, "unevaluatedItems": False}, {}), lambda: [nested(28, lambda v: [v], 1)], [True]),
    Work("uniqueItems over large integers in arrays", lambda: {"uniqueItems": True}, lambda: [[[2**70 + n] for n in range(40_000)]], [True]),
    Work("uniqueItems over the same leaves in other brackets", lambda: {"uniqueItems": True}, lambda: [[[list(range(n % 60)), list(range(n % 60, 60)), n // 60] for n in range(9_000)]], [True]),
    Work("uniqueItems over tiny floats", lambda: {"uniqueItems": True}, lambda: [[1e-300 * n for n in range(MANY)]], [True]),
    Work("uniqueItems over many arrays of ten floats", lambda: {"items": {"uniqueItems": True}}, lambda: [[[n + 0.5 for n in range(10)]] * 50_000], [True]),
    Work("enum of 20,000 floats, 500 items", lambda: {"items": {"enum": [n + 0.5 for n in range(20_000)]}}, lambda: [[19_999.5] * 500], [True]),
    Work("enum of 20,000 floats, 500 items of another kind", lambda: {"items": {"enum": [n + 0.5 for n in range(20_000)]}}, lambda: [[n + 0.25 for n in range(500)]], [False]),
    Work("enum of arrays with a common prefix", lambda: {"items": {"enum": [[0] * 200 + [n] for n in range(2_000)]}}, lambda: [[[0] * 200 + [1_999]] * 1_000], [True]),
    Work("enum of large integers", lambda: {"items": {"enum": [2**70 + n for n in range(20_000)]}}, lambda: [[2**70 + 19_999] * 5_000], [True]),
    Work("const of 20,000 items behind 2,000 references", lambda: referred(2_000, {"const": list(range(20_000))}), lambda: [list(range(20_000))], [True]),
    Work("4,000 references to a light pattern, 500 kB", lambda: referred(4_000, {"pattern": "^[a-z]*$"}), lambda: ["a" * 500_000], [True]),
    *(Work(f"2,000 references to contentMediaType, {name}", lambda uri=uri: {"$schema": uri, "allOf": [{"$ref": "#/definitions/c"}] * 2_000, "definitions": {"c": {"contentMediaType": "application/json"}}}, lambda: [json.dumps([0] * 300_000)], [True]) for name, uri in DIALECTS.items()),
    Work("multipleOf 1e-320", lambda: {"items": {"multipleOf": 1e-320}}, lambda: [[1e308 + n for n in range(MANY)]], [None]),
    Work("multipleOf 1e-320, one number", lambda: {"multipleOf": 1e-320}, lambda: [1e308, 1.5, 7], [None] * 3),
    Work("multipleOf, integers of 4,000 digits", lambda: {"items": {"multipleOf": 7}}, lambda: [[10**3_999 + n for n in range(1_000)]], [False]),
    Work("maximum of 4,299 digits", lambda: {"items": {"maximum": 10**4_298}}, lambda: [[1e300] * MANY], [True]),
    Work("maximum of 4,299 digits behind 1,000 references", lambda: {"items": REFERENCE, **referred(1_000, {"maximum": 10**4_298, "minimum": -(10**4_298)})}, lambda: [1.5, 10**4_297], [True, True]),
    Work("const behind 5,000 references, many items", lambda: {"items": {"allOf": [REFERENCE] * 5_000}, "$defs": {"c": {"const": 0.5}}}, lambda: [[0.5] * 10_000], [True]),
    Work("dependentRequired of 20,000 names, many objects", lambda: {"items": {"dependentRequired": {f"p{n}": ["x"] for n in range(20_000)}}}, lambda: [[{}] * MANY], [True]),
    Work("5,000 patternProperties, many names", lambda: {"patternProperties": {f"^x{n}$": False for n in range(5_000)}}, lambda: [{f"k{n}": 0 for n in range(50_000)}], [True]),
    Work("a scan by lookahead", lambda: {"pattern": "(?=a*b)c"}, lambda: ["a" * 500_000], [False]),
    Work("a counted pattern on random text", lambda: {"pattern": "[ab]*a[ab]{900}c"}, lambda: [("abbabaabbaababba" * 40_000)[:500_000]], [False]),
    Work("idn-hostname, many items", lambda: {"items": {"allOf": [{"format": "idn-hostname"}] * 500}}, lambda: [["ü" * 40] * 10_000], [None]),
    # ── compiling ────────────────────────────────────────────────────────────────────────────────
    Work("3,000 properties beside 3,000 patterns", lambda: {"properties": spread(3_000), "patternProperties": {f"^{name}": schema for name, schema in spread(3_000).items()}, "additionalProperties": False}, lambda: [{"name00001": 1}, {"x": 1}], [True, False]),
    *(Work(f"a pattern of 1,900 {escape}", lambda escape=escape: {"pattern": escape * 1_900}, lambda: ["a"], [False]) for escape in (r"\d", r"\w", r"\s", r"\S")),
    Work("properties of Unicode in either case", lambda: {"allOf": [{"pattern": "(?i:[" + r"\p{Any}" * 500 + f"]){n}"} for n in range(10)]}, lambda: ["a"], [False]),
    Work("large classes, counted", lambda: {"allOf": [{"pattern": rf"(\p{{L}}{{100}}){{4}}{n}"} for n in range(20)]}, lambda: ["a"], [False]),
    Work("a long key with many beneath it", lambda: {"properties": {"x" * 200_000: {"properties": spread(3_000)}}}, lambda: [{}], [True]),
    Work("a long $id with many beneath it", lambda: {"$id": "http://a/" + "x" * 120_000 + "/", "properties": {f"{n:x}": {"$id": f"{n:x}"} for n in range(3_900)}}, lambda: [{}], [True]),
    Work("a long $id with many references", lambda: {"$id": "http://a/" + "x" * 30_000, "allOf": [{"$ref": "./" * n + "x"} for n in range(200)], "$defs": {"x": {"$id": "x"}}}, lambda: [{}], [True]),
    Work("many references to a place beneath a long key, beside a pattern", lambda: {"$defs": {"k" * 60_000: nested(60, lambda s: {"properties": {"a": s}}, {"$anchor": "x"})}, "patternProperties": {".": True}, "properties": {f"{n}": {"$ref": "#x"} for n in range(3_000)}}, lambda: [{}], [True]),
    Work("many references through patterns beneath a long key", lambda: {"$defs": {"k" * 60_000: nested(50, lambda s: {"patternProperties": {".": s}}, {"$anchor": "x"})}, "properties": {f"{n}": {"$ref": "#x"} for n in range(3_000)}}, lambda: [{}], [True]),
    Work("many names that are objects", lambda: {"$schema": DRAFT4, "enum": [{"": 2**70 + n} for n in range(2_000)]}, lambda: [1], [False]),
    Work("sets of 12 states", lambda: states(12), lambda: [nested(13, WRAP_A, {}), nested(12, WRAP_A, 1)], [True, False]),
    Work("sets of 12 states beside 9,000 names", lambda: states(12, 4_000, 5_000), lambda: [nested(13, WRAP_A, {}), nested(12, WRAP_A, 1)], [True, False]),
    Work("4,500 dynamic anchors and 2,500 references", lambda: {"allOf": [{"$ref": f"#a{n}"} for n in range(2_500)], "$defs": {f"d{n}": {"$dynamicAnchor": f"a{n}", "type": "string"} for n in range(4_500)}}, lambda: ["s", 1], [True, False]),
    Work("1,000 resources with a dynamic anchor each", lambda: {"allOf": [{"$ref": f"urn:r{n}"} for n in range(1_000)], "$defs": {f"d{n}": {"$id": f"urn:r{n}", "$dynamicAnchor": "a", "items": {"$dynamicRef": "#a"}} for n in range(1_000)}}, lambda: [[[1]]], [True]),
    Work("counting through 3,000 names of 3 kinds", lambda: {"anyOf": [{"properties": {f"p{n}": {"$ref": f"#/$defs/d{k}"} for n in range(3_000)}} for k in range(3)], "$defs": {f"d{k}": {"additionalProperties": {"$ref": f"#/$defs/d{(k + 1) % 3}"}} for k in range(3)}}, lambda: [{"p1": {"x": {}}}], [True]),
    Work("doubling under unevaluatedProperties", lambda: {**doubling(20), "unevaluatedProperties": False}, lambda: [{}, "s"], [False, True]),
    Work("a long chain under unevaluatedItems", lambda: chain(9_000, {}, unevaluatedItems=False), lambda: [[], [1]], [True, False]),
    Work("a long chain under unevaluatedItems, in a resource of another dialect", lambda: {"$schema": DRAFT7, "allOf": [{**INNER_2020, **chain(9_000, {}, unevaluatedItems=False)}]}, lambda: [[], [1]], [True, False]),
    Work("unevaluatedProperties nested in place", lambda: nested(40, lambda s: {"allOf": [s], "unevaluatedProperties": False}, {"properties": {"a": {}}}), lambda: [{"a": 1}, {"b": 1}], [True, False]),
    # ── explaining ───────────────────────────────────────────────────────────────────────────────
    Work("120,000 required names", lambda: {"required": [f"{n:x}" for n in range(120_000)]}, lambda: [{}], [False]),
    Work("30,000 required names beside many references", lambda: {"required": [f"{n:x}" for n in range(30_000)], **referred(31, {})}, lambda: [{}], [False]),
    Work("names that are all alike", lambda: {"properties": {f"{n:062b}": True for n in range(200)}, "additionalProperties": False}, lambda: [{f"{2**60 + n:064b}": 1 for n in range(60)}], [False]),
    Work("values that are all alike", lambda: {"items": {"enum": [f"{n:062b}" for n in range(200)]}}, lambda: [[f"{2**60 + n:064b}" for n in range(60)]], [False]),
    Work("1,000 alternatives that share 2,000 properties", lambda: {"anyOf": [{**REFERENCE, "title": f"{n}"} for n in range(1_000)], "$defs": {"c": {"required": ["z"], "properties": {f"{n:x}": {"$ref": "#/$defs/e"} for n in range(2_000)}}, "e": {}}}, lambda: [{}], [False]),
    Work("1,000 alternatives that share 9,000 options", lambda: {"anyOf": [{**REFERENCE, "title": f"{n}"} for n in range(1_000)], "$defs": {"c": {"enum": [f"{n:x}" for n in range(9_000)]}}}, lambda: ["z", 1], [False, False]),
    Work("900 alternatives of 30 options", lambda: {"anyOf": [{"enum": [f"{n:x}_{m}" for m in range(30)]} for n in range(900)]}, lambda: [3], [False]),
    Work("a condition on 30,000 names", lambda: {"items": {"if": {"required": [f"{n:x}" for n in range(30_000)]}, "else": {"required": ["q"]}}}, lambda: [[{"a": n} for n in range(60)]], [False]),
    Work("3,000 alternatives", lambda: {"anyOf": [{"properties": {"kind": {"const": f"k{n}"}, "a": {"type": "string"}}, "required": ["kind", "a"]} for n in range(1_500)] + [{"type": "object", "required": [f"r{n}"], "minProperties": 2} for n in range(1_500)]}, lambda: [{"kind": "k", "b": 1}, 1], [False, None]),
    Work("3,000 alternatives that are references", lambda: {"anyOf": [{"$ref": f"#/$defs/d{n}"} for n in range(3_000)], "$defs": {f"d{n}": {"enum": [n, f"{n}"]} for n in range(3_000)}}, lambda: [-1, {}], [False, False]),
    Work("9,000 names that were not meant", lambda: {"properties": spread(9_000), "additionalProperties": False}, lambda: [{f"nmae{n:05d}": 1 for n in range(9_000)}, {"name0000": 1}], [False, False]),
    Work("9,000 values that were not meant", lambda: {"items": {"enum": [f"a rather long option {n:05d}" for n in range(25_000)]}}, lambda: [[f"a rather long optoin {n:05d}" for n in range(9_000)]], [False]),
    Work("a long key above many items that lack a lot", lambda: {"properties": {"k" * 60_000: {"contains": {"required": list("abcdef"), "properties": {"a": True}}}, **{f"p{n}": nested(100, lambda s: {"items": s}, {}) for n in range(21)}}}, lambda: [{"k" * 60_000: [{}] * 8_000}], [False]),
    Work("a name of a megabyte", lambda: {"properties": {"a" * 400_000: {"type": "string"}, "b" * 400_000: {}}, "additionalProperties": False, "required": ["a" * 400_000]}, lambda: [{"a" * 399_999: 1}, {"a" * 400_000: 1}], [False, False]),
]
# fmt: on


def probe(case: Work) -> dict[str, Any]:
    """Return the report of a process that did the work of `case`."""
    asked = json.dumps({"document": case.document(), "values": case.values()})
    done = subprocess.run(
        [sys.executable, str(PROBE)],
        input=asked,
        capture_output=True,
        text=True,
        timeout=ENDS,
        check=False,
    )
    assert done.returncode == 0, f"the process ended with {done.returncode}: {done.stderr[-500:]}"
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.timeout(2 * ENDS)
@pytest.mark.parametrize("case", WORK, ids=lambda case: case.name)
def test_work_ends_in_the_right_verdict_or_at_a_limit_and_holds_nothing_up(case: Work) -> None:
    report = probe(case)
    for step, seen in report["steps"].items():
        verb, _, number = step.partition(" ")
        allowed: list[object] = ["LimitExceeded"]
        if verb == "compile":
            allowed += [True]
        else:
            right = case.right[int(number)]
            allowed += [True, False] if right is None else [right]
        assert seen["outcome"] in allowed, step
        assert seen["held"] < HELD, step
        assert seen["work"] < WORKED, step
    assert report["grown"] < GROWN


def test_what_compiled_schemas_leave_behind_is_bounded() -> None:
    process = psutil.Process()
    compile({"type": "object"}).accepts({})
    before = process.memory_info().rss
    for number in range(40):
        document = {
            "title": f"document {number}",
            "properties": {f"p{number}_{n}": {"$ref": f"#/$defs/d{n}"} for n in range(4_900)},
            "$defs": {f"d{n}": {"minLength": number} for n in range(4_900)},
        }
        try:
            compile(document).accepts({f"p{number}_1": "x" * number})
        except LimitExceeded:
            continue
    assert process.memory_info().rss - before < GROWN
