"""One property, used twice: our verdicts are those of the engine on the plain document.

`check` takes a document and values. It compares each of the three verbs with the raw engine, which
sees the document as its author wrote it, and with the `jsonschema` package where that is right.
What differs is a `Disagreement`. Where an oracle is known to be wrong, that is said here, with the
reason, and nowhere else. `minimise` makes a disagreement small.

The short run is `test_differential.py`, the long one `make fuzz ARGS="verdicts schema"`.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, cast
from urllib.parse import unquote

import jsonschema
import jsonschema_rs
from documents import DIALECTS, Maker
from instances import Sampler, spoilt
from mutations import mutate
from trees import Json, at, clone, items_of, members_of, places, put

from anyshape.errors import (
    AnyshapeError,
    InvalidSchema,
    LimitExceeded,
    SchemaError,
    UnresolvableReference,
    UnsupportedDialect,
    ValidationError,
)
from anyshape.schema import Schema, compile

ROOT = Path(__file__).resolve().parent.parent.parent
Validator = Any

# ── where an oracle is not to be believed ────────────────────────────────────────────────────────

REFUSED_BY_US = {
    "applies itself|refers to itself": "the engine ends such a loop with a verdict; the "
    "specification leaves it undefined",
    r"\$schema": "a dialect may change only where a resource begins, and an unknown one is not "
    "taken for 2020-12; the engine lets both pass",
    "regular expression": "the engine takes more than ECMA-262 has, such as (?i) and a++",
    "is taken|twice|duplicate": "two places with one name: the engine takes one",
    "means nothing in": "an unknown keyword that the engine follows for unevaluated*",
    "expected": "the engine does not hold embedded resources and unused places to a metaschema",
}
"""Why we may refuse a document that the engine takes: part of our message, and the reason."""

REFUSED_BY_ENGINE = {
    "regex|pattern": "expressions of ECMA-262 that the engine cannot read",
    r"'http.?://json-schema\.org/draft\S*' is not present": "it does not know the metaschemas of "
    "other dialects, to which a document may refer",
    "contentMediaType|contentEncoding": "keywords that draft-04 and draft-06 do not have",
}
"""Why we may take a document that the engine refuses: part of its message, reason."""

NOT_LIKE_ENGINE: dict[str, str] = {
    "content": "the engine asserts contentMediaType and contentEncoding in draft-06 and -07; both "
    "are annotations here",
    "empty": "the engine takes an empty $ref for none; it refers to the resource that it is in",
    "lookaround": "beside lookaround and backreferences the engine's classes are Unicode's",
    "numbers": "a float and an integer beyond 2^53 that are equal are not equal to the engine",
    "recursive": "the engine follows $recursiveRef in 2020-12 and $dynamicRef in 2019-09 for "
    "unevaluated*, where they are unknown keywords",
}
"""Why our verdict may differ from the engine's."""

_LOOKAROUND = re.compile(r"\(\?<?[=!]|\\[1-9k]")
_CLASSES = re.compile(r"\\[dDwWbBsS]")


def engine_is_doubtful(document: Json, value: Json) -> str | None:
    """Return the reason (see `NOT_LIKE_ENGINE`) not to believe the engine, if there is one."""
    old = dialect_of(document) in (DIALECTS[6], DIALECTS[7])
    patterns: list[str] = []
    words: set[str] = set()
    for place in places(document):
        word = place[-1] if place else None
        if not isinstance(word, str):
            continue
        words.add(word)
        if word == "$ref" and at(document, place) == "":
            return "empty"
        if word == "pattern" and isinstance(at(document, place), str):
            patterns.append(at(document, place))
        elif len(place) > 1 and place[-2] == "patternProperties":
            patterns.append(word)
    if old and words & {"contentMediaType", "contentEncoding"}:
        return "content"
    if any(_LOOKAROUND.search(text) for text in patterns) and any(map(_CLASSES.search, patterns)):
        return "lookaround"
    unevaluated = words & {"unevaluatedProperties", "unevaluatedItems"}
    if unevaluated and words & {"$recursiveRef", "$dynamicRef"}:
        return "recursive"
    numbers = [at(tree, place) for tree in (document, value) for place in places(tree)]
    large = [
        number
        for number in numbers
        if isinstance(number, (int, float)) and not isinstance(number, bool) and abs(number) > 2**53
    ]
    if len({type(number) for number in large}) > 1:
        return "numbers"
    return None


UNSURE = frozenset(
    (
        *("format", "contentMediaType", "contentEncoding"),  # it asserts neither by default
        *("unevaluatedProperties", "unevaluatedItems"),  # it knows less of what was evaluated
        *("$dynamicRef", "$recursiveRef", "dependencies"),  # it is of another opinion in 2020-12
        *("pattern", "patternProperties"),  # Python's expressions are not ECMA-262
        "multipleOf",  # it divides floats
        *("$schema", "$id", "id", "$anchor"),  # resources within resources of other dialects
    )
)
"""Keywords with which `jsonschema` is not asked."""


def other_oracle(document: Json) -> Callable[[Json], bool] | None:
    """Return the verdicts of the `jsonschema` package, `None` where it is not sure to be right."""
    if not isinstance(document, dict):
        return None
    plain = {
        key: item for key, item in cast("dict[str, Json]", document).items() if key != "$schema"
    }
    words = {place[-1] for place in places(plain) if place}
    if words & UNSURE:
        return None
    uri = dialect_of(document)
    kind: Any = KINDS.get(uri)
    if kind is None or jsonschema_rs.is_valid(METASCHEMAS[uri], document, offline=True) is False:
        return None
    return kind(document).is_valid


MOST_FOR_OTHER = 12
"""Values of a document that `jsonschema` is asked about: it is slow."""

METASCHEMAS = {uri: {"$ref": uri, "$schema": uri} for uri in DIALECTS.values()}
KINDS: dict[str, Any] = {
    DIALECTS[4]: jsonschema.Draft4Validator,
    DIALECTS[6]: jsonschema.Draft6Validator,
    DIALECTS[7]: jsonschema.Draft7Validator,
    DIALECTS[19]: jsonschema.Draft201909Validator,
    DIALECTS[20]: jsonschema.Draft202012Validator,
}


def dialect_of(document: Json) -> str:
    """Return the URI of the dialect that a document is in."""
    named = members_of(document).get("$schema")
    uri = named if isinstance(named, str) else DIALECTS[20]
    with_mark = uri.rstrip("#") + "#" if "draft-0" in uri else uri.rstrip("#")
    return with_mark if with_mark in DIALECTS.values() else uri


# ── the property ─────────────────────────────────────────────────────────────────────────────────


TAKEN = "what is no JSON was judged"


@dataclass(frozen=True)
class Disagreement:
    """What was said, and by whom, about `document` and, unless it is about compiling, `value`."""

    kind: str
    document: Json
    value: Json
    said: str

    def __str__(self) -> str:
        """Return the case as JSON, and what was said."""
        return f"{self.kind}: {self.said}\n  schema {self.document!r}\n  value  {self.value!r}"


@dataclass
class Tally:
    """What was done, and what came of it."""

    executions: int = 0
    documents: int = 0
    asked_engine: int = 0
    asked_other: int = 0
    accepted: int = 0
    spoilt: int = 0
    doubtful: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    found: list[Disagreement] = field(default_factory=list[Disagreement])


def check(
    document: Json, values: Sequence[Json], tally: Tally, not_json: Sequence[Json] = ()
) -> None:
    """Compare what we say of `document` and each of `values` with what the oracles say.

    Of `not_json` every verb must say that it is none, whatever the document.
    """
    tally.documents += 1
    tally.executions += 1
    engine, complaint = raw_engine(document)
    try:
        schema = compile(clone(document))
    except LimitExceeded as error:
        tally.refused[f"compile: {error.limit}"] += 1
        return
    except SchemaError as error:
        if engine is not None:
            _refusal(document, error, tally)
        return
    except BaseException as error:
        _report(tally, "foreign error from compile", document, None, repr(error))
        return
    if engine is None and not _excused(complaint, REFUSED_BY_ENGINE, tally):
        _report(tally, "taken, refused by the engine", document, None, complaint)
    _judge_all(schema, engine, document, values, tally)
    for value in not_json:
        tally.executions += 1
        tally.spoilt += 1
        said = verdicts(schema, value)
        if said != ["NotJson"] * 3:
            _report(tally, TAKEN, document, value, str(said))


def _refusal(document: Json, error: SchemaError, tally: Tally) -> None:
    if isinstance(error, UnresolvableReference):
        excused = names_nothing(document, error.uri)  # the engine does not look where nobody goes
        tally.refused["a reference to nothing, in a place that nobody uses"] += excused
    else:
        known = isinstance(error, InvalidSchema | UnsupportedDialect)
        excused = known and _excused(str(error), REFUSED_BY_US, tally)
    if not excused:
        _report(tally, "refused, taken by the engine", document, None, repr(error))


def names_nothing(document: Json, reference: str) -> bool:
    """Tell whether a reference cannot be resolved; one that is no plain pointer is not followed."""
    if not reference.startswith("#/") or "$id" in str(document):
        return True
    place = document
    for step in reference[2:].split("/"):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(place, list) and name.isdecimal() and int(name) < len(items_of(place)):
            place = items_of(place)[int(name)]
        elif name in members_of(place):
            place = members_of(place)[name]
        else:
            return True
    return not isinstance(place, (dict, bool))


def _excused(message: str, reasons: dict[str, str], tally: Tally) -> bool:
    for part in reasons:
        if re.search(part, message):
            tally.refused[part] += 1
            return True
    return False


def _judge_all(
    schema: Schema, engine: Validator, document: Json, values: Sequence[Json], tally: Tally
) -> None:
    other = other_oracle(document)
    for number, value in enumerate(values):
        tally.executions += 1
        said = verdicts(schema, value)
        accepted = said[0]
        if "LimitExceeded" in said:
            tally.refused["verdict: LimitExceeded"] += 1
            continue
        if said != [accepted] * 3 or not isinstance(accepted, bool):
            _report(tally, "the verbs differ", document, value, str(said))
            continue
        tally.accepted += accepted
        if engine is not None:
            tally.asked_engine += 1
            judged = raw_verdict(engine, value)
            doubt = None if judged is accepted else engine_is_doubtful(document, value)
            if doubt is not None:
                tally.doubtful[doubt] += 1
            elif judged is not accepted:
                said_so = f"{accepted}, the engine says {judged}"
                _report(tally, "the engine differs", document, value, said_so)
        if other is not None and number < MOST_FOR_OTHER:
            tally.asked_other += 1
            judged = _ask(other, value)
            if judged not in (accepted, None):
                said_so = f"{accepted}, jsonschema says {judged}"
                _report(tally, "jsonschema differs", document, value, said_so)


def _report(tally: Tally, kind: str, document: Json, value: Json, said: str) -> None:
    tally.found.append(Disagreement(kind, clone(document), clone(value), said[:300]))


def verdicts(schema: Schema, value: Json) -> list[bool | str]:
    """Return what each verb says: a verdict, or the name of an error that is none."""
    said: list[bool | str] = []
    for verb in (schema.accepts, schema.problems, schema.validate):
        try:
            result = verb(value)
            said.append(result if isinstance(result, bool) else not result)
        except ValidationError as error:
            alike = type(error) is ValidationError and error.problems
            said.append(False if alike else type(error).__name__)
        except AnyshapeError as error:
            said.append(type(error).__name__)
        except BaseException as error:
            said.append(f"foreign {error!r}"[:200])
    return said


def raw_engine(document: Json) -> tuple[Validator, str]:
    """Return the engine for the plain document, or its complaint."""
    try:
        return jsonschema_rs.validator_for(document, offline=True, validate_formats=True), ""
    except BaseException as error:  # its panics are no Exceptions
        return None, str(error)


def raw_verdict(engine: Validator, value: Json) -> bool | str:
    """Return what the raw engine says."""
    try:
        return bool(engine.is_valid(value))
    except BaseException as error:
        return repr(error)[:200]


def _ask(other: Callable[[Json], bool], value: Json) -> bool | None:
    try:
        return bool(other(value))
    except Exception:  # it recurses, resolves late, and overflows
        return None


# ── cases by number ──────────────────────────────────────────────────────────────────────────────


@cache
def own_seeds() -> tuple[Json, ...]:
    """Return the real schemas that are in this repository: those of the benchmarks."""
    path = ROOT / "benchmarks" / "schemas.py"
    spec = importlib.util.spec_from_file_location("anyshape_benchmark_schemas", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return tuple(case.schema for case in module.CASES)


def read_corpus(folder: Path) -> tuple[Json, ...]:
    """Return the schemas of all tools in the listings of `folder`."""
    found: list[Json] = []
    for path in sorted(folder.glob("*.json")):
        listing = json.loads(path.read_text())
        for tool in items_of(listing) or members_of(listing).get("tools", []):
            found += [tool[key] for key in ("inputSchema", "outputSchema") if key in tool]
    return tuple(found)


@dataclass(frozen=True)
class Case:
    """A document, values for it, and one that is no JSON."""

    document: Json
    values: list[Json]
    not_json: Json

    def check(self, tally: Tally) -> None:
        """Compare, and count."""
        check(self.document, self.values, tally, [self.not_json])


def case(seed: int, number: int, seeds: Sequence[Json], count: int) -> Case:
    """Return case `number` of `seed`, with `count` values."""
    random = Random(f"{seed}:{number}")
    maker = Maker(random, random.choice((20, 20, 20, 19, 7, 7, 6, 4)))
    match random.randrange(6):
        case 0:
            document = clone(random.choice(seeds))
        case 1 | 2:
            donor = random.choice(seeds) if random.random() < 0.5 else maker.document()
            document = mutate(random, random.choice(seeds), donor, random.choice((1, 1, 2, 3, 5)))
        case 3:
            made = maker.document()
            document = mutate(random, made, random.choice(seeds), random.choice((1, 1, 2)))
        case _:
            document = maker.document()
    values = Sampler(random, document).batch(count)
    return Case(document, values, spoilt(random, random.choice(values)))


# ── making it small ──────────────────────────────────────────────────────────────────────────────


def minimise(found: Disagreement, tries: int = 3_000) -> Disagreement:
    """Return a small case with the same kind of disagreement."""
    best, left = found, tries
    kept = found.kind == TAKEN  # what is no JSON stays as it is, so that it stays none
    shrunk = True
    while shrunk and left > 0:
        shrunk = False
        for document, value in _smaller(best.document, best.value, kept=kept):
            left -= 1
            if left <= 0:
                break
            tally = Tally()
            check(document, [] if kept else [value], tally, [value] if kept else [])
            alike = [other for other in tally.found if other.kind == found.kind]
            if alike:
                best, shrunk = alike[0], True
                break
    return best


def _smaller(document: Json, value: Json, *, kept: bool) -> Iterator[tuple[Json, Json]]:
    for smaller in _reduced(document):
        yield smaller, value
    for smaller in () if kept else _reduced(value):
        yield document, smaller


def _reduced(tree: Json) -> Iterator[Json]:
    """Yield `tree` with one part less, large parts first."""
    for place in sorted(places(tree), key=len):
        item = at(tree, place)
        if place:
            smaller = clone(tree)
            del at(smaller, place[:-1])[place[-1]]
            yield smaller
        if isinstance(item, (dict, list)) and item:
            parts = items_of(item) or list(members_of(item).values())
            for part in parts[:10]:
                yield put(clone(tree), place, clone(part))
            if place:
                yield put(clone(tree), place, {} if isinstance(item, dict) else [])
        elif isinstance(item, str) and len(item) > 1:
            yield put(clone(tree), place, item[: len(item) // 2])
