"""Laws of verdicts: another implementation agrees, and the three verbs agree with each other."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyshape.errors import AnyshapeError, ValidationError
from anyshape.schema import Schema, compile

NAMES = ("a", "b", "c")
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from((0.5, 1.0, 2.0, -0.0, 1e20)),
    st.text("ab1", max_size=4),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from((*NAMES, "d")), inner, max_size=4),
    ),
    max_leaves=10,
)
TYPES = st.sampled_from(("null", "boolean", "integer", "number", "string", "array", "object"))
SMALL = st.integers(0, 4)
NUMBERS = st.sampled_from((-1, 0, 1, 2.5, 3))


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "minimum": NUMBERS,
            "exclusiveMaximum": NUMBERS,
            "multipleOf": st.sampled_from((0.5, 1, 2, 3)),
            "minLength": SMALL,
            "maxLength": SMALL,
            "pattern": st.sampled_from(("^a", "b$", "a.*1", "^[ab]*$")),
            "minItems": SMALL,
            "maxItems": SMALL,
            "uniqueItems": st.booleans(),
            "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            "minProperties": SMALL,
            "maxProperties": SMALL,
            "dependentRequired": st.fixed_dictionaries(
                {}, optional={"a": st.just(["b"]), "b": st.just(["c"])}
            ),
            "properties": named,
            "patternProperties": st.fixed_dictionaries({}, optional={"a|b": inner}),
            "additionalProperties": inner,
            "propertyNames": inner,
            "dependentSchemas": named,
            "items": inner,
            "prefixItems": several,
            "contains": inner,
            "minContains": SMALL,
            "maxContains": SMALL,
            "allOf": several,
            "anyOf": several,
            "oneOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
        },
    )


REFERENCES = st.sampled_from(("p", "q")).map(lambda name: {"$ref": f"#/$defs/{name}"})
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.booleans(), REFERENCES, TYPES.map(lambda name: {"type": name})),
    _schemas,
    max_leaves=6,
)
DOCUMENTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "allOf": st.lists(SCHEMAS, min_size=1, max_size=2),
        "$defs": st.fixed_dictionaries({"p": SCHEMAS, "q": SCHEMAS}),
    }
)
LAW = settings(max_examples=250)


def compiled(document: dict[str, Any]) -> Schema | None:
    try:
        return compile(document)
    except AnyshapeError:
        return None  # definitions that apply each other in place


@LAW
@given(document=DOCUMENTS, values=st.lists(VALUES, min_size=1, max_size=5))
def test_another_implementation_comes_to_the_same_verdict(
    document: dict[str, Any], values: list[Any]
) -> None:
    schema = compiled(document)
    if schema is None:
        return
    other: Any = jsonschema.Draft202012Validator(document)
    for value in values:
        assert schema.accepts(value) is other.is_valid(value)


@LAW
@given(document=DOCUMENTS, value=VALUES)
def test_the_three_verbs_agree(document: dict[str, Any], value: Any) -> None:
    schema = compiled(document)
    if schema is None:
        return
    accepted = schema.accepts(value)
    assert bool(schema.problems(value)) is not accepted
    if accepted:
        schema.validate(value)
    else:
        with pytest.raises(ValidationError) as caught:
            schema.validate(value)
        assert caught.value.problems
