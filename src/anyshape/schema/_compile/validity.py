"""Is a document a valid schema of its dialect, and if not, where and why not."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jsonschema_rs
from msgspec.structs import replace

from anyshape.documents.dialects import Dialect, Form
from anyshape.documents.json import is_array, is_object
from anyshape.documents.library import ROOT_URI
from anyshape.documents.pointers import escape
from anyshape.documents.positions import dialect_in, subschemas
from anyshape.errors import InvalidSchema, Problem
from anyshape.schema._compile.engine import Engine
from anyshape.schema._compile.metaschemas import metaschema_documents
from anyshape.schema._compile.patterns import check_patterns
from anyshape.schema._compile.sources import Reached, Sources
from anyshape.schema._limits import Limits
from anyshape.schema._wording import show

if TYPE_CHECKING:
    from anyshape.schema._explain import Explainer

_MOST_STEPS = 16
"""Levels of subschemas down to which what is wrong is looked for; each asks about the whole."""


@functools.cache
def _official(dialect: Dialect) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        {"$schema": dialect.uri, "$ref": dialect.uri}, validate_formats=False, offline=True
    )


def check_document(document: object, dialect: Dialect, uri: str = "", pointer: str = "") -> None:
    """Raise `InvalidSchema` for a schema, found at `pointer`, that breaks its metaschema."""
    if not _official(dialect).is_valid(document):
        place, part = _narrow(document, dialect)
        problem = _misplaced(part, dialect) if is_object(part) else None
        problem = problem or _explain(part, _official_explainer(dialect))
        other = dialect_in(part, dialect) if is_object(part) else dialect
        if other != dialect:
            raise InvalidSchema(
                f"the resource at {pointer + place} is in {other.name}, and {dialect.name}, in "
                f"which it is embedded, refuses it ({problem.message}); supply it by itself",
                path=pointer + place + problem.path,
            )
        raise _invalid(problem, uri, pointer + place)


def _misplaced(schema: Mapping[str, object], dialect: Dialect) -> Problem | None:
    """Return what is wrong if anything stands directly in `schema` where only a schema may."""
    for keyword, applicator in dialect.applicators.items():
        value = schema.get(keyword, True)
        within: list[tuple[str, object]] = []
        other, others = "", ()
        match applicator.form:
            case Form.ONE_OR_LIST if not is_array(value):
                within, other = [("", value)], " or an array of schemas"
            case Form.ONE:
                within = [("", value)]
            case Form.LIST | Form.ONE_OR_LIST if is_array(value):
                within = [(f"/{index}", item) for index, item in enumerate(value)]
            case Form.MAP | Form.MAP_OR_NAMES if is_object(value):
                within = [(f"/{escape(name)}", item) for name, item in value.items()]
                if applicator.form is Form.MAP_OR_NAMES:
                    other, others = " or an array of names", (list,)
            case _:
                pass
        for place, item in within:
            if not isinstance(item, (bool, dict, *others)):
                kinds = "an object or a boolean" if _has_booleans(dialect) else "an object"
                message = f"expected a schema ({kinds}){other}, got {show(item)}"
                return Problem("type", f"/{keyword}{place}", message, "")
    return None


def _has_booleans(dialect: Dialect) -> bool:
    """Tell whether `true` and `false` are schemas of a dialect."""
    return metaschema_documents(dialect)[dialect.metaschema_uri]["type"] != "object"


def _narrow(document: object, dialect: Dialect) -> tuple[str, object]:
    """Return where an invalid subschema stands, and itself, with its own left out.

    What else a large document holds would use up the budget before an explainer came there.
    """
    is_valid = _official(dialect).is_valid
    place, part = "", document
    for _ in range(_MOST_STEPS):
        inside = subschemas(part, dialect) if is_object(part) else ()
        wrong = (found for found in inside if is_object(found[2]) and not is_valid(found[2]))
        keyword, label, inner = next(wrong, ("", None, None))
        if inner is None:
            break
        place += f"/{keyword}" if label is None else f"/{keyword}/{escape(str(label))}"
        part = inner
    hollow = _without_subschemas(part, dialect)
    return place, part if is_valid(hollow) else hollow


def _without_subschemas(schema: object, dialect: Dialect) -> object:
    """Return `schema` without what stands in the subschemas that it holds."""
    if not is_object(schema):
        return schema
    part: dict[str, Any] = {
        keyword: value.copy() if is_object(value) or is_array(value) else value
        for keyword, value in schema.items()
    }
    for keyword, label, inner in subschemas(schema, dialect):
        if isinstance(inner, bool):
            continue
        if label is None:
            part[keyword] = {}
        elif isinstance(label, int):
            part[keyword][label] = {}
        else:
            del part[keyword][label]
    return part


def check_reached(reached: Reached, sources: Sources) -> None:
    """Check the places and resources referred to, and what is written in one's own metaschema."""
    for spot in reached.adopted:
        if sources.metaschema(spot.document) is None:
            uri = "" if spot.document == ROOT_URI else spot.document
            check_document(spot.schema, spot.dialect, uri, spot.pointer)
    for uri, document in reached.documents.items():
        name = "" if uri == ROOT_URI else uri
        if uri != ROOT_URI:
            check_document(document, reached.spots[uri, ""].dialect, name)
        own = sources.metaschema(uri)
        if own is not None:
            # Vocabularies of other dialects than the default are not found unless they are given.
            resources: list[tuple[str, Any]] = [
                *(item for item in reached.documents.items() if item[0] != ROOT_URI),
                *metaschema_documents(sources.dialect).items(),
            ]
            registry = jsonschema_rs.Registry(resources)
            validator = jsonschema_rs.validator_for(
                {"$ref": own}, registry=registry, validate_formats=False, offline=True
            )
            if not validator.is_valid(document):
                explainer = _explainer(replace(sources, document={"$ref": own}))
                raise _invalid(_explain(document, explainer), name)


def _invalid(problem: Problem, uri: str, pointer: str = "") -> InvalidSchema:
    path = pointer + problem.path
    which = f"the schema {uri}" if uri else "the schema"
    message = problem.message if len(problem.message) <= 300 else problem.message[:299] + "…"
    return InvalidSchema(f"{which} is invalid at {path or 'its root'}: {message}", path=path)


@functools.cache
def _official_explainer(dialect: Dialect) -> Explainer:
    metaschema = metaschema_documents(dialect)[dialect.metaschema_uri]
    return _explainer(Sources(metaschema, {}, dialect))


def _explainer(sources: Sources) -> Explainer:
    """Return what explains why documents break the metaschema that `sources` are about."""
    from anyshape.schema._explain import Explainer

    limits = Limits()
    reached = sources.reach(limits)
    patterns = check_patterns(reached.spots.values(), limits)
    engine = Engine.of(reached, sources.dialect, patterns, limits, formats=False)
    return Explainer(reached.graph, engine, 0)


def _explain(document: object, explainer: Explainer) -> Problem:
    """Say what is wrong with `document`: the deepest problem, which is the most particular one."""
    return max(explainer.problems(document, 10), key=lambda problem: problem.path.count("/"))
